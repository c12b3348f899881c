//! A run that is going on: the simulation leaves its latest row in a mailbox and never waits for anybody.

use crate::block;
use crate::describe::{DescribedEvent, Description};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tippe::realtime::{Hook, Pull, View};
use tippe::run::Subjects;
use tippe::{Event, Observe, Progress, Sample};
use tippe_geometry::Vec3;
use tokio::sync::watch;

/// Events kept for a page that comes late.
const EVENTS: usize = 20_000;
/// Rows are shown no more often than screens are drawn [s].
const INTERVAL: f64 = 1.0 / 60.0;
/// Making a row ready may take one part in so many of the simulation's time [-]: a run that is looked at is slower by 8 % at most.
const PARTS: f64 = 12.0;
/// A body that a hand pulls at would swing about it this often [Hz], critically damped.
const HAND: f64 = 3.0;

/// A run that is going on, as the server sees it.
pub struct Live {
    description: Description,
    start: f64,
    until: f64,
    /// The latest row that somebody wanted.
    pub(crate) latest: watch::Sender<Arc<Vec<u8>>>,
    /// A page is ready for a row.
    wanted: AtomicBool,
    /// Held by a page: the simulation waits.
    held: Mutex<bool>,
    released: Condvar,
    /// Communication points a held simulation may still go.
    steps: AtomicU32,
    news: Mutex<News>,
    /// Numbers from outside that the page has set and the simulation has not seen, in the order of the description.
    inputs: Mutex<Vec<Option<f64>>>,
    /// The latest grains.
    grains: Mutex<Arc<Vec<u8>>>,
    /// The ground as pages know it.
    ground: Mutex<crate::ground::Terrain>,
    /// The hand of the page: body, point in its frame from its origin [m], point in the world [m].
    hand: Mutex<Option<(usize, Vec3, Vec3)>>,
}

#[derive(Default)]
struct News {
    progress: Option<Progress>,
    wall_s: f64,
    events: Vec<DescribedEvent>,
    omitted: usize,
}

/// How far a run is, and what happened since the last message.
#[derive(Serialize)]
pub(crate) struct NewsMessage {
    r#type: &'static str,
    until: f64,
    step: Option<f64>,
    limiter: Option<usize>,
    steps: u64,
    contacts: usize,
    event_count: u64,
    wall: f64,
    held: bool,
    events: Vec<DescribedEvent>,
}

impl Live {
    /// A run about to start at `start` [s], to go to `until` [s].
    pub fn new(description: Description, start: f64, until: f64) -> Arc<Live> {
        Arc::new(Live {
            description,
            start,
            until,
            latest: watch::Sender::new(Arc::new(Vec::new())),
            wanted: AtomicBool::new(true),
            held: Mutex::new(false),
            released: Condvar::new(),
            steps: AtomicU32::new(0),
            news: Mutex::new(News::default()),
            inputs: Mutex::default(),
            grains: Mutex::default(),
            ground: Mutex::default(),
            hand: Mutex::default(),
        })
    }

    /// What the page has to know, as JSON.
    pub fn document(&self) -> serde_json::Value {
        let mut document = serde_json::to_value(&self.description).unwrap_or_default();
        if let Some(object) = document.as_object_mut() {
            object.insert("live".to_owned(), true.into());
            object.insert("status".to_owned(), "running".into());
            object.insert("start".to_owned(), self.start.into());
            object.insert("until".to_owned(), self.until.into());
            object.insert("rows".to_owned(), 0.into());
            object.insert("block_rows".to_owned(), 1.into());
            object.insert("times".to_owned(), Vec::<f64>::new().into());
        }
        document
    }

    /// The latest grains.
    pub(crate) fn grains(&self) -> Arc<Vec<u8>> {
        self.grains.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What of the ground changed after a change.
    pub(crate) fn ground(&self, since: u64) -> Vec<u8> {
        self.ground.lock().unwrap_or_else(PoisonError::into_inner).since(since)
    }

    /// A page is ready for the next row.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Holds the simulation, or lets it go on.
    pub fn hold(&self, held: bool) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
        self.steps.store(0, Ordering::Relaxed);
        self.released.notify_all();
    }

    /// Lets a held simulation go on to its next communication point.
    pub(crate) fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.released.notify_all();
    }

    /// How far it is, with the events from number `from` on; and the number of the next event.
    pub(crate) fn news(&self, from: usize) -> (NewsMessage, usize) {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let next = news.events.len();
        let p = news.progress;
        let message = NewsMessage {
            r#type: "progress",
            until: self.until,
            step: p.map(|p| p.step).filter(|step| step.is_finite()),
            limiter: p.and_then(|p| p.limiter),
            steps: p.map_or(0, |p| p.steps),
            contacts: p.map_or(0, |p| p.contacts),
            event_count: (next + news.omitted) as u64,
            wall: news.wall_s,
            held,
            events: news.events[from.min(next)..].to_vec(),
        };
        (message, next)
    }

    /// Sets a number from outside, for the next step.
    pub fn set_input(&self, input: usize, value: f64) {
        if input >= self.description.inputs.len() || !value.is_finite() {
            return;
        }
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.resize(self.description.inputs.len(), None);
        inputs[input] = Some(value);
    }

    /// Pulls a point of a body (its frame, from its origin) to a point of the world, both [m]; or lets go.
    pub fn pull(&self, hand: Option<(usize, Vec3, Vec3)>) {
        *self.hand.lock().unwrap_or_else(PoisonError::into_inner) = hand;
    }

    /// A hook through which the page sets numbers from outside.
    pub fn inputs(self: &Arc<Live>) -> LiveInputs {
        LiveInputs(self.clone())
    }

    /// An observer that shows the run to whoever looks.
    pub fn observer(self: &Arc<Live>, subjects: Subjects) -> LiveObserver {
        let now = Instant::now();
        LiveObserver {
            live: self.clone(),
            subjects,
            started: now,
            shown: None,
            interval: INTERVAL,
            stepping: false,
            was_held: false,
        }
    }
}

/// A run that a page holds or pulls at: it is let go when the page goes away, however it does.
#[derive(Default)]
pub(crate) struct Grip(pub(crate) Option<Arc<Live>>);

impl Drop for Grip {
    fn drop(&mut self) {
        if let Some(live) = &self.0 {
            live.hold(false);
            live.pull(None);
        }
    }
}

/// Observer that feeds a [`Live`] run.
pub struct LiveObserver {
    live: Arc<Live>,
    subjects: Subjects,
    started: Instant,
    shown: Option<Instant>,
    /// Time from one row to the next [s].
    interval: f64,
    /// Held, but on the way to the next communication point.
    stepping: bool,
    /// Held when last looked at.
    was_held: bool,
}

impl LiveObserver {
    /// Waits while a page holds the run, from the next communication point on: what is shown is where the run stands. `go_on` is
    /// asked now and then whether to wait any longer.
    pub fn wait_while_held(&mut self, go_on: &mut dyn FnMut() -> bool) {
        let live = &self.live;
        let mut held = live.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.stepping |= *held && !self.was_held;
        self.was_held = *held;
        let one = |steps: u32| steps.checked_sub(1);
        while *held && !self.stepping && go_on() {
            if live.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok() {
                self.stepping = true;
                return;
            }
            let waiting = live.released.wait_timeout(held, Duration::from_millis(50));
            held = waiting.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Hook through which the page sets numbers from outside and pulls at bodies; what it did is recorded with the run like any other input.
pub struct LiveInputs(Arc<Live>);

impl Hook for LiveInputs {
    fn inputs(&mut self, _: &View<'_>, inputs: &mut [f64]) {
        let mut set = self.0.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        for (value, set) in inputs.iter_mut().zip(set.iter_mut()) {
            *value = set.take().unwrap_or(*value);
        }
    }

    fn pull(&mut self, view: &View<'_>) -> Option<Pull> {
        let (body, at, to) = (*self.0.hand.lock().unwrap_or_else(PoisonError::into_inner))?;
        let m = view.model.bodies.get(body)?.mass;
        // k = m w^2, c = 2 m w
        let w = 2.0 * std::f64::consts::PI * HAND;
        Some(Pull { body, at, to, stiffness: m * w * w, damping: 2.0 * m * w })
    }
}

/// Time to leave the simulation alone after a row that took so long to make ready, both [s].
fn interval_after(cost: f64) -> f64 {
    INTERVAL.max((PARTS + 1.0) * cost)
}

impl Observe for LiveObserver {
    fn sample(&mut self, sample: &Sample<'_>) {
        // Nothing is made ready before somebody has taken the last one.
        self.stepping = false;
        let now = Instant::now();
        let held = *self.live.held.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shown.is_some_and(|last| now.duration_since(last).as_secs_f64() < self.interval) && !held {
            return;
        }
        if self.live.wanted.swap(false, Ordering::Relaxed) || held {
            self.shown = Some(now);
            self.live.latest.send_replace(Arc::new(block::of_sample(sample, &self.subjects)));
            self.interval = interval_after(now.elapsed().as_secs_f64());
        }
    }

    fn event(&mut self, event: &Event) {
        let mut news = self.live.news.lock().unwrap_or_else(PoisonError::into_inner);
        if news.events.len() < EVENTS {
            news.events.push(DescribedEvent::from(event));
        } else {
            news.omitted += 1;
        }
    }

    fn grains(&mut self, grains: &tippe::grains::Grains) {
        *self.live.grains.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(crate::grains::of(grains));
    }

    fn ground(&mut self, ground: &tippe::ground::Ground, _: f64) {
        self.live.ground.lock().unwrap_or_else(PoisonError::into_inner).look(ground);
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        let mut news = self.live.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.progress = Some(*progress);
        news.wall_s = self.started.elapsed().as_secs_f64();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::Ledger;
    use tippe::scene::{Clock, Scene};

    fn live() -> (Arc<Live>, tippe::Model) {
        let scene = Scene::load("bouncing_ball", &[]).unwrap();
        let model = tippe::Model::compile(&scene).unwrap();
        let description = Description::new("ball", &scene, &model, Clock::Precise, serde_json::Value::Null);
        (Live::new(description, 0.0, 1.0), model)
    }

    fn show(observer: &mut LiveObserver, model: &tippe::Model, time: f64) {
        let energy = &Ledger::default();
        observer.sample(&Sample { time, bodies: &model.start, contacts: &[], energy, signals: &[] });
    }

    fn time_of(block: &[u8]) -> f64 {
        f64::from_le_bytes(block[32..40].try_into().unwrap())
    }

    /// Nobody looks: one row is kept for who comes first, no other is made ready. The latest row replaces the one before.
    #[test]
    fn a_row_is_made_ready_when_somebody_wants_it() {
        let (live, model) = live();
        let mut observer = live.observer(Subjects::of(&model));
        show(&mut observer, &model, 0.1);
        show(&mut observer, &model, 0.2);
        assert_eq!(time_of(&live.latest.borrow()), 0.1);
        live.want();
        std::thread::sleep(Duration::from_secs_f64(1.5 * INTERVAL));
        show(&mut observer, &model, 0.3);
        assert_eq!(time_of(&live.latest.borrow()), 0.3);
    }

    /// However many bodies there are, at most one part in twelve of the simulation's time goes into rows.
    #[test]
    fn rows_cost_their_share_at_most() {
        assert_eq!(interval_after(1e-4), INTERVAL);
        for cost in [0.002, 0.01, 0.5] {
            let simulating = interval_after(cost) - cost;
            assert!(cost <= simulating / PARTS * (1.0 + 1e-12), "{cost}");
        }
    }

    /// A held run waits until it is released or told to go one step, and no longer than its owner wants.
    #[test]
    fn holding() {
        let (live, model) = live();
        let mut observer = live.observer(Subjects::of(&model));
        observer.wait_while_held(&mut || panic!("it is not held"));
        live.hold(true);
        let on_the_way = || panic!("it is on its way to the next communication point");
        observer.wait_while_held(&mut { on_the_way });
        show(&mut observer, &model, 0.1);
        assert_eq!(time_of(&live.latest.borrow()), 0.1);
        live.step();
        observer.wait_while_held(&mut || true);
        observer.wait_while_held(&mut { on_the_way });
        show(&mut observer, &model, 0.2);
        assert_eq!(time_of(&live.latest.borrow()), 0.2);
        let other = live.clone();
        let began = Instant::now();
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            other.hold(false);
        });
        observer.wait_while_held(&mut || true);
        assert!(began.elapsed() >= Duration::from_millis(30));
        release.join().unwrap();
        observer.wait_while_held(&mut || panic!("it is not held"));
        live.hold(true);
        observer.wait_while_held(&mut { on_the_way });
        show(&mut observer, &model, 0.3);
        observer.wait_while_held(&mut || false);
        // the page that holds it goes away
        drop(Grip(Some(live.clone())));
        observer.wait_while_held(&mut || panic!("it is not held"));
    }
}
