//! What it costs a simulation to be looked at: many free spheres in the realtime clock, alone and with a page that takes every row it can get.
//!
//!     cargo run --release -p tippe-viewer --example stream -- 100000 40

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use tippe::clock::{self, Settings};
use tippe::run::Subjects;
use tippe::scene::{Clock, Scene};
use tippe::{Model, Observe};
use tippe_viewer::describe::Description;
use tippe_viewer::{Live, Viewer};

type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// A page that draws nothing: it asks for the next row as soon as it has one. Counts rows and bytes until it is told to end.
fn page(url: &str, ended: &AtomicBool, rows: &AtomicUsize, bytes: &AtomicUsize) -> Result<(), Trouble> {
    let rest = url.strip_prefix("http://").ok_or("an address")?;
    let (host, path) = rest.split_once('/').ok_or("an address")?;
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "GET /{path}live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGlwcGUgdGlwcGUgdGlwcA==\r\n\r\n"
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let ready = b"{\"type\":\"ready\"}";
    let mut body = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        // A frame: kind, length in 7 bits or in the next 2 or 8 bytes, payload.
        let mut start = [0; 2];
        stream.read_exact(&mut start)?;
        let length = match start[1] & 127 {
            126 => {
                let mut more = [0; 2];
                stream.read_exact(&mut more)?;
                usize::from(u16::from_be_bytes(more))
            }
            127 => {
                let mut more = [0; 8];
                stream.read_exact(&mut more)?;
                usize::try_from(u64::from_be_bytes(more))?
            }
            short => usize::from(short),
        };
        body.resize(length, 0);
        stream.read_exact(&mut body)?;
        if start[0] & 15 == 2 {
            rows.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(length, Ordering::Relaxed);
            // A client masks what it sends; zeros change nothing.
            stream.write_all(&[0x81, 0x80 | ready.len() as u8, 0, 0, 0, 0])?;
            stream.write_all(ready)?;
        }
    }
    Ok(())
}

/// Seconds that a run takes.
fn run(scene: &Scene, model: &Model, steps: usize, observe: &mut dyn Observe) -> Result<f64, Trouble> {
    let mut settings = Settings::from_scene(scene, Clock::Realtime);
    settings.set_threads(1);
    settings.set_output_interval(1.0 / 60.0);
    let began = Instant::now();
    clock::simulate(model, &mut settings.start(model), steps as f64 / 60.0, &settings, observe)?;
    Ok(began.elapsed().as_secs_f64())
}

fn main() -> Result<(), Trouble> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let n = numbers.next().transpose()?.unwrap_or(100_000);
    let steps = numbers.next().transpose()?.unwrap_or(40);
    let text = format!(
        "format = 1\n[world]\ngravity = [0, 0, -0.1]\n[run]\nclock = \"realtime\"\nuntil = 1\n[[body]]\nname = \"ball_{{k}}\"\nrepeat = [{{ index = \"k\", from = 0, to = {} }}]\nmaterial = \"steel\"\nshape = {{ kind = \"sphere\", radius = 0.04 }}\nposition = [\"0.1*mod(k, 50)\", \"0.1*mod(floor(k/50), 50)\", \"0.1*floor(k/2500)\"]\n",
        n.max(1) - 1
    );
    let scene = Scene::parse("stream.toml", &text, &[])?;
    let model = Model::compile_for(&scene, Clock::Realtime)?;
    println!("{n} spheres, {steps} steps of 1/60 s on one thread");
    let viewer = Viewer::start(None)?;
    let [mut alone, mut watched] = [f64::INFINITY; 2];
    let (rows, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for _ in 0..3 {
        alone = alone.min(run(&scene, &model, steps, &mut ())?);
        let description = Description::new("stream", &scene, &model, Clock::Realtime, serde_json::Value::Null);
        let live = Live::new(description, 0.0, 1.0);
        viewer.show_live(live.clone());
        let ended = AtomicBool::new(false);
        let took = std::thread::scope(|scope| {
            scope.spawn(|| page(viewer.url(), &ended, &rows, &bytes));
            std::thread::sleep(std::time::Duration::from_millis(300));
            let took = run(&scene, &model, steps, &mut live.observer(Subjects::of(&model)));
            ended.store(true, Ordering::Relaxed);
            // Word of another stage wakes the page.
            viewer.show_trouble("the run is over");
            took
        })?;
        watched = watched.min(took);
    }
    let (rows, bytes) = (rows.into_inner(), bytes.into_inner());
    println!("alone    {:.1} ms a step", 1e3 * alone / steps as f64);
    println!(
        "watched  {:.1} ms a step, {rows} rows of {:.1} MB sent",
        1e3 * watched / steps as f64,
        1e-6 * bytes as f64 / rows.max(1) as f64
    );
    println!("slowdown {:.1} % (least of three runs each)", 100.0 * (watched / alone - 1.0));
    Ok(())
}
