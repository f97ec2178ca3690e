//! Recognises praise and complaints in a user's message.

/// The user's sentiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sentiment {
    /// Content.
    Positive,
    /// Not content.
    Negative,
}

/// Phrases of praise, matched as whole words without regard to letter case.
const PRAISE: [&str; 12] = [
    "thanks", "thank you", "perfect", "excellent", "awesome", "well done", "good job", "great job",
    "good work", "great work", "nice work", "love it",
];

/// Phrases of complaint about an answer. Words that often describe a task, such as `wrong` or
/// `broken`, are not among them.
const COMPLAINTS: [&str; 12] = [
    "that is wrong", "that's wrong", "this is wrong", "not what i asked", "not what i wanted",
    "not what i meant", "you broke", "this is useless", "i am frustrated", "i'm frustrated",
    "so frustrating", "disappointing",
];

/// Phrases that negate praise.
const NEGATIONS: [&str; 4] = ["no thanks", "no thank you", "not perfect", "thanks but"];

impl Sentiment {
    /// The word for it in events.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
        }
    }

    /// The sentiment of a message; `None` if it is mixed or absent.
    pub(crate) fn recognise(message: &str) -> Option<Self> {
        let words: Vec<String> = message
            .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
            .filter(|word| !word.is_empty())
            .map(|word| word.to_lowercase().replace('’', "'"))
            .collect();
        let text = format!(" {} ", words.join(" "));
        let says = |list: &[&str]| list.iter().any(|said| text.contains(&format!(" {said} ")));
        match (says(&PRAISE), says(&COMPLAINTS)) {
            (true, false) if !says(&NEGATIONS) => Some(Self::Positive),
            (false, true) => Some(Self::Negative),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_recognised() {
        for text in ["Thanks!", "That is PERFECT.", "well done, go on", "Great job — ship it"] {
            assert_eq!(Sentiment::recognise(text), Some(Sentiment::Positive), "{text}");
        }
        for text in ["That’s wrong", "this is not what I asked for", "You broke the build."] {
            assert_eq!(Sentiment::recognise(text), Some(Sentiment::Negative), "{text}");
        }
    }

    #[test]
    fn a_task_is_no_feedback() {
        for text in [
            "",
            "Fix the wrong date",
            "the login is broken",
            "imperfect",
            "no thanks",
            "thanks, but that is wrong",
            "make it excellently fast",
            "Say thankyou to finance",
        ] {
            assert_eq!(Sentiment::recognise(text), None, "{text}");
        }
    }
}
