//! A command line as an argument vector, without a shell.

/// Splits at spaces; quotes and backslashes keep them. Nothing else has a meaning: no variables,
/// no pipes, no patterns.
///
/// # Errors
/// A quote is not closed, or there is no word.
pub(crate) fn split_words(line: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = chars.next().ok_or("the command ends with a backslash")?;
                // Inside double quotes only a quote or a backslash is meant.
                let kept = quote.is_some() && !matches!(next, '"' | '\\');
                let word = word.get_or_insert_default();
                if kept {
                    word.push('\\');
                }
                word.push(next);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a quote ({open}) is not closed"));
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err("the command is empty".to_owned());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together_and_nothing_is_interpreted() {
        let table: [(&str, &[&str]); 6] = [
            ("prog a  b", &["prog", "a", "b"]),
            ("'my prog' \"a b\" c\\ d", &["my prog", "a b", "c d"]),
            ("prog '' \"\"", &["prog", "", ""]),
            ("prog $HOME | rm * `x`", &["prog", "$HOME", "|", "rm", "*", "`x`"]),
            (r#"prog "a\"b\n" 'c\d'"#, &["prog", "a\"b\\n", "c\\d"]),
            ("prog --x='a b'", &["prog", "--x=a b"]),
        ];
        for (line, words) in table {
            assert_eq!(split_words(line).unwrap(), words, "{line}");
        }
        for line in ["", "  ", "'open", "prog \"open", "prog \\", "''"] {
            assert!(split_words(line).is_err(), "{line}");
        }
    }
}
