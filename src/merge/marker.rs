//! How a conflict is written where a value stands.
//!
//! ```text
//! - **status**: <<<<<<< ours "FAILED" ||||||| base "RUNNING" ======= theirs "COMPLETED" >>>>>>>
//! ```
//!
//! Each side is a JSON string with the text as it stood in the file, so that a value of several
//! lines stays one line, and one value to whoever reads the file. `-` stands for a side that has no
//! such field; `section` for the section that the marker stands in, when the other side removed it.
//! In variables.json the value becomes `{"<<<<<<< conflict": {"base": …, "ours": …, "theirs": …}}`.

/// What every marker begins with.
pub(super) const START: &str = "<<<<<<< ";

/// The key that makes an object of variables.json a conflict.
pub(super) const KEY: &str = "<<<<<<< conflict";

const OURS: &str = "<<<<<<< ours ";
const BASE: &str = " ||||||| base ";
const THEIRS: &str = " ======= theirs ";
const END: &str = " >>>>>>>";
const ABSENT: &str = "-";
const SECTION: &str = "section";

/// What one side says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// It has no such field.
    Absent,
    /// The text that stands there.
    Text(String),
    /// The section around the marker, as it is.
    Section,
}

/// A conflict in the place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) base: Version,
    pub(super) ours: Version,
    pub(super) theirs: Version,
}

impl Version {
    pub(super) fn of(text: Option<&str>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }

    /// The text for people; `None` when absent.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.clone()),
            Self::Section => Some("(the section as it is)".to_owned()),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Absent => ABSENT.to_owned(),
            Self::Section => SECTION.to_owned(),
            Self::Text(text) => {
                let text = text.replace("\r\n", "\n");
                let quoted = serde_json::Value::String(text).to_string();
                // Neither a comment nor another marker may begin inside of a marker.
                quoted.replace('<', "\\u003c").replace(">>>>>>>", "\\u003e>>>>>>")
            }
        }
    }

    fn read(text: &str) -> Option<(Self, &str)> {
        if let Some(rest) = text.strip_prefix(SECTION) {
            return Some((Self::Section, rest));
        }
        if !text.starts_with('"') {
            return text.strip_prefix(ABSENT).map(|rest| (Self::Absent, rest));
        }
        let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let value = strings.next()?.ok()?;
        Some((Self::Text(value), &text[strings.byte_offset()..]))
    }
}

impl Marker {
    /// The marker on one line.
    pub(super) fn write(&self) -> String {
        let (base, ours, theirs) = (self.base.write(), self.ours.write(), self.theirs.write());
        [OURS, &ours, BASE, &base, THEIRS, &theirs, END].concat()
    }

    /// Whether it is the section around it that one side removed.
    pub(super) fn is_about_section(&self) -> bool {
        self.ours == Version::Section || self.theirs == Version::Section
    }

    /// Reads a text that is a marker and nothing else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (ours, rest) = Version::read(text.trim().strip_prefix(OURS)?)?;
        let (base, rest) = Version::read(rest.strip_prefix(BASE)?)?;
        let (theirs, rest) = Version::read(rest.strip_prefix(THEIRS)?)?;
        (rest == END).then_some(Self { base, ours, theirs })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_marker_reads_back_on_one_line(ours in "(?s).{0,20}", theirs in "[\"\\\\<>|= \\n-]{0,20}") {
            let marker = Marker {
                base: Version::Absent,
                ours: Version::Text(ours.replace("\r\n", "\n")),
                theirs: Version::Text(theirs),
            };
            let text = marker.write();
            prop_assert!(!text.contains('\n') && !text.contains('\r'));
            prop_assert_eq!(text.matches(START).count(), 1);
            prop_assert_eq!(Marker::read(&text), Some(marker));
        }
    }

    #[test]
    fn other_text_is_no_marker() {
        for text in ["<<<<<<< HEAD", "<<<<<<< ours \"a\"", "x <<<<<<< ours - ||||||| base -"] {
            assert_eq!(Marker::read(text), None);
        }
    }
}
