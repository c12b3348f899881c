//! What goes between the program and the process of a unit: little endian, lengths first.

use std::io::{Error, ErrorKind, Read, Result, Write};

/// Longest list in a message.
const MOST: u32 = 10_000_000;

/// What can be asked of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ask {
    /// Tolerance (NaN for none) and start; the unit is initialised until [`Ask::Begin`].
    Prepare,
    /// The initialisation ends.
    Begin,
    /// Values of variables.
    Get,
    /// Gives variables values.
    Set,
    /// A step from a time by a length: reached time, event, early.
    Step,
    /// Time and states; rates, then indicators.
    Evaluate,
    /// Time, states and inputs; rates, indicators, then outputs. References of inputs, then of outputs.
    Look,
    /// The states.
    States,
    /// Their nominal values.
    Nominals,
    /// A step of the integrator is accepted at a time with states: an event is wanted, the end is wanted.
    Completed,
    /// An event at a time with states: states changed, next known, next; then the states.
    Event,
    /// A state to go back to: its number.
    Save,
    /// Goes back to the state of this number.
    Restore,
    /// No more.
    Terminate,
}

impl Ask {
    const ALL: [Ask; 14] = [
        Ask::Prepare,
        Ask::Begin,
        Ask::Get,
        Ask::Set,
        Ask::Step,
        Ask::Evaluate,
        Ask::Look,
        Ask::States,
        Ask::Nominals,
        Ask::Completed,
        Ask::Event,
        Ask::Save,
        Ask::Restore,
        Ask::Terminate,
    ];
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What.
    pub ask: Ask,
    /// Value references.
    pub references: Vec<u32>,
    /// Numbers.
    pub values: Vec<f64>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What went wrong: the function and what it said; empty if nothing did.
    pub error: String,
    /// Numbers.
    pub values: Vec<f64>,
}

fn count(from: &mut impl Read) -> Result<usize> {
    let mut four = [0; 4];
    from.read_exact(&mut four)?;
    match u32::from_le_bytes(four) {
        n if n <= MOST => Ok(n as usize),
        n => Err(Error::new(ErrorKind::InvalidData, format!("a list of {n} numbers"))),
    }
}

fn numbers(from: &mut impl Read) -> Result<Vec<f64>> {
    let mut bytes = vec![0; 8 * count(from)?];
    from.read_exact(&mut bytes)?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|own| f64::from_le_bytes(*own)).collect())
}

fn put_numbers(values: &[f64], out: &mut Vec<u8>) {
    out.extend_from_slice(&(values.len() as u32).to_le_bytes());
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Writes a text.
pub fn write_text(text: &str, to: &mut impl Write) -> Result<()> {
    let mut out = (text.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(text.as_bytes());
    to.write_all(&out)
}

/// Reads a text.
pub fn read_text(from: &mut impl Read) -> Result<String> {
    let mut bytes = vec![0; count(from)?];
    from.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Request {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![self.ask as u8];
        out.extend_from_slice(&(self.references.len() as u32).to_le_bytes());
        self.references.iter().for_each(|own| out.extend_from_slice(&own.to_le_bytes()));
        put_numbers(&self.values, &mut out);
        out
    }

    /// Reads one.
    pub fn read(from: &mut impl Read) -> Result<Request> {
        let mut first = [0];
        from.read_exact(&mut first)?;
        let ask = Ask::ALL.get(usize::from(first[0])).copied();
        let ask = ask.ok_or_else(|| Error::new(ErrorKind::InvalidData, "an unknown question"))?;
        let mut bytes = vec![0; 4 * count(from)?];
        from.read_exact(&mut bytes)?;
        let references = bytes.as_chunks::<4>().0.iter().map(|own| u32::from_le_bytes(*own)).collect();
        Ok(Request { ask, references, values: numbers(from)? })
    }
}

impl Reply {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = (self.error.len() as u32).to_le_bytes().to_vec();
        out.extend_from_slice(self.error.as_bytes());
        put_numbers(&self.values, &mut out);
        out
    }

    /// Reads one.
    pub fn read(from: &mut impl Read) -> Result<Reply> {
        Ok(Reply { error: read_text(from)?, values: numbers(from)? })
    }
}
