//! What a scene expects of its runs.

use super::{Equation, ExpectClock, Places, text};

/// What a run must show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Expression over signals.
    pub value: Equation,
    /// When [s]; the end of the run if absent.
    pub at: Option<f64>,
    /// The value must be this [unit of the signal] ...
    pub is: Option<f64>,
    /// ... within this [unit of the signal, or - if relative].
    pub within: Option<f64>,
    /// True if `within` is a fraction of `is`.
    pub relative: bool,
    /// The value must be below this [unit of the signal].
    pub below: Option<f64>,
    /// The value must be above this [unit of the signal].
    pub above: Option<f64>,
    /// Where the number comes from; `regression` marks values of our own runs.
    pub source: String,
    /// Parameters to load the scene with for this expectation. Its own numbers are those of the scene so loaded.
    pub with: Vec<(String, String)>,
    /// Tolerance of the run instead of the scene's [-].
    pub tolerance: Option<f64>,
    /// End of the run instead of the scene's [s].
    pub until: Option<f64>,
    /// Whose run it is about; the scene's own clock if absent.
    pub clock: Option<ExpectClock>,
    /// Where things were written.
    pub places: Places,
}

impl Expect {
    /// What is expected, in words: `0.2041 within 1e-4`.
    pub fn expected(&self) -> String {
        let mut words = Vec::new();
        if let Some(is) = self.is {
            let of_it = if self.relative { " of it" } else { "" };
            words.push(format!("{} within {:e}{of_it}", text::plain(is), self.within.unwrap_or(0.0)));
        }
        words.extend(self.below.map(|below| format!("below {}", text::plain(below))));
        words.extend(self.above.map(|above| format!("above {}", text::plain(above))));
        words.join(", ")
    }
}
