//! Descriptions of units, ours and ill ones, as `tippe_units` reads them.

use tippe_doors::description::description;
use tippe_doors::plan::{Package, Wishes};
use tippe_units::description::Foreign;

fn own(three: bool) -> String {
    let text = tippe::scene::gallery().iter().find(|(name, _)| *name == "slider_crank").unwrap().1;
    let wishes = Wishes { three, ..Wishes::default() };
    description(&Package::new("slider_crank", "slider_crank.toml", text, &wishes).unwrap().0)
}

#[test]
fn our_own_descriptions_are_read() {
    for three in [false, true] {
        let read = Foreign::read(&own(three)).unwrap();
        assert_eq!(read.states.len(), 6);
        assert_eq!(read.indicators, 6);
        assert!(read.exchange.is_some() && read.co_simulation.is_some() && read.can_save == [true; 2]);
        let state = &read.variables[read.states[0]];
        assert!(state.name.starts_with("state("), "{}", state.name);
    }
}

/// Ten thousand descriptions with bytes changed or cut: read or refused by name, never a panic.
#[test]
fn malformed_descriptions_are_named_errors() {
    let good = own(false).into_bytes();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut refused = 0;
    for _ in 0..10_000 {
        let mut bad = good.clone();
        if next(4) == 0 {
            bad.truncate(next(good.len()));
        } else {
            (0..1 + next(4)).for_each(|_| bad[next(good.len())] = next(128) as u8);
        }
        if let Err(error) = Foreign::read(&String::from_utf8_lossy(&bad)) {
            refused += 1;
            assert!(!error.is_empty());
        }
    }
    assert!(refused > 4_000, "{refused} of 10000 were refused");
}
