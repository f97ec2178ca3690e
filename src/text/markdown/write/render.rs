//! Writing whole items.

use crate::text::markdown::style::{BulletStyle, KeyLook};
use crate::text::markdown::value::{self, Lines, Quote, Reading, Written};
use crate::text::markdown::{Document, EditError, ItemId, SectionId, line};

/// One whole field including its final line end, as it is put into a new section.
///
/// # Errors
/// For a key or value that cannot be written so that it reads back identical.
pub(crate) fn render_field(
    newline: &str,
    indent: usize,
    bold: bool,
    key: &str,
    value: &str,
) -> Result<String, EditError> {
    let written = field_value(key, value)?;
    let look = key_look(key, if bold { KeyLook::BOLD } else { KeyLook::PLAIN })?;
    Ok(field(&BulletStyle::plain(indent), look, key, &written, newline))
}

/// As [`render_field`], with a bold key and lines as code.
///
/// # Errors
/// For a key or value that cannot be written so that it reads back identical.
pub(crate) fn render_code_field(
    newline: &str,
    key: &str,
    value: &str,
) -> Result<String, EditError> {
    let written = value_in(key, value, Quote::None, Lines::Code, (true, ""))?;
    let look = key_look(key, KeyLook::BOLD)?;
    Ok(field(&BulletStyle::plain(0), look, key, &written, newline))
}

/// One whole field whose value is the inline source `raw`, such as `["a", "b"]` or nothing.
///
/// # Errors
/// For a key that would not read back identical, and for source that would not stay inline.
pub(crate) fn render_raw_field(
    newline: &str,
    indent: usize,
    bold: bool,
    key: &str,
    raw: &str,
) -> Result<String, EditError> {
    let written = raw_value(key, raw)?;
    let look = key_look(key, if bold { KeyLook::BOLD } else { KeyLook::PLAIN })?;
    Ok(field(&BulletStyle::plain(indent), look, key, &written, newline))
}

/// One whole item without a key, including its final line end.
///
/// # Errors
/// For a text that cannot be written so that it reads back identical and is not a field.
pub(crate) fn render_item(newline: &str, indent: usize, text: &str) -> Result<String, EditError> {
    let bulleted = |keep: Quote| -> Result<String, EditError> {
        let written = item_text(text, keep, true, None, "")?;
        Ok(bullet(&BulletStyle::plain(indent), None, &written, newline))
    };
    let plain = bulleted(Quote::None)?;
    let is_plain = |text: &str| {
        only_item(text.trim_start()).is_some_and(|document| document.item(ONLY).key.is_none())
    };
    if is_plain(&plain) { Ok(plain) } else { bulleted(Quote::Double) }
}

/// An item with a key, with its final line end.
pub(crate) fn field(
    bullet: &BulletStyle,
    look: KeyLook,
    key: &str,
    written: &Written,
    newline: &str,
) -> String {
    let mut out = bullet.line();
    out.push_str(&look.write(key));
    match written {
        Written::Inline(raw) if raw.is_empty() => {}
        Written::Inline(raw) => {
            out.push(' ');
            out.push_str(raw);
        }
        Written::Quote(_) | Written::Fence(_) => {
            let indent = bullet.content_indent();
            let block = written.block(&indent, newline).unwrap_or_default();
            out.extend([newline, &indent, &block]);
        }
    }
    out.push_str(newline);
    out
}

/// An item without a key, with its final line end.
pub(crate) fn bullet(
    bullet: &BulletStyle,
    checkbox: Option<bool>,
    written: &Written,
    newline: &str,
) -> String {
    let head = format!("{}{}", bullet.line(), checkbox_source(checkbox));
    match written {
        Written::Inline(raw) => format!("{head}{raw}{newline}"),
        Written::Quote(_) | Written::Fence(_) => {
            let block = written.block(&bullet.content_indent(), newline).unwrap_or_default();
            format!("{head}{block}{newline}")
        }
    }
}

/// The way to mark `key` that reads back: as asked for, else in bold.
///
/// # Errors
/// When there is none.
pub(crate) fn key_look(key: &str, wanted: KeyLook) -> Result<KeyLook, EditError> {
    if is_word(key) {
        return Ok(wanted);
    }
    // What begins inside a key could end inside its value.
    let alone = !key.contains(['`', '<', '[', ']', '*', '\\', '&', '\n', '\r', '\0']);
    let reads_back = |look: &KeyLook| {
        let source = format!("- {} x\n", look.write(key));
        alone
            && only_item(&source).is_some_and(|document| {
                let item = document.item(ONLY);
                item.key.as_deref() == Some(key) && document.raw_value(item.id) == "x"
            })
    };
    [wanted, KeyLook::BOLD]
        .into_iter()
        .find(reads_back)
        .ok_or_else(|| EditError::BadKey { key: key.to_owned() })
}

/// How `value` is written after the key `key` of a new field.
pub(crate) fn field_value(key: &str, value: &str) -> Result<Written, EditError> {
    value_in(key, value, Quote::None, Lines::Markdown, (true, ""))
}

/// How `value` is written after the key `key` in front of a trailing `comment`; `takes_block` says
/// whether a quotation or a fenced block would be read as the value.
pub(crate) fn value_in(
    key: &str,
    value: &str,
    keep: Quote,
    lines: Lines,
    (takes_block, comment): (bool, &str),
) -> Result<Written, EditError> {
    if keep == Quote::None && is_plain(value) {
        return Ok(Written::Inline(value.to_owned()));
    }
    check_nul(key, value)?;
    let reading = Reading::Value(value.to_owned());
    let trial = |written: &Written| {
        let source = match written {
            Written::Inline(raw) => format!("- **k**: {raw} {comment}\n"),
            Written::Quote(_) | Written::Fence(_) if !takes_block => return false,
            Written::Quote(_) | Written::Fence(_) => {
                let block = written.block("  ", "\n").unwrap_or_default();
                format!("- **k**: {comment}\n  {block}\n")
            }
        };
        only_item(&source).is_some_and(|document| {
            document.item(ONLY).key.is_some() && reading.holds(&document, ONLY)
        })
    };
    value::write(value, keep, lines, trial).ok_or_else(|| not_inline(key))
}

/// How `text` is written as the whole text of an item without a key.
pub(crate) fn item_text(
    text: &str,
    keep: Quote,
    takes_block: bool,
    checkbox: Option<bool>,
    comment: &str,
) -> Result<Written, EditError> {
    check_nul("item", text)?;
    let reading = Reading::Text(text.to_owned());
    let trial = |written: &Written| {
        let source = match written {
            Written::Inline(raw) => format!("- {}{raw} {comment}\n", checkbox_source(checkbox)),
            // A box needs text on its line, and a comment would be left without a place.
            Written::Quote(_) | Written::Fence(_)
                if !takes_block || checkbox.is_some() || !comment.is_empty() =>
            {
                return false;
            }
            Written::Quote(_) | Written::Fence(_) => {
                format!("- {}\n", written.block("  ", "\n").unwrap_or_default())
            }
        };
        only_item(&source).is_some_and(|document| {
            document.item(ONLY).checkbox == checkbox && reading.holds(&document, ONLY)
        })
    };
    value::write(text, keep, Lines::Markdown, trial).ok_or_else(|| not_inline("item"))
}

/// How the inline source `raw` is written after the key `key`.
pub(crate) fn raw_value(key: &str, raw: &str) -> Result<Written, EditError> {
    check_nul(key, raw)?;
    let raw = line::trim(raw);
    let reading = Reading::Raw(raw.to_owned());
    let source = format!("- **k**: {raw}\n");
    let stays = !raw.contains(['\n', '\r'])
        && only_item(&source).is_some_and(|document| {
            document.item(ONLY).key.is_some() && reading.holds(&document, ONLY)
        });
    match stays {
        true => Ok(Written::Inline(raw.to_owned())),
        false => Err(not_inline(key)),
    }
}

/// Whether `key` reads back in any look, so that no trial is needed: one lower-case word.
fn is_word(key: &str) -> bool {
    let inner = key.strip_prefix(|c: char| c.is_ascii_lowercase());
    inner.is_some_and(|rest| {
        !rest.ends_with('_') && rest.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    })
}

/// Whether `value` reads back as it is after a key, so that no trial is needed: one line without
/// a sign that means something in the middle of a line, and not in quotes as a whole.
fn is_plain(value: &str) -> bool {
    let harmless = |c: char| c.is_ascii_alphanumeric() || " .,:;/$()+%=-@_→·{}\"'?".contains(c);
    !value.is_empty()
        && !value.starts_with(['"', '\''])
        && value.trim() == value
        && value.chars().all(harmless)
}

fn checkbox_source(checkbox: Option<bool>) -> &'static str {
    match checkbox {
        None => "",
        Some(false) => "[ ] ",
        Some(true) => "[x] ",
    }
}

/// The item of a document that has no other.
const ONLY: ItemId = ItemId::first_of(SectionId::ROOT);

/// The document `source`, if it is one item and nothing else.
fn only_item(source: &str) -> Option<Document> {
    let document = Document::parse(source).ok()?;
    let whole = document.sections.len() == 1
        && document.body(document.root()).items.len() == 1
        && document.item(ONLY).span.end == line::trim_end(source, 0, source.len());
    whole.then_some(document)
}

fn check_nul(name: &str, text: &str) -> Result<(), EditError> {
    match text.contains('\0') {
        true => Err(EditError::ContainsNul { name: name.to_owned() }),
        false => Ok(()),
    }
}

fn not_inline(name: &str) -> EditError {
    EditError::NotInline { name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_plain_means_itself(value in r#"[a-c0-9 .,:;/$()+%=@_→·{}"'?-]{0,12}"#) {
            proptest::prop_assume!(is_plain(&value));
            let document = only_item(&format!("- **k**: {value}\n")).expect("one item");
            proptest::prop_assert_eq!(document.item(ONLY).key.as_deref(), Some("k"));
            proptest::prop_assert_eq!(document.value(ONLY), value);
        }
    }

    #[test]
    fn what_is_in_quotes_as_a_whole_is_tried() {
        for value in ["\"a\"", "'a'", "a*b", "a\nb", " a", ""] {
            assert!(!is_plain(value), "{value}");
        }
        assert!(is_plain("{\"rows\":1} · it's \"a\"?"));
    }
}
