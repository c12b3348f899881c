//! Numbers from outside for a run in real time: datagrams on loopback, or a recording.

use crate::Stop;
use std::net::UdpSocket;
use tippe::Model;
use tippe::realtime::{Hook, View};

/// Datagrams longer than this are cut [bytes].
const LONGEST: usize = 4096;

/// Listens on a port of this machine for lines `NAME VALUE`.
pub struct Datagrams {
    socket: UdpSocket,
    names: Vec<String>,
    /// Lines nobody understood.
    pub wrong: u64,
}

impl Datagrams {
    /// Opens the port; 0 takes a free one.
    pub fn listen(port: u16, model: &Model) -> Result<Datagrams, Stop> {
        let names: Vec<String> = model.signal_inputs().map(|(input, _)| input.name.clone()).collect();
        if names.is_empty() {
            let text =
                "--udp: the scene has no inputs. help: add [[signal]] kind = \"input\" and use its name in an equation";
            return Err(Stop::Usage(text.to_owned()));
        }
        let open = || {
            let socket = UdpSocket::bind(("127.0.0.1", port))?;
            socket.set_nonblocking(true)?;
            Ok::<_, std::io::Error>(socket)
        };
        let socket = open().map_err(|error| {
            Stop::Usage(format!(
                "--udp {port}: cannot listen there: {error}. help: choose another port, or 0 for a free one"
            ))
        })?;
        Ok(Datagrams { socket, names, wrong: 0 })
    }

    /// Port it listens on.
    pub fn port(&self) -> u16 {
        self.socket.local_addr().map_or(0, |address| address.port())
    }
}

impl Hook for Datagrams {
    fn inputs(&mut self, _: &View<'_>, inputs: &mut [f64]) {
        let mut room = [0; LONGEST];
        while let Ok(size) = self.socket.recv(&mut room) {
            for line in String::from_utf8_lossy(&room[..size]).lines() {
                let mut words = line.split_whitespace();
                let (name, value) = (words.next(), words.next().and_then(|word| word.parse::<f64>().ok()));
                let input = self.names.iter().position(|own| Some(own.as_str()) == name);
                match (input, value) {
                    (Some(k), Some(value)) if value.is_finite() => inputs[k] = value,
                    _ => self.wrong += 1,
                }
            }
        }
    }
}
