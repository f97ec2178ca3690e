//! `{{references}}` to variables inside text.

use std::ops::Range;

/// One `{{path}}` in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The path between the braces, trimmed.
    pub path: String,
    /// The bytes from the first brace to the last.
    pub span: Range<usize>,
}

/// All references of `text`, in order. Only a path may stand between the braces: anything with
/// white space, braces or a template keyword in it is plain text.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|at| at + from) {
        let inside = open + 2;
        let Some(close) = text[inside..].find("}}").map(|at| at + inside) else { break };
        let path = text[inside..close].trim();
        if is_path(path) {
            found.push(Reference { path: path.to_owned(), span: open..close + 2 });
            from = close + 2;
        } else {
            from = open + 1;
        }
    }
    found
}

/// The text with other paths in its references, if there is one that changes.
pub(crate) fn replace_references(
    text: &str,
    mut path: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    let (mut out, mut at) = (String::new(), 0);
    for reference in references(text) {
        let Some(new) = path(&reference.path) else { continue };
        out.push_str(&text[at..reference.span.start]);
        out.push_str(&text[reference.span.clone()].replacen(&reference.path, &new, 1));
        at = reference.span.end;
    }
    (at > 0).then(|| out + &text[at..])
}

fn is_path(path: &str) -> bool {
    !path.is_empty()
        && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        references(text).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn references_are_found_in_order() {
        assert_eq!(paths("see {{a.b}} and {{ c }}"), ["a.b", "c"]);
        assert_eq!(references("x {{a}}")[0].span, 2..7);
    }

    #[test]
    fn what_is_no_path_is_text() {
        assert!(paths("{{#if x}} {{}} {{a b}} {{ {{").is_empty());
        assert_eq!(paths("{{{a}}}"), ["a"]);
    }
}
