//! Whatever a client sends, each line is a message, an answer, or nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| statedir::fuzzing::mcp_frames(bytes));
