//! Fluids as they are read: each becomes one for every body in it, `NAME.BODY`, of a cable for each of its elements.

use super::reader::Reader;
use super::*;
use tippe_parts::element;

/// Parts every fluid of a scene by its bodies; they stand behind all other forces.
pub(super) fn part_all(reader: &mut Reader<'_>, scene: &mut Scene) {
    let (fluids, others): (Vec<Part>, Vec<Part>) =
        std::mem::take(&mut scene.forces).into_iter().partition(|part| part.kind.word == "fluid");
    scene.forces = others;
    for mut part in fluids {
        let mut bodies = part.parts("bodies").to_vec();
        for cable in part.parts("cables") {
            match elements(scene, cable) {
                Ok(own) => bodies.extend(own),
                Err((message, help)) => {
                    reader.error(cable.places.of("on"), format!("fluid \"{}\" {message}", part.name), help);
                }
            }
        }
        part.unset("cables");
        for (k, body) in bodies.iter().enumerate() {
            let name = body.attachments("on").first().map_or_else(String::new, |on| on.body.clone());
            let same = |other: &Part| other.attachments("on").first().is_some_and(|on| on.body == name);
            if bodies[..k].iter().any(same) {
                let message = format!("fluid \"{}\" has body \"{name}\" twice", part.name);
                reader.error(part.places.entity, message, "name each body once");
                continue;
            }
            let mut own = part.clone();
            own.set("bodies", Value::Parts(vec![body.clone()]));
            if !own.name.ends_with(&format!(".{name}")) {
                own.name = format!("{}.{name}", part.name);
            }
            scene.forces.push(own);
        }
    }
}

/// The elements of a cable as bodies of a fluid, or what is wrong and what to do.
fn elements(scene: &Scene, cable: &Part) -> Result<Vec<Part>, (String, String)> {
    let name = cable.word("on");
    let is_element = |body: &&Body| {
        let rest = body.name.strip_prefix(name).and_then(|rest| rest.strip_prefix(".e").or(rest.strip_prefix(".f")));
        rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let of = |body: &Body| {
        let mut part = Part::new("", element::WET_KINDS.kinds[0]);
        part.set("on", Value::Attachments(vec![Attachment { body: body.name.clone(), frame: String::new() }]));
        for key in ["drag", "drag_along"] {
            part.set(key, cable.number(key));
        }
        part.places = cable.places.clone();
        part
    };
    let parts: Vec<Part> = scene.bodies.iter().filter(is_element).map(of).collect();
    if !parts.is_empty() {
        return Ok(parts);
    }
    let known = scene.forces.iter().find(|part| part.kind.word == "cable" && part.name == name);
    Err(match known {
        Some(_) => {
            let message = format!("has cable \"{name}\", which has no elements that could feel it");
            (message, "spans = \"flexible\"; a massless span and a catenary feel no water".to_owned())
        }
        None => (format!("has an unknown cable \"{name}\""), "name a flexible cable".to_owned()),
    })
}
