//! `modelDescription.xml` of a unit of others. Documents with a document type are refused: entities can blow up a text.

use crate::Version;
use roxmltree::{Document, Node, ParsingOptions};

/// Longest description that is read [bytes].
const MOST_BYTES: usize = 64 << 20;
/// Most elements of a description.
const MOST_NODES: u32 = 4_000_000;
/// Most variables of a unit.
pub const MOST_VARIABLES: usize = 1_000_000;

/// What a variable of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Given before the start.
    Parameter,
    /// Given while time goes on.
    Input,
    /// What the unit shows.
    Output,
    /// Time.
    Independent,
    /// All others.
    Local,
}

/// A variable of a unit of others.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignVariable {
    /// Name.
    pub name: String,
    /// Value reference.
    pub reference: u32,
    /// What it is.
    pub causality: Causality,
    /// Whether it is a real number of double precision; others are listed and not touched.
    pub real: bool,
    /// Start value, if the description has one.
    pub start: Option<f64>,
    /// Unit, `-` if none.
    pub unit: String,
    /// Size that matters to its error.
    pub nominal: f64,
    /// What it is the derivative of: an index in FMI 2, a value reference in FMI 3.
    derivative: Option<u32>,
}

/// What a description tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// The standard.
    pub version: Version,
    /// Name of the model.
    pub name: String,
    /// GUID or instantiation token.
    pub token: String,
    /// Who wrote the unit.
    pub tool: String,
    /// Identifier of the library for Model Exchange, if it is offered.
    pub exchange: Option<String>,
    /// The same for Co-Simulation.
    pub co_simulation: Option<String>,
    /// States can be come back to: in Model Exchange, in Co-Simulation.
    pub can_save: [bool; 2],
    /// Communication steps may differ.
    pub variable_steps: bool,
    /// Variables.
    pub variables: Vec<ForeignVariable>,
    /// Indices of the states among them.
    pub states: Vec<usize>,
    /// Number of event indicators.
    pub indicators: usize,
    /// Experiment that is proposed: start, end, step [s], tolerance.
    pub start: f64,
    /// See `start`.
    pub stop: Option<f64>,
    /// See `start`.
    pub step: Option<f64>,
    /// See `start`.
    pub tolerance: Option<f64>,
}

fn number(node: Node<'_, '_>, name: &str) -> Result<Option<f64>, String> {
    match node.attribute(name) {
        None => Ok(None),
        Some(text) => match text.trim().parse::<f64>() {
            Ok(value) if !value.is_nan() => Ok(Some(value)),
            _ => Err(format!("{}: {name}=\"{text}\" is not a number", at(node))),
        },
    }
}

fn whole(node: Node<'_, '_>, name: &str) -> Result<u32, String> {
    let text = node.attribute(name).ok_or_else(|| format!("{}: the attribute {name} is missing", at(node)))?;
    text.trim().parse().map_err(|_| format!("{}: {name}=\"{text}\" is not a whole number", at(node)))
}

fn flag(node: Node<'_, '_>, name: &str) -> bool {
    matches!(node.attribute(name), Some("true" | "1"))
}

/// Where an element stands, for people.
fn at(node: Node<'_, '_>) -> String {
    let place = node.document().text_pos_at(node.range().start);
    format!("line {}, {}", place.row, node.tag_name().name())
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|own| own.has_tag_name(name))
}

impl Foreign {
    /// Reads a description.
    pub fn read(text: &str) -> Result<Foreign, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("it is longer than {MOST_BYTES} bytes"));
        }
        let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
        let root = document.root_element();
        if !root.has_tag_name("fmiModelDescription") {
            return Err(format!("its first element is {}, not fmiModelDescription", root.tag_name().name()));
        }
        let version = match root.attribute("fmiVersion") {
            Some("2.0") => Version::Two,
            Some(own) if own.starts_with("3.0") => Version::Three,
            own => return Err(format!("it is of FMI {}; 2.0 and 3.0 are known", own.unwrap_or("without a version"))),
        };
        let two = version == Version::Two;
        let text_of = |name: &str| root.attribute(name).map(str::to_owned);
        let identifier = |kind: &str| -> Result<Option<String>, String> {
            let Some(node) = child(root, kind) else { return Ok(None) };
            let own = node.attribute("modelIdentifier").unwrap_or("");
            let good = !own.is_empty() && own.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if good {
                Ok(Some(own.to_owned()))
            } else {
                Err(format!("{}: modelIdentifier=\"{own}\" is no name", at(node)))
            }
        };
        let steps = child(root, "CoSimulation");
        let variables = variables(root, two)?;
        let states = states(root, two, &variables)?;
        let indicators = match two {
            true => root
                .attribute("numberOfEventIndicators")
                .map_or(Ok(0), |_| whole(root, "numberOfEventIndicators"))? as usize,
            false => child(root, "ModelStructure")
                .map_or(0, |node| node.children().filter(|own| own.has_tag_name("EventIndicator")).count()),
        };
        if indicators > MOST_VARIABLES {
            return Err(format!("it has {indicators} event indicators"));
        }
        let experiment = child(root, "DefaultExperiment");
        let of = |name: &str| experiment.map_or(Ok(None), |node| number(node, name));
        Ok(Foreign {
            version,
            name: text_of("modelName").ok_or("the attribute modelName is missing")?,
            token: text_of(if two { "guid" } else { "instantiationToken" }).ok_or("the unit's token is missing")?,
            tool: text_of("generationTool").unwrap_or_default(),
            exchange: identifier("ModelExchange")?,
            co_simulation: identifier("CoSimulation")?,
            can_save: [child(root, "ModelExchange"), steps].map(|own| {
                own.is_some_and(|own| flag(own, if two { "canGetAndSetFMUstate" } else { "canGetAndSetFMUState" }))
            }),
            variable_steps: steps.is_some_and(|own| flag(own, "canHandleVariableCommunicationStepSize")),
            start: of("startTime")?.unwrap_or(0.0),
            stop: of("stopTime")?,
            step: of("stepSize")?,
            tolerance: of("tolerance")?,
            variables,
            states,
            indicators,
        })
    }

    /// Index of a variable by name, with the nearest names where there is none.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        self.variables.iter().position(|own| own.name == name).ok_or_else(|| {
            let names = self.variables.iter().map(|own| own.name.as_str());
            format!("there is no variable \"{name}\". help: {}", tippe_format::text::did_you_mean(name, names))
        })
    }
}

fn variables(root: Node<'_, '_>, two: bool) -> Result<Vec<ForeignVariable>, String> {
    let list = child(root, "ModelVariables").ok_or("it has no ModelVariables")?;
    let mut all = Vec::new();
    for node in list.children().filter(Node::is_element) {
        if all.len() == MOST_VARIABLES {
            return Err(format!("it has more than {MOST_VARIABLES} variables"));
        }
        let inner = if two { node.children().find(Node::is_element).unwrap_or(node) } else { node };
        let real = inner.has_tag_name(if two { "Real" } else { "Float64" });
        if real && child(node, "Dimension").is_some() {
            return Err(format!("{}: arrays are not read", at(node)));
        }
        let causality = match node.attribute("causality") {
            Some("parameter" | "structuralParameter") => Causality::Parameter,
            Some("input") => Causality::Input,
            Some("output") => Causality::Output,
            Some("independent") => Causality::Independent,
            Some("local" | "calculatedParameter") | None => Causality::Local,
            Some(other) => return Err(format!("{}: causality=\"{other}\" is not known", at(node))),
        };
        let derivative = if inner.attribute("derivative").is_some() { Some(whole(inner, "derivative")?) } else { None };
        all.push(ForeignVariable {
            name: node.attribute("name").ok_or_else(|| format!("{}: a variable has no name", at(node)))?.to_owned(),
            reference: whole(node, "valueReference")?,
            causality,
            real,
            start: if real { number(inner, "start")? } else { None },
            unit: inner.attribute("unit").unwrap_or("-").to_owned(),
            nominal: if real {
                number(inner, "nominal")?.map(f64::abs).filter(|own| *own > 0.0).unwrap_or(1.0)
            } else {
                1.0
            },
            derivative,
        });
    }
    Ok(all)
}

/// Indices of the states, in the order of their derivatives in the model structure.
fn states(root: Node<'_, '_>, two: bool, variables: &[ForeignVariable]) -> Result<Vec<usize>, String> {
    let Some(structure) = child(root, "ModelStructure") else { return Ok(Vec::new()) };
    let list = if two { child(structure, "Derivatives") } else { Some(structure) };
    let wanted = if two { "Unknown" } else { "ContinuousStateDerivative" };
    let mut states = Vec::new();
    for node in list.into_iter().flat_map(|own| own.children()).filter(|own| own.has_tag_name(wanted)) {
        let by_reference = |reference: u32| variables.iter().position(|own| own.reference == reference);
        let rate = match two {
            true => (whole(node, "index")? as usize).checked_sub(1).filter(|&k| k < variables.len()),
            false => by_reference(whole(node, "valueReference")?),
        };
        let rate = rate.ok_or_else(|| format!("{}: it names a variable that is not there", at(node)))?;
        let of = variables[rate]
            .derivative
            .ok_or_else(|| format!("{}: \"{}\" is the derivative of nothing", at(node), variables[rate].name))?;
        let state = match two {
            true => (of as usize).checked_sub(1).filter(|&k| k < variables.len()),
            false => by_reference(of),
        };
        states.push(state.ok_or_else(|| {
            format!("\"{}\" is the derivative of a variable that is not there", variables[rate].name)
        })?);
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]><fmiModelDescription fmiVersion=\"2.0\">&c;</fmiModelDescription>";
        let error = Foreign::read(bomb).unwrap_err();
        assert!(error.contains("DTD"), "{error}");
    }
}
