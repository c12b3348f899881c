//! `modelDescription.xml` of both standards (FMI 2.0.4, 2.2; FMI 3.0.1, 2.4).

use crate::plan::{Item, Package, Slot};
use std::collections::BTreeSet;
use std::fmt::Write;
use tippe::equation::{Kind, Scope, Tree};
use tippe::precise::Occasion;
use tippe::scene::Clock;
use tippe_units::Version;

/// Text in XML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(' '),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// The description of a unit.
pub fn description(package: &Package) -> String {
    match package.plan.version {
        Version::Two => two(package),
        Version::Three => three(package),
    }
}

fn number(value: f64) -> String {
    format!("{value:?}")
}

/// Attributes that name the unit and where it comes from.
fn head(package: &Package, text: &mut String) {
    let title = if package.scene.title.is_empty() { &package.plan.name } else { &package.scene.title };
    let _ = write!(text, " modelName=\"{}\" description=\"{}\"", escape(&package.plan.name), escape(title));
    if let Some(source) = &package.scene.source {
        let _ = write!(text, " author=\"{}\"", escape(source));
    }
    let _ = write!(
        text,
        " version=\"{0}\" generationTool=\"Tippe {0}\" license=\"MIT OR Apache-2.0 (library)\" variableNamingConvention=\"flat\"",
        package.plan.tippe
    );
}

/// Powers of the SI base units of a unit as the scene's reader writes it.
fn base_units(unit: &str) -> Option<String> {
    let quantity = Tree::parse(&format!("1 {unit}")).and_then(|tree| tree.evaluate(&Scope::default())).ok()?;
    let Kind::Dim(dimension) = quantity.kind else { return None };
    let powers = dimension.powers();
    if powers.iter().any(|power| power.fract() != 0.0) {
        return None;
    }
    let mut text = String::new();
    for (name, power) in ["m", "kg", "s", "A"].into_iter().zip(powers) {
        if power != 0.0 {
            let _ = write!(text, " {name}=\"{power}\"");
        }
    }
    if quantity.value != 1.0 {
        let _ = write!(text, " factor=\"{:?}\"", quantity.value);
    }
    Some(text)
}

fn units(package: &Package, text: &mut String) {
    let all: BTreeSet<&str> = package.items.iter().map(|item| item.unit.as_str()).filter(|unit| *unit != "-").collect();
    if all.is_empty() {
        return;
    }
    *text += "  <UnitDefinitions>\n";
    for unit in all {
        match base_units(unit) {
            Some(base) => {
                let _ = writeln!(text, "    <Unit name=\"{}\"><BaseUnit{base}/></Unit>", escape(unit));
            }
            None => {
                let _ = writeln!(text, "    <Unit name=\"{}\"/>", escape(unit));
            }
        }
    }
    *text += "  </UnitDefinitions>\n";
}

fn log_categories(text: &mut String) {
    *text += "  <LogCategories>\n    <Category name=\"logStatusError\" description=\"Why a call failed\"/>\n    \
              <Category name=\"logEvents\" description=\"Events of a step\"/>\n  </LogCategories>\n";
}

fn experiment(package: &Package, text: &mut String) {
    let plan = &package.plan;
    let step = match Clock::from_name(&plan.clock) {
        Some(Clock::Realtime) => plan.step,
        _ => package.scene.run.output_interval,
    };
    let (stop, step) = (package.scene.run.until, if step.is_finite() && step > 0.0 { step } else { 0.01 });
    let _ = writeln!(
        text,
        "  <DefaultExperiment startTime=\"0.0\" stopTime=\"{}\" tolerance=\"{}\" stepSize=\"{}\"/>",
        number(stop),
        number(plan.tolerance),
        number(step)
    );
}

/// Attributes of a number: unit, start, size, limits.
fn traits(item: &Item, start: Option<f64>) -> String {
    let mut text = String::new();
    if item.unit != "-" {
        let _ = write!(text, " unit=\"{}\"", escape(&item.unit));
    }
    if let Some([low, high]) = item.limits {
        if low.is_finite() {
            let _ = write!(text, " min=\"{}\"", number(low));
        }
        if high.is_finite() {
            let _ = write!(text, " max=\"{}\"", number(high));
        }
    }
    if let Some(nominal) = item.nominal {
        let _ = write!(text, " nominal=\"{}\"", number(nominal));
    }
    if let Some(start) = start {
        let _ = write!(text, " start=\"{}\"", number(start));
    }
    text
}

/// causality, variability, initial of FMI 2 and, where it has the words, 3.
fn manner(slot: Slot) -> &'static str {
    match slot {
        Slot::Time => "causality=\"independent\" variability=\"continuous\"",
        Slot::Parameter(_) => "causality=\"parameter\" variability=\"fixed\" initial=\"exact\"",
        Slot::Input(_) | Slot::Effort(_) => "causality=\"input\" variability=\"continuous\"",
        Slot::Output(_) => "causality=\"output\" variability=\"continuous\" initial=\"calculated\"",
        Slot::State(_) | Slot::Rate(_) | Slot::Indicator(_) => {
            "causality=\"local\" variability=\"continuous\" initial=\"calculated\""
        }
    }
}

/// Value reference of the first state.
fn first_state(package: &Package) -> usize {
    package.items.iter().position(|item| matches!(item.slot, Slot::State(_))).unwrap_or(0)
}

fn two(package: &Package) -> String {
    let plan = &package.plan;
    let id = package.identifier();
    let indicators = if plan.model_exchange { Occasion::ALL.len() } else { 0 };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\"");
    head(package, &mut text);
    let _ = writeln!(text, " guid=\"{}\" numberOfEventIndicators=\"{indicators}\">", package.token());
    if plan.model_exchange {
        let _ = writeln!(
            text,
            "  <ModelExchange modelIdentifier=\"{id}\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"false\" \
             providesDirectionalDerivative=\"true\"/>"
        );
    }
    if plan.co_simulation {
        let _ = writeln!(
            text,
            "  <CoSimulation modelIdentifier=\"{id}\" canHandleVariableCommunicationStepSize=\"true\" \
             canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"/>"
        );
    }
    units(package, &mut text);
    log_categories(&mut text);
    experiment(package, &mut text);
    text += "  <ModelVariables>\n";
    // of FMI 2, indicators are not variables; the list counts from one and starts behind the time, whose value reference is zero
    let shown: Vec<(usize, &Item)> =
        package.items_where(|slot| !matches!(slot, Slot::Time | Slot::Indicator(_))).collect();
    let base = first_state(package);
    for (reference, item) in &shown {
        let derivative = match item.slot {
            Slot::Rate(k) => format!(" derivative=\"{}\"", base + k),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "    <ScalarVariable name=\"{}\" valueReference=\"{reference}\" description=\"{}\" {}><Real{}{derivative}/></ScalarVariable>",
            escape(&item.name),
            escape(&item.about),
            manner(item.slot),
            traits(item, item.start)
        );
    }
    text += "  </ModelVariables>\n  <ModelStructure>\n";
    let list = |text: &mut String, name: &str, of: &dyn Fn(Slot) -> bool| {
        let own: Vec<usize> = shown.iter().filter(|(_, item)| of(item.slot)).map(|(reference, _)| *reference).collect();
        if !own.is_empty() {
            let _ = writeln!(text, "    <{name}>");
            for reference in own {
                let _ = writeln!(text, "      <Unknown index=\"{reference}\"/>");
            }
            let _ = writeln!(text, "    </{name}>");
        }
    };
    list(&mut text, "Outputs", &|slot| matches!(slot, Slot::Output(_)));
    list(&mut text, "Derivatives", &|slot| matches!(slot, Slot::Rate(_)));
    list(&mut text, "InitialUnknowns", &|slot| matches!(slot, Slot::Output(_) | Slot::State(_) | Slot::Rate(_)));
    text += "  </ModelStructure>\n</fmiModelDescription>\n";
    text
}

fn three(package: &Package) -> String {
    let plan = &package.plan;
    let id = package.identifier();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\"");
    head(package, &mut text);
    let _ = writeln!(text, " instantiationToken=\"{}\">", package.token());
    if plan.model_exchange {
        let _ = writeln!(
            text,
            "  <ModelExchange modelIdentifier=\"{id}\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"false\" \
             providesDirectionalDerivatives=\"true\" needsCompletedIntegratorStep=\"true\"/>"
        );
    }
    if plan.co_simulation {
        let fixed = match Clock::from_name(&plan.clock) {
            Some(Clock::Realtime) => format!(" fixedInternalStepSize=\"{}\"", number(plan.step)),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  <CoSimulation modelIdentifier=\"{id}\" canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\" \
             canSerializeFMUState=\"true\" hasEventMode=\"true\" canReturnEarlyAfterIntermediateUpdate=\"true\" \
             providesIntermediateUpdate=\"true\" mightReturnEarlyFromDoStep=\"true\"{fixed}/>"
        );
    }
    units(package, &mut text);
    log_categories(&mut text);
    experiment(package, &mut text);
    text += "  <ModelVariables>\n";
    let base = first_state(package);
    for (reference, item) in package.items.iter().enumerate() {
        let derivative = match item.slot {
            Slot::Rate(k) => format!(" derivative=\"{}\"", base + k),
            _ => String::new(),
        };
        let reach = match item.slot {
            Slot::Output(_) if plan.co_simulation => " intermediateUpdate=\"true\"",
            _ => "",
        };
        let _ = writeln!(
            text,
            "    <Float64 name=\"{}\" valueReference=\"{reference}\" description=\"{}\" {}{}{derivative}{reach}/>",
            escape(&item.name),
            escape(&item.about),
            manner(item.slot),
            traits(item, item.start)
        );
    }
    text += "  </ModelVariables>\n  <ModelStructure>\n";
    let mut list = |name: &str, of: &dyn Fn(Slot) -> bool| {
        for (reference, _) in package.items_where(of) {
            let _ = writeln!(text, "    <{name} valueReference=\"{reference}\"/>");
        }
    };
    list("Output", &|slot| matches!(slot, Slot::Output(_)));
    list("ContinuousStateDerivative", &|slot| matches!(slot, Slot::Rate(_)));
    list("InitialUnknown", &|slot| matches!(slot, Slot::Output(_) | Slot::State(_) | Slot::Rate(_)));
    list("EventIndicator", &|slot| matches!(slot, Slot::Indicator(_)));
    text += "  </ModelStructure>\n</fmiModelDescription>\n";
    text
}
