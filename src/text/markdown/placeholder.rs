//! Telling a template's placeholder from a value.

use super::line;

/// Whether `raw` is a placeholder of a template and not a value.
///
/// Placeholders are alternatives (`"low" | "medium"`, `PENDING | RUNNING`), text in brackets
/// (`[Goal Title]`, `exec_[timestamp]_[uuid]`) and figures to be filled in (`$X.XX`, `Xs`).
/// JSON arrays, lists of names, links, `{{references}}` and boxes are values.
pub(crate) fn is_placeholder(raw: &str) -> bool {
    let raw = line::trim(raw);
    // Most values have none of the signs, and every value of every file comes by here.
    let signs = raw.bytes().any(|byte| matches!(byte, b'|' | b'['));
    signs && (is_alternatives(raw) || is_bracketed(raw) || has_brackets_for_parts(raw))
        || is_figure(raw)
}

/// `"a" | "b"` or `A | B`: quoted texts or words in capitals, and nothing else.
fn is_alternatives(raw: &str) -> bool {
    let capitals = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let quoted = |part: &str| {
        let inner = part.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('"'))
    };
    raw.contains('|') && raw.split('|').map(line::trim).all(|part| capitals(part) || quoted(part))
}

/// `[some words]` around everything.
fn is_bracketed(raw: &str) -> bool {
    let Some(inner) = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let words = line::trim(inner);
    let is_box = matches!(words, "" | "x" | "X");
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(is_name_byte);
    let is_list = words.contains(',') && words.split(',').map(line::trim).all(is_name);
    !is_box
        && !is_list
        && !words.contains(['[', ']'])
        && !words.starts_with('^')
        && serde_json::from_str::<serde::de::IgnoredAny>(raw).is_err()
}

/// `exec_[timestamp]_[uuid]`: a name some parts of which are in brackets.
fn has_brackets_for_parts(raw: &str) -> bool {
    let mut parts = 0;
    let mut rest = raw;
    let mut before = String::new();
    while let Some(open) = rest.find('[') {
        before.push_str(&rest[..open]);
        let Some(close) = rest[open..].find(']').map(|i| open + i) else { return false };
        let inner = &rest[open + 1..close];
        let joined = rest[..open].is_empty() || rest[..open].ends_with(['_', '-']);
        let follows = rest[close + 1..].chars().next();
        let word = inner.len() > 1 && inner.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if !joined || !word || !matches!(follows, None | Some('_' | '-')) {
            return false;
        }
        parts += 1;
        rest = &rest[close + 1..];
    }
    before.push_str(rest);
    parts > 0 && !before.is_empty() && before.bytes().all(|b| is_name_byte(b) || b == b'-')
}

/// `$X.XX`, `Xs`, `X%`: a figure made of capital X with a sign or a unit.
fn is_figure(raw: &str) -> bool {
    const UNITS: [&str; 9] = ["s", "ms", "m", "h", "%", " seconds", " minutes", " hours", " USD"];
    let money = raw.strip_prefix('$');
    let rest = money.unwrap_or(raw);
    let figure = rest.trim_start_matches(['X', '.']);
    let digits = &rest[..rest.len() - figure.len()];
    digits.starts_with('X')
        && digits.matches('.').count() <= 1
        && !digits.ends_with('.')
        && match figure {
            "" => money.is_some() || digits.contains('.'),
            unit => UNITS.contains(&unit),
        }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_templates_leave_open_is_a_placeholder() {
        for raw in [
            r#""low" | "medium" | "high""#,
            "PENDING | RUNNING | COMPLETED",
            "EXECUTION|SIMULATION",
            "SIMULATION | EXECUTION",
            "[Goal Title]",
            "[number]",
            "[User's original goal]",
            "[Claude Code tool if EXECUTION mode]",
            "[... continue]",
            "[... continue for all planned steps]",
            "[cost, time, success rate]",
            "$X.XX",
            "Xs",
            " X% ",
            "exec_[timestamp]_[uuid]",
        ] {
            assert!(is_placeholder(raw), "{raw}");
        }
    }

    #[test]
    fn what_people_write_is_a_value() {
        for raw in [
            "", r#"["a", "b"]"#, "[1,2]", "[]", "[ ]", "[x]", "[WebFetch, Read]", "[text](url)",
            "[text][ref]", "[^1]", "{{ref}}", "use a | b tool", "ls | wc", "a || b", "PENDING",
            "\"low\"", "X", "XL", "Xbox", "$5", "arr[index]", "pages/[id].tsx", "exec_1",
            "[unclosed",
        ] {
            assert!(!is_placeholder(raw), "{raw}");
        }
    }
}
