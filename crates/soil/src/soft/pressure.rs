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
        2.0 * self.width / (self.width / self.length + 1.0)
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

/// Snow that is pressed to this share of its depth goes on as a straight line: it is as good as on the ground [-].
const ON_THE_GROUND: f64 = 0.99;

impl Pressure {
    /// The law with n larger by this much: how slip lets a wheel sink (Ding and others 2010, n = n0 + n1 i). Muskeg and snow have no n.
    pub fn steeper(self, more: f64) -> Pressure {
        match self {
            Pressure::Bekker { kc, kphi, n } => Pressure::Bekker { kc, kphi, n: n + more },
            Pressure::Reece { cohesive, frictional, n } => Pressure::Reece { cohesive, frictional, n: n + more },
            other => other,
        }
    }

    /// p at a sinkage where the ground was pressed down to zu before [Pa]: up to there the line of unloading, behind it the law; never
    /// infinite.
    pub fn again(&self, z: f64, zu: f64, plate: &Plate, unloading: &Unloading) -> f64 {
        if z >= zu {
            return match *self {
                Pressure::Snow { depth, pressure } if z > ON_THE_GROUND * depth => {
                    let deepest = ON_THE_GROUND * depth;
                    self.at(deepest, plate) + pressure * (z - deepest) / (depth - deepest)
                }
                _ => self.at(z, plate),
            };
        }
        let pu = self.again(zu, 0.0, plate, unloading);
        (pu - unloading.firm([zu, pu]) * (zu - z)).max(0.0)
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
    /// Slope of the line to (zu, pu) [N/m^3]; at least twice that of the way there, where the constants of a soil give less: no ground gives
    /// back more than it took.
    pub fn firm(&self, [zu, pu]: [f64; 2]) -> f64 {
        let given = self.k0 + self.growth * zu;
        if zu > 0.0 { given.max(2.0 * pu / zu) } else { given }
    }

    /// p at a sinkage above the deepest one so far, zu with pu [Pa]; 0 or more.
    pub fn at(&self, z: f64, [zu, pu]: [f64; 2]) -> f64 {
        (pu - (self.k0 + self.growth * zu) * (zu - z)).max(0.0)
    }
}
