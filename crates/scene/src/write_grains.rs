//! Grains back to the tree of a file. What came from a file of its own is written as a list, so that a written scene needs no
//! other file.

use super::write::{Writer, list, numbers};
use super::*;
use tippe_granular::{ClumpSphere, Cohesion, Rolling, Sizes};

pub(super) fn grains(spec: &GrainsSpec) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&spec.name));
    table.text("material", Some(&spec.material));
    match &spec.packing {
        Packing::Lattice { region: own, jitter } => {
            table.text("packing", Some("lattice"));
            region(&mut table, own);
            table.number("jitter", Some(*jitter));
        }
        Packing::Random(own) => {
            table.text("packing", Some("random"));
            region(&mut table, own);
        }
        Packing::Emitter { region: own, rate } => {
            table.text("packing", Some("emitter"));
            region(&mut table, own);
            table.number("rate", Some(*rate));
        }
        Packing::Soil { soil, radius } => {
            table.text("packing", Some("soil"));
            table.text("soil", Some(soil));
            table.number("radius", Some(*radius));
        }
        Packing::Listed(grains) => {
            table.text("packing", Some("listed"));
            let sphere = |g: &tippe_granular::Grain| numbers(&[g.position.x, g.position.y, g.position.z, g.radius]);
            table.put("spheres", list(grains, sphere));
            if grains.iter().any(|g| g.velocity != Vec3::ZERO) {
                table.put("velocities", list(grains, |g| numbers(&g.velocity.to_array())));
            }
            if grains.iter().any(|g| g.spin != Vec3::ZERO) {
                table.put("spins", list(grains, |g| numbers(&g.spin.to_array())));
            }
        }
    }
    if let Some(clump) = &spec.clump {
        let sphere = |s: &ClumpSphere| numbers(&[s.position.x, s.position.y, s.position.z, s.radius]);
        match &clump.form {
            ClumpForm::Spheres(spheres) => table.put("clump", list(spheres, sphere)),
            ClumpForm::Hull(corners) => table.put("hull", list(corners, |p| numbers(&p.to_array()))),
        }
        table.number("clump_seed", clump.seed.map(|seed| seed as i64 as f64));
    }
    table.vector("velocity", spec.velocity);
    table.vector("angular_velocity", spec.angular_velocity);
    table.flag("frozen", spec.frozen, false);
    table.number("restitution", spec.restitution);
    table.number("friction", spec.friction);
    match spec.rolling {
        Rolling::None => {}
        Rolling::Constant { coefficient } => table.number("rolling", Some(coefficient)),
        Rolling::ElasticPlastic { coefficient, damping } => {
            table.number("rolling", Some(coefficient));
            table.text("rolling_law", Some("elastic_plastic"));
            table.number("rolling_damping", Some(damping));
        }
    }
    match spec.cohesion {
        Cohesion::None => {}
        Cohesion::Jkr { work } => table.number("adhesion", Some(work)),
        Cohesion::Linear { pressure } => table.number("cohesion", Some(pressure)),
    }
    table
}

fn region(table: &mut Writer, region: &Region) {
    table.put("low", numbers(&region.low.to_array()));
    table.put("high", numbers(&region.high.to_array()));
    table.number("count", region.count.map(|count| count as f64));
    table.number("seed", Some(region.seed as i64 as f64));
    match &region.sizes {
        Sizes::Same { radius } => table.number("radius", Some(*radius)),
        Sizes::Uniform { smallest, largest } => table.put("radius_range", numbers(&[*smallest, *largest])),
        Sizes::Lognormal { median, deviation } => {
            table.number("median", Some(*median));
            table.number("deviation", Some(*deviation));
        }
        Sizes::Sieve { curve } => table.put("sieve", list(curve, |(radius, share)| numbers(&[*radius, *share]))),
    }
}

pub(super) fn sink(sink: &SinkSpec) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&sink.name));
    table.put("low", numbers(&sink.low.to_array()));
    table.put("high", numbers(&sink.high.to_array()));
    table.number("smoothing", Some(sink.smoothing));
    table
}

pub(super) fn probe(probe: &ProbeSpec) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&probe.name));
    table.put("low", numbers(&probe.low.to_array()));
    table.put("high", numbers(&probe.high.to_array()));
    table
}

pub(super) fn servo(servo: &Servo) -> Writer {
    let mut table = Writer::default();
    table.put("axis", numbers(&servo.axis.to_array()));
    table.number("force", Some(servo.force));
    table.number("speed", Some(servo.speed));
    table
}

pub(super) fn granular(granular: &Granular) -> Writer {
    let mut table = Writer::default();
    if let GrainMethod::Position { stiffness } = granular.method {
        table.text("method", Some("position"));
        table.number("stiffness", stiffness);
    }
    table.number("step", granular.step);
    if let Some(books) = granular.books {
        table.flag("books", books, !books);
    }
    table.number("snapshot_interval", granular.snapshot_interval);
    table.number("memory", granular.memory);
    if let Some(domain) = &granular.domain {
        table.put("low", numbers(&domain.low.to_array()));
        table.put("high", numbers(&domain.high.to_array()));
        let axes = ["x", "y", "z"].iter().zip(domain.periodic).filter(|(_, on)| *on);
        table.texts("periodic", &axes.map(|(name, _)| name.to_string()).collect::<Vec<_>>());
    }
    table
}
