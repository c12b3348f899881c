use super::*;

fn value(text: &str) -> f64 {
    quantity(text).unwrap_or_else(|e| panic!("{text}: {e}")).value
}

fn quantity(text: &str) -> Result<Quantity, EquationError> {
    let mut scope = Scope::default();
    scope.push("n", Quantity::bare(10.0));
    scope.push("r", Quantity { value: 0.03, kind: Kind::Dim(Dimension::LENGTH) });
    scope.push("h", Quantity { value: 2.0, kind: Kind::Dim(Dimension::LENGTH) });
    Tree::parse(text)?.evaluate(&scope)
}

fn message(text: &str) -> String {
    match quantity(text) {
        Ok(quantity) => panic!("{text} gave {quantity:?}"),
        Err(error) => format!("{}: {} | {}", error.offset, error.message, error.help),
    }
}

#[test]
fn arithmetic_follows_the_usual_rules() {
    assert_eq!(value("1 + 2*3"), 7.0);
    assert_eq!(value("10 - 4 - 3"), 3.0);
    assert_eq!(value("-2^2"), -4.0);
    assert_eq!(value("2^-1"), 0.5);
    assert_eq!(value("2^3^2"), 512.0);
    assert_eq!(value("2^-60"), 2f64.powi(-60));
    assert_eq!(value("4^-40.5"), 2f64.powi(-81));
    assert_eq!(value("(1 + 2)*3/4"), 2.25);
    assert_eq!(value("2*-3"), -6.0);
    assert_eq!(value("+n"), 10.0);
    assert_eq!(value("1e3 + .5 + 2."), 1002.5);
    assert_eq!(value("if(n > 5 and not (n == 7), 1, 2)"), 1.0);
    assert_eq!(value("if(n >= 11 || n != 10, 1, 2)"), 2.0);
    assert_eq!(value("min(3, 1, 2) + max(1, 2)"), 3.0);
    assert_eq!(value("mod(-1, 3)"), 2.0);
    assert_eq!(value("floor(2.7) + ceil(2.2) + abs(-1) + sign(-3)"), 5.0);
    assert!((value("sin(30 deg) + cos(pi/3) + atan2(1, 1)*4/pi") - 2.0).abs() < 1e-15);
    assert!((value("sqrt(2)*2^0.5 + log(exp(1)) + hypot(3, 4) + tanh(0)") - 8.0).abs() < 1e-14);
}

#[test]
fn units_are_correctly_rounded() {
    for (text, si) in [
        ("30 mm", 0.03),
        ("72 km/h", 20.0),
        ("7 um", 7e-6),
        ("5 MPa", 5e6),
        ("1.5 bar", 1.5e5),
        ("9.81 m/s^2", 9.81),
        ("250 g", 0.25),
        ("180 deg", std::f64::consts::PI),
        ("3 min", 180.0),
        ("2 N m", 2.0),
        ("7850 kg/m^3", 7850.0),
        ("1 g/cm^3", 1000.0),
        ("4 N s/m", 4.0),
        ("1 m s^-1", 1.0),
    ] {
        if text.contains("/h") {
            let free = Tree::parse(text).and_then(|tree| tree.evaluate(&Scope::default()));
            assert_eq!(free.map(|q| q.value), Ok(si));
        } else {
            assert_eq!(value(text), si, "{text}");
        }
    }
    assert!((value("60 rpm") - 2.0 * std::f64::consts::PI).abs() < 1e-14);
    assert_eq!(value("2*r + 1 mm"), 0.061);
    assert_eq!(quantity("5 N/(2 mm)^2").map(|q| q.kind), Ok(Kind::Dim(Dimension::PRESSURE)));
    assert_eq!(quantity("sqrt(2*9.81 m/s^2 * 1 m)").map(|q| q.kind), Ok(Kind::Dim(Dimension::SPEED)));
    assert_eq!(quantity("r/(3 mm)").map(|q| q.kind), Ok(Kind::Bare));
    assert_eq!(Dimension::FORCE.power(0.5).map(|d| d.to_string()), Some("kg^0.5 m^0.5/s".into()));
}

#[test]
fn errors_say_what_and_where() {
    assert_eq!(message("1 mm + 2 s"), "5: units do not match: [m] and [s] | ");
    assert_eq!(message("r + n*1 kg"), "2: units do not match: [m] and [kg] | ");
    assert_eq!(message("sin(r)"), "0: this function needs a number without unit or an angle, not [m] | ");
    assert_eq!(message("2 r"), "2: unknown unit `r` | to multiply write `2*r`");
    assert_eq!(message("2 mmm"), "2: unknown unit `mmm` | did you mean `mm`? To multiply write `2*mmm`");
    assert_eq!(message("nn + 1"), "0: unknown name `nn` | did you mean `n`?");
    assert_eq!(message("sinn(1)"), "0: unknown function `sinn` | did you mean `sin`?");
    assert_eq!(message("sin(1, 2)"), "0: `sin` takes 1 argument, not 2 | ");
    assert_eq!(message("1/(n - 10)"), "1: division by zero | ");
    assert_eq!(message("sqrt(-n)"), "0: square root of -10 | ");
    assert_eq!(message("log(0)"), "0: logarithm of 0 | ");
    assert_eq!(message("1e300*1e300"), "5: the result is inf, not a finite number | ");
    assert_eq!(message("1e999"), "0: 1e999 is too large for a number | ");
    assert_eq!(message("(1 + 2"), "6: `)` is missing | the bracket was opened at character 1");
    assert_eq!(message("1 + 2)"), "5: `)` without `(` | ");
    assert_eq!(message("1 +"), "3: the expression ends too early | ");
    assert_eq!(message(""), "0: the expression ends too early | ");
    assert_eq!(message("n n"), "2: an operator is missing here | multiply with `*`");
    assert_eq!(message("n ** 2"), "2: `**` is not an operator | powers are written `x^2`");
    assert_eq!(message("n = 2"), "2: `=` is not an operator | to compare write `==`");
    assert_eq!(message("1 < 2 < 3"), "6: comparisons do not chain | write `a < b and b < c`");
    assert_eq!(message("1 + (n > 2)"), "2: a condition is not a number; use `if(condition, a, b)` | ");
    assert_eq!(message("if(n, 1, 2)"), "0: the first argument of `if` is a condition, such as `x > 0` | ");
    assert_eq!(message("2^(1 m)"), "1: an exponent has no unit, this one has [m] | ");
    assert!(message("1 m/h").starts_with("4: `h` is both a unit and a name here"));
    assert_eq!(message("n # 2"), "2: unexpected character '#' | ");
}

#[test]
fn deep_and_long_texts_are_harmless() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(message(&deep).contains("nested deeper"));
    assert!(message(&"-".repeat(100_000)).contains("nested deeper"));
    assert!(message(&"2^".repeat(100_000)).contains("nested deeper"));
    assert!(message(&"sin(".repeat(100_000)).contains("nested deeper"));
    assert_eq!(value(&vec!["1"; 100_000].join("+")), 100_000.0);
    let long = (0..40_000).map(|k| format!("sin(x + {k})")).collect::<Vec<_>>().join("+");
    let inputs = [Input { name: "x", kind: Kind::Bare }];
    let error = Program::compile(&inputs, &Scope::default(), &[("y", &long)], 0).expect_err("too long");
    assert_eq!(error.error.message, "the equations are too long");
}

const LAW_INPUTS: [Input<'_>; 5] = [
    Input { name: "depth", kind: Kind::Dim(Dimension::LENGTH) },
    Input { name: "closing_speed", kind: Kind::Dim(Dimension::SPEED) },
    Input { name: "slip_speed", kind: Kind::Dim(Dimension::SPEED) },
    Input { name: "modulus", kind: Kind::Dim(Dimension::PRESSURE) },
    Input { name: "radius", kind: Kind::Dim(Dimension::LENGTH) },
];

/// Hertz with damping, and a regularised friction force.
fn hertz() -> Program {
    let equations = [
        ("K", "4/3*modulus*sqrt(radius)"),
        ("normal", "max(0, K*depth^1.5*(1 + 0.3*closing_speed))"),
        ("tangential", "-0.4*normal*slip_speed/sqrt(slip_speed^2 + 0.01^2)"),
    ];
    Program::compile(&LAW_INPUTS, &Scope::default(), &equations, 1).expect("compiles")
}

#[test]
fn programs_agree_with_rust() {
    let program = hertz();
    assert!(program.len() <= 18, "{} instructions", program.len());
    let (mut registers, mut out) = (program.registers(), [0.0; 2]);
    for k in 0..100 {
        let x = f64::from(k);
        let (depth, closing, slip, modulus, radius): (f64, f64, f64, f64, f64) =
            (1e-6 * x, 0.1 * x - 5.0, 0.01 * x, 1e9, 0.03);
        program.eval(&[depth, closing, slip, modulus, radius], &mut registers, &mut out);
        let normal = (4.0 / 3.0 * modulus * radius.sqrt() * (depth * depth.sqrt()) * (1.0 + 0.3 * closing)).max(0.0);
        let tangential = -0.4 * normal * slip / (slip * slip + 1e-4).sqrt();
        assert!((out[0] - normal).abs() <= 1e-14 * normal.abs());
        assert!((out[1] - tangential).abs() <= 1e-14 * tangential.abs());
    }
}

#[test]
fn law_units_are_checked_where_given() {
    let compile = |text: &str| Program::compile(&LAW_INPUTS, &Scope::default(), &[("normal", text)], 0);
    let kind = |text: &str| compile(text).map(|p| p.output_kinds()[0]);
    assert_eq!(kind("modulus*sqrt(radius)*depth^1.5"), Ok(Kind::Dim(Dimension::FORCE)));
    assert_eq!(kind("1e5*depth + 10*closing_speed"), Ok(Kind::Bare));
    assert_eq!(kind("modulus*depth"), Ok(Kind::Dim(Dimension::new(0, 1, -2))));
    assert_eq!(kind("5 N/mm*depth + 2 N s/m*closing_speed"), Ok(Kind::Dim(Dimension::FORCE)));
    assert_eq!(kind("5 N/mm*depth + 2 N/m*closing_speed").map_err(|e| e.error.offset), Err(13));
}

#[test]
fn derivatives_agree_with_differences() {
    let texts = [
        "x*y - x/y + z",
        "-x^3 + y^2.5 + z^-2 + x^0.5 + y^y",
        "sin(x) + cos(y)*tan(z)",
        "asin(x/4) + acos(y/4) + atan(z) + atan2(x, y)",
        "exp(x)*log(y) + tanh(z) + hypot(x, z)",
        "abs(x - 3) + min(x, y, z) + max(x, y) + mod(z, x)",
        "if(x < y, x^2*z, y) + sign(x) + floor(y) + ceil(z)",
        "x*sqrt(x) + sqrt(y*z)",
        "pi",
    ];
    let inputs = ["x", "y", "z"].map(|name| Input { name, kind: Kind::Bare });
    for text in texts {
        let program = Program::compile(&inputs, &Scope::default(), &[("f", text)], 0).expect(text);
        let mut registers = program.registers();
        let mut f = |x: &[f64; 3]| {
            let mut out = [0.0];
            program.eval(x, &mut registers, &mut out);
            out[0]
        };
        for x in [[0.7, 1.3, 2.2], [1.9, 0.4, 0.8], [2.3, 3.1, 5.2]] {
            let (mut out, mut gradient) = ([0.0], [[0.0; 3]]);
            program.eval_with_derivative(&x, [0, 1, 2], &mut program.registers(), &mut out, &mut gradient);
            let [gradient] = gradient;
            assert_eq!(out[0], f(&x), "{text}");
            for j in 0..3 {
                let step = 1e-5;
                let (mut up, mut down) = (x, x);
                up[j] += step;
                down[j] -= step;
                let difference = (f(&up) - f(&down)) / (2.0 * step);
                let scale = 1.0 + gradient[j].abs();
                assert!((gradient[j] - difference).abs() < 1e-8 * scale, "{text} by {j}: {} {difference}", gradient[j]);
            }
        }
    }
}

#[test]
fn derivative_of_hertz_at_touch_is_zero_not_nan() {
    for text in ["depth^1.5", "depth*sqrt(depth)", "sqrt(depth)*depth*2", "depth^2.5", "max(0, depth)^1.5"] {
        let program = Program::compile(&LAW_INPUTS[..1], &Scope::default(), &[("f", text)], 0).expect(text);
        let (mut out, mut gradient) = ([1.0], [[1.0]]);
        program.eval_with_derivative(&[0.0], [0], &mut program.registers(), &mut out, &mut gradient);
        assert_eq!((out[0], gradient[0][0]), (0.0, 0.0), "{text}");
    }
}

#[test]
fn common_subexpressions_and_constants_are_computed_once() {
    let inputs = [Input { name: "x", kind: Kind::Bare }];
    let length = |text: &str| Program::compile(&inputs, &Scope::default(), &[("f", text)], 0).expect(text).len();
    assert_eq!(length("2*3 + 4"), 0);
    assert_eq!(length("x"), 0);
    assert_eq!(length("sin(x)*sin(x)"), 2);
    assert_eq!(length("(x + 1)*(1 + x)"), 2);
    assert_eq!(length("x^4"), 2);
    assert_eq!(length("x^1.5"), 1);
    assert_eq!(length("if(1 < 2, x, sin(x))"), 0);
}

/// `cargo test --release -p tippe speed_of_a_law -- --ignored --nocapture`
#[test]
#[ignore = "prints a time"]
fn speed_of_a_law() {
    let program = hertz();
    let (mut registers, mut out, mut gradient) = (program.registers(), [0.0; 2], [[0.0; 3]; 2]);
    let mut sum = 0.0;
    // The best of many short batches: the machine may have other things to do.
    let mut best = |derivatives: bool| {
        let mut best = f64::INFINITY;
        for _ in 0..500 {
            let (start, n) = (std::time::Instant::now(), 2000);
            for k in 0..n {
                let x = [1e-7 * f64::from(k), 0.1, 0.2, 1e9, 0.03];
                if derivatives {
                    program.eval_with_derivative(&x, [0, 1, 2], &mut registers, &mut out, &mut gradient);
                } else {
                    program.eval(&x, &mut registers, &mut out);
                }
                sum += out[0] + gradient[1][0];
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
        }
        1e9 * best
    };
    let (plain, derivatives) = (best(false), best(true));
    println!("{} instructions: {plain:.1} ns, with three derivatives {derivatives:.1} ns ({sum})", program.len());
}

#[test]
fn dotted_names_are_one_name() {
    let tree = Tree::parse("2*hinge.speed + left.motor.torque - hinge.speed/1.5e1").expect("reads");
    assert_eq!(tree.names(), ["hinge.speed", "left.motor.torque"]);
    assert_eq!(Tree::parse("3.5*x").expect("reads").names(), ["x"]);
    assert_eq!(Tree::parse("3.*x.y").expect("reads").names(), ["x.y"]);
    assert!(Tree::parse("x.").is_err());
    assert!(Tree::parse("x..y").is_err());
    let inputs = [Input { name: "hinge.speed", kind: Kind::Bare }, Input { name: "hinge", kind: Kind::Bare }];
    let program = Program::compile(&inputs, &Scope::default(), &[("out", "hinge.speed + 10*hinge")], 0).expect("right");
    let (mut registers, mut out) = (program.registers(), [0.0]);
    program.eval(&[1.0, 2.0], &mut registers, &mut out);
    assert_eq!(out, [21.0]);
}

#[test]
fn names_are_replaced_and_units_are_not() {
    let text = "k*(2 m) + min(k, m.k, 3)/k2 - 1 k^-1";
    assert!(Tree::parse(text).is_err());
    let text = "k*(2 m) + min(k, m, m.k)/k2 - 1e3";
    let other = |name: &str| match name {
        "k" => Some("(7.0)".to_string()),
        "m" => Some("left.m".to_string()),
        _ => None,
    };
    let changed = Tree::parse(text).expect("reads").with_names(text, other);
    assert_eq!(changed, "(7.0)*(2 m) + min((7.0), left.m, m.k)/k2 - 1e3");
}

#[test]
fn electric_units_are_known() {
    assert_eq!(quantity("12 V*(2 A)").map(|q| q.kind), Ok(Kind::Dim(Dimension::POWER)));
    assert_eq!(quantity("(12 V)/(4 ohm)").map(|q| (q.value, q.kind)), Ok((3.0, Kind::Dim(Dimension::CURRENT))));
    assert_eq!(quantity("2 mH*(1 A)/(1 s)").map(|q| (q.value, q.kind)), Ok((0.002, Kind::Dim(Dimension::VOLTAGE))));
    assert!(message("1 V + 1 A").contains("units do not match: [V] and [A]"), "{}", message("1 V + 1 A"));
}
