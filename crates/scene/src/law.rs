//! Contact laws that users write as equations.

use super::{Equation, Law, Place, Scene, SceneError};
use crate::equation::{Dimension, EquationError, Input, Kind, Program, Quantity, Scope};

/// What a law's equations may use, in the order [`Program::eval`] takes them: depth [m], closing speed [m/s], impact
/// speed [m/s], effective radius [m], effective modulus with k_red in it [Pa], restitution [-], friction [-], reduced mass [kg], slip
/// speed [m/s], k_red [-]. The scene's parameters may be used too.
pub const LAW_INPUTS: [Input<'static>; 10] = [
    Input { name: "depth", kind: Kind::Dim(Dimension::LENGTH) },
    Input { name: "closing_speed", kind: Kind::Dim(Dimension::SPEED) },
    Input { name: "impact_speed", kind: Kind::Dim(Dimension::SPEED) },
    Input { name: "radius", kind: Kind::Dim(Dimension::LENGTH) },
    Input { name: "modulus", kind: Kind::Dim(Dimension::PRESSURE) },
    Input { name: "restitution", kind: Kind::Dim(Dimension::ONE) },
    Input { name: "friction", kind: Kind::Dim(Dimension::ONE) },
    Input { name: "mass", kind: Kind::Dim(Dimension::MASS) },
    Input { name: "slip_speed", kind: Kind::Dim(Dimension::SPEED) },
    Input { name: "k_red", kind: Kind::Dim(Dimension::ONE) },
];

impl Law {
    /// The results: `normal`, then `energy` and `friction` where given.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Equation> {
        [Some(&self.normal), self.energy.as_ref(), self.friction.as_ref()].into_iter().flatten()
    }

    /// All equations in order.
    pub(super) fn equations(&self) -> impl Iterator<Item = &Equation> {
        self.lets.iter().chain(self.outputs())
    }

    /// Compiles the law for the scene it belongs to. Inputs are [`LAW_INPUTS`]; outputs are normal force [N], then
    /// elastic energy [J] if the law gives it, then friction coefficient [-] if the law gives it.
    pub fn compile(&self, scene: &Scene) -> Result<Program, SceneError> {
        self.check(&params(scene)).map_err(|(k, error)| {
            let place = self.equations().nth(k).map_or(Place::default(), |equation| equation.places.entity);
            scene.error(place, format!("law \"{}\": {}", self.name, error.message), error.help)
        })
    }

    /// The results whose units cannot be checked, because a number without a unit may carry the one that is missing: read
    /// as pure numbers they do not give the unit wanted. A sentence for each.
    pub fn unchecked_units(&self, scene: &Scene) -> Vec<String> {
        let equations: Vec<(&str, &str)> = self.equations().map(|e| (e.name.as_str(), e.text.as_str())).collect();
        let kinds = Program::pure_kinds(&LAW_INPUTS, &params(scene), &equations, self.lets.len());
        let mut sentences = Vec::new();
        for (k, output) in self.outputs().enumerate() {
            let wanted = wanted(output);
            let found = match kinds.as_ref().map(|kinds| kinds[k]) {
                Some(Kind::Dim(dimension)) if dimension == wanted => continue,
                Some(Kind::Bare) if wanted == Dimension::ONE => continue,
                Some(kind) => format!("read as pure numbers they make it {kind}"),
                None => "read as pure numbers they make units that do not match".to_string(),
            };
            let unit = if wanted == Dimension::ONE { "no unit".into() } else { format!("[{wanted}]") };
            sentences.push(format!(
                "law \"{}\": whether `{}` has {unit} cannot be checked, as it has numbers without units; {found}. help: write the \
                 units, such as \"1e6 N/m\"",
                self.name, output.name
            ));
        }
        sentences
    }

    /// Compiles the law with these parameters; the error comes with the index of its equation.
    pub(super) fn check(&self, params: &Scope) -> Result<Program, (usize, EquationError)> {
        let equations: Vec<(&str, &str)> = self.equations().map(|e| (e.name.as_str(), e.text.as_str())).collect();
        let hides = |name: &str| LAW_INPUTS.iter().any(|input| input.name == name) || params.get(name).is_some();
        if let Some(k) = self.lets.iter().position(|equation| hides(&equation.name)) {
            let message = format!("`{}` is already a name", self.lets[k].name);
            return Err((k, EquationError { offset: 0, message, help: "choose another name".into() }));
        }
        let program = Program::compile(&LAW_INPUTS, params, &equations, self.lets.len())
            .map_err(|error| (error.equation, error.error))?;
        let wanted = self.outputs().map(wanted);
        for (k, (wanted, kind)) in wanted.zip(program.output_kinds()).enumerate() {
            let k = k + self.lets.len();
            if *kind != Kind::Bare && *kind != Kind::Dim(wanted) {
                let unit = if wanted == Dimension::ONE { "no unit".into() } else { format!("[{wanted}]") };
                let message = format!("the result is {kind}, but has to have {unit}");
                return Err((k, EquationError { offset: 0, message, help: String::new() }));
            }
        }
        Ok(program)
    }
}

/// What a result of a law measures.
fn wanted(output: &Equation) -> Dimension {
    match output.name.as_str() {
        "energy" => Dimension::ENERGY,
        "friction" => Dimension::ONE,
        _ => Dimension::FORCE,
    }
}

/// The parameters of a scene for its laws.
fn params(scene: &Scene) -> Scope {
    let quantity = |param: &super::Param| Quantity { value: param.value, kind: param.kind };
    Scope { names: scene.params.iter().map(|param| (param.name.clone(), quantity(param))).collect() }
}
