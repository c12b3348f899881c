//! Measured soils: n, kc, kphi, c, phi, K. Values of Wong ("Theory of ground vehicles", 2008, tables 2.3 and 2.4) as quoted; those marked
//! so were met in one place only.

use super::{Pressure, Shear, Soil};

/// A soil that was measured.
#[derive(Clone, Copy, Debug)]
pub struct SoilData {
    /// Word for it.
    pub name: &'static str,
    /// Moisture [%]; none where it is not told.
    pub moisture: Option<f64>,
    /// n [-], kc [kN/m^(n+1)], kphi [kN/m^(n+2)], c [kPa], phi [degrees], K [cm].
    pub numbers: [f64; 6],
    /// Where it comes from.
    pub source: &'static str,
}

const BOTH: &str = "Wong 2008, also in public programs";
const QUOTED: &str = "Wong 2008 as quoted; K from his ranges";

const fn soil(name: &'static str, moisture: Option<f64>, numbers: [f64; 6], source: &'static str) -> SoilData {
    SoilData { name, moisture, numbers, source }
}

/// All of them.
pub const SOILS: &[SoilData] = &[
    soil("dry_sand", Some(0.0), [1.10, 0.99, 1528.43, 1.04, 28.0, 2.5], BOTH),
    soil("lete_sand", None, [0.79, 102.0, 5301.0, 1.3, 31.1, 1.2], BOTH),
    soil("sandy_loam_15", Some(15.0), [0.70, 5.27, 1515.04, 1.72, 29.0, 2.5], BOTH),
    soil("sandy_loam_22", Some(22.0), [0.20, 2.56, 43.12, 1.38, 38.0, 2.5], QUOTED),
    soil("michigan_loam_11", Some(11.0), [0.9, 52.53, 1127.97, 4.83, 20.0, 2.5], QUOTED),
    soil("michigan_loam_23", Some(23.0), [0.4, 11.42, 808.96, 9.65, 35.0, 2.5], QUOTED),
    soil("upland_sandy_loam", Some(51.0), [1.10, 74.6, 2080.0, 3.3, 33.7, 3.1], QUOTED),
    soil("rubicon_sandy_loam", Some(43.0), [0.66, 6.9, 752.0, 3.7, 29.8, 2.5], QUOTED),
    soil("north_gower_clayey_loam", Some(46.0), [0.73, 41.6, 2471.0, 6.1, 26.6, 2.0], QUOTED),
    soil("grenville_loam", Some(24.0), [1.01, 0.06, 5880.0, 3.1, 29.8, 2.0], QUOTED),
    soil("clay_38", Some(38.0), [0.5, 13.19, 692.15, 4.14, 13.0, 1.0], BOTH),
    soil("clay_55", Some(55.0), [0.7, 16.03, 1262.53, 2.07, 10.0, 1.0], QUOTED),
    soil("heavy_clay_25", Some(25.0), [0.13, 12.70, 1555.95, 68.95, 34.0, 0.6], QUOTED),
    soil("heavy_clay_40", Some(40.0), [0.11, 1.84, 103.27, 20.69, 6.0, 0.6], QUOTED),
    soil("lean_clay_22", Some(22.0), [0.20, 16.43, 1724.69, 68.95, 20.0, 0.6], QUOTED),
    soil("lean_clay_32", Some(32.0), [0.15, 1.52, 119.61, 13.79, 11.0, 0.6], QUOTED),
    soil("snow_us", None, [1.60, 4.37, 196.72, 1.03, 19.7, 4.0], QUOTED),
    soil("snow_sweden", None, [1.44, 10.55, 66.08, 6.0, 20.7, 4.0], QUOTED),
];

/// The soil of this name.
pub fn find(name: &str) -> Option<Soil> {
    SOILS.iter().find(|soil| soil.name == name).map(SoilData::soil)
}

impl SoilData {
    /// It as a soil, in SI.
    pub fn soil(&self) -> Soil {
        let [n, kc, kphi, c, phi, K] = self.numbers;
        Soil {
            pressure: Pressure::Bekker { kc: 1000.0 * kc, kphi: 1000.0 * kphi, n },
            shear: Shear::Exponential(0.01 * K),
            cohesion: 1000.0 * c,
            friction: phi.to_radians(),
        }
    }
}
