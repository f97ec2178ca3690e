//! Whatever the operation log and history.md hold, reading them ends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    statedir::fuzzing::operation_log(bytes);
    statedir::fuzzing::history(bytes);
});
