#![no_main]

#[path = "../../support/indices.rs"]
mod indices;
#[allow(dead_code, reason = "each binary runs one target")]
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::pk3(bytes));
