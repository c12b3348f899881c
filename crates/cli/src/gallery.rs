//! `tippe gallery`: a page for every scene, with a picture, made from runs; and the text that `tippe explain SCENE` shows.

use crate::args::Source;
use crate::check::{Line, expectations};
use crate::landscape::{draw_ground, draw_waters, places};
use crate::picture::{COLOURS, Camera, INK, Picture, STILL, encoded, pose, save};
use crate::progress::counter;
use crate::table::{count, number};
use crate::{Stop, say};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tippe::clock::Settings;
use tippe::element::Anchor;
use tippe::geometry::{Aabb, Mat3, Pose, Shape, Vec3};
use tippe::grains::{Grain, Grains};
use tippe::ground::Ground;
use tippe::kinematics::Kinematics;
use tippe::model::Drive;
use tippe::scene::{Scene, gallery};
use tippe::{BodyState, Model, Observe, Sample, Simulation, Summary};

/// Arguments of `tippe gallery`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the pages
    out: PathBuf,
    /// Only these scenes, files or names; the index has all that come with the program
    scenes: Vec<String>,
    /// Run scenes tagged slow too; without this their pages show the beginning only
    #[arg(long)]
    slow: bool,
    /// Scenes at a time; 0 for one on every core
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    threads: usize,
}

/// Pixels of one of the two pictures of a page.
const SIZE: (usize, usize) = (300, 225);
/// Paths are drawn of so many bodies at most.
const PATHS: usize = 60;
/// Points of a path at most; every second is dropped when there are more.
const POINTS: usize = 2000;
/// Parameters on a page at most.
const PARAMS: usize = 20;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let all = gallery().iter().map(|(name, _)| (*name).to_owned());
    let names: Vec<String> = if args.scenes.is_empty() { all.collect() } else { args.scenes.clone() };
    std::fs::create_dir_all(&args.out).map_err(|error| cannot_write(&args.out, error))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build();
    let pool = pool.map_err(|error| Stop::Resource(format!("cannot start threads: {error}")))?;
    let bar = counter(names.len());
    let one = |name: &String| {
        let written = page(name, args);
        bar.inc(1);
        written.map_err(|stop| format!("{name}: {}", stop.message()))
    };
    let troubles: Vec<String> = pool.install(|| names.par_iter().filter_map(|name| one(name).err()).collect());
    bar.finish_and_clear();
    let index = args.out.join("README.md");
    std::fs::write(&index, self::index()?).map_err(|error| cannot_write(&index, error))?;
    if troubles.is_empty() {
        say(&format!("{} pages and {}", names.len(), index.display()));
        return Ok(());
    }
    Err(Stop::Simulation(troubles.join("\n")))
}

fn cannot_write(path: &Path, error: impl std::fmt::Display) -> Stop {
    Stop::Resource(format!("cannot write {}: {error}", path.display()))
}

/// Writes picture and text of one scene.
fn page(name: &str, args: &Args) -> Result<(), Stop> {
    let source = Source::find(name)?;
    let scene = Scene::parse(&source.file, &source.text, &[])?;
    let ran = if args.slow || !is_slow(&scene) { Some(Ran::of(&scene)?) } else { None };
    let lines = match ran {
        Some(_) => expectations(name)?,
        None => Vec::new(),
    };
    let model = Model::compile_for(&scene, scene.run.clock)?;
    let picture = args.out.join(format!("{}.png", source.name));
    draw(&scene, &model, ran.as_ref(), &picture).map_err(Stop::Resource)?;
    let text = args.out.join(format!("{}.md", source.name));
    std::fs::write(&text, write_page(&source.name, &scene, ran.as_ref(), &lines))
        .map_err(|error| cannot_write(&text, error))
}

fn is_slow(scene: &Scene) -> bool {
    scene.tags.iter().any(|tag| tag == "slow")
}

/// A run as far as a page shows it.
struct Ran {
    summary: Summary,
    time: f64,
    first: Vec<BodyState>,
    /// Centres of mass of the first free bodies.
    paths: Vec<(usize, Vec<Vec3>)>,
    grains: [Vec<Seen>; 2],
    /// The ground at the beginning and at the end.
    grounds: [Option<Ground>; 2],
}

/// Looks on while it runs.
struct Watch<'a> {
    model: &'a Model,
    first: Vec<BodyState>,
    time: f64,
    every: usize,
    seen: usize,
    paths: Vec<(usize, Vec<Vec3>)>,
    grounds: [Option<Ground>; 2],
}

impl Observe for Watch<'_> {
    fn ground(&mut self, ground: &Ground, _: f64) {
        self.grounds[1] = Some(ground.clone());
    }

    fn sample(&mut self, sample: &Sample<'_>) {
        if self.first.is_empty() {
            self.first = sample.bodies.to_vec();
        }
        self.time = sample.time;
        if self.seen.is_multiple_of(self.every) {
            for (body, path) in &mut self.paths {
                path.push(pose(&sample.bodies[*body]).point(self.model.bodies[*body].p_bc));
            }
            if self.paths.first().is_some_and(|(_, path)| path.len() > POINTS) {
                self.every *= 2;
                for (_, path) in &mut self.paths {
                    *path = path.iter().copied().step_by(2).collect();
                }
            }
        }
        self.seen += 1;
    }
}

/// A grain, and its faces if it is no ball.
struct Seen {
    ball: Grain,
    solid: Option<(Pose, Shape)>,
}

fn all_of(grains: Option<&Grains>) -> Vec<Seen> {
    let seen = |grains: &Grains, k: usize| {
        let solid = grains.solid(k).and_then(|clump| clump.solid.clone().map(|shape| (clump.X_wc, shape)));
        Seen { ball: grains.grain(k), solid }
    };
    grains.map_or_else(Vec::new, |grains| (0..grains.len()).map(|k| seen(grains, k)).collect())
}

/// The ground as it is before the run.
fn start_of(model: &Model) -> Option<Ground> {
    model.soil.as_ref().map(|soil| soil.ground.clone())
}

impl Ran {
    fn of(scene: &Scene) -> Result<Ran, Stop> {
        let model = Model::compile_for(scene, scene.run.clock)?;
        let mut settings = Settings::from_scene(scene, scene.run.clock);
        settings.set_threads(1);
        let mut simulation = Simulation::new(model, settings);
        let model = simulation.model().clone();
        let begun = all_of(simulation.grains());
        let free = (0..model.bodies.len()).filter(|&b| model.bodies[b].drive == Drive::Free);
        let paths = free.take(PATHS).map(|body| (body, Vec::new())).collect();
        let mut watch = Watch {
            model: &model,
            first: Vec::new(),
            time: 0.0,
            every: 1,
            seen: 0,
            paths,
            grounds: [start_of(&model), None],
        };
        let summary =
            simulation.advance(scene.run.until, &mut watch).map_err(|failure| Stop::Simulation(failure.to_string()))?;
        let Watch { first, paths, time, grounds, .. } = watch;
        Ok(Ran { summary, time, first, paths, grains: [begun, all_of(simulation.grains())], grounds })
    }
}

/// Left the beginning, right the end with the paths; the beginning alone if it did not run.
fn draw(scene: &Scene, model: &Model, ran: Option<&Ran>, path: &Path) -> Result<(), String> {
    let first = ran.map_or(&model.start, |ran| &ran.first);
    let last = ran.map_or(&model.start, |ran| &ran.summary.bodies);
    let shapes = all_shapes(scene, model);
    let camera = look(scene, model, [first, last], ran, &shapes);
    let mut pictures = Vec::new();
    let start = || all_of(Settings::from_scene(scene, scene.run.clock).start(model).grains());
    let begun = ran.is_none().then(|| [start(), start()]);
    let none = [Vec::new(), Vec::new()];
    let grains = ran.map_or(begun.as_ref().unwrap_or(&none), |ran| &ran.grains);
    let untouched = start_of(model);
    let grounds =
        ran.map_or([untouched.as_ref(), untouched.as_ref()], |ran| ran.grounds.each_ref().map(Option::as_ref));
    for ((states, grains), ground) in [first, last].into_iter().zip(grains).zip(grounds) {
        let mut picture = Picture::new(camera, SIZE.0, SIZE.1);
        // walls in front of grains are left out
        let sum = grains.iter().map(|grain| grain.ball.position).fold(Vec3::ZERO, |sum, p| sum + p);
        picture.open_walls = (!grains.is_empty()).then(|| sum / grains.len() as f64);
        draw_bodies(&mut picture, model, states, &shapes);
        for Seen { ball, solid } in grains {
            let colour = COLOURS[4 + ball.class as usize % 3];
            match solid {
                Some((X, shape)) => picture.shape(X, shape, colour, false),
                None => picture.ball(ball.position, ball.radius, colour),
            }
        }
        if let Some(ground) = ground {
            draw_ground(&mut picture, ground);
        }
        pictures.push(picture);
    }
    if let (Some(ran), Some(picture)) = (ran, pictures.last_mut()) {
        for (body, path) in &ran.paths {
            path.windows(2).for_each(|pair| picture.line(pair[0], pair[1], 1.0, COLOURS[body % COLOURS.len()]));
        }
    }
    let times = [0.0, ran.map_or(0.0, |ran| ran.time)];
    pictures.iter_mut().zip(times).for_each(|(picture, time)| draw_waters(picture, model, time));
    save(&pictures, path)
}

/// The beginning of a scene, as PNG.
pub fn portrait(scene: &Scene, model: &Model) -> Result<Vec<u8>, String> {
    let (start, shapes) = (&model.start, all_shapes(scene, model));
    let mut picture = Picture::new(look(scene, model, [start, start], None, &shapes), SIZE.0, SIZE.1);
    draw_bodies(&mut picture, model, start, &shapes);
    encoded(&[picture])
}

fn all_shapes(scene: &Scene, model: &Model) -> Vec<Vec<(Pose, Shape)>> {
    model.bodies.iter().map(|body| shapes_of(scene, &body.name)).collect()
}

fn shapes_of(scene: &Scene, body: &str) -> Vec<(Pose, Shape)> {
    let spec = scene.bodies.iter().find(|spec| spec.name == body);
    spec.map_or_else(Vec::new, |spec| spec.shapes.iter().filter_map(|shape| shape.placed().ok()).flatten().collect())
}

fn draw_bodies(picture: &mut Picture, model: &Model, states: &[BodyState], shapes: &[Vec<(Pose, Shape)>]) {
    for (b, (body, state)) in model.bodies.iter().zip(states).enumerate() {
        let colour = if body.drive == Drive::Free { COLOURS[b % COLOURS.len()] } else { STILL };
        for (X_bs, shape) in &shapes[b] {
            picture.shape(&pose(state).then(X_bs), shape, colour, body.drive != Drive::Free);
        }
    }
    let place = |body: Option<u32>, X: Pose| match body {
        Some(body) => states.get(body as usize).map_or(X.position, |state| pose(state).point(X.position)),
        None => X.position,
    };
    // A body on joints is a rod from its centre of mass to them: that is all there is of one without a shape.
    for joint in &model.joints {
        for (body, X_bj) in model.joint_frames(joint).into_iter().flatten() {
            let free = body.map(|b| b as usize).filter(|&b| model.bodies[b].drive == Drive::Free);
            let Some((b, state)) = free.and_then(|b| states.get(b).map(|state| (b, state))) else { continue };
            let (centre, end) = (pose(state).point(model.bodies[b].p_bc), place(body, X_bj));
            let bare = shapes[b].is_empty();
            picture.line(
                centre,
                end,
                if bare { 3.0 } else { 1.5 },
                if bare { COLOURS[b % COLOURS.len()] } else { INK },
            );
            picture.ball(end, 0.0, INK);
        }
    }
    for element in &model.elements {
        if element.kind.line().is_none() {
            continue;
        }
        let frame = |end: &Anchor| {
            let p_bc = end.body.map_or(Vec3::ZERO, |body| model.bodies[body as usize].p_bc);
            let X = end.body.map_or(Pose::IDENTITY, |body| pose(&states[body as usize]));
            Kinematics { p: X.point(p_bc + end.p), R: Mat3::from_quat(X.rotation) * end.R, ..Kinematics::WORLD }
        };
        let frames: Vec<Kinematics> = element.kind.attached().frames.iter().map(frame).collect();
        for pair in element.kind.drawn(&frames).windows(2) {
            picture.line(pair[0], pair[1], 1.5, INK);
        }
    }
}

/// A camera that sees all that moves, and what stands still near it.
fn look(
    scene: &Scene,
    model: &Model,
    states: [&Vec<BodyState>; 2],
    ran: Option<&Ran>,
    shapes: &[Vec<(Pose, Shape)>],
) -> Camera {
    let corners = |b: usize, state: &BodyState| {
        let boxes = shapes[b].iter().filter(|(_, shape)| !matches!(shape, Shape::HalfSpace));
        let boxes = boxes.map(|(X_bs, shape)| shape.aabb(&pose(state).then(X_bs)));
        let corner = |(b, k): (Aabb, usize)| {
            let part = |axis: usize| if k >> axis & 1 == 0 { b.min[axis] } else { b.max[axis] };
            Vec3::new(part(0), part(1), part(2))
        };
        boxes.flat_map(|b| (0..8).map(move |k| (b, k))).map(corner).collect::<Vec<Vec3>>()
    };
    let mut moving: Vec<Vec3> = Vec::new();
    let mut still: Vec<Vec<Vec3>> = Vec::new();
    for (b, body) in model.bodies.iter().enumerate() {
        for state in states.iter().filter_map(|states| states.get(b)) {
            if body.drive == Drive::Free {
                moving.extend(corners(b, state));
                moving.push(pose(state).point(body.p_bc));
            } else {
                still.push(corners(b, state));
            }
        }
    }
    for joint in &model.joints {
        for (body, X_bj) in model.joint_frames(joint).into_iter().flatten() {
            let on = body.and_then(|body| states[0].get(body as usize));
            moving.push(on.map_or(X_bj.position, |state| pose(state).point(X_bj.position)));
        }
    }
    moving.extend(model.soil.iter().flat_map(|soil| places(&soil.ground)));
    if let Some(ran) = ran {
        moving.extend(ran.grounds.iter().flatten().flat_map(places));
        moving.extend(ran.paths.iter().flat_map(|(_, path)| path));
        moving.extend(ran.grains.iter().flatten().map(|grain| grain.ball.position));
    }
    let size = |points: &[Vec3]| {
        let low = points.iter().copied().reduce(Vec3::min).unwrap_or(Vec3::ZERO);
        points.iter().copied().reduce(Vec3::max).unwrap_or(Vec3::ZERO) - low
    };
    let reach = size(&moving);
    let near = |points: &Vec<Vec3>| moving.is_empty() || size(points).length() < 3.0 * reach.length();
    let centres: Vec<Vec3> = ran.map_or_else(Vec::new, |ran| ran.paths.iter().flat_map(|(_, p)| p.clone()).collect());
    let flat = size(&centres);
    let mut points = moving.clone();
    points.extend(still.iter().filter(|points| near(points)).flatten());
    let up = if scene.gravity.length() > 0.0 { -scene.gravity.normalize() } else { Vec3::Z };
    // What moves in an upright plane is seen from the front, all else over the shoulder.
    let thin = 0.02 * flat.length();
    let over = if up.z.abs() > 0.9 { Vec3::new(0.45, -0.9, 0.42) } else { Vec3::new(0.35, 0.0, 1.0) + 0.42 * up };
    let from = match (flat.x < thin, flat.y < thin, up.z.abs() > 0.9) {
        (false, true, true) => Vec3::new(0.2, -1.0, 0.2),
        (true, false, true) => Vec3::new(1.0, -0.2, 0.2),
        _ => over,
    };
    Camera::on(&points, from, up, SIZE.0 as f64 / SIZE.1 as f64)
}

/// A cell of a table: nothing in it ends the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// What there is to say about a scene without running it: title, description, parameters, what it must show and where the numbers come from.
pub fn about(name: &str, scene: &Scene) -> String {
    format!("{}{}", head(name, scene), facts(name, scene, None) + &params(scene) + &shows(scene, &[]))
}

fn head(name: &str, scene: &Scene) -> String {
    let description = scene.description.trim();
    let space = if description.is_empty() { "" } else { "\n\n" };
    format!("# {name}: {}{space}{description}\n", scene.title)
}

fn facts(name: &str, scene: &Scene, ran: Option<&Ran>) -> String {
    let mut rows = vec![("run it", format!("`tippe run {name}`, `tippe view {name}`"))];
    rows.push(("clock", format!("{}, {} s", scene.run.clock.name(), number(scene.run.until))));
    rows.extend(scene.cost.as_ref().map(|cost| ("cost", cost.clone())));
    if let Some(Ran { summary, .. }) = ran {
        let methods = summary.steps_by_integrator.iter().map(|(method, n)| format!("{method} {}", count(*n)));
        let methods: Vec<String> = methods.collect();
        rows.push(("steps", format!("{} ({})", count(summary.steps), methods.join(", "))));
        let events: Vec<String> =
            summary.events.iter().map(|(kind, n)| format!("{} {}", kind.name(), count(*n))).collect();
        if !events.is_empty() {
            rows.push(("events", events.join(", ")));
        }
        let energy = &summary.energy;
        let scale = energy.initial.abs().max(energy.kinetic.abs()).max(energy.put_in().abs());
        if scale > 0.0 {
            let share = (energy.residual() / scale).abs();
            rows.push(("energy not explained", format!("{share:.0e} of the largest in the books")));
        }
    }
    if !scene.tags.is_empty() {
        rows.push(("tags", scene.tags.join(", ")));
    }
    rows.extend(scene.source.as_ref().map(|source| ("from", source.clone())));
    let rows: Vec<String> = rows.iter().map(|(name, text)| format!("| {name} | {} |\n", cell(text))).collect();
    format!("\n| | |\n|---|---|\n{}", rows.concat())
}

fn params(scene: &Scene) -> String {
    if scene.params.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> =
        scene.params.iter().take(PARAMS).map(|param| format!("`{}` = {}", param.name, number(param.value))).collect();
    if scene.params.len() > PARAMS {
        shown.push("...".to_owned());
    }
    format!("\nParameters (SI), to be changed with `--set NAME=VALUE`: {}.\n", shown.join(", "))
}

/// What is expected; with the lines of a check also what came out.
fn shows(scene: &Scene, lines: &[Line]) -> String {
    if scene.expects.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = if lines.is_empty() {
        let row = |expect: &tippe::scene::Expect| {
            let at = expect.at.map_or(String::new(), |at| format!(" at {} s", number(at)));
            let with: Vec<String> = expect.with.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
            let what = format!("`{}`{at}{with}", cell(&expect.value.text));
            format!("| {what} | {} | {} |\n", cell(&expect.expected()), cell(&expect.source))
        };
        scene.expects.iter().map(row).collect()
    } else {
        let row = |line: &Line| {
            let at = line.at.map_or(String::new(), |at| format!(" at {} s", number(at)));
            let with = if line.case.is_empty() { String::new() } else { format!(" with {}", line.case) };
            let value = line.value.map_or_else(|| line.no_answer.clone().unwrap_or_default(), number);
            let what = format!("`{}`{at}{with}", cell(&line.question));
            let failed = if line.pass { "" } else { " **not met**" };
            format!("| {what} | {}{failed} | {} | {} |\n", cell(&value), cell(&line.expected), cell(&line.source))
        };
        lines.iter().map(row).collect()
    };
    let head = if lines.is_empty() {
        "| what | expected | from |\n|---|---|---|\n"
    } else {
        "| what | is | expected | from |\n|---|---|---|---|\n"
    };
    format!("\n## What it must show\n\n{head}{}", rows.concat())
}

fn write_page(name: &str, scene: &Scene, ran: Option<&Ran>, lines: &[Line]) -> String {
    let caption = match ran {
        Some(ran) => {
            format!("Left the beginning, right after {} s with the paths of centres of mass.", number(ran.time))
        }
        None => "The beginning.".to_owned(),
    };
    let head = head(name, scene);
    let (title, rest) = head.split_once('\n').unwrap_or((&head, ""));
    format!(
        "{title}\n\n![{name}]({name}.png)\n\n{caption}\n{rest}{}{}{}\nThe scene: [scenes/{name}.toml](../../scenes/{name}.toml).\n",
        facts(name, scene, ran),
        params(scene),
        shows(scene, lines)
    )
}

/// The table of all scenes that come with the program.
fn index() -> Result<String, Stop> {
    let mut text = String::from(
        "# The gallery\n\nEvery scene that comes with the program, with what it must show and where those numbers come from. These pages are made from runs by\n`tippe gallery docs/gallery`; `tippe explain NAME` prints the text of one.\n\n| | scene | cost |\n|---|---|---|\n",
    );
    for (name, content) in gallery() {
        let scene = Scene::parse(&format!("{name}.toml"), content, &[])?;
        let cost = scene.cost.unwrap_or_default();
        text += &format!(
            "| [![{name}]({name}.png)]({name}.md) | [{name}]({name}.md): {} | {} |\n",
            cell(&scene.title),
            cell(&cost)
        );
    }
    Ok(text)
}
