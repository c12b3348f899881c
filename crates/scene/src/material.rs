//! Material data: what things are made of and how they touch.
//!
//! Values of Modia3D's solid and contact-pair palettes (Neumayr and Otter 2019); glass is soda-lime
//! glass, density and modulus of EN 572-1, Poisson's ratio within the 0.20 to 0.23 that are published. A pair that is not listed
//! is the arithmetic mean of the two self-pairs where both exist; otherwise it is an error.

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
}

const fn material(name: &'static str, density: f64, young: f64, poisson: f64) -> Material {
    Material { name, density, young, poisson }
}

/// The built-in materials.
pub const MATERIALS: [Material; 8] = [
    material("steel", 8000.0, 2.0e11, 0.30),
    material("aluminium", 2700.0, 6.9e10, 0.32),
    material("dry_wood", 700.0, 1.1e10, 0.40),
    material("glass", 2500.0, 7.0e10, 0.22),
    material("billiard_ball", 1768.0, 5.4e9, 0.34),
    material("billiard_table", 700.0, 1.1e10, 0.40),
    material("billiard_cushion", 700.0, 1.1e10, 0.40),
    material("billiard_cue", 700.0, 1.1e10, 0.40),
];

/// How two materials touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairData {
    /// The one.
    pub first: &'static str,
    /// The other.
    pub second: &'static str,
    /// Coefficient of restitution [-].
    pub restitution: f64,
    /// Coefficient of sliding friction [-].
    pub friction: f64,
    /// Coefficient of rolling resistance [-].
    pub rolling: f64,
}

const fn pair(first: &'static str, second: &'static str, restitution: f64, friction: f64, rolling: f64) -> PairData {
    PairData { first, second, restitution, friction, rolling }
}

/// The built-in pairs.
pub const PAIRS: [PairData; 9] = [
    pair("steel", "steel", 0.7, 0.5, 0.001),
    pair("dry_wood", "dry_wood", 0.6, 0.3, 0.001),
    pair("aluminium", "aluminium", 0.7, 0.5, 0.001),
    pair("billiard_ball", "billiard_ball", 1.0, 0.0, 0.0),
    pair("billiard_ball", "billiard_table", 0.0, 0.8, 0.01),
    pair("billiard_ball", "billiard_cushion", 0.98, 0.0, 0.0),
    pair("billiard_ball", "billiard_cue", 0.98, 0.0, 0.0),
    pair("billiard_table", "billiard_cue", 0.0, 0.8, 0.01),
    pair("billiard_cue", "billiard_cue", 0.98, 0.0, 0.0),
];

/// The built-in material of this name; `wood` is `dry_wood`.
pub fn find(name: &str) -> Option<Material> {
    let name = if name == "wood" { "dry_wood" } else { name };
    MATERIALS.iter().copied().find(|m| m.name == name)
}

/// The built-in pair of these names, in either order, or the mean of the two self-pairs.
pub fn find_pair(first: &str, second: &str) -> Option<PairData> {
    let listed = |a: &str, b: &str| {
        PAIRS.iter().copied().find(|p| (p.first == a && p.second == b) || (p.first == b && p.second == a))
    };
    listed(first, second).or_else(|| {
        let (a, b) = (listed(first, first)?, listed(second, second)?);
        Some(PairData {
            first: a.first,
            second: b.first,
            restitution: 0.5 * (a.restitution + b.restitution),
            friction: 0.5 * (a.friction + b.friction),
            rolling: 0.5 * (a.rolling + b.rolling),
        })
    })
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
        assert!((find_pair("steel", "dry_wood").unwrap().restitution - 0.65).abs() < 1e-15);
        assert!(find_pair("steel", "billiard_table").is_none());
    }
}
