//! What is wrong with the points of a cable as it was written.

use super::MOST_POINTS;
use super::written::SPANS;
use tippe_format::part::Part;

/// What is wrong, and what to do.
pub type Wrong = (String, &'static str);

/// What is wrong with the points of a cable.
pub fn wrong(part: &Part) -> Result<(), Wrong> {
    let all = part.parts("points");
    if all.len() < 2 {
        return Err((format!(" has {} points", all.len()), "a cable has two ends at least"));
    }
    if all.len() > MOST_POINTS {
        let message = format!(" has {} points, more than {MOST_POINTS}", all.len());
        return Err((message, "cut it in two at an end on a body"));
    }
    for (k, point) in all.iter().enumerate() {
        let (at_end, number) = (k == 0 || k + 1 == all.len(), k + 1);
        bends(part, point, number)?;
        place(all, point, k, at_end)?;
        keys(part, point, number)?;
        let same = |other: &Part| {
            other.attachments("on") == point.attachments("on") && other.vector("at") == point.vector("at")
        };
        if k > 0 && point.kind.word != "feed" && same(&all[k - 1]) {
            return Err((format!(": its points {k} and {number} are one"), "let the cable run from place to place"));
        }
    }
    Ok(())
}

/// What only cables that bend have, or only those that pull.
fn bends(part: &Part, point: &Part, number: usize) -> Result<(), Wrong> {
    let flexible = part.word("spans") == SPANS[1];
    let over_wheels = |point: &Part| matches!(point.kind.word, "ring" | "pulley" | "sheave" | "drum");
    match point.kind.word {
        word @ ("free" | "via") if !flexible => {
            Err((format!(": its point {number} is {word}, and it has no bodies to be laid"), "spans = \"flexible\""))
        }
        word @ ("tackle" | "feed") if flexible => Err((
            format!(" is flexible, and its point {number} is a {word}"),
            "a tackle only pulls: spans = \"massless\"",
        )),
        "via" if part.parts("points").iter().any(over_wheels) => Err((
            format!(" runs over wheels, and is laid through its point {number}"),
            "elements at wheels begin straight",
        )),
        _ if point.get("direction").is_some() && !flexible => {
            Err((format!(": its point {number} has a direction, and it does not bend"), "spans = \"flexible\""))
        }
        _ => Ok(()),
    }
}

/// Where along the cable a point may stand.
fn place(all: &[Part], point: &Part, k: usize, at_end: bool) -> Result<(), Wrong> {
    let number = k + 1;
    match point.kind.word {
        "via" if at_end => Err((format!(" ends at a via (point {number})"), "it ends at an end, or free")),
        "free" if !at_end => {
            Err((format!(": its point {number} is free, in the middle"), "a via leads it through a place"))
        }
        "tackle" if number != all.len() => {
            Err((format!(": its point {number} is a tackle, and not its last"), "the cable ends in a tackle"))
        }
        word @ ("end" | "drum") if !at_end => Err((
            format!(": its point {number} is a {word}, in the middle"),
            "a cable goes on through a ring, a pulley or a sheave",
        )),
        "feed" if !at_end || all.len() < 3 && k > 0 && all[0].kind.word == "feed" => Err((
            format!(": its point {number} is a feed, with no wheel beside it"),
            "elements come from a wheel or a drum",
        )),
        word @ ("ring" | "pulley" | "sheave") if at_end => {
            Err((format!(" ends at a {word} (point {number})"), "it ends at an end or a drum"))
        }
        _ => Ok(()),
    }
}

/// What its own keys must say.
fn keys(part: &Part, point: &Part, number: usize) -> Result<(), Wrong> {
    match point.kind.word {
        "feed" if !point.attachments("on").first().is_some_and(|on| on.body.ends_with('1')) => Err((
            format!(": its feed at point {number} is on no body whose name ends in 1"),
            "such as on = \"rope.e1\"",
        )),
        "feed" if point.number("out") > point.number("elements") => {
            let [all, out] = ["elements", "out"].map(|key| point.number(key));
            Err((
                format!(": its point {number} has {all} elements, {out} of them out"),
                "no more are out than there are",
            ))
        }
        "pulley" if point.number("efficiency") == 0.0 => {
            Err((format!(": the pulley at point {number} has no efficiency"), "efficiency = 0.97, or 1 for none lost"))
        }
        "drum" if point.get("sense").is_none() => Err((
            format!(": the drum at point {number} has no sense"),
            "sense = \"left\" or \"right\": the side on which the cable leaves it",
        )),
        "drum" if point.get("width").is_some() && part.get("diameter").is_none() => {
            Err((": a drum with a width needs the rope's diameter".into(), "such as diameter = 0.02"))
        }
        _ => Ok(()),
    }
}
