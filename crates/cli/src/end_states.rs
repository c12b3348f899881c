//! Stored end states: the hash of the last state of every scene and clock, and what the runs cost in steps, evaluations and
//! factorisations. A change that must keep all bits shows here if it does not.

use crate::Stop;
use std::collections::BTreeMap;
use std::path::Path;
use tippe::Summary;
use tippe::scene::Clock;

const HEAD: &str = "\
# End states of the gallery on x86-64: scene, clock, hash of the last states of its runs, steps, evaluations of the
# right-hand side, factorisations. Written by `tippe check --end-states FILE --renew`.
";

/// All runs of a scene in one clock, in the order they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndState {
    hash: u64,
    steps: u64,
    evaluations: u64,
    factorisations: u64,
}

impl EndState {
    fn of(summary: &Summary) -> EndState {
        EndState {
            hash: summary.hash,
            steps: summary.steps,
            evaluations: summary.rhs_evaluations,
            factorisations: summary.solutions.factorisations,
        }
    }

    /// One more run; the order of the runs matters to the hash.
    fn then(self, run: EndState) -> EndState {
        EndState {
            hash: self.hash.rotate_left(1) ^ run.hash,
            steps: self.steps + run.steps,
            evaluations: self.evaluations + run.evaluations,
            factorisations: self.factorisations + run.factorisations,
        }
    }

    fn line(&self) -> String {
        format!("{:016x} {} {} {}", self.hash, self.steps, self.evaluations, self.factorisations)
    }
}

/// End states of one scene by the name of the clock.
#[derive(Default)]
pub struct EndStates(BTreeMap<&'static str, EndState>);

impl EndStates {
    /// Adds a run.
    pub fn add(&mut self, clock: Clock, summary: &Summary) {
        let run = EndState::of(summary);
        self.0.entry(clock.name()).and_modify(|all| *all = all.then(run)).or_insert(run);
    }
}

/// The file of end states: the rest of the line by scene and clock.
pub struct Stored(BTreeMap<(String, String), String>);

impl Stored {
    /// Reads the file; one that is to be written anew may be missing.
    pub fn read(path: &Path, renew: bool) -> Result<Stored, Stop> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if renew && error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Stop::Resource(format!("cannot read {}: {error}", path.display()))),
        };
        let mut stored = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.splitn(3, ' ');
            let (Some(scene), Some(clock), Some(rest)) = (words.next(), words.next(), words.next()) else {
                let text = format!("{}: \"{line}\" is not a scene, a clock, a hash and three counts", path.display());
                return Err(Stop::Resource(text));
            };
            stored.insert((scene.to_owned(), clock.to_owned()), rest.to_owned());
        }
        Ok(Stored(stored))
    }

    /// Replaces the lines of a scene.
    pub fn replace(&mut self, scene: &str, states: &EndStates) {
        self.0.retain(|(name, _), _| name != scene);
        self.0.extend(states.0.iter().map(|(clock, state)| ((scene.to_owned(), (*clock).to_owned()), state.line())));
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), Stop> {
        let lines = self.0.iter().map(|((scene, clock), rest)| format!("{scene} {clock} {rest}\n"));
        let text = HEAD.to_owned() + &lines.collect::<String>();
        std::fs::write(path, text).map_err(|error| Stop::Resource(format!("cannot write {}: {error}", path.display())))
    }

    /// In words, where the runs of a scene end otherwise than stored.
    pub fn differences(&self, scene: &str, states: &EndStates) -> Vec<String> {
        let compare = |(clock, state): (&&'static str, &EndState)| {
            let now = state.line();
            match self.0.get(&(scene.to_owned(), (*clock).to_owned())) {
                Some(stored) if *stored == now => None,
                Some(stored) => Some(format!("end state of the {clock} clock: {now}, stored is {stored}")),
                None => Some(format!("end state of the {clock} clock: {now}, none is stored")),
            }
        };
        states.0.iter().filter_map(compare).collect()
    }
}
