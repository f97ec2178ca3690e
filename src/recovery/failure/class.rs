//! The classes of errors, and what each means for a second try.

use serde::Serialize;

/// What kind of error it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Something took too long.
    Timeout,
    /// Something could not be reached, or the far side broke down.
    Network,
    /// The far side does not know who is asking.
    Authentication,
    /// Too many requests in too short a time.
    RateLimit,
    /// It is known who asks, and it is not allowed.
    Permission,
    /// What was asked for is not there.
    NotFound,
    /// The work itself went wrong.
    ExecutionError,
    /// Nobody said what went wrong.
    Unknown,
}

/// The first wait before a second try, in milliseconds.
const FIRST_WAIT: u64 = 2_000;
/// The same when there were too many requests.
const FIRST_WAIT_RATE: u64 = 10_000;
/// The longest wait.
const LONGEST_WAIT: u64 = 300_000;

impl ErrorClass {
    /// Every class; of two with equally strong words, the first counts.
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::Network,
        Self::Authentication,
        Self::RateLimit,
        Self::Permission,
        Self::NotFound,
        Self::ExecutionError,
        Self::Unknown,
    ];

    /// The word for the class, such as `rate_limit`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Authentication => "authentication",
            Self::RateLimit => "rate_limit",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::ExecutionError => "execution_error",
            Self::Unknown => "unknown",
        }
    }

    /// The class in a sentence, such as `a network error`.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Timeout => "a timeout",
            Self::Network => "a network error",
            Self::Authentication => "a failed authentication",
            Self::RateLimit => "a rate limit",
            Self::Permission => "a missing permission",
            Self::NotFound => "something not found",
            Self::ExecutionError => "an execution error",
            Self::Unknown => "an unknown error",
        }
    }

    /// What to do before the next attempt, as an imperative.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Timeout => "allow more time or ask for less",
            Self::Network => "check that the far side can be reached",
            Self::Authentication => "get or renew the credentials",
            Self::RateLimit => "make fewer requests",
            Self::Permission => "get access, or choose a way that needs none",
            Self::NotFound => "check the name, or create what is missing",
            Self::ExecutionError => "find the cause and change something",
            Self::Unknown => "say what went wrong",
        }
    }

    /// The class that a word names.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.word().eq_ignore_ascii_case(word.trim()))
    }

    /// Whether the same attempt may succeed later without anything being changed.
    pub fn is_recoverable(self) -> bool {
        matches!(self, Self::Timeout | Self::Network | Self::RateLimit)
    }

    /// How long to wait before attempt `attempt`, in milliseconds: doubled each time, never more
    /// than five minutes; nothing for an error that waiting does not help.
    pub(crate) fn backoff_ms(self, attempt: u32) -> u64 {
        let first = match self {
            Self::RateLimit => FIRST_WAIT_RATE,
            class if class.is_recoverable() => FIRST_WAIT,
            _ => return 0,
        };
        let doublings = attempt.saturating_sub(2).min(20);
        (first << doublings).min(LONGEST_WAIT)
    }
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
