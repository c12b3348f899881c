//! The soil of a scene made ready: its ground, what cuts it, what presses on it, what is recorded of it.

use super::compile::Compiler;
use super::{Drive, Model, ModelSignal, SignalSource};
use tippe_geometry::{Shape, Vec3};
use tippe_scene::{Clock, Packing, SoilSpec, did_you_mean};
use tippe_soil::bearing::Presser;
use tippe_soil::tool::Tool;
use tippe_soil::{Ground, KINDS, SoilKind, Start, StartLayer};

/// Soil ready to run.
#[derive(Clone, Debug)]
pub struct ModelSoil {
    /// Name in the scene.
    pub name: String,
    /// The ground at the start.
    pub ground: Ground,
    /// Blades and buckets.
    pub tools: Vec<Tool>,
    /// What becomes of soils that are cut, by soil; nothing else than soil where it is none.
    pub spoil: Vec<Option<Spoil>>,
    /// Bodies that may stand on it.
    pub pressers: Vec<Presser>,
    /// Where soil comes from: name, soil by index, cell, mass of grains per time [kg/s], from and until [s].
    pub feeds: Vec<ModelFeed>,
    /// Places that are watched.
    pub points: Vec<(String, [f64; 2])>,
    /// g [m/s^2].
    pub gravity: f64,
}

/// Grains that a soil becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spoil {
    /// Their set.
    pub class: u8,
    /// Their radius [m].
    pub radius: f64,
    /// Mass of soil without water that one of them stands for [kg].
    pub mass: f64,
}

/// A conveyor that sheds soil.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFeed {
    /// Name in the scene.
    pub name: String,
    /// Its soil, by index.
    pub kind: u8,
    /// Where it falls.
    pub cell: [usize; 2],
    /// Mass of grains per time [kg/s].
    pub rate: f64,
    /// From when, until when [s].
    pub times: [f64; 2],
}

/// What is recorded of soil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoilMeasure {
    /// Mass of its grains, those in buckets included, less that at the start, over that at the start of what was touched [-].
    Lost,
    /// Mass with its water that slid from cell to cell so far [kg].
    Slid,
    /// Mass without water of what is grains now [kg].
    Loose,
    /// Cells that are kept.
    Cells,
    /// Mass with its water that came from a feed [kg].
    Fed(u32),
    /// Of a tool.
    Tool(u32, ToolMeasure),
    /// Of a point.
    Point(u32, PointMeasure),
}

/// What is recorded of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMeasure {
    /// Force of the soil against its motion [N].
    Force,
    /// Force of the soil that presses it down [N].
    Down,
    /// Share of the resistance to cutting that it meets [-].
    Share,
    /// Volume it has cut or pushed, as it lay [m^3].
    Volume,
    /// Mass in its bucket, with water [kg].
    Mass,
    /// Loose volume in its bucket over what it holds [-].
    Fill,
    /// Mass with its water of what it has cut and is to become grains [kg].
    Carry,
}

impl ToolMeasure {
    /// All of them with name after the tool's and a dot, and SI unit.
    pub const ALL: [(ToolMeasure, &'static str, &'static str); 7] = [
        (ToolMeasure::Force, "force", "N"),
        (ToolMeasure::Down, "down", "N"),
        (ToolMeasure::Share, "share", "-"),
        (ToolMeasure::Volume, "volume", "m3"),
        (ToolMeasure::Mass, "mass", "kg"),
        (ToolMeasure::Fill, "fill", "-"),
        (ToolMeasure::Carry, "carry", "kg"),
    ];
}

/// What is recorded of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointMeasure {
    /// Height of the surface [m].
    Height,
    /// Void ratio of the uppermost layer [-].
    VoidRatio,
    /// Density of the uppermost layer without water [kg/m^3].
    Density,
    /// Largest pressure so far [Pa].
    Pressure,
}

impl PointMeasure {
    /// All of them with name after the point's and a dot, and SI unit.
    pub const ALL: [(PointMeasure, &'static str, &'static str); 4] = [
        (PointMeasure::Height, "height", "m"),
        (PointMeasure::VoidRatio, "void_ratio", "-"),
        (PointMeasure::Density, "density", "kg/m3"),
        (PointMeasure::Pressure, "pressure", "Pa"),
    ];
}

impl Compiler<'_> {
    /// The ground of the scene, if it has one.
    pub(super) fn soil(&mut self, model: &mut Model) {
        let scene = self.scene;
        let Some(spec) = scene.soils.first() else { return };
        let before = self.errors.len();
        if self.clock == Clock::Granular {
            let message = format!("soil \"{}\" cannot run in the granular clock: it moves grains alone", spec.name);
            self.fail(spec.places.entity, message, "another clock");
        }
        let g = model.gravity;
        if g.x != 0.0 || g.y != 0.0 || g.z >= 0.0 {
            let message = format!("soil \"{}\" lies along z, and gravity is [{}, {}, {}]", spec.name, g.x, g.y, g.z);
            self.fail(spec.places.entity, message, "gravity = [0, 0, -9.81]");
        }
        let ground = self.ground(spec);
        let spoil = ground.as_ref().map_or_else(Vec::new, |ground| self.spoil(&ground.kinds));
        let tools = self.tools(spec, model, &spoil);
        let pressers = self.pressers(spec, model, &tools);
        self.check_clock(spec, model, &tools, spoil.len());
        let feeds = ground.as_ref().map_or_else(Vec::new, |ground| self.feeds(spec, ground));
        let (Some(ground), true) = (ground, self.errors.len() == before) else { return };
        let soil = ModelSoil {
            name: spec.name.clone(),
            ground,
            tools,
            spoil,
            pressers,
            feeds,
            points: spec.points.clone(),
            gravity: -g.z,
        };
        for (name, p) in soil.points.iter().filter(|(_, p)| soil.ground.cell_at(*p).is_none()) {
            let message = format!("soil \"{}\": point \"{name}\" at [{}, {}] is off the ground", spec.name, p[0], p[1]);
            self.fail(spec.places.of("points"), message, "a place between `low` and `high`");
        }
        name_signals(model, &soil);
        model.soil = Some(soil);
    }

    /// The ground with its soils and layers.
    fn ground(&mut self, spec: &SoilSpec) -> Option<Ground> {
        let mut kinds: Vec<SoilKind> = Vec::new();
        let mut layers = Vec::new();
        for layer in &spec.layers {
            let Some(kind) = spec.kind(&layer.soil) else {
                let known = KINDS.iter().map(|row| row.name).chain(spec.kinds.iter().map(|kind| kind.name.as_str()));
                let help = did_you_mean(&layer.soil, known);
                self.fail(layer.place, format!("soil \"{}\": there is no soil \"{}\"", spec.name, layer.soil), &help);
                return None;
            };
            let [dense, loose] = kind.void_ratios;
            let e = layer.void_ratio.unwrap_or(0.5 * (dense + loose));
            let k = kinds.iter().position(|known| known.name == kind.name).unwrap_or_else(|| {
                kinds.push(kind.clone());
                kinds.len() - 1
            });
            let least = kind.compression.yield_pressure(1.0 + e);
            let yield_pressure = layer.yield_pressure.unwrap_or(least);
            layers.push(StartLayer { kind: k as u8, thickness: layer.thickness, void_ratio: e, yield_pressure });
        }
        if layers.len() >= tippe_soil::MOST_LAYERS {
            let message = format!("soil \"{}\" has {} layers; there is room for seven", spec.name, layers.len());
            self.fail(spec.places.of("layers"), message, "thicker layers");
            return None;
        }
        let counts = [0, 1].map(|k| ((spec.high[k] - spec.low[k]) / spec.cell).round() as usize);
        let start = Start { level: spec.level, layers, features: spec.features.clone(), relief: spec.relief.clone() };
        let mut ground = Ground::new(kinds, start, spec.cell, spec.low, counts);
        ground.wake_all();
        Some(ground)
    }

    /// Feeds with their soils and cells.
    fn feeds(&mut self, spec: &SoilSpec, ground: &Ground) -> Vec<ModelFeed> {
        let mut feeds = Vec::new();
        for own in &spec.feeds {
            let kind = ground.kinds.iter().position(|kind| kind.name == own.soil);
            let cell = ground.cell_at(own.at);
            let (Some(kind), Some(cell)) = (kind, cell) else {
                let what = match kind {
                    None => format!("there is no layer of soil \"{}\"", own.soil),
                    Some(_) => format!("[{}, {}] is off the ground", own.at[0], own.at[1]),
                };
                let help = "a soil of the layers, a place between `low` and `high`";
                self.fail(own.place, format!("feed \"{}\": {what}", own.name), help);
                continue;
            };
            let rate = own.rate / (1.0 + ground.kinds[kind].water);
            feeds.push(ModelFeed { name: own.name.clone(), kind: kind as u8, cell, rate, times: own.times });
        }
        feeds
    }

    /// What becomes of soils that are cut.
    fn spoil(&mut self, kinds: &[SoilKind]) -> Vec<Option<Spoil>> {
        let mut spoil = vec![None; kinds.len()];
        for (class, set) in self.scene.grains.iter().enumerate() {
            let Packing::Soil { soil, radius } = &set.packing else { continue };
            let Some(k) = kinds.iter().position(|kind| kind.name == *soil) else { continue };
            if spoil[k].is_some() {
                let message = format!("grains \"{}\" are a second set that soil \"{soil}\" becomes", set.name);
                self.fail(set.places.entity, message, "one set for each soil");
            }
            spoil[k] = Some(Spoil { class: class as u8, radius: *radius, mass: kinds[k].mass_of_ball(*radius) });
        }
        spoil
    }

    /// Tools with their bodies.
    fn tools(&mut self, spec: &SoilSpec, model: &Model, spoil: &[Option<Spoil>]) -> Vec<Tool> {
        let mut tools = Vec::new();
        for own in &spec.tools {
            let Some(body) = model.body(&own.body) else {
                let help = did_you_mean(&own.body, model.bodies.iter().map(|body| body.name.as_str()));
                self.fail(own.place, format!("tool \"{}\": there is no body \"{}\"", own.name, own.body), &help);
                continue;
            };
            let width = (own.edge[1] - own.edge[0]).length();
            if width < spec.cell {
                self.warnings.push(format!(
                    "tool \"{}\" is {width} m wide, less than a cell of the soil, {} m: what it cuts is a cell wide now and nothing then. help: smaller cells",
                    own.name, spec.cell
                ));
            }
            if spoil.iter().any(Option::is_some) && model.bodies[body].colliders.is_empty() {
                self.warnings.push(format!(
                    "tool \"{}\": body \"{}\" has no shapes, so that the grains that it cuts pass through it. help: boxes for its walls",
                    own.name, own.body
                ));
            }
            let shift = model.bodies[body].p_bc;
            tools.push(Tool {
                name: own.name.clone(),
                body: body as u32,
                edge: own.edge.map(|p| p - shift),
                top: own.top,
                thickness: own.thickness,
                teeth: own.teeth,
                bucket: own.bucket,
                loosens: spoil.iter().map(Option::is_some).collect(),
            });
        }
        tools
    }

    /// Bodies that may stand on the ground: all that move and have shapes, but tools.
    fn pressers(&mut self, spec: &SoilSpec, model: &Model, tools: &[Tool]) -> Vec<Presser> {
        for name in spec.ignore.iter().filter(|name| model.body(name).is_none()) {
            let help = did_you_mean(name, model.bodies.iter().map(|body| body.name.as_str()));
            self.fail(spec.places.of("ignore"), format!("soil \"{}\": there is no body \"{name}\"", spec.name), &help);
        }
        let mut pressers = Vec::new();
        for (b, body) in model.bodies.iter().enumerate() {
            let feels = body.drive != Drive::Fixed
                && !spec.ignore.contains(&body.name)
                && !tools.iter().any(|tool| tool.body == b as u32);
            if !feels {
                continue;
            }
            let shapes: Vec<_> = model.colliders[body.colliders.clone()]
                .iter()
                .filter(|collider| !matches!(collider.shape, Shape::HalfSpace | Shape::HeightGrid(_)))
                .map(|collider| (collider.shape.clone(), collider.X_cs))
                .collect();
            if shapes.is_empty() {
                continue;
            }
            let p: Vec3 = model.start[b].position;
            if (0..2).any(|k| p[k] + body.radius < spec.low[k] || p[k] - body.radius > spec.high[k]) {
                self.warnings.push(format!(
                    "body \"{}\" begins off the soil \"{}\", and falls past it there. help: a larger soil, or a body under it",
                    body.name, spec.name
                ));
            }
            pressers.push(Presser { body: b as u32, shapes });
        }
        pressers
    }

    /// The precise clock has no rows: what would be a mass that goes with a free body is refused there.
    fn check_clock(&mut self, spec: &SoilSpec, model: &Model, tools: &[Tool], kinds: usize) {
        if self.clock != Clock::Precise {
            return;
        }
        let holds =
            |tool: &&Tool| tool.bucket.is_some() && tool.loosens.iter().filter(|becomes| **becomes).count() < kinds;
        let free = |tool: &&Tool| model.bodies[tool.body as usize].drive == Drive::Free;
        if let Some(tool) = tools.iter().filter(holds).find(free) {
            let message = format!(
                "soil \"{}\": bucket \"{}\" of the free body \"{}\" cannot run in the precise clock: soil in it is a mass that comes and goes with its rows",
                spec.name, tool.name, model.bodies[tool.body as usize].name
            );
            let help = "[[grains]] with packing = \"soil\" for each of its soils, or clock = \"realtime\"";
            self.fail(spec.places.entity, message, help);
        }
    }
}

/// Names of all that is recorded.
fn name_signals(model: &mut Model, soil: &ModelSoil) {
    let mut add = |name: String, unit: &str, measure: SoilMeasure| {
        model.signals.push(ModelSignal { name, unit: unit.into(), source: SignalSource::Soil(measure) });
    };
    add(format!("{}.lost", soil.name), "-", SoilMeasure::Lost);
    add(format!("{}.slid", soil.name), "kg", SoilMeasure::Slid);
    add(format!("{}.loose", soil.name), "kg", SoilMeasure::Loose);
    add(format!("{}.cells", soil.name), "-", SoilMeasure::Cells);
    for (k, feed) in soil.feeds.iter().enumerate() {
        add(format!("{}.mass", feed.name), "kg", SoilMeasure::Fed(k as u32));
    }
    for (k, tool) in soil.tools.iter().enumerate() {
        for (measure, name, unit) in ToolMeasure::ALL {
            add(format!("{}.{name}", tool.name), unit, SoilMeasure::Tool(k as u32, measure));
        }
    }
    for (k, (point, _)) in soil.points.iter().enumerate() {
        for (measure, name, unit) in PointMeasure::ALL {
            add(format!("{point}.{name}"), unit, SoilMeasure::Point(k as u32, measure));
        }
    }
}
