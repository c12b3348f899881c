//! Pressure and sinkage z of soft ground under a plate:
//!   Bekker   p = (kc/b + kphi) z^n, b the smaller side of the plate   (Bekker 1969),
//!   Reece    p = (c kc' + gamma b kphi') (z/b)^n   (Reece 1965),
//!   muskeg   p = kp z + 4 mM z^2/Dh, Dh = 4 area/perimeter   (Wong 1982),
//!   snow     z = zw (1 - exp(-p/pw)), a layer on hard ground   (Wong 1984);
//! unloading and loading again: p = pu - (k0 + Au zu)(zu - z) up to (zu, pu), where it was before   (Wong 1984).

use libm::{exp, log, pow, sqrt};

/// A plate that presses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plate {
    /// b: its smaller side [m].
    pub width: f64,
    /// Its longer side [m].
    pub length: f64,
}

impl Plate {
    /// Dh [m].
    fn hydraulic(&self) -> f64 {
        2.0 * self.width * self.length / (self.width + self.length)
    }
}

/// A law of pressure and sinkage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// Bekker's.
    Bekker {
        /// kc [N/m^(n+1)].
        kc: f64,
        /// kphi [N/m^(n+2)].
        kphi: f64,
        /// n [-].
        n: f64,
    },
    /// Reece's.
    Reece {
        /// c kc' [Pa].
        cohesive: f64,
        /// gamma kphi' [N/m^3].
        frictional: f64,
        /// n [-].
        n: f64,
    },
    /// Peat under a mat of plants.
    Muskeg {
        /// kp [N/m^3].
        peat: f64,
        /// mM [N/m^3].
        mat: f64,
    },
    /// Snow on hard ground.
    Snow {
        /// zw [m].
        depth: f64,
        /// pw [Pa].
        pressure: f64,
    },
}

impl Pressure {
    /// p at a sinkage [m] [Pa]; infinite at the hard ground under snow.
    pub fn at(&self, z: f64, plate: &Plate) -> f64 {
        if z <= 0.0 {
            return 0.0;
        }
        match *self {
            Pressure::Bekker { kc, kphi, n } => (kc / plate.width + kphi) * pow(z, n),
            Pressure::Reece { cohesive, frictional, n } => {
                (cohesive + frictional * plate.width) * pow(z / plate.width, n)
            }
            Pressure::Muskeg { peat, mat } => peat * z + 4.0 * mat * z * z / plate.hydraulic(),
            Pressure::Snow { depth, pressure } => {
                if z < depth {
                    -pressure * log(1.0 - z / depth)
                } else {
                    f64::INFINITY
                }
            }
        }
    }

    /// z under a pressure [Pa] [m].
    pub fn sinkage(&self, p: f64, plate: &Plate) -> f64 {
        if p <= 0.0 {
            return 0.0;
        }
        match *self {
            Pressure::Bekker { kc, kphi, n } => pow(p / (kc / plate.width + kphi), 1.0 / n),
            Pressure::Reece { cohesive, frictional, n } => {
                plate.width * pow(p / (cohesive + frictional * plate.width), 1.0 / n)
            }
            Pressure::Muskeg { peat, mat } => {
                let a = 4.0 * mat / plate.hydraulic();
                2.0 * p / (peat + sqrt(peat * peat + 4.0 * a * p))
            }
            Pressure::Snow { depth, pressure } => depth * (1.0 - exp(-p / pressure)),
        }
    }
}

/// Unloading and loading again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unloading {
    /// k0 [N/m^3].
    pub k0: f64,
    /// Au [N/m^4].
    pub growth: f64,
}

impl Unloading {
    /// p at a sinkage above the deepest one so far, zu with pu [Pa]; 0 or more.
    pub fn at(&self, z: f64, [zu, pu]: [f64; 2]) -> f64 {
        (pu - (self.k0 + self.growth * zu) * (zu - z)).max(0.0)
    }
}
