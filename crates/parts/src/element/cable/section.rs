//! Ropes as catalogues have them, by diameter d.
//!
//! Figures of a type at d = 20 mm, scaled: EA, breaking load and mass per length with d^2, EI with d^4. They are typical ones, to begin a design
//! with; those of a maker's sheet go before.

use std::f64::consts::PI;
use tippe_format::part::Part;

/// A type of rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rope {
    /// Its word in scenes.
    pub word: &'static str,
    /// EA/d^2 [N/m^2].
    pub stiffness: f64,
    /// Breaking load over d^2 [N/m^2].
    pub breaking: f64,
    /// Mass per length over d^2 [kg/m^3].
    pub mass: f64,
    /// EI/d^4 [N/m^2].
    pub bending: f64,
    /// What the figures are worth, and where those of a design are; they were not compared line by line.
    pub source: &'static str,
}

/// d for which the table's figures were given [m].
const D: f64 = 0.02;

const fn at_20_mm(word: &'static str, [ea, breaking, mass, ei]: [f64; 4], source: &'static str) -> Rope {
    let square = D * D;
    Rope {
        word,
        stiffness: ea / square,
        breaking: breaking / square,
        mass: mass / square,
        bending: ei / (square * square),
        source,
    }
}

/// The types of rope that are known.
pub const ROPES: [Rope; 5] = [
    at_20_mm("steel 6x36", [1.6e7, 250e3, 1.6, 40.0], "typical; for a design a sheet after EN 12385-4"),
    at_20_mm("HMPE", [1.2e7, 380e3, 0.22, 1.0], "typical of twelve strands; for a design a sheet after ISO 10325"),
    at_20_mm("polyester", [2.2e6, 100e3, 0.31, 1.0], "typical, bedded in; for a design a sheet after ISO 18692-2"),
    at_20_mm("nylon", [5.0e5, 85e3, 0.25, 0.5], "typical; softer at small loads; for a design a sheet after ISO 1140"),
    at_20_mm(
        "chain",
        [3.4e7, 374e3, 7.96, 0.0],
        "typical of studless chain of grade R3, d the bar; for a design DNV-OS-E302",
    ),
];

/// The type with this word.
pub fn rope(word: &str) -> Option<&'static Rope> {
    ROPES.iter().find(|rope| rope.word == word)
}

/// What a cable is made of, as it was written or from the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// EA [N].
    pub axial: f64,
    /// EI [N m^2].
    pub bending: f64,
    /// GJ [N m^2].
    pub torsion: f64,
    /// Mass per length [kg/m].
    pub mass: Option<f64>,
    /// Tension at which it breaks [N]; infinite if it does not.
    pub breaking: f64,
}

/// EI/GJ of a round rod of Poisson's ratio 0.3, 1 + nu [-].
const BENDING_TO_TORSION: f64 = 1.3;
/// Numbers of wires that lie as hexagons around one [-].
pub(super) const HEXAGONS: [usize; 5] = [1, 7, 19, 37, 61];

impl Section {
    /// n parallel wires of radius r, as hexagons within the diameter d, of a material E, nu, rho:
    ///   EA = n E pi r^2,   EI = n E pi r^4/4 + b E pi r^2 sum d_i^2/2,   GJ likewise with G and twice both,
    /// d_i the distances of their middles from that of the rope, sum d_i^2 = 4 r^2 times the squares in their lattice. b is 0 where wires slide
    /// on each other, 1 where they are one.
    fn of_wires([young, poisson, density]: [f64; 3], d: f64, wires: usize, bonded: f64) -> Section {
        let rings = HEXAGONS.iter().position(|n| *n == wires).unwrap_or(0);
        let r = d / (2.0 * (2 * rings + 1) as f64);
        // a ring k has six sides of k wires: k^2 - k j + j^2 lattice steps squared from the middle
        let squares: usize = (1..=rings).flat_map(|k| (0..k).map(move |j| 6 * (k * k - k * j + j * j))).sum();
        let (n, area) = (wires as f64, PI * r * r);
        let second = n * 0.25 * area * r * r + bonded * 0.5 * area * 4.0 * r * r * squares as f64;
        let shear = 0.5 * young / (1.0 + poisson);
        Section {
            axial: n * young * area,
            bending: young * second,
            torsion: shear * 2.0 * second,
            mass: Some(density * n * area),
            breaking: f64::INFINITY,
        }
    }

    /// Writes into a cable what it is made of: of wires of its material, E, nu and rho, or as it stretches under a load. What was written stays.
    pub fn write(part: &mut Part, material: Option<(f64, f64, f64)>) {
        if let (Some(elongation), Some(load)) = (part.find_number("elongation"), part.find_number("elongation_load")) {
            part.unset("elongation");
            part.unset("elongation_load");
            return part.set("axial_stiffness", load / elongation);
        }
        let known = ["axial_stiffness", "rope", "segments"].into_iter().any(|key| part.get(key).is_some());
        let (false, Some((young, poisson, density))) = (known, material) else { return };
        let (d, wires) = (part.number("diameter"), part.find_number("wires").unwrap_or(1.0) as usize);
        let made = Section::of_wires([young, poisson, density], d, wires, part.number("bonded"));
        let heavy = part.word("spans") != "massless";
        let flexible = part.word("spans") == "flexible";
        for (key, value, belongs) in [
            ("axial_stiffness", Some(made.axial), true),
            ("mass_per_length", made.mass, heavy && part.get("weight").is_none()),
            ("bending_stiffness", Some(made.bending), flexible),
            ("torsional_stiffness", Some(made.torsion), flexible),
        ] {
            if let (true, None, Some(value)) = (belongs, part.get(key), value) {
                part.set(key, value);
            }
        }
    }

    /// Of a cable as it was written.
    pub fn of(part: &Part) -> Section {
        let d = part.number("diameter");
        let known = rope(part.word("rope"));
        let square = |of: fn(&Rope) -> f64| known.map(|rope| of(rope) * d * d);
        let bending =
            part.find_number("bending_stiffness").or(known.map(|rope| rope.bending * d.powi(4))).unwrap_or(0.0);
        Section {
            axial: part.find_number("axial_stiffness").or(square(|rope| rope.stiffness)).unwrap_or(0.0),
            bending,
            torsion: part.find_number("torsional_stiffness").unwrap_or(bending / BENDING_TO_TORSION),
            mass: part.find_number("mass_per_length").or(square(|rope| rope.mass)),
            breaking: part.find_number("breaking_load").or(square(|rope| rope.breaking)).unwrap_or(f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strand_of_nineteen_wires_bends_between_sliding_and_bonded() {
        let steel = [2e11, 0.3, 7850.0];
        let near = |value: f64, known: f64| assert!((value / known - 1.0).abs() < 1e-6, "{value} {known}");
        let [slides, bonded] = [0.0, 1.0].map(|b| Section::of_wires(steel, 0.01, 19, b));
        near(slides.bending, 2.984513);
        near(bonded.bending, 63.303092);
        near(slides.torsion, 2.2957792);
        near(slides.axial, 11938052.0);
        let wire = Section::of_wires(steel, 0.02, 1, 0.0);
        near(wire.axial, 62831853.0);
        near(wire.bending, 1570.7963);
        near(wire.torsion, 1208.3049);
    }

    #[test]
    fn a_rope_of_twice_the_diameter_is_four_times_as_strong() {
        let steel = rope("steel 6x36").unwrap();
        assert!((steel.stiffness * 0.04 * 0.04 / 6.4e7 - 1.0).abs() < 1e-12);
        assert!((steel.bending * 0.04_f64.powi(4) / 640.0 - 1.0).abs() < 1e-12);
    }
}
