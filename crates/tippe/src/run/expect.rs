//! What a scene expects of its run, and whether it was met.

use super::{Expression, Recording, Subjects, Wanted};
use crate::precise::plain;
use crate::scene::{Expect, Scene, SceneError};

/// Expectations that one run can answer: same parameters, tolerance and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Parameters to load the scene with.
    pub with: Vec<(String, String)>,
    /// Tolerance instead of the scene's [-].
    pub tolerance: Option<f64>,
    /// End of the run instead of the scene's [s].
    pub until: Option<f64>,
    /// Indices of the scene's expectations, in order.
    pub expects: Vec<usize>,
}

/// The runs a scene's expectations need, in the order of their first mention.
pub fn cases(scene: &Scene) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (k, expect) in scene.expects.iter().enumerate() {
        let same = |case: &&mut Case| {
            case.with == expect.with && (case.tolerance, case.until) == (expect.tolerance, expect.until)
        };
        match cases.iter_mut().find(same) {
            Some(case) => case.expects.push(k),
            None => cases.push(Case {
                with: expect.with.clone(),
                tolerance: expect.tolerance,
                until: expect.until,
                expects: vec![k],
            }),
        }
    }
    cases
}

/// The questions of one case, read and checked before its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Questions {
    expressions: Vec<Expression>,
    expects: Vec<Expect>,
    subjects: Subjects,
}

/// How one expectation went.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was asked.
    pub question: String,
    /// When [s]; `None` is the end of the run.
    pub at: Option<f64>,
    /// The answer, or why there is none.
    pub value: Result<f64, String>,
    /// What was expected, in words: `0.2041 within 1e-4`.
    pub expected: String,
    /// Distance to what was expected [unit of the value]; not a number if there is no answer.
    pub difference: f64,
    /// True if it was met.
    pub pass: bool,
    /// Where the expected number comes from.
    pub source: String,
}

impl Questions {
    /// Reads the expectations `which` of a scene (loaded with the parameters of their case).
    pub fn read(scene: &Scene, which: &[usize], subjects: &Subjects) -> Result<Questions, Vec<SceneError>> {
        let mut questions = Questions { expressions: Vec::new(), expects: Vec::new(), subjects: subjects.clone() };
        let mut errors = Vec::new();
        for expect in which.iter().filter_map(|&k| scene.expects.get(k)) {
            match Expression::parse(&expect.value.text, subjects) {
                Ok(expression) => {
                    questions.expressions.push(expression);
                    questions.expects.push(expect.clone());
                }
                Err(error) => {
                    let message = format!("in `{}`, column {}: {}", expect.value.text, error.column, error.message);
                    errors.push(scene.error(expect.places.of("value"), message, error.help));
                }
            }
        }
        if errors.is_empty() { Ok(questions) } else { Err(errors) }
    }

    /// Times at which the run must record [s], rising.
    pub fn times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.expects.iter().filter_map(|expect| expect.at).collect();
        times.extend(self.expressions.iter().flat_map(Expression::times));
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// An empty recording of what the questions are about.
    pub fn recording(&self) -> Recording {
        let mut wanted = Wanted::none(&self.subjects);
        self.expressions.iter().for_each(|expression| expression.mark(&mut wanted));
        Recording::only(self.subjects.clone(), wanted)
    }

    /// Asks all questions.
    pub fn judge(&self, recording: &Recording) -> Vec<Verdict> {
        let asked = self.expressions.iter().zip(&self.expects);
        asked.map(|(expression, expect)| judge(expect, expression, recording)).collect()
    }
}

fn judge(expect: &Expect, expression: &Expression, recording: &Recording) -> Verdict {
    let value = expression.value(recording, expect.at).map_err(|error| error.to_string());
    let x = *value.as_ref().unwrap_or(&f64::NAN);
    let mut words = Vec::new();
    let mut difference = if value.is_ok() { 0.0 } else { f64::NAN };
    let mut pass = value.is_ok();
    if let Some(is) = expect.is {
        let within = expect.within.unwrap_or(0.0);
        difference = x - is;
        pass &= difference.abs() <= if expect.relative { within * is.abs() } else { within };
        words.push(if expect.relative {
            format!("{} within {within:e} of it", plain(is))
        } else {
            format!("{} within {within:e}", plain(is))
        });
    }
    if let Some(below) = expect.below {
        pass &= x < below;
        difference = if expect.is.is_some() { difference } else { (x - below).max(0.0) };
        words.push(format!("below {}", plain(below)));
    }
    if let Some(above) = expect.above {
        pass &= x > above;
        difference = if expect.is.is_some() { difference } else { difference + (x - above).min(0.0) };
        words.push(format!("above {}", plain(above)));
    }
    Verdict {
        question: expect.value.text.clone(),
        at: expect.at,
        value,
        expected: words.join(", "),
        difference,
        pass,
        source: expect.source.clone(),
    }
}
