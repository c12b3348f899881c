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

/// The candidate a person most likely meant, if one is close enough to be worth saying.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.is_empty() || word.chars().count() > LONGEST {
        return None;
    }
    let allowed = (word.chars().count() / 3).max(1).min(word.chars().count() - 1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count() <= LONGEST)
        .map(|candidate| (edits(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Help text for a misspelt word: the closest candidate, or all of them while they fit on a line.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(best) = closest(word, candidates.clone()) {
        return format!("did you mean `{best}`?");
    }
    let all: Vec<&str> = candidates.into_iter().take(31).collect();
    if all.is_empty() || all.len() > 30 {
        return String::new();
    }
    format!("possible: {}", all.join(", "))
}

/// Number of single-character edits between two words, a swap of neighbours counting once.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let mut cost =
                (rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1])).min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = cost;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_or_absent() {
        let keys = ["mass", "material", "position", "orientation"];
        assert_eq!(closest("masss", keys), Some("mass"));
        assert_eq!(closest("Materail", keys), Some("material"));
        assert_eq!(closest("posiiton", keys), Some("position"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(did_you_mean("colour", keys), "possible: mass, material, position, orientation");
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }

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
