//! Soft ground against values that were computed apart from this program.

use super::*;

fn near(value: f64, truth: f64, within: f64) {
    assert!((value / truth - 1.0).abs() <= within, "{value} is not {truth}");
}

fn soil(name: &str) -> Soil {
    find(name).unwrap()
}

#[test]
fn plates() {
    let plate = Plate { width: 0.3, length: 3.0 };
    for (name, z) in [
        ("dry_sand", 0.052587308),
        ("lete_sand", 0.0031788669),
        ("sandy_loam_15", 0.009763393),
        ("sandy_loam_22", 2.1147766),
        ("upland_sandy_loam", 0.035933083),
        ("clay_38", 0.0066436875),
        ("heavy_clay_25", 1.0829191e-11),
        ("lean_clay_22", 4.3583206e-08),
        ("snow_us", 0.45530191),
        ("snow_sweden", 0.69534726),
    ] {
        near(soil(name).pressure.sinkage(60e3, &plate), z, 1e-7);
        near(soil(name).pressure.at(z, &plate), 60e3, 1e-7);
    }
    let plate = Plate { width: 0.5, length: 2.4 };
    for ([peat, mat], p10, p20, z) in
        [([290e3, 51e3], 31465.0, 67860.0, 0.095668658), ([762e3, 97e3], 80888.333, 171153.33, 0.038459994)]
    {
        let law = Pressure::Muskeg { peat, mat };
        near(law.at(0.1, &plate), p10, 1e-7);
        near(law.at(0.2, &plate), p20, 1e-7);
        near(law.sinkage(30e3, &plate), z, 1e-7);
    }
    let law = Pressure::Snow { depth: 0.22, pressure: 6e3 };
    for (p, z) in [(2e3, 0.062363112), (5e3, 0.12438839), (10e3, 0.17844737), (20e3, 0.21215172)] {
        near(law.sinkage(p, &plate), z, 1e-7);
    }
    near(law.at(0.15, &plate), 6870.7938, 1e-8);
    let law = Unloading { k0: 1e6, growth: 1e7 };
    assert_eq!(law.at(0.05, [0.05, 60e3]), 60e3);
    near(law.at(0.04, [0.05, 60e3]), 45e3, 1e-12);
    assert_eq!(law.at(0.0, [0.05, 60e3]), 0.0);
}

#[test]
fn shear_laws() {
    let table: [(Shear, &[(f64, f64)]); 3] = [
        (Shear::Exponential(0.025), &[(0.01, 0.32967995), (0.025, 0.63212056), (0.05, 0.86466472), (0.1, 0.98168436)]),
        (
            Shear::Residual { share: 0.66, peak: 0.045 },
            &[
                (0.01, 0.53139391),
                (0.03, 0.94724167),
                (0.045, 1.0),
                (0.08, 0.90044048),
                (0.15, 0.72267159),
                (0.4, 0.66025457),
            ],
        ),
        (
            Shear::Hump(0.14),
            &[(0.02, 0.33663121), (0.07, 0.82436064), (0.14, 1.0), (0.28, 0.73575888), (0.5, 0.27295102)],
        ),
    ];
    for (law, rows) in table {
        for (j, share) in rows {
            near(law.at(*j), *share, 2e-8);
        }
    }
}

#[test]
fn wheels_by_the_parabola() {
    for (name, z, resistance) in [
        ("dry_sand", 0.053436695, 388.64506),
        ("lete_sand", 0.0084812607, 156.16768),
        ("sandy_loam_15", 0.017130146, 224.54843),
        ("upland_sandy_loam", 0.040599188, 338.75993),
        ("clay_38", 0.014408622, 214.72678),
    ] {
        let own = parabolic_sinkage(&soil(name), [0.25, 0.8, 2000.0]).unwrap();
        near(own, z, 1e-7);
        near(compaction(&soil(name), 0.25, own).unwrap(), resistance, 1e-7);
    }
    let tyre = Pneumatic { width: 0.3, diameter: 1.1, pressure: 150e3 };
    let loam = soil("sandy_loam_15");
    near(tyre.critical(&loam, 12e3).unwrap(), 207509.39, 1e-7);
    let [z, flat] = tyre.sinkage(&loam, 12e3).unwrap();
    near(z, 0.036148185, 1e-7);
    near(flat, 0.26666667, 1e-7);
    near(compaction(&loam, 0.3, z).unwrap(), 956.86372, 1e-7);
}

#[test]
fn driven_wheels() {
    for (name, peak, rows) in [
        (
            "dry_sand",
            [0.18, 0.32],
            [
                (0.1, [30.868104, 6.5440381, 0.056659738, 576.68212, 428.58802, 148.0941, 236.64537, 61869.419]),
                (0.2, [30.993998, 7.5625355, 0.057111501, 720.06183, 431.54956, 288.51226, 295.94531, 61339.142]),
                (0.4, [31.446079, 9.6853922, 0.058747395, 854.61346, 446.09983, 408.51362, 352.77185, 60601.976]),
            ],
        ),
        (
            "lete_sand",
            [0.43, 0.32],
            [
                (0.1, [13.572261, 6.2703846, 0.011170109, 429.97508, 228.486, 201.48908, 173.00887, 135459.16]),
                (0.2, [13.712376, 6.7739137, 0.011400824, 649.39298, 231.73269, 417.66029, 261.44142, 133399.66]),
                (0.4, [14.098555, 7.8669934, 0.012048736, 878.13437, 242.06279, 636.07158, 354.00045, 129412.12]),
            ],
        ),
        (
            "sandy_loam_15",
            [0.4, 0.2],
            [
                (0.1, [19.049502, 8.0007907, 0.021905223, 326.82805, 316.03673, 10.791324, 132.1994, 92323.687]),
                (0.2, [19.106936, 8.4070518, 0.022036282, 495.43499, 316.08589, 179.3491, 200.49333, 91339.526]),
                (0.4, [19.300269, 9.2641292, 0.022480241, 705.47588, 319.60834, 385.86755, 285.86921, 89620.036]),
            ],
        ),
        (
            "clay_38",
            [0.4, 0.2],
            [
                (0.1, [17.400801, 7.3083363, 0.01830554, 289.4136, 292.03334, -2.619735, 116.89482, 91402.363]),
                (0.2, [17.457965, 7.6815044, 0.018425077, 393.02676, 292.89518, 100.13158, 158.86866, 90731.25]),
                (0.4, [17.652653, 8.4732734, 0.018835041, 481.22017, 298.0332, 183.18697, 194.82072, 89602.866]),
            ],
        ),
        (
            "upland_sandy_loam",
            [0.4, 0.2],
            [
                (0.1, [28.941932, 12.155612, 0.049955761, 580.11189, 458.85331, 121.25858, 238.44457, 70827.406]),
                (0.2, [29.008733, 12.763843, 0.05018168, 767.47223, 455.40905, 312.06319, 315.76839, 69516.528]),
                (0.4, [29.318259, 14.072764, 0.051234692, 980.18384, 457.62098, 522.56287, 404.56428, 67493.555]),
            ],
        ),
    ] {
        let wheel = RigidWheel { radius: 0.4, width: 0.25, peak, leaves: 0.0 };
        for (i, truth) in rows {
            check(wheel.carrying(&soil(name), 2000.0, i).unwrap(), truth);
        }
    }
    let cohesion = 690.0;
    let reece = Soil {
        pressure: Pressure::Reece { cohesive: cohesion * 20.0, frictional: 15600.0 * 40.0, n: 0.47 },
        shear: Shear::Exponential(0.038),
        cohesion,
        friction: 33.3_f64.to_radians(),
    };
    let plate = Plate { width: 0.15, length: 1.0 };
    near(reece.pressure.at(0.02, &plate), 41660.597, 1e-7);
    near(reece.pressure.at(0.05, &plate), 64085.133, 1e-7);
    let wheel = RigidWheel { radius: 0.3, width: 0.15, peak: [0.43, 0.32], leaves: 0.0 };
    for (i, truth) in [
        (0.1, [39.591053, 18.291067, 0.06881617, 400.66513, 489.98039, -89.315253, 126.88518, 66247.804]),
        (0.3, [39.903546, 20.989265, 0.069862364, 555.08025, 486.99871, 68.081535, 176.43203, 64059.001]),
    ] {
        check(wheel.carrying(&reece, 1500.0, i).unwrap(), truth);
    }
    // summed apart from this program: peat under a mat that tears, and snow that is nearly all pressed
    let peat = Soil {
        pressure: Pressure::Muskeg { peat: 290e3, mat: 51e3 },
        shear: Shear::Hump(0.031),
        cohesion: 2800.0,
        friction: 39.4_f64.to_radians(),
    };
    let on_peat = RigidWheel { radius: 0.4, width: 0.25, peak: [0.4, 0.2], leaves: 0.0 };
    let own = on_peat.carrying(&peat, 2000.0, 0.3).unwrap();
    near(own.sinkage, 0.14343, 1e-4);
    near(own.thrust, 798.558, 1e-4);
    near(own.torque, 371.122, 1e-4);
    // a wheel that the ground does not carry
    assert_eq!(wheel.carrying(&reece, 1e9, 0.1), None);
}

fn check(own: Rolling, truth: [f64; 8]) {
    let Rolling { enters, peak, sinkage, thrust, resistance, drawbar, torque, pressure, .. } = own;
    let own = [enters.to_degrees(), peak.to_degrees(), sinkage, thrust, resistance, drawbar, torque, pressure];
    for (k, (own, truth)) in own.into_iter().zip(truth).enumerate() {
        // a drawbar pull is the difference of two forces
        let size = if k == 5 { thrust } else { truth.abs() };
        assert!((own - truth).abs() <= 2e-6 * size, "{k}: {own} is not {truth}");
    }
}

#[test]
fn tracks() {
    let track = Track { weight: 117679.8, width: 0.5, length: 2.4 };
    for (name, rows) in [
        ("dry_sand", [(0.02, 36146.565), (0.05, 51623.299), (0.1, 58290.058), (0.2, 61678.529), (0.5, 63711.888)]),
        ("sandy_loam_15", [(0.02, 38530.609), (0.05, 55028.109), (0.1, 62134.574), (0.2, 65746.532), (0.5, 67914.0)]),
        ("clay_38", [(0.02, 29438.031), (0.05, 34012.498), (0.1, 35558.501), (0.2, 36331.512), (0.5, 36795.318)]),
    ] {
        for (i, thrust) in rows {
            near(track.thrust(&soil(name), i), thrust, 1e-7);
        }
    }
    for (name, z, resistance) in [
        ("sandy_loam_15", 0.0073658423, 212.45364),
        ("clay_38", 0.0046568425, 152.22675),
        ("upland_sandy_loam", 0.031119876, 726.62317),
    ] {
        near(track.sinkage(&soil(name)), z, 2e-6);
        near(track.resistance(&soil(name)), resistance, 1e-5);
    }
}

#[test]
fn a_second_wheel_in_a_rut() {
    let (sand, wheel) = (soil("dry_sand"), RigidWheel { radius: 0.4, width: 0.25, peak: [0.18, 0.32], leaves: 0.0 });
    let unloading = Unloading { k0: 0.0, growth: 5.03e8 };
    let plate = Plate { width: 0.25, length: f64::INFINITY };
    let first = wheel.carrying(&sand, 2000.0, 0.2).unwrap();
    let zu = first.sinkage;
    let pu = sand.pressure.again(zu, 0.0, &plate, &unloading);
    let begins = zu - pu / unloading.firm([zu, pu]);
    near(begins, 0.0548236, 1e-4);
    // the sinkage at which it carries 2000 N, summed apart from this program
    let enters = libm::acos(1.0 - (0.0703689 - begins) / 0.4);
    let own =
        wheel.meeting(&sand, &Meeting { slip: 0.2, enters, begins, pressed: zu, unloading, ..Meeting::default() });
    near(own.weight, 2000.0, 1e-3);
    near(own.thrust, 404.023, 1e-3);
    // Gauss's rule goes over the bend where the ground is fresh again
    near(own.resistance, 263.460, 2e-3);
    near(own.torque, 162.807, 1e-3);
    // coming up it carries less, and nothing before it leaves the ground
    let lifted = |lifted| Meeting { slip: 0.2, enters: first.enters, lifted, unloading, ..Meeting::default() };
    let carries = [0.0, 5e-4, 1e-3, 5e-3].map(|up| wheel.meeting(&sand, &lifted(up)).weight);
    assert!(carries.windows(2).all(|pair| pair[1] < pair[0]) && carries[3] == 0.0, "{carries:?}");
    // a wheel that drifts aside is held, and drives less
    let straight = wheel.meeting(&sand, &lifted(0.0));
    let aside = wheel.meeting(&sand, &Meeting { aside: 0.3, ..lifted(0.0) });
    assert!(aside.across > 0.0 && aside.thrust < straight.thrust && straight.across == 0.0);
}
