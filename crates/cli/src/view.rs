//! `tippe view`: runs, or a scene that runs now, in the browser.

use crate::Stop;
use crate::args::{Options, Prepared, Source};
use crate::progress::StopSignal;
use crate::run;
use std::path::{Path, PathBuf};

/// Arguments of `tippe view`.
#[derive(clap::Args)]
pub struct Args {
    /// A run folder, or two to lay one over the other; or a scene, which runs while you look
    #[arg(required = true, num_args = 1..=2, value_name = "RUN|SCENE")]
    targets: Vec<String>,
    #[command(flatten)]
    options: Options,
    /// Of a scene with the realtime clock: simulated seconds per second
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, value_parser = crate::args::positive)]
    pace: f64,
    /// Write one file that a browser opens without Tippe, and show nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    page: PageOptions,
}

/// Where the page is served.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PageOptions {
    /// Port of the viewer; by default the first free one from 7878 on
    #[arg(long, value_name = "NUMBER")]
    port: Option<u16>,
    /// Print the address and leave the browser alone
    #[arg(long)]
    no_open: bool,
}

#[cfg(not(feature = "viewer"))]
fn without() -> Stop {
    let text = "this tippe was built without the viewer. help: build it with `cargo build --release --features viewer`";
    Stop::Usage(text.to_owned())
}

/// Runs the command.
#[cfg(not(feature = "viewer"))]
pub fn view(args: &Args) -> Result<(), Stop> {
    let Args { targets: _, options: _, pace: _, html: _, page: PageOptions { port: _, no_open: _ } } = args;
    Err(without())
}

/// Simulates and shows.
#[cfg(not(feature = "viewer"))]
pub fn run_and_view(
    _: &run::Args,
    _: &PageOptions,
    _: &Source,
    _: &Prepared,
    _: run::Place,
    _: &StopSignal,
) -> Result<(), Stop> {
    Err(without())
}

/// Simulates with both settings and shows one run over the other.
#[cfg(not(feature = "viewer"))]
pub fn view_both(_: &Source, _: [&Options; 2], _: &PageOptions, _: &StopSignal) -> Result<(), Stop> {
    Err(without())
}

#[cfg(feature = "viewer")]
pub use with_viewer::{run_and_view, view, view_both};

#[cfg(feature = "viewer")]
mod with_viewer {
    use super::{Args, Options, PageOptions, Path, PathBuf, Prepared, Source, Stop, StopSignal, run};
    use crate::say;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};
    use tippe::run::Subjects;
    use tippe::scene::Clock;
    use tippe::{Event, Observe, Progress, Sample};
    use tippe_viewer::describe::Description;
    use tippe_viewer::{Live, LiveObserver, Recorded, Viewer, ViewerError, standalone};

    /// How often a file is looked at for changes.
    const LOOK: Duration = Duration::from_millis(300);
    /// Time between pictures [s].
    const PICTURE: f64 = 1.0 / 60.0;

    impl From<ViewerError> for Stop {
        fn from(error: ViewerError) -> Stop {
            match error {
                ViewerError::Scene { .. } => Stop::Scene(error.to_string()),
                ViewerError::Start(_) => Stop::Resource(error.to_string()),
                ViewerError::NoPage(_)
                | ViewerError::Port { .. }
                | ViewerError::Run(_)
                | ViewerError::Mismatch { .. } => Stop::Usage(error.to_string()),
            }
        }
    }

    /// Runs the command.
    pub fn view(args: &Args) -> Result<(), Stop> {
        let folders: Vec<&Path> = args.targets.iter().map(Path::new).filter(|path| is_run(path)).collect();
        if folders.len() == args.targets.len() {
            let runs = folders.iter().map(|folder| Recorded::open(folder)).collect::<Result<Vec<_>, _>>()?;
            let fates = runs.iter().filter_map(|run| run.run().fate());
            fates.for_each(|fate| say(&format!("note: {fate}")));
            return match &args.html {
                Some(file) => write_html(file, &runs),
                None => show_runs(runs, &args.page),
            };
        }
        let [target] = args.targets.as_slice() else {
            let stranger = args.targets.iter().find(|target| !is_run(Path::new(target)));
            let text = format!("{} is not a run folder", stranger.map_or("", |target| target));
            return Err(Stop::Usage(format!(
                "{text}. help: two runs can be laid one over the other; a scene is shown alone"
            )));
        };
        if Path::new(target).is_dir() {
            let text = format!("{target} is not a run folder: it has no manifest.json");
            return Err(Stop::Usage(format!("{text}. help: `tippe run SCENE` makes one")));
        }
        view_scene(args, target)
    }

    fn is_run(path: &Path) -> bool {
        path.is_dir() && path.join("manifest.json").exists()
    }

    fn write_html(file: &Path, runs: &[Recorded]) -> Result<(), Stop> {
        let text = standalone(&runs.iter().collect::<Vec<_>>())?;
        std::fs::write(file, &text)
            .map_err(|error| Stop::Resource(format!("cannot write {}: {error}", file.display())))?;
        say(&format!("{} ({:.1} MB): open it with a browser", file.display(), text.len() as f64 * 1e-6));
        Ok(())
    }

    /// Shows runs until Ctrl-C.
    fn show_runs(runs: Vec<Recorded>, page: &PageOptions) -> Result<(), Stop> {
        show_until(runs, page, &StopSignal::listen())
    }

    fn show_until(runs: Vec<Recorded>, page: &PageOptions, signal: &StopSignal) -> Result<(), Stop> {
        let viewer = Viewer::start(page.port)?;
        viewer.show(runs);
        announce(&viewer, page);
        while signal.came().is_none() {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Simulates with both settings and shows one run over the other.
    pub fn view_both(
        source: &Source,
        both: [&Options; 2],
        page: &PageOptions,
        signal: &StopSignal,
    ) -> Result<(), Stop> {
        tippe_viewer::page()?;
        let store = Store::new()?;
        let mut runs = Vec::new();
        for (turn, options) in (0..).zip(both) {
            let args = run::Args::for_view(&source.file, options, None);
            let place = run::Place::at(&store.folder(turn))?;
            run::simulate(&args, source, &prepare(source, options)?, place, signal, &mut (), None)?;
            runs.push(Recorded::open(&store.folder(turn))?);
        }
        show_until(runs, page, signal)
    }

    /// Simulates into a folder, shows it meanwhile and afterwards, until Ctrl-C.
    pub fn run_and_view(
        args: &run::Args,
        page: &PageOptions,
        source: &Source,
        prepared: &Prepared,
        place: run::Place,
        signal: &StopSignal,
    ) -> Result<(), Stop> {
        let folder = place.folder().to_owned();
        let viewer = Viewer::start(page.port)?;
        announce(&viewer, page);
        let mut shown = Shown::new(&viewer, source, prepared, None, signal);
        let mut inputs = shown.live.inputs();
        let ran = run::simulate(args, source, prepared, place, signal, &mut shown, Some(&mut inputs));
        if signal.came().is_some() {
            return ran;
        }
        // What a failed run has recorded shows how it came to fail.
        if let Err(stop) = &ran {
            say(&format!("error: {}", stop.message()));
        }
        match (Recorded::open(&folder), ran) {
            (Ok(recorded), ran) => {
                viewer.show(vec![recorded]);
                say("the viewer stays open: Ctrl-C ends it");
                while signal.came().is_none() {
                    std::thread::sleep(LOOK);
                }
                ran
            }
            (Err(error), ran) => ran.and(Err(error.into())),
        }
    }

    /// A scene ready to be looked at: with a row for every picture, unless the user wants it otherwise.
    fn prepare(source: &Source, options: &Options) -> Result<Prepared, Stop> {
        let mut prepared = source.prepare(options)?;
        let own = options.output_interval.is_some() || prepared.scene.run.output_interval <= PICTURE;
        if !own && prepared.until / PICTURE < 1e5 {
            prepared.settings.set_output_interval(PICTURE);
        }
        Ok(prepared)
    }

    /// Runs a scene again whenever its file is saved.
    fn view_scene(args: &Args, target: &str) -> Result<(), Stop> {
        let mut source = Source::find(target)?;
        let mut prepared = prepare(&source, &args.options)?;
        let store = Store::new()?;
        let signal = StopSignal::listen();
        let pace = |prepared: &Prepared| (prepared.settings.clock() == Clock::Realtime).then_some(args.pace);
        if let Some(file) = &args.html {
            let run = run::Args::for_view(target, &args.options, None);
            let place = run::Place::at(&store.folder(0))?;
            run::simulate(&run, &source, &prepared, place, &signal, &mut (), None)?;
            return write_html(file, &[Recorded::open(&store.folder(0))?]);
        }
        let viewer = Viewer::start(args.page.port)?;
        announce(&viewer, &args.page);
        let mut watch = FileWatch::new(Path::new(target));
        for turn in 0.. {
            let run = run::Args::for_view(target, &args.options, pace(&prepared));
            let folder = store.folder(turn);
            let mut shown = Shown::new(&viewer, &source, &prepared, Some(&mut watch), &signal);
            let mut inputs = shown.live.inputs();
            let place = run::Place::at(&folder)?;
            let ran = run::simulate(&run, &source, &prepared, place, &signal, &mut shown, Some(&mut inputs));
            if signal.came().is_some() {
                return Ok(());
            }
            if let Err(stop) = &ran {
                say(&format!("error: {}", stop.message()));
            }
            // What a failed run has recorded shows how it came to fail.
            match Recorded::open(&folder) {
                Ok(recorded) => viewer.show(vec![recorded]),
                Err(error) => {
                    viewer.show_trouble(&ran.err().map_or(error.to_string(), |stop| stop.message().to_owned()))
                }
            }
            // Wait for a scene that can be run; what is wrong with it is said where it is looked for.
            loop {
                while !watch.changed() {
                    if signal.came().is_some() {
                        return Ok(());
                    }
                    std::thread::sleep(LOOK);
                }
                watch.seen();
                let again = Source::find(target)
                    .and_then(|source| prepare(&source, &args.options).map(|ready| (source, ready)));
                match again {
                    Ok(ready) => {
                        (source, prepared) = ready;
                        break;
                    }
                    Err(stop) => {
                        say(&format!("error: {}", stop.message()));
                        viewer.show_trouble(stop.message());
                    }
                }
            }
            store.forget(turn);
        }
        Ok(())
    }

    fn announce(viewer: &Viewer, page: &PageOptions) {
        say(&format!("viewer: {}", viewer.url()));
        if !page.no_open && !open_browser(viewer.url()) {
            say("open this address in a browser on this machine");
        }
    }

    /// Asks the system for a browser; false if there is nobody to ask.
    fn open_browser(url: &str) -> bool {
        let display = std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some();
        let mut command = if cfg!(target_os = "macos") {
            std::process::Command::new("open")
        } else if cfg!(windows) {
            let mut command = std::process::Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        } else if display {
            std::process::Command::new("xdg-open")
        } else {
            return false;
        };
        let quiet = std::process::Stdio::null;
        command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
    }

    /// A run in the viewer while it goes on.
    struct Shown<'a> {
        live: Arc<Live>,
        observer: LiveObserver,
        watch: Option<&'a mut FileWatch>,
        signal: &'a StopSignal,
    }

    impl<'a> Shown<'a> {
        fn new(
            viewer: &Viewer,
            source: &Source,
            prepared: &Prepared,
            watch: Option<&'a mut FileWatch>,
            signal: &'a StopSignal,
        ) -> Shown<'a> {
            let Prepared { scene, model, settings, until } = prepared;
            let copy = serde_json::to_value(settings).unwrap_or_default();
            let description = Description::new(&source.name, scene, model, settings.clock(), copy);
            let live = Live::new(description, 0.0, *until);
            viewer.show_live(live.clone());
            Shown { observer: live.observer(Subjects::of(model)), live, watch, signal }
        }
    }

    impl Observe for Shown<'_> {
        fn sample(&mut self, sample: &Sample<'_>) {
            self.observer.sample(sample);
        }

        fn event(&mut self, event: &Event) {
            self.observer.event(event);
        }

        fn grains(&mut self, grains: &tippe::grains::Grains) {
            self.observer.grains(grains);
        }

        fn ground(&mut self, ground: &tippe::ground::Ground, t: f64) {
            self.observer.ground(ground, t);
        }

        fn progress(&mut self, progress: &Progress) -> bool {
            self.observer.progress(progress);
            let (watch, signal) = (&mut self.watch, self.signal);
            let go_on = &mut || signal.came().is_none() && !watch.as_mut().is_some_and(|watch| watch.changed());
            self.observer.wait_while_held(go_on);
            !self.watch.as_mut().is_some_and(|watch| watch.changed())
        }
    }

    /// Notices when a file is saved.
    struct FileWatch {
        path: PathBuf,
        stamp: Option<SystemTime>,
        looked: SystemTime,
        changed: bool,
    }

    impl FileWatch {
        fn new(path: &Path) -> FileWatch {
            let mut watch = FileWatch { path: path.to_owned(), stamp: None, looked: SystemTime::now(), changed: false };
            watch.seen();
            watch
        }

        /// The file as it is now is known.
        fn seen(&mut self) {
            (self.stamp, self.changed) = (self.now(), false);
        }

        fn now(&self) -> Option<SystemTime> {
            std::fs::metadata(&self.path).and_then(|data| data.modified()).ok()
        }

        /// True once the file has been saved; looked at now and then only.
        fn changed(&mut self) -> bool {
            if !self.changed && self.looked.elapsed().is_ok_and(|since| since >= LOOK) {
                self.looked = SystemTime::now();
                // A file that is being replaced is gone for a moment.
                self.changed = self.now().is_some_and(|now| self.stamp != Some(now));
            }
            self.changed
        }
    }

    /// Run folders that last as long as the command.
    struct Store(PathBuf);

    impl Store {
        fn new() -> Result<Store, Stop> {
            let base = std::env::temp_dir();
            for k in 0..1000_u32 {
                let path = base.join(format!("tippe-view-{}-{k}", std::process::id()));
                match std::fs::create_dir(&path) {
                    Ok(()) => return Ok(Store(path)),
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(Stop::Resource(format!("cannot create {}: {error}", path.display()))),
                }
            }
            Err(Stop::Resource(format!("cannot create a folder in {}", base.display())))
        }

        fn folder(&self, turn: u32) -> PathBuf {
            self.0.join(turn.to_string())
        }

        fn forget(&self, turn: u32) {
            // What stays behind goes with the store.
            let _ = std::fs::remove_dir_all(self.folder(turn));
        }
    }

    impl Drop for Store {
        fn drop(&mut self) {
            // A folder for passing things that cannot be removed is the system's to clean.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
