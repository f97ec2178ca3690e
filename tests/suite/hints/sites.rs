//! Every message in the sources that names a statedir command.

use std::path::Path;

/// A text in the sources with a command in backticks.
#[derive(Clone, Debug)]
pub struct Site {
    /// File and line.
    pub place: String,
    /// The text as it is written, with `{}` for what is filled in.
    pub text: String,
}

impl Site {
    /// The messages of a file, without tests, comments and help.
    pub fn all_in(name: &str, code: &str) -> Vec<Self> {
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut found = Vec::new();
        let mut before = String::new();
        for (number, literal) in literals(code, &mut before) {
            let is_help = literal.1.ends_with("help = ") || literal.1.ends_with("about = ");
            if literal.0.contains("`statedir ") && !is_help {
                found.push(Self { place: format!("{name}:{number}"), text: literal.0 });
            }
        }
        found
    }

    /// Whether one of these texts is this message, whatever was filled in.
    pub fn is_said_in(&self, texts: &[String]) -> bool {
        // An option alone is printed with the command line that was typed.
        let quoted = self.text.split('`').enumerate();
        let filled = quoted.map(|(at, part)| match at % 2 == 1 && part.starts_with("--") {
            true => "{}",
            false => part,
        });
        let fixed = filled.collect::<Vec<_>>().join("`");
        let fixed = fixed.replace("{{", "\u{1}").replace("}}", "\u{2}");
        let mut parts = Vec::new();
        for (at, part) in fixed.split('{').enumerate() {
            let part =
                if at == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) };
            parts.push(plain(&part.replace('\u{1}', "{").replace('\u{2}', "}")));
        }
        parts.retain(|part| !part.trim().is_empty());
        texts.iter().any(|text| {
            // A directory that was given is part of the printed command.
            let text = plain(text).replace("`statedir -C elsewhere ", "`statedir ");
            let mut rest = text.as_str();
            parts.iter().all(|part| match rest.find(part.as_str()) {
                Some(at) => {
                    rest = &rest[at + part.len()..];
                    true
                }
                None => false,
            })
        })
    }
}

/// The text with each run of blanks and line ends as one blank.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if out.ends_with(' ') => {}
            true => out.push(' '),
            false => out.push(c),
        }
    }
    out
}

/// The sites of all sources below a directory.
pub fn sites(dir: &Path) -> Vec<Site> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().filter_map(Result::ok) {
        let path = entry.path();
        let inner = path.strip_prefix(dir).unwrap().display().to_string();
        let is_test = inner.contains("tests/") || inner.ends_with("tests.rs");
        // `prose.rs` holds sentences of the templates, to recognise them.
        if inner.ends_with(".rs") && !is_test && !inner.ends_with("prose.rs") {
            found.extend(Site::all_in(&inner, &std::fs::read_to_string(path).unwrap()));
        }
    }
    found
}

/// The string literals of some code: the line, the text as it is printed, and what is before it.
fn literals(code: &str, before: &mut String) -> Vec<(usize, (String, String))> {
    let mut found = Vec::new();
    let chars: Vec<char> = code.chars().collect();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let rest = |from: usize| chars.get(from).copied().unwrap_or('\0');
        match chars[at] {
            '/' if rest(at + 1) == '/' => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                continue;
            }
            // A character, or a lifetime.
            '\'' if rest(at + 1) == '\\' => {
                at += 3;
                while at < chars.len() && chars[at] != '\'' {
                    at += 1;
                }
            }
            '\'' if rest(at + 2) == '\'' => at += 2,
            'r' if (rest(at + 1) == '"' || rest(at + 1) == '#')
                && !rest(at - 1).is_alphanumeric() =>
            {
                let hashes = (at + 1..).take_while(|at| rest(*at) == '#').count();
                if rest(at + 1 + hashes) == '"' {
                    let end: String = format!("\"{}", "#".repeat(hashes));
                    let start = at + 2 + hashes;
                    let text: String = chars[start..].iter().collect();
                    let length = text.find(&end).map_or(0, |end| text[..end].chars().count());
                    let text: String = chars[start..start + length].iter().collect();
                    found.push((line, (text.clone(), before.clone())));
                    line += text.matches('\n').count();
                    at = start + length + end.len() - 1;
                }
            }
            '"' => {
                let (start, mut text) = (line, String::new());
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    if chars[at] != '\\' {
                        line += usize::from(chars[at] == '\n');
                        text.push(chars[at]);
                    } else {
                        at += 1;
                        match rest(at) {
                            'n' => text.push('\n'),
                            '\n' => {
                                line += 1;
                                while rest(at + 1).is_whitespace() {
                                    line += usize::from(rest(at + 1) == '\n');
                                    at += 1;
                                }
                            }
                            other => text.push(other),
                        }
                    }
                    at += 1;
                }
                found.push((start, (text, before.clone())));
                before.clear();
            }
            '\n' => line += 1,
            other => {
                before.push(other);
                if before.len() > 200 {
                    before.drain(..100);
                }
            }
        }
        at += 1;
    }
    found
}
