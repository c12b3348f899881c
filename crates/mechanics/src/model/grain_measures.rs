//! What is recorded of grains: of sets, sinks and probes, with names and units.

use tippe_granular::{Probed, Sink};

/// What is recorded of a set of grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrainMeasure {
    /// Number of grains, a clump as one [-].
    Count,
    /// Mass [kg].
    Mass,
    /// Kinetic energy [J].
    KineticEnergy,
    /// Mean number of contacts with grains [-].
    Coordination,
    /// Component of the centre of mass, in world [m].
    Centre(u8),
    /// Component of its velocity, in world [m/s].
    Velocity(u8),
    /// Component of the mean angular velocity, by mass, in world [rad/s].
    Spin(u8),
    /// Component of the angular momentum about the centre of mass, in world [kg m^2/s].
    AngularMomentum(u8),
    /// Lowest point, along z [m].
    Lowest,
    /// Highest point, along z [m].
    Highest,
    /// Angle of repose, as a pile on the plane z = 0 [rad].
    Slope,
}

impl GrainMeasure {
    /// All of them, in the order they are recorded.
    pub const ALL: [GrainMeasure; 19] = [
        GrainMeasure::Count,
        GrainMeasure::Mass,
        GrainMeasure::KineticEnergy,
        GrainMeasure::Coordination,
        GrainMeasure::Centre(0),
        GrainMeasure::Centre(1),
        GrainMeasure::Centre(2),
        GrainMeasure::Velocity(0),
        GrainMeasure::Velocity(1),
        GrainMeasure::Velocity(2),
        GrainMeasure::Spin(0),
        GrainMeasure::Spin(1),
        GrainMeasure::Spin(2),
        GrainMeasure::AngularMomentum(0),
        GrainMeasure::AngularMomentum(1),
        GrainMeasure::AngularMomentum(2),
        GrainMeasure::Lowest,
        GrainMeasure::Highest,
        GrainMeasure::Slope,
    ];

    /// Name after the set's and a dot, and SI unit.
    pub fn name_and_unit(self) -> (String, &'static str) {
        let axis = |k: u8| ["x", "y", "z"][usize::from(k.min(2))];
        match self {
            GrainMeasure::Count => ("count".to_owned(), "-"),
            GrainMeasure::Mass => ("mass".to_owned(), "kg"),
            GrainMeasure::KineticEnergy => ("kinetic_energy".to_owned(), "J"),
            GrainMeasure::Coordination => ("coordination".to_owned(), "-"),
            GrainMeasure::Centre(k) => (format!("centre.{}", axis(k)), "m"),
            GrainMeasure::Velocity(k) => (format!("velocity.{}", axis(k)), "m/s"),
            GrainMeasure::Spin(k) => (format!("spin.{}", axis(k)), "rad/s"),
            GrainMeasure::AngularMomentum(k) => (format!("angular_momentum.{}", axis(k)), "kg m2/s"),
            GrainMeasure::Lowest => ("lowest".to_owned(), "m"),
            GrainMeasure::Highest => ("highest".to_owned(), "m"),
            GrainMeasure::Slope => ("slope".to_owned(), "rad"),
        }
    }
}

/// What is recorded of a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkMeasure {
    /// Grains swallowed so far, a clump as one [-].
    Count,
    /// Mass swallowed so far [kg].
    Mass,
    /// Mass flow, averaged over its smoothing [kg/s].
    Flow,
}

impl SinkMeasure {
    /// All of them with name after the sink's and a dot, and SI unit.
    pub const ALL: [(SinkMeasure, &'static str, &'static str); 3] =
        [(SinkMeasure::Count, "count", "-"), (SinkMeasure::Mass, "mass", "kg"), (SinkMeasure::Flow, "flow", "kg/s")];

    /// Its value.
    pub fn value(self, sink: &Sink) -> f64 {
        match self {
            SinkMeasure::Count => sink.count as f64,
            SinkMeasure::Mass => sink.swallowed,
            SinkMeasure::Flow => sink.flow,
        }
    }
}

/// What is recorded of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeMeasure {
    /// Share of its box that grains fill [-].
    Packing,
    /// Mean number of contacts with grains [-].
    Coordination,
    /// Mass that moves [kg].
    Mass,
    /// Component of the mass flow [kg/s].
    Flow(u8),
    /// Component of the stress, pressure positive [Pa].
    Stress(u8, u8),
}

impl ProbeMeasure {
    /// All of them with name after the probe's and a dot, and SI unit.
    pub const ALL: [(ProbeMeasure, &'static str, &'static str); 12] = [
        (ProbeMeasure::Packing, "packing", "-"),
        (ProbeMeasure::Coordination, "coordination", "-"),
        (ProbeMeasure::Mass, "mass", "kg"),
        (ProbeMeasure::Flow(0), "flow.x", "kg/s"),
        (ProbeMeasure::Flow(1), "flow.y", "kg/s"),
        (ProbeMeasure::Flow(2), "flow.z", "kg/s"),
        (ProbeMeasure::Stress(0, 0), "stress.xx", "Pa"),
        (ProbeMeasure::Stress(1, 1), "stress.yy", "Pa"),
        (ProbeMeasure::Stress(2, 2), "stress.zz", "Pa"),
        (ProbeMeasure::Stress(0, 1), "stress.xy", "Pa"),
        (ProbeMeasure::Stress(1, 2), "stress.yz", "Pa"),
        (ProbeMeasure::Stress(2, 0), "stress.zx", "Pa"),
    ];

    /// Its value; shear stress is the mean of both of its kind.
    pub fn value(self, probed: &Probed) -> f64 {
        let stress = |row: u8, column: u8| probed.stress.col(usize::from(column))[usize::from(row)];
        match self {
            ProbeMeasure::Packing => probed.packing,
            ProbeMeasure::Coordination => probed.coordination,
            ProbeMeasure::Mass => probed.mass,
            ProbeMeasure::Flow(k) => probed.flow[usize::from(k)],
            ProbeMeasure::Stress(j, k) => 0.5 * (stress(j, k) + stress(k, j)),
        }
    }
}
