//! Soils as data, and their strength by how densely they lie:
//!   D = (e_max - e)/(e_max - e_min),  phi = phi_l + (phi_d - phi_l) D,  c = c_l (c_d/c_l)^D, linear where c_l = 0.
//! Ranges of e, phi and c: Holtz and Kovacs 1981 and Terzaghi, Peck and Mesri 1996, as engineers use them; each row says where its
//! other numbers come from.

use crate::compaction::Compression;
use crate::soft::{Pressure, Shear};
use libm::pow;
use serde::{Deserialize, Serialize};

/// Share of the room that balls at rest at random take, 0.60 to 0.64 (Scott 1960): a grain of volume V stands for V/0.62 of loose soil.
pub const SOLID: f64 = 0.62;

/// A soil.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoilKind {
    /// Word for it.
    pub name: String,
    /// rho_s: density of its grains [kg/m^3].
    pub grain_density: f64,
    /// w: mass of water over mass of grains [-].
    pub water: f64,
    /// e_min, e_max: void ratio where it lies as densely, and as loosely, as it can [-].
    pub void_ratios: [f64; 2],
    /// phi_l, phi_d: angle of friction, loose and dense [rad].
    pub friction: [f64; 2],
    /// c_l, c_d: cohesion, loose and dense [Pa].
    pub cohesion: [f64; 2],
    /// delta: angle of friction on steel [rad].
    pub tool_friction: f64,
    /// ca: adhesion to steel [Pa].
    pub adhesion: f64,
    /// How it is compacted.
    pub compression: Compression,
    /// kc [N/m^(n+1)], kphi [N/m^(n+2)], n [-] of a plate that is pressed into it (Bekker).
    pub bekker: [f64; 3],
    /// K: displacement after which it shears with most of its strength (Janosi and Hanamoto) [m].
    pub shear: f64,
}

impl SoilKind {
    /// D: 0 as loose, 1 as dense as it can lie [-].
    pub fn compactness(&self, e: f64) -> f64 {
        let [dense, loose] = self.void_ratios;
        ((loose - e) / (loose - dense)).clamp(0.0, 1.0)
    }

    /// phi at a void ratio [rad].
    pub fn friction_at(&self, e: f64) -> f64 {
        let [loose, dense] = self.friction;
        loose + (dense - loose) * self.compactness(e)
    }

    /// c at a void ratio [Pa].
    pub fn cohesion_at(&self, e: f64) -> f64 {
        let ([loose, dense], D) = (self.cohesion, self.compactness(e));
        if loose > 0.0 { loose * pow(dense / loose, D) } else { dense * D }
    }

    /// Density with its water [kg/m^3].
    pub fn density(&self, e: f64) -> f64 {
        self.grain_density * (1.0 + self.water) / (1.0 + e)
    }

    /// Void ratio after it was moved: as loose as it lies [-].
    pub fn loose(&self) -> f64 {
        self.void_ratios[1]
    }

    /// Mass of the grains of soil that a ball of a radius [m] stands for [kg].
    pub fn mass_of_ball(&self, radius: f64) -> f64 {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
        self.grain_density / (1.0 + self.loose()) * volume / SOLID
    }

    /// Law of a plate.
    pub fn pressure(&self) -> Pressure {
        let [kc, kphi, n] = self.bekker;
        Pressure::Bekker { kc, kphi, n }
    }

    /// Law of shear.
    pub fn shear(&self) -> Shear {
        Shear::Exponential(self.shear)
    }

    /// The built-in soil of this name.
    pub fn named(name: &str) -> Option<SoilKind> {
        KINDS.iter().find(|row| row.name == name).map(Row::kind)
    }
}

/// A built-in soil.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Word for it.
    pub name: &'static str,
    /// rho_s [kg/m^3], w [-], e_min, e_max [-].
    pub mass: [f64; 4],
    /// phi loose, phi dense, delta [degrees].
    pub angles: [f64; 3],
    /// c loose, c dense, ca [kPa].
    pub stresses: [f64; 3],
    /// N, lambda, kappa, kappa', m [-].
    pub compression: [f64; 5],
    /// kc [kN/m^(n+1)], kphi [kN/m^(n+2)], n [-], K [cm].
    pub bekker: [f64; 4],
    /// Where its numbers come from.
    pub source: &'static str,
}

impl Row {
    /// In SI.
    pub fn kind(&self) -> SoilKind {
        let [grain_density, water, dense, loose] = self.mass;
        let [phi_l, phi_d, delta] = self.angles.map(f64::to_radians);
        let [c_l, c_d, ca] = self.stresses.map(|c| 1000.0 * c);
        let [virgin, lambda, kappa, kappa_again, m] = self.compression;
        let [kc, kphi, n, K] = self.bekker;
        SoilKind {
            name: self.name.to_owned(),
            grain_density,
            water,
            void_ratios: [dense, loose],
            friction: [phi_l, phi_d],
            cohesion: [c_l, c_d],
            tool_friction: delta,
            adhesion: ca,
            compression: Compression { virgin, lambda, kappa, kappa_again, m },
            bekker: [1000.0 * kc, 1000.0 * kphi, n],
            shear: 0.01 * K,
        }
    }
}

/// All built-in soils. Friction on steel is two thirds of that in the soil (McKyes 1985).
pub const KINDS: &[Row] = &[
    Row {
        name: "sand",
        mass: [2650.0, 0.03, 0.45, 0.85],
        angles: [30.0, 40.0, 22.0],
        stresses: [0.0, 0.0, 0.0],
        compression: [1.87, 0.025, 0.003, 0.009, 1.3],
        bekker: [0.99, 1528.43, 1.10, 2.5],
        source: "plate and shear: dry sand of the Land Locomotion Laboratory (Wong 2008, table 2.3); lambda of sands: Schofield and Wroth 1968; kappa' and N ours: N from e_max at 1 kPa, kappa' between kappa and lambda",
    },
    Row {
        name: "loam",
        mass: [2670.0, 0.15, 0.50, 1.10],
        angles: [26.0, 34.0, 21.0],
        stresses: [2.0, 12.0, 1.0],
        compression: [1.9392, 0.06037, 0.00608, 0.01916, 1.3],
        bekker: [5.27, 1515.04, 0.70, 2.5],
        source: "compression: O'Sullivan and Robertson 1996; plate and shear: sandy loam at 15 % (Wong 2008, table 2.3)",
    },
    Row {
        name: "clay",
        mass: [2700.0, 0.30, 0.60, 1.30],
        angles: [15.0, 22.0, 12.0],
        stresses: [10.0, 60.0, 5.0],
        compression: [2.118, 0.093, 0.035, 0.057, 1.3],
        bekker: [13.19, 692.15, 0.50, 1.0],
        source: "compression: Weald clay (Schofield and Wroth 1968), kappa' the geometric mean, ours; plate and shear: clayey soil at 38 % (Wong 2008, table 2.3)",
    },
    Row {
        name: "gravel",
        mass: [2650.0, 0.02, 0.35, 0.70],
        angles: [36.0, 44.0, 26.0],
        stresses: [0.0, 0.0, 0.0],
        compression: [1.72, 0.015, 0.002, 0.0055, 1.3],
        bekker: [102.0, 5301.0, 0.79, 1.2],
        source: "plate and shear: LETE sand as the firmest measured row (Wong 2008, table 2.3); compression ours, stiffer than sand",
    },
];
