//! A rule is refused at a place within its text, or means what its canonical form says.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| statedir::fuzzing::rule(text));
