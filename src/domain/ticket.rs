//! Tickets of issue trackers, and branch names for them.

use std::fmt;

use serde::Serialize;

/// The issue tracker of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Platform {
    /// `#7`, or an address at GitHub.
    GitHub,
    /// An address at GitLab or a self-hosted instance.
    GitLab,
    /// `PROJ-123`, or an address that ends so.
    Jira,
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GitHub => "GitHub",
            Self::GitLab => "GitLab",
            Self::Jira => "Jira",
        })
    }
}

/// A ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ticket {
    /// `#7` or `PROJ-123`.
    pub(crate) id: String,
    pub(crate) platform: Platform,
    /// Its address, if it was given.
    pub(crate) url: Option<String>,
    /// The name of a branch for it.
    pub(crate) branch: String,
}

impl Ticket {
    /// Recognises `#7`, `owner/repository#7`, `PROJ-123` and the addresses of GitHub, GitLab and
    /// Jira.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) {
            return Self::of_address(text, rest);
        }
        if let Some((repository, number)) = text.rsplit_once('#') {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
            return repository
                .chars()
                .all(is_name)
                .then(|| Self::numbered(Platform::GitHub, number, None))?;
        }
        is_key(text).then(|| Self::keyed(text, None))
    }

    fn of_address(url: &str, rest: &str) -> Option<Self> {
        let path = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
        let parts: Vec<&str> = path.split('/').collect();
        let (host, last) = (parts.first()?.to_ascii_lowercase(), parts.last()?);
        let kind = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied();
        let url = Some(url.to_owned());
        match kind {
            Some("issues" | "merge_requests" | "work_items") if parts.contains(&"-") => {
                Self::numbered(Platform::GitLab, last, url)
            }
            Some("issues" | "pull") if host.contains("gitlab") => {
                Self::numbered(Platform::GitLab, last, url)
            }
            Some("issues" | "pull") => Self::numbered(Platform::GitHub, last, url),
            Some("browse") if is_key(last) => Some(Self::keyed(last, url)),
            _ => None,
        }
    }

    fn numbered(platform: Platform, number: &str, url: Option<String>) -> Option<Self> {
        let is_number = !number.is_empty()
            && number.len() <= 18
            && number.bytes().all(|byte| byte.is_ascii_digit());
        let id = format!("#{number}");
        let branch = format!("ticket/{number}");
        is_number.then_some(Self { id, platform, url, branch })
    }

    fn keyed(key: &str, url: Option<String>) -> Self {
        let branch = format!("ticket/{key}");
        Self { id: key.to_owned(), platform: Platform::Jira, url, branch }
    }

    /// The same with a branch name that contains the title.
    #[must_use]
    pub(crate) fn titled(mut self, title: &str) -> Self {
        let words = slug(title);
        if !words.is_empty() {
            self.branch = format!("ticket/{}-{words}", self.name());
        }
        self
    }

    /// One component of a path: the id without the `#`.
    pub(crate) fn name(&self) -> &str {
        self.id.trim_start_matches('#')
    }
}

/// `PROJ-123`: capital letters, a hyphen, a number.
fn is_key(text: &str) -> bool {
    let Some((project, number)) = text.rsplit_once('-') else { return false };
    let is_project = project.starts_with(|c: char| c.is_ascii_uppercase())
        && project.len() <= 32
        && project
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_number = !number.is_empty()
        && number.len() <= 18
        && number.bytes().all(|byte| byte.is_ascii_digit());
    is_project && is_number
}

/// The words of a title for a branch name, at most about forty letters.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() > 40 {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Platform)> {
        Ticket::parse(text).map(|ticket| (ticket.id, ticket.platform))
    }

    #[test]
    fn ids_and_addresses_are_recognised() {
        for (text, id, platform) in [
            ("#7", "#7", Platform::GitHub),
            (" ada/engine#12 ", "#12", Platform::GitHub),
            ("PROJ-123", "PROJ-123", Platform::Jira),
            ("https://github.com/ada/engine/issues/7", "#7", Platform::GitHub),
            ("https://github.com/ada/engine/pull/8/", "#8", Platform::GitHub),
            ("https://gitlab.com/g/sub/p/-/issues/12?x=1", "#12", Platform::GitLab),
            ("https://git.example.org/g/p/-/merge_requests/3#note_4", "#3", Platform::GitLab),
            ("https://x.atlassian.net/browse/PROJ-9", "PROJ-9", Platform::Jira),
        ] {
            assert_eq!(read(text), Some((id.to_owned(), platform)), "{text}");
        }
    }

    #[test]
    fn what_is_no_ticket_is_not_taken_for_one() {
        for text in [
            "",
            "#",
            "7",
            "#7a",
            "#-1",
            "proj-1",
            "PROJ-",
            "-1",
            "../#7 x",
            "A B-1",
            "x y#7",
            "https://github.com/ada/engine",
            "https://example.org/issues/x",
            "ftp://x/issues/7",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_branch_says_what_it_is_about() {
        let ticket = Ticket::parse("#7").unwrap();
        assert_eq!((ticket.name(), ticket.branch.as_str()), ("7", "ticket/7"));
        let long = "Export as CSV: with headings, for every table that there is and more";
        assert_eq!(ticket.titled(long).branch, "ticket/7-export-as-csv-with-headings-for-every");
        let key = Ticket::parse("PROJ-123").unwrap().titled("../é");
        assert_eq!(key.branch, "ticket/PROJ-123");
    }
}
