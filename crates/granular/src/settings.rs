//! What a run of grains is told: materials, laws of pairs, step, gravity, domain. SI throughout.

use crate::GrainError;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tippe_geometry::Vec3;

/// Elastic material of a class of grains or walls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Density [kg/m^3]; walls do not use it.
    pub density: f64,
    /// Young's modulus E [Pa].
    pub youngs_modulus: f64,
    /// Poisson's ratio nu [-].
    pub poisson_ratio: f64,
}

impl Material {
    /// Shear modulus G = E/(2 (1 + nu)) [Pa].
    pub fn shear_modulus(&self) -> f64 {
        self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))
    }
}

/// Resistance against rolling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rolling {
    /// None.
    #[default]
    None,
    /// Torque mu_r N R against the relative angular velocity across the normal (grains.md eq. 14).
    Constant {
        /// mu_r [-].
        coefficient: f64,
    },
    /// Spring and dashpot that yield at mu_r N R (Ai, Chen, Rotter, Ooi 2011, model C; grains.md eq. 15).
    ElasticPlastic {
        /// mu_r [-].
        coefficient: f64,
        /// Share of critical damping while the spring holds [-].
        damping: f64,
    },
}

/// Attraction of touching grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cohesion {
    /// None.
    #[default]
    None,
    /// Johnson, Kendall, Roberts 1971: pull-off force 1.5 pi w R; touches at zero gap, lets go at the pull-off gap
    /// (grains.md eq. 17).
    Jkr {
        /// Work of adhesion w [J/m^2].
        work: f64,
    },
    /// Constant pressure on the Hertz patch pi R depth (grains.md eq. 16).
    Linear {
        /// Pressure [Pa].
        pressure: f64,
    },
}

/// What happens where two classes touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLaw {
    /// Restitution e of a central impact [-], 0 < e <= 1.
    pub restitution: f64,
    /// Sliding friction mu [-].
    pub friction: f64,
    /// Rolling friction.
    #[serde(default)]
    pub rolling: Rolling,
    /// Cohesion.
    #[serde(default)]
    pub cohesion: Cohesion,
}

/// Extent of the world of the grains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// Lower corner [m].
    pub low: Vec3,
    /// Upper corner [m].
    pub high: Vec3,
    /// Along which axes what leaves on one side enters on the other; along the others a grain that leaves is removed
    /// and counted.
    pub periodic: [bool; 3],
}

/// Settings of a run of grains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Time step h [s].
    pub step: f64,
    /// Gravity [m/s^2].
    pub gravity: Vec3,
    /// Materials by class.
    pub materials: Vec<Material>,
    /// Laws by pair of classes, row by row: `pairs[c1 * materials.len() + c2]`, symmetric.
    pub pairs: Vec<PairLaw>,
    /// Extent of the world; without one nothing is removed and nothing is periodic.
    #[serde(default)]
    pub domain: Option<Domain>,
    /// Distance beyond touch up to which pairs are listed [m]; found from the speed of the grains when missing.
    #[serde(default)]
    pub skin: Option<f64>,
    /// Keep the books of energy.
    #[serde(default)]
    pub ledger: bool,
}

/// Largest share of the Rayleigh time that is accepted as a step.
pub const RAYLEIGH_SHARE_MAX: f64 = 0.4;

impl Settings {
    /// One class of grains, walls of the same material.
    pub fn uniform(material: Material, law: PairLaw, step: f64, gravity: Vec3) -> Settings {
        let (materials, pairs) = (vec![material], vec![law]);
        Settings { step, gravity, materials, pairs, domain: None, skin: None, ledger: false }
    }

    /// The law of a pair of classes.
    pub fn pair(&self, class1: u8, class2: u8) -> &PairLaw {
        &self.pairs[class1 as usize * self.materials.len() + class2 as usize]
    }

    /// Rayleigh time of a grain of this class and radius [s]: the time a surface wave needs to run half around it,
    /// T = pi r sqrt(rho/G)/(0.1631 nu + 0.8766)   (Rayleigh 1885, as fitted by Thornton; grains.md eq. 18).
    pub fn rayleigh_time(&self, class: u8, radius: f64) -> f64 {
        let m = &self.materials[class as usize];
        PI * radius * (m.density / m.shear_modulus()).sqrt() / (0.1631 * m.poisson_ratio + 0.8766)
    }

    /// Every number checked once.
    pub fn validate(&self) -> Result<(), GrainError> {
        let bad =
            |what: &'static str, value: f64, wanted: &'static str| Err(GrainError::Setting { what, value, wanted });
        if !(self.step > 0.0 && self.step.is_finite()) {
            return bad("step", self.step, "a positive number of seconds");
        }
        if !self.gravity.is_finite() {
            return bad("gravity", f64::NAN, "three finite numbers");
        }
        if self.materials.is_empty() || self.materials.len() > 256 {
            return bad("number of materials", self.materials.len() as f64, "1 to 256");
        }
        if self.pairs.len() != self.materials.len() * self.materials.len() {
            return bad("number of pair laws", self.pairs.len() as f64, "the square of the number of materials");
        }
        for m in &self.materials {
            if !(m.density > 0.0 && m.density.is_finite()) {
                return bad("density", m.density, "positive");
            }
            if !(m.youngs_modulus > 0.0 && m.youngs_modulus.is_finite()) {
                return bad("youngs_modulus", m.youngs_modulus, "positive");
            }
            if !(m.poisson_ratio > -1.0 && m.poisson_ratio <= 0.5) {
                return bad("poisson_ratio", m.poisson_ratio, "above -1, at most 0.5");
            }
        }
        for (k, p) in self.pairs.iter().enumerate() {
            let n = self.materials.len();
            if *p != self.pairs[k % n * n + k / n] {
                return bad("pair laws", k as f64, "a symmetric table");
            }
            if !(p.restitution > 0.0 && p.restitution <= 1.0) {
                return bad("restitution", p.restitution, "above 0, at most 1");
            }
            if !(p.friction >= 0.0 && p.friction.is_finite()) {
                return bad("friction", p.friction, "at least 0");
            }
            match p.rolling {
                Rolling::None => {}
                Rolling::Constant { coefficient } if coefficient >= 0.0 && coefficient.is_finite() => {}
                Rolling::ElasticPlastic { coefficient, damping }
                    if coefficient >= 0.0 && coefficient.is_finite() && (0.0..=1.0).contains(&damping) => {}
                Rolling::Constant { coefficient } | Rolling::ElasticPlastic { coefficient, .. } => {
                    return bad("rolling friction", coefficient, "a coefficient of at least 0, damping 0 to 1");
                }
            }
            match p.cohesion {
                Cohesion::Jkr { work: x } | Cohesion::Linear { pressure: x } if !(x >= 0.0 && x.is_finite()) => {
                    return bad("cohesion", x, "at least 0");
                }
                _ => {}
            }
        }
        if let Some(d) = &self.domain {
            let size = d.high - d.low;
            if !(size.is_finite() && size.min_element() > 0.0) {
                return bad("size of the domain", size.min_element(), "positive along every axis");
            }
        }
        if let Some(skin) = self.skin
            && !(skin >= 0.0 && skin.is_finite())
        {
            return bad("skin", skin, "at least 0");
        }
        Ok(())
    }

    pub(crate) fn coefficients(&self) -> Vec<Coefficients> {
        let n = self.materials.len();
        (0..n * n).map(|k| Coefficients::new(&self.materials[k / n], &self.materials[k % n], &self.pairs[k])).collect()
    }
}

/// Constants of the law of one pair of classes (grains.md eq. 1 to 6).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coefficients {
    /// 4/3 E* [Pa].
    pub normal: f64,
    /// 8 G* [Pa].
    pub tangential: f64,
    /// 2 sqrt(5/6) beta sqrt(2 E*) [Pa^(1/2)].
    pub normal_damping: f64,
    /// 2 sqrt(5/6) beta sqrt(8 G*) [Pa^(1/2)].
    pub tangential_damping: f64,
    /// mu [-].
    pub friction: f64,
    /// mu_r of the constant torque [-].
    pub rolling: f64,
    /// mu_r of the elastic-plastic spring [-].
    pub rolling_spring: f64,
    /// Its share of critical damping [-].
    pub rolling_damping: f64,
    /// Pressure of linear cohesion [Pa].
    pub pressure: f64,
    /// Work of adhesion w [J/m^2].
    pub adhesion: f64,
    /// E* [Pa].
    pub modulus: f64,
}

impl Coefficients {
    fn new(m1: &Material, m2: &Material, law: &PairLaw) -> Coefficients {
        let flex = |m: &Material| (1.0 - m.poisson_ratio * m.poisson_ratio) / m.youngs_modulus;
        let shear = |m: &Material| (2.0 - m.poisson_ratio) / m.shear_modulus();
        let modulus = 1.0 / (flex(m1) + flex(m2));
        let shear_modulus = 1.0 / (shear(m1) + shear(m2));
        let ln_e = libm::log(law.restitution);
        let beta = -ln_e / (ln_e * ln_e + PI * PI).sqrt();
        let damping = 2.0 * (5.0f64 / 6.0).sqrt() * beta;
        let mut c = Coefficients {
            normal: 4.0 / 3.0 * modulus,
            tangential: 8.0 * shear_modulus,
            normal_damping: damping * (2.0 * modulus).sqrt(),
            tangential_damping: damping * (8.0 * shear_modulus).sqrt(),
            friction: law.friction,
            modulus,
            ..Coefficients::default()
        };
        match law.rolling {
            Rolling::None => {}
            Rolling::Constant { coefficient } => c.rolling = coefficient,
            Rolling::ElasticPlastic { coefficient, damping } => {
                c.rolling_spring = coefficient;
                c.rolling_damping = damping;
            }
        }
        match law.cohesion {
            Cohesion::None => {}
            Cohesion::Linear { pressure } => c.pressure = pressure,
            Cohesion::Jkr { work } => c.adhesion = work,
        }
        c
    }

    /// True when the law has nothing but Hertz, Mindlin and Coulomb.
    pub fn is_plain(&self) -> bool {
        self.rolling == 0.0 && self.rolling_spring == 0.0 && self.pressure == 0.0 && self.adhesion == 0.0
    }
}
