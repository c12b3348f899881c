//! The `tippe` command.
mod figure;
fn main() {}
