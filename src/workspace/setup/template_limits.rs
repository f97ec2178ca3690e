//! Limits of a template, checked before it is compiled: its size, its tags and their nesting.
//!
//! A template may come from an untrusted clone; the compiler takes quadratic time in the depth, and
//! nested loops multiply. Anything that could hide a tag from this reader is refused.

/// The largest template.
const MOST_BYTES: usize = 64 << 10;
/// The most tags of one.
const MOST_TAGS: usize = 2_000;
/// The most blocks one inside the other.
const MOST_DEPTH: usize = 32;
/// The most loops one inside the other.
const MOST_LOOPS: usize = 2;

/// Checks a template.
///
/// # Errors
/// Why it is refused, with the line.
pub(in crate::workspace) fn check(template: &str) -> Result<(), String> {
    if template.len() > MOST_BYTES {
        let bytes = template.len();
        return Err(format!("it has {bytes} bytes; at most {MOST_BYTES} are read"));
    }
    let mut at = 0;
    let mut tags = 0;
    // Whether each open block is a loop.
    let mut open: Vec<bool> = Vec::new();
    while let Some(start) = template[at..].find("{{").map(|start| at + start) {
        let fail = |why: &str| {
            let line = template[..start].matches('\n').count() + 1;
            Err(format!("line {line}: {why}"))
        };
        tags += 1;
        if tags > MOST_TAGS {
            return fail(&format!("more than {MOST_TAGS} tags"));
        }
        let rest = &template[start..];
        if rest.starts_with("{{{{") {
            return fail("raw blocks are not supported");
        }
        let Some(end) = rest.find("}}") else { return fail("a tag is not closed") };
        let tag = rest[..end].trim_start_matches('{');
        at = start + end + 2;
        if tag.contains("{{") {
            return fail("a tag contains `{{`");
        }
        let inner = tag.trim_start_matches('~').trim_start();
        if let Some(comment) = inner.strip_prefix('!') {
            if comment.starts_with("--") && !comment.trim_end_matches('~').ends_with("--") {
                return fail("a comment contains `}}`");
            }
            continue;
        }
        if ['"', '\'', '[', ']'].iter().any(|quote| is_odd(inner, *quote)) {
            return fail("a text in a tag is not closed, or contains `}}`");
        }
        if inner.matches('(').count() > MOST_DEPTH {
            return fail(&format!("more than {MOST_DEPTH} parentheses in a tag"));
        }
        match inner.chars().next() {
            Some('>') => return fail("partials are not supported"),
            Some('#') => {
                let name = inner[1..].trim_start();
                if name.starts_with(['>', '*']) {
                    return fail("partials are not supported");
                }
                open.push(name.starts_with("each"));
                if open.len() > MOST_DEPTH {
                    return fail(&format!("more than {MOST_DEPTH} blocks one inside the other"));
                }
                if open.iter().filter(|is_loop| **is_loop).count() > MOST_LOOPS {
                    return fail(&format!("more than {MOST_LOOPS} loops one inside the other"));
                }
            }
            // What is escaped closes nothing.
            Some('/') if !template[..start].ends_with('\\') => {
                open.pop();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a quote is left open; a bracket counts with its partner.
fn is_odd(tag: &str, quote: char) -> bool {
    let count = |wanted: char| tag.chars().filter(|c| *c == wanted).count();
    match quote {
        '[' | ']' => count('[') != count(']'),
        quote => count(quote) % 2 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_templates_pass() {
        for text in [
            "",
            "# {{title}}\n{{#if simulation}}a{{else}}b{{/if}}\n",
            "{{!-- a comment -- it's one --}}{{~! another ~}}\n{{{goal}}}",
            "{{#each modifiers}}{{field @key this}}\n{{/each}}{{#each set}}{{#each this}}x{{/each}}{{/each}}",
            &"{{#if simulation}}a{{/if}}".repeat(900),
            &("{{#if simulation}}".repeat(32) + &"{{/if}}".repeat(32)),
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_takes_long_or_hides_a_tag_is_refused_with_its_line() {
        let deep = format!("\n{}", "{{#if simulation}}".repeat(33));
        let parentheses = format!("{{{{#if {}}}}}", "(".repeat(33));
        let loops = "{{#each a}}\n{{#each b}}\n{{#each c}}";
        for (text, why) in [
            (deep.as_str(), "line 2: more than 32 blocks"),
            (loops, "line 3: more than 2 loops"),
            ("{{#each a}}{{#each b}}{{!-- }}{{/each}} --}}{{#each c}}", "line 1: a comment"),
            ("{{#each a}}{{#each b}}\\{{/each}}{{#each c}}", "line 1: more than 2 loops"),
            ("{{json \"}}{{/each}}\"}}", "line 1: a text in a tag"),
            ("{{json \"{{/each}}\"}}", "line 1: a tag contains"),
            ("{{{{raw}}}}{{/each}}{{{{/raw}}}}", "line 1: raw blocks"),
            (parentheses.as_str(), "line 1: more than 32 parentheses"),
            ("a\n{{> x}}", "line 2: partials"),
            ("{{~#> x}}", "line 1: partials"),
            ("{{# *inline \"x\"}}", "line 1: partials"),
            ("\n\n{{title", "line 3: a tag is not closed"),
        ] {
            let refusal = check(text).unwrap_err();
            assert!(refusal.starts_with(why), "{text}: {refusal}");
        }
        assert!(check(&"x".repeat(65_537)).unwrap_err().contains("65537 bytes"));
        assert!(check(&"{{a}}".repeat(2_001)).unwrap_err().contains("2000 tags"));
    }
}
