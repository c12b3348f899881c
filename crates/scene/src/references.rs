//! Every name that is used is defined, and defined once.

use super::reader::Reader;
use super::*;
use crate::material::{ALIASES, MATERIALS};
use std::collections::{BTreeMap, BTreeSet};

/// Reports every name that is used and not defined, or defined twice.
pub(super) fn check(reader: &mut Reader<'_>, scene: &Scene) {
    let mut names: BTreeMap<&str, Place> = BTreeMap::new();
    let mut groups: BTreeSet<&str> = BTreeSet::new();
    for body in &scene.bodies {
        if let Some(first) = names.insert(&body.name, body.places.entity) {
            let help = if first == body.places.entity {
                "use every index of `repeat` in the name, such as \"ball_{k}\"".to_string()
            } else {
                format!("the other one is in line {}", first.line)
            };
            reader.error(body.places.of("name"), format!("two bodies have the name \"{}\"", body.name), help);
        }
        groups.extend(body.groups.iter().map(String::as_str));
    }
    one_name_space(reader, scene);
    let materials: Vec<&str> = MATERIALS
        .iter()
        .map(|m| m.name)
        .chain(ALIASES.iter().map(|(alias, _)| *alias))
        .chain(scene.materials.iter().map(|m| m.name.as_str()))
        .collect();
    let grains = scene.grains.iter().map(|set| set.name.as_str()).collect();
    let mut references = References { reader, names, groups, grains, materials, reported: BTreeSet::new() };
    for body in &scene.bodies {
        let what = format!("body \"{}\"", body.name);
        if let Some(material) = &body.material {
            references.material(material, body.places.of("material"), &what);
        }
        for shape in &body.shapes {
            if let Some(material) = &shape.material {
                references.material(material, shape.places.of("material"), &what);
            }
        }
        for name in &body.ignore {
            references.body(name, body.places.of("ignore"), &what);
        }
    }
    for set in &scene.grains {
        references.material(&set.material, set.places.of("material"), &format!("grains \"{}\"", set.name));
    }
    for ignore in &scene.ignores {
        let place = ignore.places.entity;
        references.body(&ignore.first, place, "[[ignore]]");
        references.body(&ignore.second, place, "[[ignore]]");
    }
    let laws: Vec<&str> =
        NormalLaw::NAMES.iter().copied().chain(scene.laws.iter().map(|law| law.name.as_str())).collect();
    let mut pairs: BTreeSet<(bool, &str, &str)> = BTreeSet::new();
    for pair in &scene.pairs {
        let (is_material, first, second) = match &pair.between {
            Between::Materials(first, second) => {
                let place = pair.places.of("materials");
                references.material(first, place, "[[pair]]");
                references.material(second, place, "[[pair]]");
                (true, first, second)
            }
            Between::Bodies(first, second) => {
                let place = pair.places.of("bodies");
                references.body(first, place, "[[pair]]");
                references.body(second, place, "[[pair]]");
                (false, first, second)
            }
        };
        if !pairs.insert((is_material, first.min(second), first.max(second))) {
            let message = format!("two [[pair]]s are for \"{first}\" and \"{second}\"");
            references.reader.error(pair.places.entity, message, "");
        }
    }
    for contact in scene.pairs.iter().map(|pair| &pair.contact).chain([&scene.contact]) {
        if let Some(LawChoice::Custom(name)) = &contact.law
            && !laws.contains(&name.as_str())
        {
            let help = did_you_mean(name, laws.iter().copied());
            references.reader.error(contact.places.of("law"), format!("unknown law \"{name}\""), help);
        }
    }
}

/// Bodies, grains, sinks, probes, soil, joints, constraints, force elements, signals, components and sensors give signals their names, drawings their legends: none may have two.
fn one_name_space(reader: &mut Reader<'_>, scene: &Scene) {
    let mut taken: BTreeMap<&str, (&str, Place)> =
        scene.bodies.iter().map(|body| (body.name.as_str(), ("body", body.places.entity))).collect();
    let grains = scene.grains.iter().map(|grains| ("set of grains", &grains.name, &grains.places));
    let sinks = scene.sinks.iter().map(|sink| ("sink", &sink.name, &sink.places));
    let probes = scene.probes.iter().map(|probe| ("probe", &probe.name, &probe.places));
    let joints = scene.joints.iter().map(|joint| ("joint", &joint.name, &joint.places));
    let constraints = scene.constraints.iter().map(|constraint| ("constraint", &constraint.name, &constraint.places));
    let forces = scene.forces.iter().map(|force| ("force", &force.name, &force.places));
    let signals = scene.signals.iter().map(|signal| ("signal", &signal.name, &signal.places));
    let components = scene.components.iter().map(|component| ("component", &component.name, &component.places));
    let sensors = scene.sensors.iter().map(|sensor| ("sensor", &sensor.name, &sensor.places));
    let drawings = scene.drawings.iter().map(|drawing| ("drawing", &drawing.name, &drawing.places));
    let soils = scene.soils.iter().map(|soil| ("soil", &soil.name, &soil.places));
    let of_grains = grains.chain(sinks).chain(probes).chain(soils);
    let of_mechanisms = joints.chain(constraints).chain(forces).chain(signals).chain(components).chain(sensors);
    for (what, name, places) in of_grains.chain(of_mechanisms).chain(drawings) {
        let Some((other, place)) = taken.insert(name, (what, places.entity)) else { continue };
        let help = if place == places.entity {
            "use every index of `repeat` in the name, such as \"hinge_{k}\"".to_string()
        } else {
            format!("the other one is in line {}; they share one name space", place.line)
        };
        reader.error(places.of("name"), format!("{what} \"{name}\" has the name of a {other}"), help);
    }
}

struct References<'a, 'f> {
    reader: &'a mut Reader<'f>,
    names: BTreeMap<&'a str, Place>,
    groups: BTreeSet<&'a str>,
    grains: BTreeSet<&'a str>,
    materials: Vec<&'a str>,
    /// So that copies of a body do not repeat an error.
    reported: BTreeSet<(Place, String)>,
}

impl References<'_, '_> {
    fn material(&mut self, name: &str, place: Place, what: &str) {
        if !self.materials.contains(&name) && crate::material::find(name).is_none() {
            let help = did_you_mean(name, self.materials.iter().copied());
            self.report(name, place, format!("{what}: unknown material \"{name}\""), help);
        }
    }

    fn body(&mut self, name: &str, place: Place, what: &str) {
        match name.strip_prefix("group:") {
            Some(group) if !self.groups.contains(group) => {
                let help = did_you_mean(group, self.groups.iter().copied());
                self.report(name, place, format!("{what}: no body is in the group \"{group}\""), help);
            }
            None if self.grains.contains(name) && !self.names.contains_key(name) => {
                let help = "grains touch all that collides: collide = false of a body or shape lets them pass";
                self.report(name, place, format!("{what}: \"{name}\" is a set of grains, not a body"), help.into());
            }
            None if !self.names.contains_key(name) => {
                let help = closest(name, self.names.keys().copied())
                    .map_or(String::new(), |best| format!("did you mean `{best}`?"));
                self.report(name, place, format!("{what}: unknown body \"{name}\""), help);
            }
            _ => {}
        }
    }

    fn report(&mut self, name: &str, place: Place, message: String, help: String) {
        if self.reported.insert((place, name.to_string())) {
            self.reader.error(place, message, help);
        }
    }
}
