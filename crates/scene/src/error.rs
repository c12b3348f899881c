//! Where something stands in a scene file, and what is wrong with it.

use std::fmt;
use std::sync::Arc;

/// A spot in the scene's file: line and column, both from 1; column counts characters.
/// A scene built in a program has no file: line 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1; 0 where there is no file.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Where an entity of the scene and each of its fields were written.
///
/// Places are remarks, not content: two scenes that say the same in different places are equal, so `==` ignores them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Start of the entity.
    pub entity: Place,
    /// Value of each field that was written, by key; shared by the copies of a repeated entity.
    pub fields: Arc<[(&'static str, Place)]>,
}

impl Places {
    /// Where the field `key` was written; the entity's own place if it was left out.
    pub fn of(&self, key: &str) -> Place {
        self.fields.iter().find(|(name, _)| *name == key).map_or(self.entity, |(_, place)| *place)
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Places) -> bool {
        true
    }
}

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
