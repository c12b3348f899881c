//! How two materials or two bodies touch, as a person writes it.

use super::{FrictionLaw, LawChoice, Lever, Places};

/// Contact parameters; what is `None` comes from the next more general place: bodies, then materials, then `[contact]`,
/// then the material table and the law's own default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSpec {
    /// Coefficient of restitution [-].
    pub restitution: Option<f64>,
    /// Coefficient of sliding friction [-].
    pub friction: Option<f64>,
    /// Coefficient of static friction [-].
    pub static_friction: Option<f64>,
    /// Coefficient of rolling resistance [-].
    pub rolling: Option<f64>,
    /// Coefficient of spin friction [-].
    pub spin: Option<f64>,
    /// Normal law.
    pub law: Option<LawChoice>,
    /// Friction law.
    pub friction_law: Option<FrictionLaw>,
    /// Stiffness of the law [N/m^exponent, or N/m2 for volume laws].
    pub stiffness: Option<f64>,
    /// Exponent of depth [-].
    pub exponent: Option<f64>,
    /// Damping of the law [unit of the law].
    pub damping: Option<f64>,
    /// Upper bound of the damping factor d_max [s/m].
    pub damping_max: Option<f64>,
    /// Restitution at vanishing impact speed [-].
    pub restitution_min: Option<f64>,
    /// Impact speed around which restitution blends to its minimum [m/s].
    pub blend_speed: Option<f64>,
    /// Slip speed of regularised friction [m/s].
    pub slip_speed: Option<f64>,
    /// Angular speed of regularised rolling and spin friction [rad/s].
    pub spin_speed: Option<f64>,
    /// Radius of the contact patch for spin friction [m].
    pub patch_radius: Option<f64>,
    /// Torque against spin over normal force, area of contact and spin [s/m].
    pub spin_damping: Option<f64>,
    /// Effective radius of curvature [m].
    pub radius: Option<f64>,
    /// Effective elastic modulus E* [Pa].
    pub modulus: Option<f64>,
    /// Largest friction force [N].
    pub force_max: Option<f64>,
    /// Largest normal force, in the realtime clock [N].
    pub normal_force_max: Option<f64>,
    /// Contact points of a pair of shapes, 1 to 8, in the realtime clock [-].
    pub points: Option<usize>,
    /// Largest pull [N].
    pub adhesion: Option<f64>,
    /// Largest pull on an area [Pa].
    pub adhesion_pressure: Option<f64>,
    /// Slip speed per tangential force, of viscous friction [m/(N s)].
    pub slip: Option<f64>,
    /// Stiffness of the bristles of brush friction over the normal force [1/m].
    pub bristle_stiffness: Option<f64>,
    /// Limit of friction, whatever the normal force is [N].
    pub friction_force: Option<f64>,
    /// Coefficient of sliding friction over the slip speed: points of both [m/s], [-].
    pub friction_curve: Option<Vec<[f64; 2]>>,
    /// Coefficient of restitution over the closing speed: points of both [m/s], [-].
    pub restitution_curve: Option<Vec<[f64; 2]>>,
    /// Where the contact force acts.
    pub lever: Option<Lever>,
    /// Factor on the elastic modulus of contacts [-]; 1 is the true stiffness.
    pub k_red: Option<f64>,
    /// Where things were written.
    pub places: Places,
}
