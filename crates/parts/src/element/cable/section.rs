//! Ropes as catalogues have them, by diameter d.
//!
//! Figures of a type at d = 20 mm, scaled: EA, breaking load and mass per length with d^2, EI with d^4. They are typical ones, to begin a design
//! with; those of a maker's sheet go before.

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

impl Section {
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
    fn a_rope_of_twice_the_diameter_is_four_times_as_strong() {
        let steel = rope("steel 6x36").unwrap();
        assert!((steel.stiffness * 0.04 * 0.04 / 6.4e7 - 1.0).abs() < 1e-12);
        assert!((steel.bending * 0.04_f64.powi(4) / 640.0 - 1.0).abs() < 1e-12);
    }
}
