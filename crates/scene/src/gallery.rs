//! The scenes that come with the program, by name.

use super::{Place, SceneError, SceneErrors, did_you_mean};

// `SCENES: &[(&str, &str)]`, name and text of every scenes/**/*.toml, sorted by name; written by build.rs.
include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// Name and text of every scene that comes with the program, sorted by name.
pub fn gallery() -> &'static [(&'static str, &'static str)] {
    SCENES
}

/// A scene of the gallery, or what to try instead.
pub(super) fn find(name: &str) -> Result<(&'static str, &'static str), SceneErrors> {
    if let Some(scene) = SCENES.iter().find(|(known, _)| *known == name) {
        return Ok(*scene);
    }
    let looks_like_a_file = name.contains(['/', '\\']) || name.ends_with(".toml") || name.ends_with(".json");
    let message = if looks_like_a_file {
        format!("there is no file {name}")
    } else {
        format!("there is no scene or file \"{name}\"")
    };
    let beside = [".toml", ".json"].map(|end| format!("{name}{end}"));
    if let Some(file) = beside.into_iter().find(|file| std::path::Path::new(file).is_file()) {
        let help = format!("did you mean the file {file}?");
        return Err(SceneError { file: String::new(), place: Place::default(), message, help }.into());
    }
    let stem = std::path::Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
    let mut help = did_you_mean(stem, SCENES.iter().map(|(known, _)| *known));
    if help.is_empty() {
        help = "`tippe list` shows the scenes that come with the program".into();
    }
    Err(SceneError { file: String::new(), place: Place::default(), message, help }.into())
}

/// A file that is there but cannot be read as text.
pub(super) fn unreadable(file: &str, error: &std::io::Error) -> SceneErrors {
    let help = if error.kind() == std::io::ErrorKind::InvalidData { "a scene is a text file in UTF-8" } else { "" };
    SceneError {
        file: file.into(),
        place: Place::default(),
        message: format!("cannot read it: {error}"),
        help: help.into(),
    }
    .into()
}
