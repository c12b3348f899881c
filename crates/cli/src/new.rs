//! `tippe new`: a commented scene to start from.

use crate::{Stop, say};
use std::path::PathBuf;

/// Arguments of `tippe new`.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the scene; writes NAME.toml
    name: String,
}

/// The starter scene, with `NAME` where its name goes.
const STARTER: &str = include_str!("../starter.toml");

/// Runs the command.
pub fn new(args: &Args) -> Result<(), Stop> {
    let name = args.name.trim_end_matches(".toml");
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if stem.is_empty() {
        return Err(Stop::Usage(format!("\"{}\" is not a name for a file", args.name)));
    }
    let path = PathBuf::from(format!("{name}.toml"));
    let title = stem.replace('\\', "\\\\").replace('"', "\\\"");
    // Never over an existing file, also when two commands race.
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).open(&path);
    let written =
        file.and_then(|mut file| std::io::Write::write_all(&mut file, STARTER.replace("NAME", &title).as_bytes()));
    match written {
        Ok(()) => {
            say(&format!("wrote {0}; try `tippe run {0}` and `tippe check {0}`", path.display()));
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Stop::Usage(format!("{} exists already. help: choose another name", path.display())))
        }
        Err(error) => Err(Stop::Resource(format!("cannot write {}: {error}", path.display()))),
    }
}
