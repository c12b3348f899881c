//! Why a simulation stopped.

/// Why a simulation stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// When [s].
    pub time: f64,
    /// What kind of thing: `body`, `component`.
    pub kind: &'static str,
    /// Who.
    pub name: String,
    /// What, how much, what to try.
    pub what: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at t = {} s {} \"{}\" {}", tippe_scene::text::plain(self.time), self.kind, self.name, self.what)
    }
}

impl std::error::Error for Failure {}
