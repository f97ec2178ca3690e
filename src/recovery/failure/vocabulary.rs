//! The words and phrases of each class.

use super::ErrorClass::{
    self, Authentication, ExecutionError, Network, NotFound, Permission, RateLimit, Timeout,
};

/// How much a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Something went wrong, whatever it was.
    Any,
    /// The subject is named, but not that it failed.
    Hint,
    /// It says so.
    Plain,
}

use Strength::{Any, Hint, Plain};

/// A class, how much its phrases say, and the phrases: words apart by spaces, `|` between phrases.
pub(super) type Entry = (ErrorClass, Strength, &'static str);

pub(super) const VOCABULARY: &[Entry] = &[
    (
        Timeout,
        Plain,
        "timeout|timeouts|timed out|time out|times out|timing out|timedout|etimedout|etime\
         |deadline exceeded|deadline expired|deadline passed|time limit exceeded\
         |exceeded time limit|exceeded the time limit|exceeds the time limit|out of time\
         |took too long|no response within|did not respond|not responding|sigalrm",
    ),
    (Timeout, Hint, "deadline|time limit"),
    (
        Network,
        Plain,
        "network|econnrefused|econnreset|econnaborted|enetunreach|enetdown|ehostunreach|ehostdown\
         |enotfound|eai again|enotconn|epipe|connection refused|connection reset\
         |connection aborted|connection closed|connection lost|connection dropped\
         |connection error|connection failed|connection failure|connection was refused\
         |connection was reset|connection was closed|connection terminated|connect error\
         |could not connect|couldn t connect|cannot connect|can t connect|failed to connect\
         |unable to connect|host unreachable|host is unreachable|no route to host|unknown host\
         |host not found|name resolution|could not resolve host|couldn t resolve host\
         |getaddrinfo|name or service not known|nodename nor servname|broken pipe|socket hang up\
         |socket closed|socket error|service unavailable|temporarily unavailable|bad gateway\
         |internal server error|server error|tls handshake|ssl handshake|handshake failed\
         |fetch failed|no internet|upstream connect error",
    ),
    (Network, Hint, "dns|offline|unreachable|socket|proxy error|certificate verify failed"),
    (
        Authentication,
        Plain,
        "authentication|unauthenticated|unauthorized|unauthorised|not authenticated\
         |authenticate|auth failed|auth error|auth failure|authorization required\
         |not logged in|login failed|login required|log in failed|sign in required\
         |please log in|please login|invalid credentials|invalid credential|bad credentials\
         |wrong credentials|missing credentials|expired credentials|no credentials\
         |wrong password|incorrect password|invalid password|bad password|invalid api key\
         |invalid x api key|incorrect api key|wrong api key|missing api key|no api key\
         |api key is invalid|api key invalid|api key expired|api key not valid\
         |api key is missing|invalid token|invalid access token|bad token|token expired\
         |token has expired|token is expired|expired token|token is invalid|token invalid\
         |token revoked|invalid jwt|jwt expired|session expired|session has expired\
         |permission denied publickey",
    ),
    (Authentication, Hint, "credential|credentials|password|login|api key|authorization|auth"),
    (
        RateLimit,
        Plain,
        "rate limit|rate limits|rate limited|rate limiting|ratelimit|ratelimited|rate exceeded\
         |too many requests|quota exceeded|quota has been exceeded|exceeded quota\
         |exceeded your quota|exceeded your current quota|exceeded the quota|insufficient quota\
         |out of quota|throttled|throttling|throttle|usage limit|request limit\
         |requests per minute|requests per second|tokens per minute|overloaded|slow down",
    ),
    (RateLimit, Hint, "quota"),
    (
        Permission,
        Plain,
        "permission|permissions|access denied|access is denied|forbidden|eacces|eperm|erofs\
         |operation not permitted|not permitted|not authorized|not authorised\
         |insufficient privileges|insufficient privilege|insufficient scope\
         |insufficient rights|read only file system|must be root|requires root\
         |requires admin|privileges required",
    ),
    (Permission, Hint, "not allowed|privilege|privileges|read only|sudo"),
    (
        NotFound,
        Plain,
        "not found|notfound|no such|does not exist|do not exist|did not exist|doesn t exist\
         |don t exist|could not find|couldn t find|cannot find|can t find|can not find\
         |unable to find|unable to locate|failed to find|could not locate|couldn t locate\
         |cannot locate|enoent|nonexistent|non existent|no module named|cannot be found\
         |could not be found|can t be found|file is missing|file missing|missing file",
    ),
    (NotFound, Hint, "missing|unresolved"),
    (
        ExecutionError,
        Any,
        "error|errors|failed|failure|failures|fail|fails|failing|exception|panic|panicked\
         |crash|crashed|traceback|abort|aborted|exit code|exit status|exited|segmentation fault\
         |sigsegv|sigkill|sigabrt|killed|oom|out of memory|no space left|enospc|assertion\
         |assert|overflow|invalid|unexpected|expected|mismatch|broken|wrong|undefined|cannot\
         |could not|refused|rejected|conflict|corrupt|corrupted|denied|unable",
    ),
];

/// Words after which a phrase of a class says the opposite, or means something else.
pub(super) fn is_denied(class: ErrorClass, first: &str, before: &[&str]) -> bool {
    let previous = before.last().copied().unwrap_or_default();
    let second = before.len().checked_sub(2).map_or("", |at| before[at]);
    let denies = |word: &str| matches!(word, "no" | "not" | "without" | "zero" | "0" | "never");
    let article = matches!(previous, "a" | "any" | "the" | "to" | "due");
    match class {
        Timeout | RateLimit if first != "no" && first != "not" && first != "did" => {
            denies(previous)
                || (article && denies(second))
                || (class == RateLimit && previous == "disk")
        }
        // "no errors", "0 failed".
        ExecutionError => denies(previous) && matches!(first, "error" | "errors" | "failed"),
        _ => false,
    }
}

/// Words behind `timeout` that make it the name of a setting.
pub(super) const SETTING: [&str; 10] = [
    "option",
    "parameter",
    "setting",
    "argument",
    "flag",
    "value",
    "config",
    "must",
    "ms",
    "seconds",
];

/// Words behind `timeout` that make it the name of a thing.
pub(super) const THING: [&str; 10] = [
    "table", "column", "field", "module", "class", "function", "variable", "constant", "property",
    "key",
];
