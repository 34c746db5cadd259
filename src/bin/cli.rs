//! The console tool.
fn main() {}
