//! A JSON value whose scalars keep the text they are written with.

use std::fmt::Write as _;

use serde_json::Value;

use super::JsonDocument;
use super::scan::{number, quote, unescape};
use super::tree::{Kind, NodeId, Tree};

/// A value taken out of its document: white space is gone, the spelling of scalars is not.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A string, number, boolean or null, as written.
    Scalar(String),
    /// An array.
    Array(Vec<Literal>),
    /// An object; its members in their order.
    Object(Vec<(String, Literal)>),
}

impl JsonDocument {
    /// The whole document as a literal.
    pub fn literal(&self) -> Literal {
        let tree = self.tree();
        read(tree, tree.root())
    }
}

impl Literal {
    /// A string.
    pub fn string(text: &str) -> Self {
        Self::Scalar(quote(text))
    }

    /// The member `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// What it means.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| (key.clone(), value.to_value());
                Value::Object(members.iter().map(member).collect())
            }
            Self::Scalar(text) => match text.bytes().next().map(Kind::of) {
                Some(Kind::String) => Value::String(unescape(text).into_owned()),
                Some(Kind::Bool) => Value::Bool(text == "true"),
                Some(Kind::Number) => number(text),
                _ => Value::Null,
            },
        }
    }

    /// The number as written, if it is one.
    pub fn as_number(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// JSON on one line.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    let _ = write!(out, "{comma}{}: ", quote(key));
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn read(tree: &Tree, node: NodeId) -> Literal {
    match tree.kind(node) {
        Kind::Object => {
            let member = |child| (tree.key(child).into_owned(), read(tree, child));
            Literal::Object(tree.children(node).map(member).collect())
        }
        Kind::Array => Literal::Array(tree.children(node).map(|child| read(tree, child)).collect()),
        _ => Literal::Scalar(tree.raw(node).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keep_their_spelling_and_their_meaning() {
        let source = r#"{"a": [1.10, "\u00e9", true], "b": {"c": null}}"#;
        let document = JsonDocument::parse(source).unwrap();
        let literal = document.literal();
        assert_eq!(literal.to_text(), source);
        assert_eq!(literal.to_value(), document.to_value());
        assert_eq!(
            literal.get("b").and_then(|b| b.get("c")),
            Some(&Literal::Scalar("null".into()))
        );
    }
}
