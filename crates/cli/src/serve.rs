//! `tippe serve`: the calls of the C interface for programs that link nothing.

use crate::{Stop, print, say};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tippe_doors::serve::Door;

/// Arguments of `tippe serve`.
#[derive(clap::Args)]
pub struct Args {
    /// Port; by default one that is free
    #[arg(long, value_name = "PORT", default_value = "0")]
    port: u16,
    /// Address to listen at
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Let other computers in, too
    #[arg(long)]
    public: bool,
    /// What programs have to say first; by default a new one
    #[arg(long, value_name = "TEXT")]
    token: Option<String>,
}

/// A token nobody guesses: 32 hexadecimal digits.
fn token() -> Result<String, Stop> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| Stop::Resource(format!("no random numbers: {error}")))?;
    Ok(random.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Runs the command.
pub fn serve(args: &Args) -> Result<(), Stop> {
    let token = args.token.clone().map_or_else(token, Ok)?;
    let door = Door::open(SocketAddr::new(args.address, args.port), args.public, token.clone()).map_err(Stop::Usage)?;
    let address = door.address().map_err(Stop::Resource)?;
    print(&format!("{address} {token}"))?;
    say("listening; whoever names the token first is answered. Ctrl-C ends it.");
    door.serve().map_err(Stop::Resource)
}
