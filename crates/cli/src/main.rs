//! The `tippe` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tippe_cli::main(std::env::args_os()))
}
