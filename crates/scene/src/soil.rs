//! The soil of a scene: `[[soil]]`, its layers, features, tools and points.

use super::format::{Form, Key, Measure, REPEATED, Range, Table, key, measure, number, text, texts, vector, word};
use super::read::check_path;
use super::read_mechanism::filled;
use super::reader::{Fields, Reader};
use super::write::{Writer, numbers, tables};
use super::*;
use crate::equation::Dimension as D;
use Range::{Any, Count, NotNegative, Positive};
use std::path::Path;
use tippe_soil::{Feature, FeatureKind, KINDS, Relief, SoilKind};

/// The soil of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SoilSpec {
    /// Name, unique in the scene.
    pub name: String,
    /// Corners in plan [m].
    pub low: [f64; 2],
    /// See `low`.
    pub high: [f64; 2],
    /// Side of a cell [m].
    pub cell: f64,
    /// Height of the flat ground [m].
    pub level: f64,
    /// Soils of this scene.
    pub kinds: Vec<SoilKind>,
    /// Layers from the top down.
    pub layers: Vec<SoilLayer>,
    /// What stands on the flat ground.
    pub features: Vec<Feature>,
    /// Heights over the flat ground.
    pub relief: Option<Relief>,
    /// Blades and buckets.
    pub tools: Vec<SoilTool>,
    /// Places that are watched.
    pub points: Vec<(String, [f64; 2])>,
    /// Bodies that the soil does not feel.
    pub ignore: Vec<String>,
    /// Where soil comes from.
    pub feeds: Vec<SoilFeed>,
    /// Where things were written.
    pub places: Places,
}

impl SoilSpec {
    /// The soil of a name: one of its own, or a built-in one.
    pub fn kind(&self, name: &str) -> Option<SoilKind> {
        self.kinds.iter().find(|kind| kind.name == name).cloned().or_else(|| SoilKind::named(name))
    }

    /// The soil at another place; a ground is not turned.
    pub(super) fn moved(&mut self, by: Vec3) {
        let shift = |p: &mut [f64; 2]| *p = [p[0] + by.x, p[1] + by.y];
        self.level += by.z;
        shift(&mut self.low);
        shift(&mut self.high);
        self.points.iter_mut().for_each(|(_, at)| shift(at));
        self.feeds.iter_mut().for_each(|feed| shift(&mut feed.at));
        self.relief.iter_mut().for_each(|relief| shift(&mut relief.low));
        for feature in &mut self.features {
            match &mut feature.kind {
                FeatureKind::Block { low, high } | FeatureKind::Ramp { low, high, .. } => {
                    shift(low);
                    shift(high);
                }
                FeatureKind::Cone { at, .. } => shift(at),
            }
        }
    }
}

/// A layer.
#[derive(Clone, Debug, PartialEq)]
pub struct SoilLayer {
    /// Its soil.
    pub soil: String,
    /// Thickness [m].
    pub thickness: f64,
    /// e [-].
    pub void_ratio: Option<f64>,
    /// p_y [Pa].
    pub yield_pressure: Option<f64>,
    /// Where it was written.
    pub place: Place,
}

/// Where soil comes from: a conveyor that sheds it.
#[derive(Clone, Debug, PartialEq)]
pub struct SoilFeed {
    /// Name.
    pub name: String,
    /// Its soil.
    pub soil: String,
    /// Where it falls [m].
    pub at: [f64; 2],
    /// Mass with its water per time [kg/s].
    pub rate: f64,
    /// From when, until when [s].
    pub times: [f64; 2],
    /// Where it was written.
    pub place: Place,
}

/// A blade or a bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct SoilTool {
    /// Name.
    pub name: String,
    /// Its body.
    pub body: String,
    /// Ends of the edge in the frame of the body [m].
    pub edge: [Vec3; 2],
    /// From the edge to the top [m].
    pub top: Vec3,
    /// Thickness of the edge [m].
    pub thickness: f64,
    /// Teeth and the width of one [m].
    pub teeth: (u32, f64),
    /// From the edge to the back of the floor [m], and what it holds [m^3].
    pub bucket: Option<(Vec3, f64)>,
    /// Where it was written.
    pub place: Place,
}

const fn plan(name: &'static str, about: &'static str) -> Key {
    key(name, Form::Vector(2, measure(D::LENGTH, Any)), about)
}
const fn pair(name: &'static str, dimension: D, range: Range, about: &'static str) -> Key {
    key(name, Form::Vector(2, Measure { dimension: Some(dimension), range }), about)
}
const DENSITY: D = D::new(-3, 1, 0);
const VOLUME: D = D::new(3, 0, 0);

const LAYER: Table = Table {
    name: "layer",
    kinds: &[],
    keys: &[&[
        text("soil", "Its soil: sand, loam, clay, gravel, or one of `kinds`").required("such as soil = \"loam\""),
        number("thickness", D::LENGTH, Positive, "Thickness [m]").required("such as thickness = \"1 m\""),
        number(
            "void_ratio",
            D::ONE,
            Positive,
            "Volume of voids over that of grains [-]; default halfway between loose and dense",
        ),
        number(
            "yield_pressure",
            D::PRESSURE,
            Positive,
            "Mean stress from which on it is compacted [Pa]; default by its yield line",
        ),
    ]],
};

const KIND: Table = Table {
    name: "kind of soil",
    kinds: &[],
    keys: &[&[
        text("name", "Word for it").required("a soil has a name"),
        text("like", "Soil whose numbers it has where it says none: sand, loam, clay, gravel")
            .required("such as like = \"loam\""),
        number("grain_density", DENSITY, Positive, "Density of its grains [kg/m3]"),
        number("water", D::ONE, NotNegative, "Mass of water over mass of grains [-]"),
        pair("void_ratios", D::ONE, Positive, "Void ratio where it lies most densely and most loosely [-]"),
        pair("friction", D::ONE, NotNegative, "Angle of friction, loose and dense [rad]"),
        pair("cohesion", D::PRESSURE, NotNegative, "Cohesion, loose and dense [Pa]"),
        number("tool_friction", D::ONE, NotNegative, "Angle of friction on tools [rad]"),
        number("adhesion", D::PRESSURE, NotNegative, "Adhesion to tools [Pa]"),
        key(
            "compression",
            Form::Vector(5, measure(D::ONE, Positive)),
            "N, lambda, kappa, kappa', m of its compaction, pressures in kPa [-]",
        ),
        key(
            "bekker",
            Form::Vector(3, Measure { dimension: None, range: Any }),
            "kc [N/m^(n+1)], kphi [N/m^(n+2)], n of a plate pressed into it",
        ),
        number("shear", D::LENGTH, Positive, "Displacement K after which it shears with most of its strength [m]"),
    ]],
};

/// Forms of features.
const FEATURES: &[&str] = &["block", "cone", "ramp"];

const FEATURE: Table = Table {
    name: "feature",
    kinds: &[],
    keys: &[&[
        word("kind", FEATURES, "block over a rectangle, cone about a point, ramp that rises over a rectangle")
            .required("kind = \"cone\""),
        number("height", D::LENGTH, Any, "Height over the flat ground, below it if negative [m]")
            .required("such as height = \"1 m\""),
        plan("low", "Lower corner of a block or ramp [m]"),
        plan("high", "Upper corner of it [m]"),
        plan("at", "Middle of a cone [m]"),
        number("radius", D::LENGTH, Positive, "Radius of its foot [m]"),
        word("along", &["x", "y"], "Axis along which a ramp rises; default x"),
    ]],
};

const TOOL: Table = Table {
    name: "tool",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signals").required("a tool has a name"),
        text("body", "The body it belongs to").required("such as body = \"blade\""),
        vector(
            "right",
            D::LENGTH,
            "Right end of its cutting edge, seen in its direction, in the frame of the body [m]",
        )
        .required("a point [x, y, z]"),
        vector("left", D::LENGTH, "Left end of it [m]").required("a point [x, y, z]"),
        vector("top", D::LENGTH, "From the edge to the top of the blade, in the frame of the body [m]")
            .required("such as [0, 0, 0.6]"),
        number("thickness", D::LENGTH, Positive, "Thickness of the edge, or of the teeth [m]; default 0.02"),
        number("teeth", D::ONE, Count, "Teeth on the edge; default none: the whole edge"),
        number("tooth_width", D::LENGTH, Positive, "Width of a tooth [m]; default 0.08"),
        vector("floor", D::LENGTH, "Of a bucket: from the edge to the back of its floor, in the frame of the body [m]"),
        number("capacity", VOLUME, Positive, "Of a bucket: what it holds [m3]"),
    ]],
};

const FEED: Table = Table {
    name: "feed",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signal").required("a feed has a name"),
        text("soil", "Its soil, one of the layers").required("such as soil = \"sand\""),
        plan("at", "Where it falls [m]").required("such as at = [1, 2]"),
        number("rate", D::new(0, 1, -1), Positive, "Mass with its water per time [kg/s]")
            .required("such as rate = \"100 kg/s\""),
        number("from", D::TIME, NotNegative, "When it begins [s]; default 0"),
        number("to", D::TIME, NotNegative, "When it ends [s]; default never"),
    ]],
};

const POINT: Table = Table {
    name: "point",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signals").required("a point has a name"),
        plan("at", "Place [m]").required("such as at = [1, 2]"),
    ]],
};

pub(super) const SOIL: Table = Table {
    name: "[[soil]]",
    kinds: &[],
    keys: &[&[
        text("name", "Name of its signals").required("a soil has a name"),
        REPEATED,
        plan("low", "Lower corner in plan [m]").required("two corners of the site"),
        plan("high", "Upper corner in plan [m]").required("two corners of the site"),
        number("cell", D::LENGTH, Positive, "Side of a cell [m]").required("such as cell = \"0.1 m\""),
        number("level", D::LENGTH, Any, "Height of the flat ground [m]; default 0"),
        key("layers", Form::Tables(&LAYER), "Layers from the top down; below is hard ground")
            .required("layers = [{ soil = \"loam\", thickness = \"1 m\" }]"),
        key("kinds", Form::Tables(&KIND), "Soils of this scene, each like a built-in one"),
        key("features", Form::Tables(&FEATURE), "What stands on the flat ground, or is dug into it"),
        text(
            "file",
            "Heights over the flat ground, from the folder of the scene: .asc (ESRI), .csv (x, y, z), .png (16-bit grey, with a .scale file)",
        ),
        key("tools", Form::Tables(&TOOL), "Blades and buckets that cut it"),
        key("points", Form::Tables(&POINT), "Places whose height and density are signals"),
        texts("ignore", "Bodies that pass through it"),
        key("feeds", Form::Tables(&FEED), "Conveyors that shed soil"),
    ]],
};

/// Reads the soil of a scene.
pub(super) fn soils(reader: &mut Reader<'_>, fields: &Fields<'_>, scene: &mut Scene) {
    let Some(node) = fields.get("soil") else { return };
    for item in reader.items(node, "soil") {
        let Some(fields) = reader.fields(item, &SOIL, "[[soil]]") else { continue };
        repeat::repeated(reader, &fields, |reader| scene.soils.extend(soil(reader, &fields)));
    }
    if let Some(second) = scene.soils.get(1) {
        let message = format!("soil \"{}\" is a second one; a scene has one ground", second.name);
        reader.error(second.places.entity, message, "make the first one larger");
    }
}

fn all<'n, T>(
    reader: &mut Reader<'_>,
    fields: &Fields<'n>,
    name: &str,
    table: &'static Table,
    read: impl Fn(&mut Reader<'_>, &Fields<'n>) -> Option<T>,
) -> Vec<T> {
    let Some(node) = fields.get(name) else { return Vec::new() };
    let mut out = Vec::new();
    for item in reader.items(node, name) {
        if let Some(inner) = reader.fields(item, table, format!("{}: {}", fields.what, table.name)) {
            out.extend(read(reader, &inner));
        }
    }
    out
}

fn soil(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SoilSpec> {
    let name = filled(reader, fields, "name")?;
    check_path(reader, &name, fields.place_of("name"), "soil");
    let fields = &Fields { what: format!("soil \"{name}\""), ..fields.clone() };
    let (low, high) = (reader.vector::<2>(fields, "low"), reader.vector::<2>(fields, "high"));
    let cell = reader.number(fields, "cell");
    let kinds = all(reader, fields, "kinds", &KIND, kind);
    let layers = all(reader, fields, "layers", &LAYER, layer);
    let features = all(reader, fields, "features", &FEATURE, feature);
    let tools = all(reader, fields, "tools", &TOOL, tool);
    let feeds = all(reader, fields, "feeds", &FEED, feed);
    let points = all(reader, fields, "points", &POINT, |reader, fields| {
        Some((filled(reader, fields, "name")?, reader.vector::<2>(fields, "at")?))
    });
    let relief = relief(reader, fields);
    let (low, high, cell) = (low?, high?, cell?);
    let cells = [0, 1].map(|k| ((high[k] - low[k]) / cell).round());
    if cells.iter().any(|n| *n < 2.0) {
        let message = format!("{}: {} by {} cells of {cell} m are no ground", fields.what, cells[0], cells[1]);
        reader.error(fields.place_of("high"), message, "high above low, by two cells at least");
        return None;
    }
    const MOST: f64 = 4e9;
    if cells[0] * cells[1] > MOST {
        let message = format!("{}: {:.1e} cells are more than {MOST:e}", fields.what, cells[0] * cells[1]);
        reader.error(fields.place_of("cell"), message, "larger cells");
        return None;
    }
    if layers.is_empty() && fields.get("layers").is_some() {
        let message = format!("{} has no layers", fields.what);
        reader.error(fields.place_of("layers"), message, "layers = [{ soil = \"loam\", thickness = \"1 m\" }]");
    }
    Some(SoilSpec {
        name,
        low,
        high,
        cell,
        level: reader.number(fields, "level").unwrap_or(0.0),
        kinds,
        layers,
        features,
        relief,
        tools,
        points,
        ignore: read::names(reader, fields, "ignore"),
        feeds,
        places: fields.places(),
    })
}

fn kind(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SoilKind> {
    let (name, like) = (filled(reader, fields, "name")?, filled(reader, fields, "like")?);
    let Some(mut kind) = SoilKind::named(&like) else {
        let help = did_you_mean(&like, KINDS.iter().map(|row| row.name));
        reader.error(fields.place_of("like"), format!("{}: there is no soil \"{like}\"", fields.what), help);
        return None;
    };
    kind.name = name;
    let mut take = |key: &str, into: &mut f64| {
        if let Some(x) = reader.number(fields, key) {
            *into = x;
        }
    };
    take("grain_density", &mut kind.grain_density);
    take("water", &mut kind.water);
    take("tool_friction", &mut kind.tool_friction);
    take("adhesion", &mut kind.adhesion);
    take("shear", &mut kind.shear);
    kind.void_ratios = reader.vector::<2>(fields, "void_ratios").unwrap_or(kind.void_ratios);
    kind.friction = reader.vector::<2>(fields, "friction").unwrap_or(kind.friction);
    kind.cohesion = reader.vector::<2>(fields, "cohesion").unwrap_or(kind.cohesion);
    kind.bekker = reader.vector::<3>(fields, "bekker").unwrap_or(kind.bekker);
    if let Some([virgin, lambda, kappa, kappa_again, m]) = reader.vector::<5>(fields, "compression") {
        kind.compression = tippe_soil::compaction::Compression { virgin, lambda, kappa, kappa_again, m };
        if !(kappa < kappa_again && kappa_again < lambda) {
            let message = format!("{}: kappa {kappa}, kappa' {kappa_again}, lambda {lambda} do not rise", fields.what);
            reader.error(
                fields.place_of("compression"),
                message,
                "unloading is stiffer than recompression, that stiffer than the virgin line",
            );
        }
    }
    let [dense, loose] = kind.void_ratios;
    if dense >= loose {
        let message = format!("{}: its dense void ratio {dense} is not below its loose one {loose}", fields.what);
        reader.error(fields.place_of("void_ratios"), message, "dense first, then loose");
    }
    if kind.friction.iter().any(|phi| *phi >= 1.4) {
        let message = format!("{}: an angle of friction of {:.1} degrees", fields.what, kind.friction[1].to_degrees());
        reader.error(fields.place_of("friction"), message, "soils have 5 to 50 degrees; is \"deg\" missing?");
    }
    Some(kind)
}

fn layer(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SoilLayer> {
    let (soil, thickness) = (filled(reader, fields, "soil"), reader.number(fields, "thickness"));
    Some(SoilLayer {
        soil: soil?,
        thickness: thickness?,
        void_ratio: reader.number(fields, "void_ratio"),
        yield_pressure: reader.number(fields, "yield_pressure"),
        place: fields.place,
    })
}

fn feature(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Feature> {
    let form = reader.word(fields, "kind", |word| FEATURES.iter().find(|known| **known == word).copied())?;
    let height = reader.number(fields, "height")?;
    let mut need = |key: &str| {
        let value = reader.vector::<2>(fields, key);
        if fields.get(key).is_none() {
            reader.error(fields.place, format!("{}: a {form} has no `{key}`", fields.what), "such as [1, 2]");
        }
        value
    };
    let kind = if form == "cone" {
        let at = need("at");
        let radius = reader.number(fields, "radius");
        if radius.is_none() {
            reader.error(fields.place, format!("{}: a cone has no `radius`", fields.what), "the radius of its foot");
        }
        FeatureKind::Cone { at: at?, radius: radius? }
    } else {
        let (low, high) = (need("low"), need("high"));
        let (low, high) = (low?, high?);
        if (0..2).any(|k| low[k] >= high[k]) {
            let message = format!("{}: high is not above low", fields.what);
            reader.error(fields.place_of("high"), message, "");
            return None;
        }
        let axis = usize::from(reader.text(fields, "along") == Some("y"));
        if form == "block" { FeatureKind::Block { low, high } } else { FeatureKind::Ramp { low, high, axis } }
    };
    Some(Feature { kind, height })
}

fn tool(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SoilTool> {
    let (name, body) = (filled(reader, fields, "name")?, filled(reader, fields, "body")?);
    let fields = &Fields { what: format!("tool \"{name}\""), ..fields.clone() };
    let [right, left, top] = ["right", "left", "top"].map(|key| reader.vec3(fields, key));
    let (floor, capacity) = (reader.vec3(fields, "floor"), reader.number(fields, "capacity"));
    if floor.is_some() != capacity.is_some() {
        let message = format!("{} has one of `floor` and `capacity`", fields.what);
        reader.error(fields.place, message, "a bucket has both, a blade none");
    }
    let (right, left, top) = (right?, left?, top?);
    if (left - right).length() <= 0.0 || top.length() <= 0.0 {
        reader.error(fields.place, format!("{}: its blade has no width or no height", fields.what), "");
        return None;
    }
    let count = reader.number(fields, "teeth").unwrap_or(0.0) as u32;
    Some(SoilTool {
        name,
        body,
        edge: [right, left],
        top,
        thickness: reader.number(fields, "thickness").unwrap_or(0.02),
        teeth: (count, reader.number(fields, "tooth_width").unwrap_or(0.08)),
        bucket: floor.zip(capacity),
        place: fields.place,
    })
}

fn feed(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<SoilFeed> {
    let (name, soil) = (filled(reader, fields, "name"), filled(reader, fields, "soil"));
    let (at, rate) = (reader.vector::<2>(fields, "at"), reader.number(fields, "rate"));
    let times = [reader.number(fields, "from").unwrap_or(0.0), reader.number(fields, "to").unwrap_or(f64::INFINITY)];
    Some(SoilFeed { name: name?, soil: soil?, at: at?, rate: rate?, times, place: fields.place })
}

fn relief(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Relief> {
    let name = filled(reader, fields, "file")?;
    let path = Path::new(reader.file).parent().unwrap_or(Path::new("")).join(&name);
    match tippe_soil::file::read(&path) {
        Ok(relief) => Some(relief),
        Err(error) => {
            reader.error(fields.place_of("file"), format!("{}: {error}", fields.what), "");
            None
        }
    }
}

/// The soil as a table.
pub(super) fn written(soil: &SoilSpec) -> Writer {
    let mut table = Writer::default();
    table.text("name", Some(&soil.name));
    table.put("low", numbers(&soil.low));
    table.put("high", numbers(&soil.high));
    table.number("cell", Some(soil.cell));
    table.number("level", Some(soil.level).filter(|level| *level != 0.0));
    tables(&mut table, "layers", &soil.layers, |layer| {
        let mut own = Writer::default();
        own.text("soil", Some(&layer.soil));
        own.number("thickness", Some(layer.thickness));
        own.number("void_ratio", layer.void_ratio);
        own.number("yield_pressure", layer.yield_pressure);
        own
    });
    tables(&mut table, "kinds", &soil.kinds, written_kind);
    // heights of a file are written as they are: one block for each
    let cells = soil.relief.iter().flat_map(|relief| {
        let place = |k: usize| {
            [0, 1].map(|a| relief.low[a] + [k % relief.counts[0], k / relief.counts[0]][a] as f64 * relief.spacing)
        };
        let half = 0.5 * relief.spacing;
        relief.heights.iter().enumerate().filter(|(_, z)| **z != 0.0).map(move |(k, z)| Feature {
            kind: FeatureKind::Block { low: place(k).map(|x| x - half), high: place(k).map(|x| x + half) },
            height: *z,
        })
    });
    let features: Vec<Feature> = soil.features.iter().copied().chain(cells).collect();
    tables(&mut table, "features", &features, written_feature);
    tables(&mut table, "tools", &soil.tools, written_tool);
    tables(&mut table, "points", &soil.points, |(name, at)| {
        let mut own = Writer::default();
        own.text("name", Some(name));
        own.put("at", numbers(at));
        own
    });
    table.texts("ignore", &soil.ignore);
    tables(&mut table, "feeds", &soil.feeds, |feed| {
        let mut own = Writer::default();
        own.text("name", Some(&feed.name));
        own.text("soil", Some(&feed.soil));
        own.put("at", numbers(&feed.at));
        own.number("rate", Some(feed.rate));
        own.number("from", Some(feed.times[0]).filter(|t| *t > 0.0));
        own.number("to", Some(feed.times[1]).filter(|t| t.is_finite()));
        own
    });
    table
}

fn written_kind(kind: &SoilKind) -> Writer {
    let mut own = Writer::default();
    own.text("name", Some(&kind.name));
    own.text("like", Some("loam"));
    own.number("grain_density", Some(kind.grain_density));
    own.number("water", Some(kind.water));
    own.put("void_ratios", numbers(&kind.void_ratios));
    own.put("friction", numbers(&kind.friction));
    own.put("cohesion", numbers(&kind.cohesion));
    own.number("tool_friction", Some(kind.tool_friction));
    own.number("adhesion", Some(kind.adhesion));
    let c = &kind.compression;
    own.put("compression", numbers(&[c.virgin, c.lambda, c.kappa, c.kappa_again, c.m]));
    own.put("bekker", numbers(&kind.bekker));
    own.number("shear", Some(kind.shear));
    own
}

fn written_feature(feature: &Feature) -> Writer {
    let mut own = Writer::default();
    let corners = |own: &mut Writer, low: &[f64; 2], high: &[f64; 2]| {
        own.put("low", numbers(low));
        own.put("high", numbers(high));
    };
    match &feature.kind {
        FeatureKind::Block { low, high } => {
            own.text("kind", Some("block"));
            corners(&mut own, low, high);
        }
        FeatureKind::Ramp { low, high, axis } => {
            own.text("kind", Some("ramp"));
            corners(&mut own, low, high);
            own.text("along", Some(["x", "y"][*axis]));
        }
        FeatureKind::Cone { at, radius } => {
            own.text("kind", Some("cone"));
            own.put("at", numbers(at));
            own.number("radius", Some(*radius));
        }
    }
    own.number("height", Some(feature.height));
    own
}

fn written_tool(tool: &SoilTool) -> Writer {
    let mut own = Writer::default();
    own.text("name", Some(&tool.name));
    own.text("body", Some(&tool.body));
    own.put("right", numbers(&tool.edge[0].to_array()));
    own.put("left", numbers(&tool.edge[1].to_array()));
    own.put("top", numbers(&tool.top.to_array()));
    own.number("thickness", Some(tool.thickness));
    if tool.teeth.0 > 0 {
        own.number("teeth", Some(f64::from(tool.teeth.0)));
        own.number("tooth_width", Some(tool.teeth.1));
    }
    if let Some((floor, capacity)) = tool.bucket {
        own.put("floor", numbers(&floor.to_array()));
        own.number("capacity", Some(capacity));
    }
    own
}
