//! Fluids as they are read: each becomes one for every body in it, `NAME.BODY`.

use super::reader::Reader;
use super::*;

/// Parts every fluid of a scene by its bodies; they stand behind all other forces.
pub(super) fn part_all(reader: &mut Reader<'_>, scene: &mut Scene) {
    let (fluids, others): (Vec<Part>, Vec<Part>) =
        std::mem::take(&mut scene.forces).into_iter().partition(|part| part.kind.word == "fluid");
    scene.forces = others;
    for part in fluids {
        let bodies = part.parts("bodies").to_vec();
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
