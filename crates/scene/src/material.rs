//! Material data: what things are made of and how they touch. The rows, each with its source, are in `table.rs`.
//!
//! How two materials touch: the row of the pair, else that of the pair they touch as ([`Material::touches_as`]: every steel as
//! `steel`), else the mean of the two self-pairs; where one of the two is slippery (`ptfe`, `ice`) its film lies between both and
//! friction and rolling are its own. What no row says is not known: a scene has to say it.

mod table;

pub use table::{MATERIALS, PAIRS};

/// One material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Name in scenes.
    pub name: &'static str,
    /// Density [kg/m^3].
    pub density: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// The material whose pairs it has where no row names it; itself for most.
    pub touches_as: &'static str,
    /// Where the numbers are from.
    pub source: &'static str,
}

/// How two materials touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairData {
    /// The one.
    pub first: &'static str,
    /// The other.
    pub second: &'static str,
    /// Coefficient of restitution [-]; `None` where sources do not agree.
    pub restitution: Option<f64>,
    /// Coefficient of sliding friction, dry [-]; `None` where sources do not agree.
    pub friction: Option<f64>,
    /// Coefficient of rolling resistance [-].
    pub rolling: f64,
    /// Where the numbers are from.
    pub source: &'static str,
}

/// Where the numbers of a pair come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOrigin {
    /// A row of the table.
    Listed,
    /// Between those of the two materials.
    Between,
}

/// Other names of built-in materials.
pub const ALIASES: [(&str, &str); 6] = [
    ("wood", "dry_wood"),
    ("aluminum", "aluminium"),
    ("nylon", "pa66"),
    ("acetal", "pom"),
    ("teflon", "ptfe"),
    ("plexiglass", "pmma"),
];

/// Materials whose film lies between them and any other: they set the friction of the pair.
const SLIPPERY: [&str; 2] = ["ptfe", "ice"];

/// The built-in material of this name, or of this other name of it.
pub fn find(name: &str) -> Option<Material> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    MATERIALS.iter().copied().find(|m| m.name == name)
}

/// The built-in pair of these names, in either order, and whether a row says it or the rule for pairs without one.
pub fn find_pair(first: &str, second: &str) -> Option<(PairData, PairOrigin)> {
    let (first, second) = (find(first)?, find(second)?);
    let row = |a: &str, b: &str| {
        PAIRS.iter().copied().find(|p| (p.first == a && p.second == b) || (p.first == b && p.second == a))
    };
    let listed = |a: Material, b: Material| row(a.name, b.name).or_else(|| row(a.touches_as, b.touches_as));
    if let Some(pair) = listed(first, second) {
        return Some((pair, PairOrigin::Listed));
    }
    let (a, b) = (listed(first, first)?, listed(second, second)?);
    let mean = |x: Option<f64>, y: Option<f64>| Some(0.5 * (x? + y?));
    let film = [a, b].into_iter().find(|pair| SLIPPERY.contains(&pair.first));
    let pair = PairData {
        first: first.name,
        second: second.name,
        restitution: mean(a.restitution, b.restitution),
        friction: film.map_or(mean(a.friction, b.friction), |film| film.friction),
        rolling: film.map_or(0.5 * (a.rolling + b.rolling), |film| film.rolling),
        source: "",
    };
    Some((pair, PairOrigin::Between))
}

impl crate::Scene {
    /// What the tables say of two materials, and how they come to say it; nothing of materials of the scene's own.
    pub fn pair_data(&self, first: &str, second: &str) -> Option<(PairData, PairOrigin)> {
        let own = |name: &str| self.materials.iter().any(|m| m.name == name);
        if own(first) || own(second) { None } else { find_pair(first, second) }
    }
}

/// E* = 1/((1 - nu1^2)/E1 + (1 - nu2^2)/E2) [Pa].
pub fn effective_modulus(young1: f64, poisson1: f64, young2: f64, poisson2: f64) -> f64 {
    1.0 / ((1.0 - poisson1 * poisson1) / young1 + (1.0 - poisson2 * poisson2) / young2)
}

/// kappa = 4 G*/E*, 1/G* = (2 - nu1)/G1 + (2 - nu2)/G2, G = E/(2(1 + nu)) [-]: tangential over normal stiffness
/// (Mindlin 1949; Johnson 1985, eq. 7.44).
pub fn tangential_ratio(young1: f64, poisson1: f64, young2: f64, poisson2: f64) -> f64 {
    let flexibility = |E: f64, nu: f64| (2.0 - nu) * 2.0 * (1.0 + nu) / E;
    4.0 / (flexibility(young1, poisson1) + flexibility(young2, poisson2))
        / effective_modulus(young1, poisson1, young2, poisson2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_constants_match_their_closed_form() {
        // c = E/(1 - nu^2) of each side, 1/E* = 1/c_1 + 1/c_2, by hand
        let e = |a: &str, b: &str| {
            let (a, b) = (find(a).unwrap(), find(b).unwrap());
            effective_modulus(a.young, a.poisson, b.young, b.poisson)
        };
        assert!((e("steel", "steel") / 1.09890e11 - 1.0).abs() < 1e-5);
        assert!((e("billiard_ball", "billiard_table") / 4.16421e9 - 1.0).abs() < 1e-5);
        assert!((e("billiard_ball", "billiard_ball") / 3.05292e9 - 1.0).abs() < 1e-5);
    }

    #[test]
    fn tangential_ratio_of_equal_bodies_is_mindlins() {
        // k_t/k_n = 2(1 - nu)/(2 - nu)
        let nu = 0.3;
        assert!((tangential_ratio(2e11, nu, 2e11, nu) - 2.0 * (1.0 - nu) / (2.0 - nu)).abs() < 1e-14);
    }

    #[test]
    fn missing_pairs_are_means_or_nothing() {
        let (pair, origin) = find_pair("steel", "wood").unwrap();
        assert!(origin == PairOrigin::Between && (pair.restitution.unwrap() - 0.65).abs() < 1e-15);
        assert!(find_pair("steel", "billiard_table").is_none());
    }

    #[test]
    fn kinds_of_a_material_touch_as_it_does() {
        let (pair, origin) = find_pair("stainless_steel", "brass").unwrap();
        assert_eq!((pair.friction, origin), (find_pair("steel", "brass").unwrap().0.friction, PairOrigin::Listed));
        let (pair, _) = find_pair("teflon", "aluminium").unwrap();
        assert_eq!((pair.friction, pair.restitution), (Some(0.04), None), "a film sets the friction, not the rebound");
    }

    #[test]
    fn every_row_can_be_true() {
        assert!(MATERIALS.len() >= 40, "{} materials", MATERIALS.len());
        for (k, m) in MATERIALS.iter().enumerate() {
            assert!(MATERIALS[..k].iter().all(|other| other.name != m.name), "{} twice", m.name);
            assert!((100.0..23_000.0).contains(&m.density) && (1e6..5e11).contains(&m.young), "{}", m.name);
            assert!((0.0..0.5).contains(&m.poisson) && m.source.len() > 10, "{}", m.name);
            assert!(find(m.touches_as).is_some_and(|as_| as_.touches_as == as_.name), "{}", m.name);
        }
        for (k, p) in PAIRS.iter().enumerate() {
            let same =
                |o: &PairData| (o.first, o.second) == (p.first, p.second) || (o.second, o.first) == (p.first, p.second);
            assert!(!PAIRS[..k].iter().any(same), "{} and {} twice", p.first, p.second);
            assert!([p.first, p.second].iter().all(|name| MATERIALS.iter().any(|m| m.name == *name)), "{}", p.first);
            assert!(p.restitution.is_none_or(|e| (0.0..=1.0).contains(&e)) && p.source.len() > 10, "{}", p.first);
            assert!(p.friction.is_none_or(|mu| (0.0..2.0).contains(&mu)), "{}", p.first);
        }
        assert!(ALIASES.iter().all(|(alias, name)| find(name).is_some() && MATERIALS.iter().all(|m| m.name != *alias)));
    }
}
