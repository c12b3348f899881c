//! The `tippe` command.
fn main() {}
