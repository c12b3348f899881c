//! Where something stands in a scene file.

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
