//! What a vehicle became, as text: its bodies, and its shafts from engine to wheels with their ratios and the inertia behind each.

use super::Laid;
use super::chain::Chain;
use std::fmt::Write;

/// A vehicle of a scene, for `tippe explain vehicle`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VehicleTree {
    /// Its name in the scene.
    pub name: String,
    /// Its tree.
    pub text: String,
}

/// The tree of a vehicle.
pub(super) fn written(laid: &Laid, chain: &Chain) -> String {
    let mut out = String::new();
    let wheels: f64 = laid.wheels.iter().map(|wheel| wheel.mass).sum::<f64>() + 0.0;
    let bodies: f64 = laid.bodies.iter().map(|body| body.mass).sum::<f64>() + 0.0;
    let shafts: f64 = chain.parts.iter().map(|part| part.shaft.mass).sum::<f64>() + 0.0;
    let _ = writeln!(out, "vehicle {}: bodies {bodies:.1} kg, wheels {wheels:.1} kg, shafts {shafts:.1} kg", laid.name);
    for body in &laid.bodies {
        let how = body.hangs.as_ref().map_or("chassis".to_owned(), |hangs| format!("{} on {}", hangs.kind, hangs.on));
        let _ = writeln!(out, "  {:<24}{how}, {:.1} kg", body.name, body.mass);
    }
    let _ = writeln!(out, "driveline (inertia behind each shaft reduced to it, in kg m2)");
    for part in chain.parts.iter().filter(|part| part.from.is_none()) {
        branch(&mut out, laid, chain, &part.name, 1, 1.0);
    }
    let free = laid.wheels.iter().filter(|wheel| wheel.from.is_none());
    for wheel in free {
        let _ = writeln!(out, "  {:<24}wheel, {:.4}, stands on {:.0} N", wheel.name, wheel.inertia, wheel.load);
    }
    out
}

/// A part and all that it drives; `turns` is the rate of the root over that of its source.
fn branch(out: &mut String, laid: &Laid, chain: &Chain, name: &str, depth: usize, turns: f64) {
    if depth > chain.parts.len() + 2 {
        return;
    }
    let indent = "  ".repeat(depth);
    let Some(part) = chain.parts.iter().find(|part| part.name == name) else { return };
    let own = match part.kind.as_str() {
        "differential" | "shaft" => part.ratios.first().copied().unwrap_or(1.0),
        "gearbox" => part.ratios.first().copied().unwrap_or(1.0),
        _ => 1.0,
    };
    let all = if part.kind == "gearbox" && part.ratios.len() > 1 {
        format!(", gears {}", part.ratios.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
    } else {
        String::new()
    };
    let turns = turns * own;
    let reduced = chain.reduced(laid, name, 0);
    let width = 26_usize.saturating_sub(indent.len());
    let _ = writeln!(out, "{indent}{name:<width$}{}, ratio {turns:.4}{all}, {reduced:.5}", part.kind);
    for next in chain.parts.iter().filter(|next| next.from.as_deref() == Some(name)) {
        branch(out, laid, chain, &next.name, depth + 1, turns);
    }
    let wheels = laid.wheels.iter().filter(|wheel| wheel.from.as_deref() == Some(name));
    let ends = wheels.map(|wheel| (&wheel.name, "wheel", wheel.ratio, wheel.inertia));
    let tracks = laid.tracks.iter().filter(|track| track.from.as_deref() == Some(name));
    for (end, word, ratio, inertia) in ends.chain(tracks.map(|t| (&t.name, "track", t.ratio, t.inertia))) {
        let indent = "  ".repeat(depth + 1);
        let width = 26_usize.saturating_sub(indent.len());
        let _ = writeln!(out, "{indent}{end:<width$}{word}, ratio {:.4}, {inertia:.5}", turns * ratio);
    }
}
