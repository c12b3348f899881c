//! The tables of `tippe explain materials`: materials, and how they touch.

use crate::table::{number, table};
use tippe::material::{ALIASES, MATERIALS, Material, PAIRS, PairData, find};

/// All materials and all pairs.
pub fn all() -> String {
    let rows: Vec<Vec<String>> = MATERIALS.iter().map(row).collect();
    let head = [("material", false), ("density [kg/m^3]", true), ("E [Pa]", true), ("nu", true), ("touches as", false)];
    let aliases: Vec<String> = ALIASES.iter().map(|(alias, name)| format!("{alias} is {name}")).collect();
    format!("{}\n\n{}\n\n{}", table(&head, &rows), aliases.join(", "), pairs(|_| true))
}

/// One material with its source and its pairs; nothing if there is none of this name.
pub fn one(name: &str) -> Option<String> {
    let m = find(name)?;
    let as_ = if m.touches_as == m.name { String::new() } else { format!("; touches as {}", m.touches_as) };
    let text = format!(
        "## {} (material)\ndensity {} kg/m^3, Young's modulus {:e} Pa, Poisson's ratio {}{as_}\nfrom: {}",
        m.name,
        number(m.density),
        m.young,
        m.poisson,
        m.source
    );
    let its = |p: &PairData| [p.first, p.second].iter().any(|name| [m.name, m.touches_as].contains(name));
    Some(if PAIRS.iter().any(its) { format!("{text}\n\n{}", pairs(its)) } else { text })
}

fn row(m: &Material) -> Vec<String> {
    let as_ = if m.touches_as == m.name { "" } else { m.touches_as };
    vec![m.name.to_owned(), number(m.density), format!("{:e}", m.young), number(m.poisson), as_.to_owned()]
}

fn pairs(which: impl Fn(&PairData) -> bool) -> String {
    let known = |x: Option<f64>| x.map_or("unknown".to_owned(), number);
    let row = |p: &PairData| {
        let names = format!("{} on {}", p.first, p.second);
        vec![names, known(p.restitution), known(p.friction), number(p.rolling), p.source.to_owned()]
    };
    let rows: Vec<Vec<String>> = PAIRS.iter().filter(|p| which(p)).map(row).collect();
    let head = [("pair", false), ("restitution", true), ("friction", true), ("rolling", true), ("from", false)];
    table(&head, &rows)
}
