//! Tables and numbers for people.

/// Lines of a table with aligned columns; columns marked `true` are numbers and stand to the right.
pub fn table(head: &[(&str, bool)], rows: &[Vec<String>]) -> String {
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count());
        cells.chain([head[k].0.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for ((cell, &(_, right)), &width) in cells.zip(head).zip(&widths) {
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            text += &if right { format!("{space}{cell}  ") } else { format!("{cell}{space}  ") };
        }
        text.trim_end().to_owned()
    };
    let mut lines = vec![line(&mut head.iter().map(|(name, _)| *name))];
    lines.push(widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>().join("  "));
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// A number with about six digits: plain where that is short, scientific elsewhere.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !x.is_finite() || !(1e-3..1e6).contains(&size) {
        format!("{x:.3e}")
    } else {
        let digits = if size >= 1000.0 {
            2
        } else if size >= 1.0 {
            5
        } else {
            7
        };
        let text = format!("{x:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// A number with all its digits.
pub fn exact(x: f64) -> String {
    if x == 0.0 || (1e-4..1e9).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// A count with its thousands apart.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A duration: `12.3 ms`, `4.56 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} us", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 120.0 {
        format!("{seconds:.2} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0)
    } else {
        format!("{:.0} h {:02.0} min", (seconds / 3600.0).floor(), (seconds % 3600.0) / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable() {
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(-1.5e-9), "-1.500e-9");
        assert_eq!(number(123.456789), "123.45679");
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(count(12), "12");
        assert_eq!(duration(0.0123), "12.3 ms");
        assert_eq!(duration(200.0), "3 min 20 s");
        let text = table(&[("name", false), ("n", true)], &[vec!["a".to_owned(), "10".to_owned()]]);
        assert_eq!(text, "name   n\n----  --\na     10");
    }
}
