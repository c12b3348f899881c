//! Tyre models against tables of forces that were computed apart from this program, and against what must hold of all of them.

use super::*;

const PAC2002: &str = include_str!("tests/pac2002.tir");
const MF89: &str = "PROPERTY_FILE_FORMAT = 'PAC89'
A0 = 1.799\nA2 = 1688\nA3 = 4140\nA4 = 6.026\nA6 = -0.3589\nA7 = 1\nA9 = -0.006111\nA10 = -0.03224
B0 = 1.65\nB2 = 1688\nB4 = 229\nB8 = -10";
const FIALA: &str = "PROPERTY_FILE_FORMAT = 'FIALA'
CSLIP = 1e5\nCALPHA = 6e4\nUMAX = 1\nUMIN = 0.7\nWIDTH = 0.2\nCOUPLED = 0";
const COMPOSITE: &str = "PROPERTY_FILE_FORMAT = 'COMPOSITE'
TW = 7.3\nTP = 24\nFZT = 980\nC1 = 1\nC2 = 0.34\nC3 = 0.57\nC4 = 0.32\nA0 = 1068\nA1 = 11.3\nA2 = 2442.73\nKA = 0.05\nCSFZ = 17.91
MU0 = 0.85\nKMU = 0.2\nG1 = 1\nG2 = 1";
const LINEAR: &str = "PROPERTY_FILE_FORMAT = 'LINEAR'\nCSLIP = 1e5\nCALPHA = 6e4\nUMAX = 1\nTRAIL = 0.04";

fn tyre(text: &str) -> Tyre {
    read(text).unwrap().tyre
}

fn slip(kappa: f64, degrees: f64, lean: f64, load: f64) -> Slip {
    Slip { kappa, alpha: degrees.to_radians(), camber: lean.to_radians(), load, speed: 20.0, grip: 1.0 }
}

fn near(value: f64, truth: f64, within: f64) {
    assert!((value - truth).abs() <= within * truth.abs().max(1.0), "{value} is not {truth}");
}

#[test]
fn magic_formula_pure_slip() {
    let tyre = tyre(PAC2002);
    for (kappa, along) in [
        (-0.2, -4284.1287),
        (-0.1, -4187.2097),
        (-0.05, -3209.1044),
        (0.02, 1396.3443),
        (0.05, 3073.2266),
        (0.1, 4157.1292),
        (0.2, 4290.8292),
    ] {
        near(tyre.answer(&slip(kappa, 0.0, 0.0, 4000.0)).force[0], along, 1e-7);
        near(tyre.pure(&slip(kappa, 3.0, 0.0, 4000.0)).force[0], along, 1e-7);
    }
    for (degrees, across, aligning, trail) in [
        (-8.0, 3623.6112, -68.183954, 0.017446523),
        (-4.0, 2645.6442, -118.03372, 0.041649737),
        (-2.0, 1528.1973, -91.124345, 0.053175846),
        (-1.0, 795.26551, -55.105111, 0.055884171),
        (1.0, -782.46958, 32.700708, 0.055422035),
        (2.0, -1497.6138, 68.116726, 0.052071251),
        (4.0, -2580.5767, 91.256803, 0.038404177),
        (8.0, -3475.9356, 38.30629, 0.012449394),
    ] {
        let answer = tyre.pure(&slip(0.0, degrees, 0.0, 4000.0));
        near(answer.force[1], across, 1e-7);
        near(answer.aligning, aligning, 1e-6);
        near(answer.trail, trail, 1e-8);
    }
    let slopes = tyre.slopes(&slip(0.0, 0.0, 0.0, 4000.0));
    near(slopes.slip[0], 79469.993, 1e-7);
    near(slopes.slip[1], 45892.568, 1e-7);
}

#[test]
fn magic_formula_combined_slip() {
    let tyre = tyre(PAC2002);
    for (at, truth) in [
        ([0.05, 2.0, 0.0, 4000.0], [2713.7491, -1442.7034, 67.174505]),
        ([0.1, 4.0, 0.0, 4000.0], [3264.9435, -2228.3546, 50.8286]),
        ([-0.1, -4.0, 0.0, 3000.0], [-2532.2091, 1970.8506, -39.512963]),
        ([0.05, 2.0, 2.0, 5000.0], [3432.9436, -1707.894, 95.909727]),
    ] {
        let answer = tyre.answer(&slip(at[0], at[1], at[2], at[3]));
        near(answer.force[0], truth[0], 1e-6);
        near(answer.force[1], truth[1], 1e-6);
        near(answer.aligning, truth[2], 1e-6);
    }
}

#[test]
fn magic_formula_of_1989() {
    let tyre = tyre(MF89);
    for (percent, along) in
        [(2.0, 1945.6091), (5.0, 5362.8452), (10.0, 6437.4251), (20.0, 4646.6839), (50.0, 3820.7481)]
    {
        near(tyre.answer(&slip(percent / 100.0, 0.0, 0.0, 4000.0)).force[0], along, 1e-7);
    }
    for (degrees, across) in [(1.0, 3379.0427), (2.0, 5757.1132), (4.0, 6692.4247), (8.0, 5218.4264), (12.0, 4267.3807)]
    {
        near(tyre.answer(&slip(0.0, -degrees, 0.0, 4000.0)).force[1], across, 1e-7);
    }
}

#[test]
fn fiala_as_tables_have_it() {
    let tyre = tyre(FIALA);
    for (kappa, degrees, truth) in [
        (0.01, 0.0, [1000.0, 0.0, 0.0]),
        (0.05, 0.0, [3163.82, 0.0, 0.0]),
        (0.2, 0.0, [3583.28, 0.0, 0.0]),
        (0.0, 1.0, [0.0, -958.10612, 53.00842]),
        (0.0, 4.0, [0.0, -2875.6161, 74.315873]),
        (0.0, 8.0, [0.0, -3758.9443, 10.624036]),
        (0.0, 15.0, [0.0, -3678.461, 0.0]),
        (0.05, 4.0, [3137.5741, -2869.9826, 73.705923]),
    ] {
        let answer = tyre.answer(&slip(kappa, degrees, 0.0, 4000.0));
        near(answer.force[0], truth[0], 2e-8);
        near(answer.force[1], truth[1], 2e-8);
        near(answer.aligning, truth[2], 1e-7);
    }
}

#[test]
fn composite_slip_as_tables_have_it() {
    let Model::Composite(model) = tyre(COMPOSITE).model else { panic!("another model") };
    for (S, degrees, truth) in [
        (0.02, 0.0_f64, [1417.9238, 0.0]),
        (0.1, 0.0, [3323.4888, 0.0]),
        (0.0, 2.0, [0.0, 1136.921]),
        (0.0, 6.0, [0.0, 2744.2341]),
        (0.1, 4.0, [3127.9004, 1087.8775]),
        (0.3, 8.0, [3025.673, 799.3918]),
    ] {
        let force = model.published(S, degrees.to_radians(), 4000.0, 1.0);
        near(force[0], truth[0], 5e-8);
        near(force[1], truth[1], 5e-8);
    }
    let patch = model.patch(4000.0 / 4.448_221_615_260_5);
    near(patch.length * 0.3048, 0.10380186, 1e-8);
    near(patch.stiffness[0], 129138.39, 1e-7);
    near(patch.stiffness[1], 277727.43, 1e-7);
    near(model.saturation(1e-6) / 1e-6, 1.2732395, 1e-6);
    near(model.saturation(1e9), 1.0, 1e-8);
}

/// Slopes are those of the forces; forces stay below what is said to be the most, and there are none without load.
#[test]
fn slopes_and_ends_of_all_models() {
    for text in [PAC2002, MF89, FIALA, COMPOSITE, LINEAR] {
        let tyre = tyre(text);
        let at = |kappa: f64, degrees: f64| tyre.answer(&slip(kappa, degrees, 0.0, 4000.0)).force;
        let slopes = tyre.slopes(&slip(0.0, 0.0, 0.0, 4000.0));
        let small = 1e-6_f64;
        let along = (at(small, 0.0)[0] - at(-small, 0.0)[0]) / (2.0 * small);
        let across = (at(0.0, -small.to_degrees())[1] - at(0.0, small.to_degrees())[1]) / (2.0 * small);
        // horizontal shifts move the steepest place a little off zero
        near(along, slopes.slip[0], 0.05);
        near(across, slopes.slip[1], 0.05);
        for k in -40..=40 {
            for angle in [-30.0, -8.0, -2.0, 0.0, 2.0, 8.0, 30.0] {
                let force = at(f64::from(k) * 0.05, angle);
                for axis in 0..2 {
                    assert!(force[axis].abs() <= 1.05 * slopes.most[axis], "{text} {k} {angle} {force:?} {slopes:?}");
                }
            }
        }
        assert_eq!(tyre.answer(&slip(0.1, 3.0, 1.0, 0.0)), Answer::default());
        assert!(slopes.relaxation.iter().all(|length| *length > 0.0));
    }
}

#[test]
fn files_name_what_they_leave_out_and_what_nobody_knows() {
    let read_ =
        read("PROPERTY_FILE_FORMAT = 'FIALA'\nUNLOADED_RADIUS = 0.35 $ metres\nWIDHT = 0.2\nCSLIP = 8e4").unwrap();
    assert_eq!(read_.tyre.carcass.radius, 0.35);
    assert!(read_.notes[0].contains("CALPHA (taken as 60000)"), "{:?}", read_.notes);
    assert!(read_.notes[1].contains("WIDHT"), "{:?}", read_.notes);
    for (text, word) in [
        ("UNLOADED_RADIUS = 0.3", "PROPERTY_FILE_FORMAT"),
        ("PROPERTY_FILE_FORMAT = 'FTIRE'", "FTIRE"),
        ("PROPERTY_FILE_FORMAT = 'FIALA'\nCSLIP = soft", "CSLIP = soft"),
        ("PROPERTY_FILE_FORMAT = 'FIALA'\nUNLOADED_RADIUS = -1", "greater than zero"),
        ("PROPERTY_FILE_FORMAT = 'FIALA'\nLENGTH = 'mm'", "metres"),
        ("PROPERTY_FILE_FORMAT = 'FIALA'\nCSLIP =", "line 2"),
        ("PROPERTY_FILE_FORMAT = 'FIALA'\nCSLIP = 1e999", "finite"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(word), "{message}");
    }
}
