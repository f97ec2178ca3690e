//! Reading the operation log and history.md ends, whatever they contain.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    statedir::fuzzing::operation_log(bytes);
    statedir::fuzzing::history(bytes);
});
