//! The line that moves while a run goes on, and the signals that stop it.

use crate::plain;
use crate::table::{count, duration, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tippe::Progress;
use tippe::scene::Building;

/// Asks a run to stop when the user (SIGINT) or the system (SIGTERM) does; a second SIGINT ends at once.
pub struct StopSignal {
    number: Arc<AtomicUsize>,
}

impl StopSignal {
    /// Listens from now on. Without signals, on a system that has none, a run cannot be asked to stop.
    pub fn listen() -> StopSignal {
        let number = Arc::new(AtomicUsize::new(0));
        if crate::ask::asked() {
            // signals are the affair of the program that asks
            return StopSignal { number };
        }
        let again = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Order matters: the check for a second signal runs before the first is noted.
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, again.clone());
            let _ = signal_hook::flag::register(signal, again.clone());
            let _ = signal_hook::flag::register_usize(signal, number.clone(), signal as usize);
        }
        StopSignal { number }
    }

    /// Number of the signal that came, if one did.
    pub fn came(&self) -> Option<i32> {
        match self.number.load(Ordering::Relaxed) {
            0 if crate::ask::stopped() => Some(signal_hook::consts::SIGINT),
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}

/// Progress of one run on stderr; silent if that is no terminal.
pub struct Meter {
    bar: ProgressBar,
    started: Instant,
    from: f64,
    names: Vec<String>,
}

/// Positions of the bar.
const TICKS: u64 = 1000;

impl Meter {
    /// A meter for a run of `scene` from `from` [s]; `names` are those of the bodies.
    pub fn new(scene: &str, from: f64, names: Vec<String>, quiet: bool) -> Meter {
        let target =
            if quiet || crate::ask::asked() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(TICKS), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:24.cyan/white.dim} {msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_prefix(plain(scene).into_owned());
        let names = names.iter().map(|name| plain(name).into_owned()).collect();
        Meter { bar, started: Instant::now(), from, names }
    }

    /// Shows how far the run is.
    pub fn show(&self, p: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let wall = self.started.elapsed().as_secs_f64();
        let (done, all) = (p.time - self.from, p.until - self.from);
        let share = if all > 0.0 { (done / all).clamp(0.0, 1.0) } else { 1.0 };
        self.bar.set_position((share * TICKS as f64) as u64);
        let rate = done / wall.max(1e-9);
        let eta = if share > 0.0 { duration(wall * (1.0 - share) / share) } else { "?".to_owned() };
        let limiter = match p.limiter.and_then(|body| self.names.get(body)) {
            Some(name) => format!(" by {name}"),
            None => String::new(),
        };
        let step = if p.step.is_finite() { format!("step {:.1e} s{limiter}", p.step) } else { "no steps".to_owned() };
        self.bar.set_message(format!(
            "{}/{} s  {} x real time  ETA {eta}  {step}  contacts {}  events {}",
            number((p.time * 1e4).round() / 1e4),
            number(p.until),
            number((rate * 100.0).round() / 100.0),
            p.contacts,
            count(p.events)
        ));
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// A scene that is built is talked about after this time, and then as often.
const PATIENCE: Duration = Duration::from_millis(700);

/// What is being made of a scene before it runs: said on stderr once it takes a while; silent if that is no terminal, but for a
/// line where it takes long.
pub struct Workshop {
    told: Arc<(Building, AtomicBool)>,
    /// Dropped when the scene is ready.
    _ready: Sender<()>,
}

impl Workshop {
    /// Begins to watch, unless nobody wants to hear of it.
    pub fn begin(scene: &str, quiet: bool) -> Workshop {
        let told: Arc<(Building, AtomicBool)> = Arc::default();
        let (ready, wait) = mpsc::channel::<()>();
        let (seen, name) = (told.clone(), plain(scene).into_owned());
        let hidden = quiet || crate::ask::asked();
        let watch = move || {
            let started = Instant::now();
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(name.clone());
            let mut lines = 0;
            while wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let (done, all) = (seen.0.done.load(Ordering::Relaxed), seen.0.all.load(Ordering::Relaxed));
                let what = match seen.1.load(Ordering::Relaxed) {
                    true => "compiles the model".to_owned(),
                    false => format!("reads the scene: {} of {} things", count(done as u64), count(all as u64)),
                };
                let text = format!("{what}  {}", duration(started.elapsed().as_secs_f64()));
                // a file of messages gets a line now and then
                if bar.is_hidden() && started.elapsed() >= 10 * (lines + 1) * PATIENCE {
                    crate::say(&format!("{name} {text}"));
                    lines += 1;
                }
                bar.set_message(text);
            }
            bar.finish_and_clear();
        };
        if !hidden {
            // without a thread there is nobody to say it
            let _ = std::thread::Builder::new().name("workshop".to_owned()).spawn(watch);
        }
        Workshop { told, _ready: ready }
    }

    /// How far the scene is.
    pub fn building(&self) -> &Building {
        &self.told.0
    }

    /// The scene is read: the model follows.
    pub fn compiles(&self) {
        self.told.1.store(true, Ordering::Relaxed);
    }
}

/// A bar for a number of scenes on stderr; silent if that is no terminal.
pub fn counter(scenes: usize) -> ProgressBar {
    let target = if crate::ask::asked() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(scenes as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:24.cyan/white.dim} {pos} of {len} scenes  {elapsed}") {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}
