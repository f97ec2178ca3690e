//! The laws of merging hold for any three versions.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| statedir::fuzzing::merge(text));
