//! Text to tokens.

use super::EquationError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// Operators and brackets; `and`, `or`, `not` are written as their signs.
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 17] = ["<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "!"];

/// All tokens with their byte offsets, an `End` last.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, EquationError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if letter.is_whitespace() {
            letter.len_utf8()
        } else if letter.is_ascii_digit() || (letter == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let length = number_length(rest);
            let value: f64 = rest[..length]
                .parse()
                .map_err(|_| EquationError::new(at, format!("{} is not a number", &rest[..length])))?;
            if !value.is_finite() {
                return Err(EquationError::new(at, format!("{} is too large for a number", &rest[..length])));
            }
            tokens.push((at, Token::Number(value)));
            length
        } else if letter.is_alphabetic() || letter == '_' {
            let length = name_length(rest);
            tokens.push((
                at,
                match &rest[..length] {
                    "and" => Token::Sign("&&"),
                    "or" => Token::Sign("||"),
                    "not" => Token::Sign("!"),
                    name => Token::Name(name),
                },
            ));
            length
        } else if rest.starts_with("**") {
            return Err(EquationError::new(at, "`**` is not an operator").help("powers are written `x^2`"));
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((at, Token::Sign(sign)));
            sign.len()
        } else if letter == '=' {
            return Err(EquationError::new(at, "`=` is not an operator").help("to compare write `==`"));
        } else {
            return Err(EquationError::new(at, format!("unexpected character {letter:?}")));
        };
        at += length;
    }
    tokens.push((text.len(), Token::End));
    Ok(tokens)
}

/// Length of the number at the start: digits, fraction, exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// Length of the name at the start: letters, digits, `_`, and dots followed by a letter (`ball.position.z`).
fn name_length(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let dot = letter == '.' && letters.peek().is_some_and(|(_, next)| next.is_alphabetic() || *next == '_');
        if !(dot || letter.is_alphanumeric() || letter == '_') {
            return at;
        }
    }
    text.len()
}
