//! The calls of `tippe.h` for programs that link nothing: over TCP, each connection with a run and a collider of its own.
//!
//! Only computers that know the token are listened to, and by default only this one. The first message is the token (call 0).

use crate::collider::Collider;
use crate::message::{LONGEST, Message};
use crate::session::Session;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tippe::geometry::{Pose, Quat, Vec3};
use tippe::scene::Scene;
use tippe::stepping::Saved;

/// Connections at once.
const MOST_GUESTS: usize = 64;
/// States that one connection may keep.
const MOST_SAVED: usize = 10_000;
/// Who has not named the token after this time is sent away.
const GREETING: Duration = Duration::from_secs(5);
/// Longest message of somebody who has not named it yet [bytes].
const SHORT: usize = 1 << 12;

/// What can be asked; the number is the word of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    /// Text: the token. Answer: text, the version.
    Hello,
    /// Texts: scene, clock or empty, then NAME=VALUE of parameters.
    Open,
    /// Answer: texts, three of each variable: name, unit, role.
    Variables,
    /// Text: a signal. Answer: its index.
    Find,
    /// Indices. Answer: values.
    Get,
    /// Pairs of index and value.
    Set,
    /// Answer: the time [s].
    Time,
    /// A time [s]. Answer: the time reached.
    Advance,
    /// A time [s]. Answer: the time reached, 1 if an event ended it.
    AdvanceToEvent,
    /// Answer: kinds as texts, times as numbers.
    Events,
    /// Answer: number of the state.
    Save,
    /// Number of a state.
    Restore,
    /// Text: a scene whose bodies can be asked for contacts.
    Collider,
    /// Answer: names of its bodies.
    Bodies,
    /// a, 7 numbers of its pose, b, 7 numbers, margin [m], most points. Answer: found, depth, volume, area, centroid, then of each point
    /// p_a, p_b, normal_a, normal_b, depth, area, id in two halves.
    Pair,
}

impl Call {
    const ALL: [Call; 15] = [
        Call::Hello,
        Call::Open,
        Call::Variables,
        Call::Find,
        Call::Get,
        Call::Set,
        Call::Time,
        Call::Advance,
        Call::AdvanceToEvent,
        Call::Events,
        Call::Save,
        Call::Restore,
        Call::Collider,
        Call::Bodies,
        Call::Pair,
    ];
}

/// One connection's run, states and collider.
#[derive(Default)]
pub struct Guest {
    session: Option<Session>,
    saved: Vec<Saved>,
    collider: Option<Collider>,
}

type Answer = Result<Message, String>;

fn numbers(numbers: Vec<f64>) -> Answer {
    Ok(Message { numbers, ..Message::default() })
}

fn whole(value: f64) -> Result<usize, String> {
    if value >= 0.0 && value.fract() == 0.0 && value < 1e9 {
        Ok(value as usize)
    } else {
        Err(format!("{value} is no index"))
    }
}

/// A pose of position x, y, z and orientation w, x, y, z.
pub fn pose(numbers: &[f64]) -> Result<Pose, String> {
    let [x, y, z, w, i, j, k] = *numbers else { return Err("a pose has seven numbers".to_owned()) };
    let (p, q) = (Vec3::new(x, y, z), Quat::from_xyzw(i, j, k, w));
    if !p.is_finite() || !q.is_finite() || (q.length() - 1.0).abs() > 1e-3 {
        return Err(format!("{numbers:?} is no pose: x, y, z, then a unit quaternion w, x, y, z"));
    }
    Ok(Pose::new(q.normalize(), p))
}

/// A scene by the name of a file or of the gallery, or as a text of more than one line.
pub fn scene(text: &str, sets: &[(String, String)]) -> Result<Scene, String> {
    let read = if text.contains('\n') { Scene::parse("scene.toml", text, sets) } else { Scene::load(text, sets) };
    read.map_err(|errors| errors.to_string())
}

impl Guest {
    fn session(&mut self) -> Result<&mut Session, String> {
        self.session.as_mut().ok_or_else(|| "no scene is open. help: call 1 opens one".to_owned())
    }

    /// The answer to a question.
    pub fn answer(&mut self, asked: &Message) -> Answer {
        let call = Call::ALL.get(usize::from(asked.word)).copied();
        let call =
            call.ok_or_else(|| format!("there is no call {}; the last is {}", asked.word, Call::ALL.len() - 1))?;
        let text =
            |k: usize| asked.texts.get(k).map(String::as_str).ok_or_else(|| format!("{call:?} needs {} texts", k + 1));
        let number =
            |k: usize| asked.numbers.get(k).copied().ok_or_else(|| format!("{call:?} needs {} numbers", k + 1));
        match call {
            Call::Hello => Ok(Message { texts: vec![env!("CARGO_PKG_VERSION").to_owned()], ..Message::default() }),
            Call::Open => {
                let sets = asked.texts.iter().skip(2).map(|own| {
                    let (name, value) =
                        own.split_once('=').ok_or_else(|| format!("\"{own}\": the form is NAME=VALUE"))?;
                    Ok((name.trim().to_owned(), value.trim().to_owned()))
                });
                let sets = sets.collect::<Result<Vec<_>, String>>()?;
                let clock = text(1).ok().filter(|own| !own.is_empty());
                self.session = Some(Session::open(&scene(text(0)?, &sets)?, clock)?);
                self.saved.clear();
                Ok(Message::default())
            }
            Call::Variables | Call::Find | Call::Get | Call::Set | Call::Events => self.values(call, asked),
            Call::Time => numbers(vec![self.session()?.time()]),
            Call::Advance => {
                let session = self.session()?;
                session.advance(number(0)?)?;
                numbers(vec![session.time()])
            }
            Call::AdvanceToEvent => {
                let session = self.session()?;
                let event = session.advance_to_event(number(0)?)?;
                numbers(vec![session.time(), f64::from(u8::from(event))])
            }
            Call::Save => {
                if self.saved.len() == MOST_SAVED {
                    return Err(format!("{MOST_SAVED} states are kept. help: open the scene again to forget them"));
                }
                let saved = self.session()?.save();
                self.saved.push(saved);
                numbers(vec![(self.saved.len() - 1) as f64])
            }
            Call::Restore => {
                let saved = self.saved.get(whole(number(0)?)?).ok_or("there is no state of this number")?;
                self.session.as_mut().ok_or("no scene is open")?.restore(saved)?;
                Ok(Message::default())
            }
            Call::Collider => {
                self.collider = Some(Collider::new(&scene(text(0)?, &[])?)?);
                Ok(Message::default())
            }
            Call::Bodies => {
                let own = self.collider.as_ref().ok_or("no collider is open. help: call 12 opens one")?;
                Ok(Message { texts: own.names().to_vec(), ..Message::default() })
            }
            Call::Pair => self.pair(&asked.numbers),
        }
    }

    /// Questions about variables and events.
    fn values(&mut self, call: Call, asked: &Message) -> Answer {
        let session = self.session()?;
        match call {
            Call::Variables => {
                let all = session.variables();
                let texts = all.flat_map(|own| [own.name.clone(), own.unit.clone(), own.role.name().to_owned()]);
                Ok(Message { texts: texts.collect(), ..Message::default() })
            }
            Call::Find => {
                let name = asked.texts.first().ok_or("Find needs a text")?;
                numbers(vec![session.find(name)? as f64])
            }
            Call::Get => {
                let all = asked.numbers.iter().map(|k| session.get(whole(*k)?));
                numbers(all.collect::<Result<_, String>>()?)
            }
            Call::Set => {
                let pairs = asked.numbers.as_chunks::<2>().0;
                pairs.iter().try_for_each(|[k, value]| session.set(whole(*k)?, *value))?;
                Ok(Message::default())
            }
            _ => {
                let (times, kinds) = session.events().map(|(time, kind)| (time, kind.to_owned())).unzip();
                Ok(Message { word: 0, texts: kinds, numbers: times })
            }
        }
    }

    fn pair(&self, asked: &[f64]) -> Answer {
        let own = self.collider.as_ref().ok_or("no collider is open. help: call 12 opens one")?;
        let [a, b, margin, most] = match asked.len() {
            18 => [asked[0], asked[8], asked[16], asked[17]],
            count => return Err(format!("Pair needs 18 numbers, not {count}")),
        };
        let found = own.pair_within(whole(a)?, &pose(&asked[1..8])?, whole(b)?, &pose(&asked[9..16])?, margin)?;
        let mut all = vec![found.points.len() as f64, found.depth, found.volume, found.area];
        all.extend(found.centroid.to_array());
        for point in found.points.iter().take(whole(most)?) {
            for vector in [point.p_a, point.p_b, point.normal_a, point.normal_b] {
                all.extend(vector.to_array());
            }
            let id = [(point.id >> 32) as f64, f64::from(point.id as u32)];
            all.extend([point.depth, point.area, id[0], id[1]]);
        }
        numbers(all)
    }
}

/// A door that is open.
pub struct Door {
    listener: TcpListener,
    token: String,
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(one: &str, other: &str) -> bool {
    let bytes = one.bytes().zip(other.bytes());
    one.len() == other.len() && bytes.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Door {
    /// Listens at an address; one of another computer's must be asked for.
    pub fn open(address: SocketAddr, everywhere: bool, token: String) -> Result<Door, String> {
        if !address.ip().is_loopback() && !everywhere {
            return Err(format!(
                "{address} can be reached from other computers. help: 127.0.0.1 cannot; --public if that is what you want"
            ));
        }
        if token.is_empty() {
            return Err("a door needs a token".to_owned());
        }
        let listener = TcpListener::bind(address).map_err(|error| format!("{address}: {error}"))?;
        Ok(Door { listener, token })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr, String> {
        self.listener.local_addr().map_err(|error| error.to_string())
    }

    /// Answers whoever comes, each on a thread, until the process ends.
    pub fn serve(&self) -> Result<(), String> {
        let guests = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            // one who left before the door was opened is no reason to close it
            let Ok(stream) = stream else { continue };
            if guests.fetch_add(1, Ordering::Relaxed) >= MOST_GUESTS {
                guests.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (token, guests) = (self.token.clone(), guests.clone());
            std::thread::spawn(move || {
                // whoever hangs up in the middle of a message hears no more
                let _ = attend(stream, &token);
                guests.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Ok(())
    }
}

fn attend(mut stream: TcpStream, token: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    let first = Message::read(&mut stream, SHORT)?;
    let known = first.word == Call::Hello as u8 && first.texts.first().is_some_and(|own| same(own, token));
    if !known {
        let texts = vec!["the first message is call 0 with the token that `tippe serve` printed".to_owned()];
        return Message { word: 1, texts, ..Message::default() }.write(&mut stream);
    }
    stream.set_read_timeout(None)?;
    let mut guest = Guest::default();
    let mut asked = first;
    loop {
        let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guest.answer(&asked)));
        let reply = match answered {
            Ok(Ok(reply)) => reply,
            Ok(Err(text)) => Message { word: 1, texts: vec![text], ..Message::default() },
            Err(_) => {
                Message { word: 1, texts: vec!["the program failed; this is a bug".to_owned()], ..Message::default() }
            }
        };
        reply.write(&mut stream)?;
        asked = Message::read(&mut stream, LONGEST)?;
    }
}

/// The other side of a door: a program that asks.
pub struct Visitor {
    stream: TcpStream,
}

impl Visitor {
    /// Comes to a door with its token.
    pub fn new(address: &str, token: &str) -> Result<Visitor, String> {
        let stream = TcpStream::connect(address).map_err(|error| format!("{address}: {error}"))?;
        stream.set_nodelay(true).map_err(|error| format!("{address}: {error}"))?;
        let mut visitor = Visitor { stream };
        visitor.ask(Call::Hello, &[token], &[])?;
        Ok(visitor)
    }

    /// Asks.
    pub fn ask(&mut self, call: Call, texts: &[&str], numbers: &[f64]) -> Result<Message, String> {
        let texts = texts.iter().map(|own| (*own).to_owned()).collect();
        let asked = Message { word: call as u8, texts, numbers: numbers.to_vec() };
        let replied = asked.write(&mut self.stream).and_then(|()| Message::read(&mut self.stream, LONGEST));
        let reply = replied.map_err(|error| format!("{call:?}: {error}"))?;
        match reply.word {
            0 => Ok(reply),
            _ => Err(reply.texts.into_iter().next().unwrap_or_default()),
        }
    }
}
