//! Any line for the shell is judged, and that ends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| statedir::fuzzing::shell(text));
