//! Any state file, workflow or checklist can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| statedir::fuzzing::state_file(text));
