//! Surfaces that the page works out by itself: those that a scene draws by equations, and the surfaces of fluids with their waves.

use super::describe::{DescribedFrame, described};
use serde::Serialize;
use tippe::Model;
use tippe::element::Element;
use tippe::model::Coloured;

/// A surface drawn by equations: numbers for the page, which evaluates them with the signals of a row.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedDrawing {
    /// Name for the legend.
    pub name: String,
    /// The frame it moves with.
    pub on: DescribedFrame,
    /// Range of u and of v [-].
    pub ranges: [[f64; 2]; 2],
    /// Squares along u and v [-].
    pub grid: [u32; 2],
    /// Signals it reads, by index.
    pub reads: Vec<u32>,
    /// Constants of its program, which stand behind u, v, t and what it reads.
    pub constants: Vec<f64>,
    /// Instructions: the operation, then the registers of its arguments.
    pub code: Vec<(String, [u16; 3])>,
    /// Registers of x, y, z in its frame [m], and of the number that gives the colour.
    pub outputs: Vec<u16>,
    /// What has a colour of its own: `vertex`, `triangle` or `shape`; absent without a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coloured: Option<&'static str>,
    /// Numbers at both ends of the colours.
    pub range: [f64; 2],
    /// Colour of one without a number [-].
    pub colour: [f64; 3],
    /// 1 hides what is behind it [-].
    pub opacity: f64,
}

/// The surface of a fluid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DescribedWater {
    /// Name of the fluid.
    pub name: String,
    /// Its height along up [m].
    pub level: f64,
    /// Up, resolved in world.
    pub up: [f64; 3],
    /// Its waves.
    pub waves: Vec<DescribedWave>,
}

/// A wave: its elevation is amplitude cos(number along.x - omega t + phase).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DescribedWave {
    /// Amplitude [m].
    pub amplitude: f64,
    /// Where it runs to, a unit vector, resolved in world.
    pub along: [f64; 3],
    /// Wave number [rad/m].
    pub number: f64,
    /// Angular frequency [rad/s].
    pub omega: f64,
    /// Phase [rad].
    pub phase: f64,
}

/// All drawings of a model.
pub(crate) fn drawings(model: &Model) -> Vec<DescribedDrawing> {
    let drawings = model.drawings.iter().map(|drawing| DescribedDrawing {
        name: drawing.name.clone(),
        on: described(model, &drawing.on),
        ranges: drawing.ranges,
        grid: drawing.grid,
        reads: drawing.reads.clone(),
        constants: drawing.program.constants().to_vec(),
        code: drawing.program.instructions().map(|(op, arguments)| (format!("{op:?}"), arguments)).collect(),
        outputs: drawing.program.outputs().to_vec(),
        coloured: drawing.coloured.map(|coloured| match coloured {
            Coloured::Vertex => "vertex",
            Coloured::Triangle => "triangle",
            Coloured::Shape => "shape",
        }),
        range: drawing.range,
        colour: drawing.colour.to_array(),
        opacity: drawing.opacity,
    });
    drawings.collect()
}

/// Surfaces of the fluids of a model, each listed once: there is an element for every body in it.
pub fn waters(model: &Model) -> Vec<DescribedWater> {
    let mut waters: Vec<DescribedWater> = Vec::new();
    for element in &model.elements {
        let Element::Fluid(fluid) = &element.kind else { continue };
        let water = DescribedWater {
            name: element.name.rsplit_once('.').map_or(element.name.as_str(), |(fluid, _)| fluid).to_owned(),
            level: fluid.level,
            up: fluid.up.to_array(),
            waves: fluid
                .waves
                .iter()
                .map(|wave| DescribedWave {
                    amplitude: wave.amplitude,
                    along: wave.along.to_array(),
                    number: wave.number,
                    omega: wave.omega,
                    phase: wave.phase,
                })
                .collect(),
        };
        if water.level.is_finite() && !waters.contains(&water) {
            waters.push(water);
        }
    }
    waters
}
