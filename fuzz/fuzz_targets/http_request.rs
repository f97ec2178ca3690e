//! Whatever is sent to the page, it is refused or is a request for a known path.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| statedir::fuzzing::http_request(bytes));
