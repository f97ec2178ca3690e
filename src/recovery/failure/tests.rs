//! Texts as tools print them, and texts that only look alike.

use proptest::prelude::*;

use super::{ErrorClass::*, pattern::shape, *};

#[test]
fn errors_are_classified_by_their_words() {
    let table = [
        (Timeout, "Request timed out after 30s"),
        (Timeout, "timeout"),
        (Timeout, "TimeoutError: page.goto: Timeout 30000ms exceeded"),
        (Timeout, "connect ETIMEDOUT 10.0.0.1:443"),
        (Timeout, "context deadline exceeded"),
        (Timeout, "3 timeouts in a row"),
        (Timeout, "network timeout"),
        (Timeout, "HTTP 504"),
        (Timeout, "upstream answered with status 408"),
        (Network, "connect ECONNREFUSED 127.0.0.1:5432"),
        (Network, "getaddrinfo ENOTFOUND example.test"),
        (Network, "Network error"),
        (Network, "curl: (6) Could not resolve host: example.test"),
        (Network, "HTTP/1.1 503 Service Unavailable"),
        (Network, "the server returned 502"),
        (Network, "error 500: try later"),
        (Network, "host not found"),
        (Network, "requests.exceptions.ConnectionError: Connection reset by peer"),
        (Authentication, "Authentication failed for user ada"),
        (Authentication, "401"),
        (Authentication, "HTTP 401 Unauthorized"),
        (Authentication, "AuthenticationError: invalid x-api-key"),
        (Authentication, "Permission denied (publickey)."),
        (Authentication, "the token has expired"),
        (RateLimit, "Rate limit exceeded"),
        (RateLimit, "openai.RateLimitError: Error code: 429"),
        (RateLimit, "HTTP 403: API rate limit exceeded for 1.2.3.4"),
        (RateLimit, "ThrottlingException: Rate exceeded"),
        (RateLimit, "429 Too Many Requests"),
        (Permission, "permission denied: /etc/shadow"),
        (Permission, "PermissionError: [Errno 13] Permission denied: 'x'"),
        (Permission, "EACCES: cannot open"),
        (Permission, "status code: 403"),
        (Permission, "User is not authorized to perform s3:GetObject"),
        (NotFound, "FileNotFoundError: [Errno 2] No such file or directory: 'a.txt'"),
        (NotFound, "bash: cargo: command not found"),
        (NotFound, "ENOENT: x"),
        (NotFound, "GET /page returned 404"),
        (NotFound, "404: page"),
        (NotFound, "ModuleNotFoundError: No module named 'yaml'"),
        (ExecutionError, "assertion failed: left == right"),
        (ExecutionError, "test_create_task failed: expected 201 got 422"),
        (ExecutionError, "thread 'main' panicked at src/main.rs:401:9"),
        (ExecutionError, "something odd happened"),
        (ExecutionError, "process exited with exit code 1"),
        (ExecutionError, "HTTP 501"),
        (Unknown, ""),
        (Unknown, "  \n"),
        (Unknown, "unknown error"),
        (Unknown, "N/A"),
    ];
    for (class, text) in table {
        let failure = classify(text);
        assert_eq!(failure.class, class, "{text:?} because of {:?}", failure.because);
        assert_eq!(failure.recoverable, matches!(class, Timeout | Network | RateLimit), "{text}");
    }
}

#[test]
fn words_that_only_contain_or_resemble_others_do_not_count() {
    let table = [
        (Authentication, "the file was authored by Bob"),
        (Authentication, "authoritative answer differs"),
        (NotFound, "404 tests passed, 1 failed"),
        (NotFound, "404 assertions ran; got 404 rows instead of 405"),
        (NotFound, "panicked at lib.rs:404"),
        (NotFound, "1,404 records were wrong"),
        (NotFound, "took 404ms"),
        (NotFound, "exit status 404"),
        (NotFound, "expected 404 rows"),
        (Permission, "403 of 500 cases are green"),
        (Timeout, "invalid value for --timeout: abc"),
        (Timeout, "the timeout option must be a number"),
        (Timeout, "timeout_ms is not a number"),
        (Timeout, "timeout=30 was ignored, then it crashed"),
        (Timeout, "there was no timeout, but the output is wrong"),
        (Timeout, "runtime output differs"),
        (RateLimit, "the corporate limitation differs"),
        (RateLimit, "disk quota exceeded"),
        (RateLimit, "rate limiter unit test failed"),
        (Network, "neural networking paper is wrong"),
        (Permission, "permissioned ledger is wrong"),
        // The subject of the work, and not what went wrong.
        (Authentication, "login still broken"),
        (Authentication, "the login page renders twice"),
        (Authentication, "password strength meter shows the wrong colour"),
        (Authentication, "the auth module does not compile"),
        (Network, "network graph layout"),
        (Network, "socket example does not compile"),
        (Permission, "the permissions table has 3 rows, expected 4"),
        (RateLimit, "quota page shows two headings"),
        (Timeout, "the deadline column is one day off"),
    ];
    for (class, text) in table {
        let failure = classify(text);
        assert_ne!(failure.class, class, "{text:?} because of {:?}", failure.because);
    }
}

#[test]
fn the_words_that_decided_are_named_as_written() {
    assert_eq!(classify("Connect: Timed Out (HTTP 504)").because, ["Timed Out", "504"]);
    assert_eq!(classify("FileNotFoundError").because, ["NotFound"]);
    assert!(classify("something odd").because.is_empty());
}

#[test]
fn the_wait_doubles_and_a_named_wait_is_kept() {
    let timeout = classify("timed out");
    let waits: Vec<u64> = (2..6).map(|attempt| timeout.backoff_ms(attempt)).collect();
    assert_eq!(waits, [2_000, 4_000, 8_000, 16_000]);
    assert_eq!(timeout.backoff_ms(u32::MAX), 300_000);
    for (text, wait) in [
        ("rate limit: retry after 45 seconds", Some(45_000)),
        ("429 Too Many Requests. Retry-After: 30", Some(30_000)),
        ("rate limited, try again in 2m", Some(120_000)),
        ("rate limit, please try again in 1.5s", Some(2_000)),
        ("rate limit, retry after 99999999999999999999", None),
        ("rate limit, retry after lunch", None),
    ] {
        assert_eq!(classify(text).retry_after_ms, wait, "{text}");
    }
    assert_eq!(classify("rate limit: retry after 45s").backoff_ms(2), 45_000);
    assert_eq!(classify("assertion failed, retry after 45s").backoff_ms(2), 0);
}

#[test]
fn errors_of_one_cause_have_one_shape() {
    assert_eq!(shape("timeout after 30s"), shape("timeout after 7s"));
    assert_eq!(shape("cannot open /a/b: no"), shape("cannot open /c/d/e: no"));
    assert_eq!(shape("job 5f3a9c10-aa (x) lost"), shape("job 00ffab12-3 (x) lost"));
    assert_ne!(shape("cannot open a"), shape("cannot open b"));
    assert_eq!(shape(""), "");
}

fn attempt(step: &str, error: &str) -> Attempt {
    let failed = !error.is_empty();
    Attempt { step: step.to_owned(), failed, error: error.to_owned(), class: None }
}

#[test]
fn repetitions_are_found() {
    let row = [
        attempt("a", "timeout after 1s"),
        attempt("a", ""),
        attempt("a", "timeout after 2s"),
        attempt("a", ""),
        attempt("b", "connection timed out"),
        attempt("c", "timeout after 9s"),
    ];
    let found = patterns(&row);
    let of = |kind| found.iter().find(|pattern| pattern.kind == kind).unwrap();
    assert_eq!(
        (of(PatternKind::SameClass).what.as_str(), of(PatternKind::SameClass).count),
        ("timeout", 2)
    );
    assert_eq!(of(PatternKind::SameClass).steps, ["b", "c"]);
    assert_eq!(of(PatternKind::SameMessage).count, 3);
    assert_eq!(of(PatternKind::SameMessage).steps, ["a", "c"]);
    assert_eq!(
        (of(PatternKind::Alternating).what.as_str(), of(PatternKind::Alternating).count),
        ("a", 3)
    );
    assert!(patterns(&row[..2]).is_empty());
    assert!(patterns(&[]).is_empty());
}

proptest! {
    #[test]
    fn any_text_is_classified_and_its_words_are_its_own(text in "\\PC{0,300}|[ -~\\n]{0,300}") {
        let failure = classify(&text);
        for word in &failure.because {
            prop_assert!(text.contains(word.as_str()));
        }
        prop_assert_eq!(ErrorClass::parse(failure.class.word()), Some(failure.class));
        let _ = shape(&text);
    }

    #[test]
    fn letters_around_a_word_make_it_another(before in "[a-z]{1,5}", word in "timeout|forbidden|enoent") {
        let text = format!("{before}{word}");
        prop_assert_eq!(classify(&text).class, ExecutionError);
    }
}

#[test]
fn names_are_not_events_and_both_ends_of_a_long_text_count() {
    for (text, class) in [
        ("test_network_config failed: expected 3 got 4", ExecutionError),
        ("network_config is invalid", ExecutionError),
        ("network_error while fetching", Network),
        ("ERR_NETWORK_CHANGED", Network),
        ("connect_timeout", Timeout),
        ("too many timeouts", Timeout),
    ] {
        assert_eq!(classify(text).class, class, "{text}");
    }
    assert_ne!(classify("the timeouts table is missing a column").class, Timeout);
    for filler in ["x", "é", "€"] {
        let long = filler.repeat(100_000);
        assert_eq!(classify(&format!("{long} timeout")).class, Timeout);
        assert_eq!(classify(&format!("timeout {long}")).class, Timeout);
    }
}
