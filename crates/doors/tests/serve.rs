//! The door of `tippe serve`, from the other side.

use std::io::Write;
use std::net::TcpStream;
use tippe_doors::message::{LONGEST, Message};
use tippe_doors::serve::{Call, Door, Visitor};
use tippe_doors::session::Session;

fn open() -> String {
    let door = Door::open("127.0.0.1:0".parse().unwrap(), false, "sesame".to_owned()).unwrap();
    let address = door.address().unwrap().to_string();
    std::thread::spawn(move || door.serve());
    address
}

/// A run over the socket has the bits of one in the program, and comes back to saved states.
#[test]
fn a_run_over_the_door() {
    let address = open();
    let scene = tippe::scene::Scene::load("bouncing_ball", &[("e".to_owned(), "0.5".to_owned())]).unwrap();
    let mut own = Session::open(&scene, None).unwrap();
    let mut visitor = Visitor::new(&address, "sesame").unwrap();
    visitor.ask(Call::Open, &["bouncing_ball", "", "e = 0.5"], &[]).unwrap();
    let z = visitor.ask(Call::Find, &["ball.position.z"], &[]).unwrap().numbers;
    let variables = visitor.ask(Call::Variables, &[], &[]).unwrap().texts;
    assert!(variables.chunks(3).any(|own| own == ["ball.position.z", "m", "output"]), "{variables:?}");
    let reached = visitor.ask(Call::AdvanceToEvent, &[], &[2.0]).unwrap().numbers;
    assert!(own.advance_to_event(2.0).unwrap() && reached == [own.time(), 1.0]);
    let events = visitor.ask(Call::Events, &[], &[]).unwrap();
    assert!(events.texts.contains(&"contact_start".to_owned()), "{events:?}");
    let saved = visitor.ask(Call::Save, &[], &[]).unwrap().numbers;
    let ask = |visitor: &mut Visitor| {
        visitor.ask(Call::Advance, &[], &[1.5]).unwrap();
        visitor.ask(Call::Get, &[], &z).unwrap().numbers[0].to_bits()
    };
    let first = ask(&mut visitor);
    visitor.ask(Call::Restore, &[], &saved).unwrap();
    assert_eq!(ask(&mut visitor), first);
    own.advance(1.5).unwrap();
    let k = own.find("ball.position.z").unwrap();
    assert_eq!(own.get(k).unwrap().to_bits(), first);
    for (call, texts, numbers, wanted) in [
        (Call::Advance, &[][..], &[0.5][..], "time goes on from"),
        (Call::Get, &[], &[1e3], "there are"),
        (Call::Get, &[], &[-1.0], "is no index"),
        (Call::Restore, &[], &[7.0], "there is no state of this number"),
        (Call::Open, &["no_such_scene"], &[], "no_such_scene"),
        (Call::Bodies, &[], &[], "no collider is open"),
    ] {
        let error = visitor.ask(call, texts, numbers).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
}

/// A ball over a floor: the depth goes through zero.
#[test]
fn a_collider_over_the_door() {
    let mut visitor = Visitor::new(&open(), "sesame").unwrap();
    visitor.ask(Call::Collider, &["bouncing_ball"], &[]).unwrap();
    let bodies = visitor.ask(Call::Bodies, &[], &[]).unwrap().texts;
    let place = |name: &str| bodies.iter().position(|own| own == name).unwrap() as f64;
    let pair = |z: f64| {
        let mut asked = vec![place("floor"), 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        asked.extend([place("ball"), 0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0, 0.0, 8.0]);
        asked
    };
    for (z, depth) in [(0.3, -0.2), (0.1, 0.0), (0.09, 0.01)] {
        let found = visitor.ask(Call::Pair, &[], &pair(z)).unwrap().numbers;
        assert_eq!(found.len(), 7 + 16);
        assert!((found[1] - depth).abs() < 1e-15, "{found:?}");
    }
}

/// Who does not name the token hears why and no more; garbage and other computers' addresses are sent away.
#[test]
fn strangers_are_sent_away() {
    let address = open();
    assert!(Visitor::new(&address, "sesam").err().unwrap().contains("call 0 with the token"));
    let mut stream = TcpStream::connect(&address).unwrap();
    Message { word: Call::Open as u8, texts: vec!["bouncing_ball".to_owned()], ..Message::default() }
        .write(&mut stream)
        .unwrap();
    assert_eq!(Message::read(&mut stream, LONGEST).unwrap().word, 1);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(&[0xff; 100]).unwrap();
    assert!(Message::read(&mut stream, LONGEST).is_err());
    let refused = Door::open("0.0.0.0:0".parse().unwrap(), false, "a".to_owned()).err().unwrap();
    assert!(refused.contains("can be reached from other computers"), "{refused}");
    assert!(Visitor::new(&address, "sesame").is_ok());
}
