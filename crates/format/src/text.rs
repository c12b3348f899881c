//! Words for people: numbers as they are written in messages, and what a misspelt word may have meant.

/// All digits, and no rows of zeros.
pub fn plain(x: f64) -> String {
    if x == 0.0 || (1e-4..1e9).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// The candidate a person most likely meant, if one is close enough to be worth saying.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.is_empty() || word.chars().count() > LONGEST {
        return None;
    }
    let allowed = (word.chars().count() / 3).max(1).min(word.chars().count() - 1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count() <= LONGEST)
        .map(|candidate| (edits(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Help text for a misspelt word: the closest candidate, or all of them while they fit on a line.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(best) = closest(word, candidates.clone()) {
        return format!("did you mean `{best}`?");
    }
    let mut all: Vec<&str> = Vec::new();
    // kinds of one class may share a key
    for word in candidates {
        if all.len() <= 40 && !all.contains(&word) {
            all.push(word);
        }
    }
    if all.is_empty() || all.len() > 40 {
        return String::new();
    }
    format!("possible: {}", all.join(", "))
}

/// Number of single-character edits between two words, a swap of neighbours counting once.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let mut cost =
                (rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1])).min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = cost;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_or_absent() {
        let keys = ["mass", "material", "position", "orientation"];
        assert_eq!(closest("masss", keys), Some("mass"));
        assert_eq!(closest("Materail", keys), Some("material"));
        assert_eq!(closest("posiiton", keys), Some("position"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(did_you_mean("colour", keys), "possible: mass, material, position, orientation");
        let twice = keys.into_iter().chain(["mass"]);
        assert_eq!(did_you_mean("colour", twice), "possible: mass, material, position, orientation");
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }
}
