//! Whether a note says that the work is complete.
//!
//! Treating an incomplete step as complete loses work; continuing a complete one costs a look. So
//! only plain statements count: one doubtful word anywhere, or one clause of unknown form, and the
//! note says nothing.

use crate::text::Words;

/// Words that take a statement back, narrow it, or speak of what is still to come.
const DOUBTS: Words = Words(
    "not no never nothing none neither nobody cannot without yet to todo tbd fixme until when once \
    if whether before unless will be should must would could can may might need needs next then \
    remaining remains remain left rest still but except however although though failing fails \
    failed fail failure failures error errors broken partial partially partly almost nearly half \
    mostly wip later pending soon waiting blocked missing only some most far incomplete \
    unfinished first skipped today tomorrow",
);

/// What comes before the work itself or is a part of it.
const PRELIMINARY: Words = Words(
    "plan plans spec specs specification design outline analysis research investigation draft \
    skeleton scaffold stub stubs setup part parts phase stage bit piece chunk milestone prep \
    preparation preparations review iteration round version start prototype sketch",
);

/// Words that add nothing to a statement.
const FILLERS: Words = Words(
    "i we it this that the a an my our its is are was were has have had been now just all fully \
    completely entirely successfully finally everything step task work 100% ok",
);

/// What may accompany the statement.
const MADE: Words = Words(
    "wrote written added created implemented tested updated fixed merged committed pushed pass \
    passed passing passes green works verified documented",
);

/// Words that join or place things, so that what is complete may be only a part.
const JOINTS: Words = Words("of for with in on from as by about into at or after using");

/// Whether words say without doubt that the work is complete. The title of the step is a name for
/// all of the work, whatever words it has.
pub(crate) fn says_complete(text: &str, title: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    if text.contains('?') || is_measured(&text) {
        return false;
    }
    let title = title.to_lowercase();
    let title: Vec<&str> = words(&title).filter(|word| !FILLERS.contains(word)).collect();
    let mut says = false;
    for clause in clauses(&text) {
        let clause_words: Vec<&str> = words(clause.text).collect();
        let doubt = |word: &&str| DOUBTS.contains(word) || word.ends_with("n't");
        if clause_words.iter().any(doubt) {
            return false;
        }
        match clause.reading(&clause_words, &title) {
            CompletionClaim::Complete => says = true,
            CompletionClaim::Beside => {}
            CompletionClaim::Unclear => return false,
        }
    }
    says
}

enum CompletionClaim {
    Complete,
    Beside,
    Unclear,
}

struct Clause<'t> {
    text: &'t str,
    /// Whether it continues a list or is a heading, so that a bare name can be understood.
    joined: bool,
}

impl Clause<'_> {
    fn reading(&self, words: &[&str], title: &[&str]) -> CompletionClaim {
        let is_end = |word: &&str| matches!(*word, "complete" | "completed" | "done" | "finished");
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return CompletionClaim::Beside;
        };
        // `is it done` asks, with or without its mark.
        let asks = ["is", "are", "was", "were", "has", "does", "did", "do", "mark", "get"];
        if asks.contains(first) {
            return CompletionClaim::Unclear;
        }
        let named: Vec<&str> =
            words.iter().copied().filter(|word| !is_end(word) && !FILLERS.contains(word)).collect();
        let ends = words.iter().any(&is_end);
        let whole = !named.is_empty()
            && named.iter().all(|word| title.contains(word))
            && named.len() * 2 >= title.len();
        let made = words.iter().any(|word| MADE.contains(word));
        let plain = named.len() <= 3 && named.iter().all(|word| is_plain(word));
        if ends {
            let at = words.iter().position(&is_end).unwrap_or(0);
            let leads = words[..at].iter().all(|word| FILLERS.contains(word));
            let closes = is_end(last) || FILLERS.contains(last);
            return if whole || (plain && (leads || closes)) {
                CompletionClaim::Complete
            } else {
                CompletionClaim::Unclear
            };
        }
        let tests = matches!(*last, "pass" | "passed" | "passing" | "green")
            && words.iter().any(|word| matches!(*word, "tests" | "checks" | "all"));
        if tests && named.len() <= 4 {
            return CompletionClaim::Complete;
        }
        let beside = whole || made && named.len() <= 8 || self.joined && plain;
        if beside { CompletionClaim::Beside } else { CompletionClaim::Unclear }
    }
}

/// Whether a word can be the name of what was made.
fn is_plain(word: &str) -> bool {
    if word.contains('/') || word.contains('.') {
        return true;
    }
    let doing = word.len() > 4 && word.ends_with("ing") && word != "string";
    let number = word.starts_with(|c: char| c.is_ascii_digit());
    let parts = word.split(['-', '_']);
    let compound = parts.clone().count() > 1
        && parts.clone().any(|part| matches!(part, "complete" | "completed" | "done" | "finished"));
    !doing && !number && !compound && !PRELIMINARY.contains(word) && !JOINTS.contains(word)
}

/// Whether a number says how much of it is complete, and it is not all.
fn is_measured(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        word.parse::<u64>().ok()
    };
    let part = |done: &str, all: &str| match (number(done), number(all)) {
        (Some(done), Some(all)) => done < all,
        _ => false,
    };
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let percent = word.contains('%') || matches!(next, "percent" | "%");
        let less = percent && word.trim_matches(|c: char| !c.is_ascii_digit()) != "100";
        let of = matches!(next, "of" | "out")
            && words[at + 1..].iter().take(3).any(|all| part(word, all));
        let slash = word.split_once('/').is_some_and(|(done, all)| part(done, all));
        less && *word != "%" || of || slash
    })
}

/// The parts between points, commas, `and` and line ends; a point within a name is none.
fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut found = Vec::new();
    let (mut start, mut joined) = (0, false);
    let mut push = |from: usize, to: usize, joined: bool| {
        found.push(Clause { text: &text[from..to], joined });
    };
    for (at, c) in text.char_indices() {
        let behind = &text[at + c.len_utf8()..];
        let gap = behind.is_empty() || behind.starts_with(char::is_whitespace);
        let stops = match c {
            ',' | ';' | '!' | '\n' | '(' | ')' | '—' | '–' | '…' => true,
            '.' | ':' | '-' => gap,
            ' ' => behind.starts_with("and ") || behind.starts_with("& "),
            _ => false,
        };
        if stops && at >= start {
            push(start, at, joined || c == ':');
            let and = if behind.starts_with("and ") { 3 } else { 1 };
            start = at + c.len_utf8() + if c == ' ' { and } else { 0 };
            joined = c == ' ';
        }
    }
    if start <= text.len() {
        push(start, text.len(), joined);
    }
    found
}

/// Words with what joins them: `completed-orders` and `src/a.rs` are one each.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "'-_./%".contains(c);
    text.split(move |c: char| !part(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%'))
        .filter(|word| !word.is_empty())
}
