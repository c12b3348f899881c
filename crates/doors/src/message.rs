//! What goes over the door of `tippe serve`, one layout for questions and answers, little endian, length first:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of all that follows |
//! | 1 | question: which call; answer: 0 all went well, 1 the first text says what did not |
//! | 4 | number of texts; of each its length (4) and its UTF-8 |
//! | 4 | number of numbers; each 8 bytes, IEEE 754 |

use std::io::{Error, ErrorKind, Read, Result, Write};

/// Longest message [bytes].
pub const LONGEST: usize = 64 << 20;

/// A question or an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Which call, or how it went.
    pub word: u8,
    /// Texts.
    pub texts: Vec<String>,
    /// Numbers.
    pub numbers: Vec<f64>,
}

/// A part of a message that is taken off its front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count).ok_or_else(|| wrong("it ends too early"))?;
    *bytes = rest;
    Ok(first)
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("this is no message: {what}"))
}

fn length(bytes: &mut &[u8]) -> Result<usize> {
    let four = take(bytes, 4)?;
    Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
}

impl Message {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0, 0, 0, 0, self.word];
        out.extend_from_slice(&(self.texts.len() as u32).to_le_bytes());
        for text in &self.texts {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(&(self.numbers.len() as u32).to_le_bytes());
        self.numbers.iter().for_each(|own| out.extend_from_slice(&own.to_le_bytes()));
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Of the bytes behind the length.
    pub fn of(mut bytes: &[u8]) -> Result<Message> {
        let bytes = &mut bytes;
        let word = take(bytes, 1)?[0];
        let mut texts = Vec::new();
        for _ in 0..length(bytes)? {
            let long = length(bytes)?;
            let text = String::from_utf8(take(bytes, long)?.to_vec()).map_err(|_| wrong("a text is not UTF-8"))?;
            texts.push(text);
        }
        let count = length(bytes)?;
        let numbers = take(bytes, count.checked_mul(8).ok_or_else(|| wrong("too many numbers"))?)?;
        let numbers = numbers.as_chunks::<8>().0.iter().map(|own| f64::from_le_bytes(*own)).collect();
        if bytes.is_empty() { Ok(Message { word, texts, numbers }) } else { Err(wrong("it goes on behind its end")) }
    }

    /// Writes it.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        to.write_all(&self.bytes())
    }

    /// Reads one of at most so many bytes.
    pub fn read(from: &mut impl Read, longest: usize) -> Result<Message> {
        let mut four = [0; 4];
        from.read_exact(&mut four)?;
        let length = u32::from_le_bytes(four) as usize;
        if length > longest {
            return Err(wrong(&format!("{length} bytes long")));
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        Message::of(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let own = Message { word: 7, texts: vec![String::new(), "ä".to_owned()], numbers: vec![0.1, f64::INFINITY] };
        let mut bytes = own.bytes();
        assert_eq!(Message::read(&mut bytes.as_slice(), LONGEST).unwrap(), own);
        assert!(Message::read(&mut bytes.as_slice(), 8).is_err());
        for cut in 0..bytes.len() {
            assert!(Message::read(&mut &bytes[..cut], LONGEST).is_err(), "{cut}");
        }
        bytes[5] = 200;
        assert!(Message::read(&mut bytes.as_slice(), LONGEST).is_err());
    }
}
