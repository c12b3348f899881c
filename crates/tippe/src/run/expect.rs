//! What a scene expects of its run, and whether it was met.

use super::{Expression, NoAnswer, Recording, Subjects, Wanted, marks};
use crate::model::Model;
use crate::observe::Mark;
use crate::scene::{Clock, Expect, ExpectClock, Scene, SceneError};

/// The runs that expectations are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// One run with this clock.
    One(Clock),
    /// A run with each clock, compared ([`crate::run::compare`]).
    Compared,
}

/// Expectations that the same runs can answer: same clock, parameters, tolerance and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Which runs.
    pub runs: Runs,
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
        let runs = match expect.clock {
            _ if compares(scene, expect) => vec![Runs::Compared],
            None => vec![Runs::One(scene.run.clock)],
            Some(ExpectClock::Precise) => vec![Runs::One(Clock::Precise)],
            Some(ExpectClock::Realtime) => vec![Runs::One(Clock::Realtime)],
            Some(ExpectClock::Granular) => vec![Runs::One(Clock::Granular)],
            Some(ExpectClock::Both) => vec![Runs::One(Clock::Precise), Runs::One(Clock::Realtime)],
        };
        for runs in runs {
            let same = |case: &&mut Case| {
                (case.runs, case.tolerance, case.until) == (runs, expect.tolerance, expect.until)
                    && case.with == expect.with
            };
            match cases.iter_mut().find(same) {
                Some(case) => case.expects.push(k),
                None => cases.push(Case {
                    runs,
                    with: expect.with.clone(),
                    tolerance: expect.tolerance,
                    until: expect.until,
                    expects: vec![k],
                }),
            }
        }
    }
    cases
}

/// True if an expectation is about the difference of the two clocks: its value has a name that begins with `compare.`
fn compares(scene: &Scene, expect: &Expect) -> bool {
    let text = &expect.value.text;
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c));
    text.match_indices("compare.").any(|(at, _)| begins(at)) && !scene.bodies.iter().any(|body| body.name == "compare")
}

/// The questions of one case, read and checked before its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Questions {
    expressions: Vec<Expression>,
    expects: Vec<Expect>,
    subjects: Subjects,
    /// Between steps of one length there is nothing: values there are interpolated.
    between: bool,
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
    /// Reads the expectations of a case of a scene (loaded with the parameters of that case).
    pub fn read(scene: &Scene, case: &Case, subjects: &Subjects) -> Result<Questions, Vec<SceneError>> {
        let between = matches!(case.runs, Runs::One(Clock::Realtime | Clock::Granular));
        let (subjects, expressions, expects) = (subjects.clone(), Vec::new(), Vec::new());
        let mut questions = Questions { expressions, expects, subjects, between };
        let mut errors = Vec::new();
        for expect in case.expects.iter().filter_map(|&k| scene.expects.get(k)) {
            match Expression::parse(&expect.value.text, &questions.subjects) {
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

    /// What the run should record where it is largest or smallest, or crosses a level.
    pub fn marks(&self, model: &Model) -> Vec<Mark> {
        marks::marks(marks::asked(&self.expressions), model)
    }

    /// An empty recording of what the questions are about.
    pub fn recording(&self) -> Recording {
        let mut wanted = Wanted::none(&self.subjects);
        self.expressions.iter().for_each(|expression| expression.mark(&mut wanted));
        let mut recording = Recording::only(self.subjects.clone(), wanted);
        recording.asked = marks::asked(&self.expressions).into_iter().map(|(node, _)| (node, Vec::new())).collect();
        recording
    }

    /// Asks all questions.
    pub fn judge(&self, recording: &Recording) -> Vec<Verdict> {
        let asked = self.expressions.iter().zip(&self.expects);
        asked.map(|(expression, expect)| judge(expect, self.answer(expression, expect.at, recording))).collect()
    }

    fn answer(&self, expression: &Expression, at: Option<f64>, recording: &Recording) -> Result<f64, NoAnswer> {
        match (expression.value(recording, at), at) {
            (Err(NoAnswer::NoSample { .. }), Some(time)) if self.between => expression.between(recording, time),
            (answer, _) => answer,
        }
    }
}

fn judge(expect: &Expect, answer: Result<f64, NoAnswer>) -> Verdict {
    let value = answer.map_err(|error| error.to_string());
    let x = *value.as_ref().unwrap_or(&f64::NAN);
    let mut difference = if value.is_ok() { 0.0 } else { f64::NAN };
    let mut pass = value.is_ok();
    if let Some(is) = expect.is {
        let within = expect.within.unwrap_or(0.0);
        difference = x - is;
        pass &= difference.abs() <= if expect.relative { within * is.abs() } else { within };
    }
    if let Some(below) = expect.below {
        pass &= x < below;
        difference = if expect.is.is_some() { difference } else { (x - below).max(0.0) };
    }
    if let Some(above) = expect.above {
        pass &= x > above;
        difference = if expect.is.is_some() { difference } else { difference + (x - above).min(0.0) };
    }
    Verdict {
        question: expect.value.text.clone(),
        at: expect.at,
        value,
        expected: expect.expected(),
        difference,
        pass,
        source: expect.source.clone(),
    }
}
