//! Options that several commands share, each defined once, and the way from a name to a model.

use crate::Stop;
use crate::progress::Workshop;
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use tippe::Model;
use tippe::clock::Settings;
use tippe::equation::{Dimension, Kind, Scope, Tree};
use tippe::geometry::file::regular;
use tippe::model::ProgramLaw;
use tippe::scene::{Clock, Integrator, SMALLEST_TOLERANCE, Scene, gallery};

/// How to run a scene, where it differs from what the scene says.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Simulated time to reach [s]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub until: Option<f64>,
    /// precise (variable step, located events), realtime (fixed step) or granular (grains); by default the scene's
    #[arg(long, value_name = "NAME", value_parser = clock)]
    pub clock: Option<Clock>,
    /// Relative tolerance of the variable-step integrators
    #[arg(long, value_name = "NUMBER", value_parser = tolerance)]
    pub tolerance: Option<f64>,
    /// Threads; 0 for all there are. The result is the same for any number
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// Give a parameter of the scene another value, e.g. --set n=100 --set height="2 m"
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub sets: Vec<(String, String)>,
    /// auto, dopri5, rodas4, or with a fixed step: rk4, heun, euler
    #[arg(long, value_name = "NAME", value_parser = integrator)]
    pub integrator: Option<Integrator>,
    /// Step of the realtime or granular clock, or of the fixed-step integrators [s]: 0.001, 1/60, 1ms
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub step: Option<f64>,
    /// Time between recorded points [s]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub output_interval: Option<f64>,
    /// Nothing is said while the scene is built.
    #[arg(skip)]
    pub quiet: bool,
}

impl Options {
    /// What only one of the clocks knows.
    fn apply(&self, settings: &mut Settings) -> Result<(), Stop> {
        match settings {
            Settings::Precise(settings) => {
                settings.tolerance = self.tolerance.unwrap_or(settings.tolerance);
                settings.integrator = self.integrator.unwrap_or(settings.integrator);
                settings.step = self.step.or(settings.step);
                if self.integrator.is_some_and(Integrator::fixed_step) && settings.step.is_none() {
                    let text = "this integrator has a fixed step. help: give it with --step SECONDS";
                    return Err(Stop::Usage(text.to_owned()));
                }
            }
            Settings::Realtime(settings) => {
                self.refuse_precise("realtime")?;
                settings.step = self.step.unwrap_or(settings.step);
            }
            Settings::Granular(settings) => {
                self.refuse_precise("granular")?;
                settings.step = self.step.or(settings.step);
            }
        }
        Ok(())
    }

    /// Options that a clock with steps of one length does not know.
    fn refuse_precise(&self, clock: &str) -> Result<(), Stop> {
        let foreign = [("--integrator", self.integrator.is_some()), ("--tolerance", self.tolerance.is_some())];
        if let Some((option, _)) = foreign.iter().find(|(_, given)| *given) {
            let help =
                format!("help: the {clock} clock has a fixed --step; leave the option out, or add --clock precise");
            return Err(Stop::Usage(format!("{option} belongs to the precise clock, this run is {clock}. {help}")));
        }
        Ok(())
    }
}

/// A scene as it was found: name for people, file for messages, text.
pub struct Source {
    /// Name of the gallery scene, or stem of the file.
    pub name: String,
    /// File as named by the user, or `name.toml`.
    pub file: String,
    /// Text of the file.
    pub text: String,
}

/// A scene ready to run.
pub struct Prepared {
    /// The scene.
    pub scene: Scene,
    /// Compiled.
    pub model: Arc<Model>,
    /// The scene's settings with the options on top.
    pub settings: Settings,
    /// End of the run [s].
    pub until: f64,
}

impl Prepared {
    /// The step of its grains, if it has any.
    pub fn note_grains(&self) -> Option<String> {
        let (own, step) = (self.model.grains.as_ref()?, self.settings.grain_step(&self.model)?);
        let share = format!(", {:.3} of the shortest Rayleigh time", step / own.rayleigh);
        let share = if own.position.is_some() { String::new() } else { share };
        Some(format!("grains: step {step:.3e} s{share}"))
    }
}

impl Source {
    /// A file, or a scene of the gallery.
    pub fn find(path_or_name: &str) -> Result<Source, Stop> {
        let path = Path::new(path_or_name);
        if let Ok(text) = regular::read_text(path, regular::TEXT) {
            let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            return Ok(Source { name, file: path_or_name.to_owned(), text });
        }
        if let (false, Some((name, text))) =
            (path.exists() && !path.is_dir(), gallery().iter().find(|(name, _)| *name == path_or_name))
        {
            return Ok(Source { name: (*name).to_owned(), file: format!("{name}.toml"), text: (*text).to_owned() });
        }
        // Neither: the library knows what to say.
        match Scene::load(path_or_name, &[]) {
            Err(errors) => Err(errors.into()),
            Ok(_) => Err(Stop::Scene(format!("{path_or_name} changed while it was read"))),
        }
    }

    /// Reads, compiles and settles how to run.
    pub fn prepare(&self, options: &Options) -> Result<Prepared, Stop> {
        self.prepare_with(options, &[])
    }

    /// [`Source::prepare`] with contact laws of a program.
    pub fn prepare_with(&self, options: &Options, laws: &[ProgramLaw]) -> Result<Prepared, Stop> {
        let told = Workshop::begin(&self.name, options.quiet);
        let mut scene = Scene::parse_told(&self.file, &self.text, &options.sets, told.building())?;
        told.compiles();
        let until = options.until.unwrap_or(scene.run.until);
        scene.granular.snapshot_interval.get_or_insert(0.1 * until);
        let clock = options.clock.unwrap_or(scene.run.clock);
        scene.check_memory().map_err(|error| Stop::Resource(format!("{}: {error}", self.file)))?;
        let model = Model::compile_with(&scene, clock, laws)?;
        let mut settings = Settings::from_scene(&scene, clock);
        if let Some(threads) = options.threads {
            settings.set_threads(threads);
        }
        if let Some(interval) = options.output_interval {
            settings.set_output_interval(interval);
        }
        options.apply(&mut settings)?;
        if let Some(message) = settings.too_many_points(until) {
            let help = "help: choose a longer output_interval (--output-interval) or a nearer end (--until)";
            let message = format!("{message}. {help}");
            let asked = options.output_interval.or(options.until).is_some();
            return Err(if asked { Stop::Usage(message) } else { Stop::Scene(format!("{}: {message}", self.file)) });
        }
        settings.check_steps(&scene, &model, until).map_err(|error| Stop::Scene(error.to_string()))?;
        Ok(Prepared { scene, model: Arc::new(model), settings, until })
    }
}

/// A number greater than zero.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("a number greater than zero is needed".to_owned()),
    }
}

/// A relative tolerance that double precision can keep.
pub fn tolerance(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if value < SMALLEST_TOLERANCE => Err(format!("{SMALLEST_TOLERANCE:e} or more is needed")),
        value => Ok(value),
    }
}

/// A quantity greater than zero: a number in SI, with a unit or a fraction; `what` says what is needed.
fn quantity(text: &str, dimension: Dimension, what: &str) -> Result<f64, String> {
    let quantity = Tree::parse(text).and_then(|tree| tree.evaluate(&Scope::default()));
    let quantity = quantity.map_err(|error| format!("{error}"))?;
    match quantity.kind {
        Kind::Dim(own) if own != dimension => Err(format!("{what} is needed")),
        Kind::Condition => Err(format!("{what} is needed")),
        _ if quantity.value > 0.0 && quantity.value.is_finite() => Ok(quantity.value),
        _ => Err(format!("{what} is needed, greater than zero and finite: this is {}", quantity.value)),
    }
}

/// A time greater than zero [s]: `0.001`, `1/60`, `"1 ms"`.
pub fn seconds(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::TIME, "a time, such as 0.001, 1/60 or 1ms,")
}

/// A length greater than zero [m]: `0.001`, `1mm`.
pub fn metres(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::LENGTH, "a length, such as 0.001 or 1mm,")
}

/// A speed greater than zero [m/s]: `0.5`, `"5 cm/s"`.
pub fn speed(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::SPEED, "a speed, such as 0.5 or 5cm/s,")
}

/// NAME=VALUE.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("the form is NAME=VALUE".to_owned()),
    }
}

fn integrator(text: &str) -> Result<Integrator, String> {
    Integrator::from_name(text).ok_or_else(|| tippe::scene::did_you_mean(text, Integrator::NAMES.iter().copied()))
}

/// The name of a clock.
pub fn clock(text: &str) -> Result<Clock, String> {
    Clock::from_name(text).ok_or_else(|| tippe::scene::did_you_mean(text, Clock::NAMES.iter().copied()))
}
