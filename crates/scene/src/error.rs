//! Where something stands in a scene file, and what is wrong with it.

use std::fmt;

pub use tippe_format::place::{Place, Places};

/// One thing wrong with a scene, with its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SceneError {
    /// File, or another name for the source (`--set n=x`).
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong; no full stop at the end.
    pub message: String,
    /// What to do about it; empty if there is nothing to add.
    pub help: String,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
        match (self.file.is_empty(), line) {
            (true, 0) => {}
            (false, 0) => write!(f, "{}: ", self.file)?,
            (true, _) => write!(f, "{line}:{column}: ")?,
            (false, _) => write!(f, "{}:{line}:{column}: ", self.file)?,
        }
        f.write_str(&self.message)?;
        if !self.help.is_empty() {
            write!(f, ". help: {}", self.help)?;
        }
        Ok(())
    }
}

/// Everything wrong with a scene, in the order of the file. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SceneErrors(pub Vec<SceneError>);

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, error) in self.0.iter().enumerate() {
            if k > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl From<SceneError> for SceneErrors {
    fn from(error: SceneError) -> Self {
        SceneErrors(vec![error])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_one_line() {
        let error = SceneError {
            file: "billiards.toml".into(),
            place: Place { line: 14, column: 3 },
            message: "body \"cue\" has mass -0.2 kg; a mass is > 0".into(),
            help: "leave it out to compute it from shape and density".into(),
        };
        assert_eq!(
            error.to_string(),
            "billiards.toml:14:3: body \"cue\" has mass -0.2 kg; a mass is > 0. \
             help: leave it out to compute it from shape and density"
        );
    }
}
