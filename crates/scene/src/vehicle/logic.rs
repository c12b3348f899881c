//! Signals of a vehicle: its driver's pedals and levers, what its instruments show, the steering, and a driver who follows a path.
//!
//! Wheel i at (x_i, y_i), y to the left, is steered about a centre at (x_0, W): delta_i = atan((x_i - x_0)/(W - y_i)), W = l/tan(alpha), l the
//! distance of the front axle from x_0; written delta_i = atan((x_i - x_0) tan(alpha)/(l - y_i tan(alpha))), which is whole at alpha = 0. As a car x_0 is
//! where no wheel turns; with all wheels, the middle between the first and the last axle; sideways delta_i = alpha; on the spot the centre is
//! in that middle, delta_i = -atan((x_i - x_0)/y_i).
//!
//! The driver aims at a point of the path that he reaches after his preview: with e its distance to the side of where the vehicle heads and d
//! its distance, kappa = 2 e/d^2 (pure pursuit: Coulter 1992), alpha = atan(l kappa) + K v^2 kappa. Where along the path he is, s, follows the
//! vehicle: s' = v . t + (p - p(s)) . t/tau. Pedals come from the speed that lacks, in proportion and integral.

use super::super::node::{Node, Value};
use super::super::reader::{Fields, Reader};
use super::chain::{Chain, RPM};
use super::{Laid, format};

/// tau [s].
const CATCHES_UP: f64 = 0.1;
/// Half the way over which a path's tangent is taken [m].
const AHEAD: f64 = 0.5;
/// Time in which the steering follows where its rate is not at its limit [s].
const STEERS: f64 = 0.02;

impl Laid {
    pub(super) fn lay_logic(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>, chain: &Chain) {
        let chassis = self.own("chassis");
        for (name, kind) in [("pose", "pose"), ("motion", "velocity")] {
            let text =
                format!("name = \"{}\"\nkind = \"{kind}\"\nbetween = [\"world\", \"{chassis}\"]\n", self.own(name));
            self.put(reader, "sensor", &text, Vec::new());
        }
        let [q, v] = [self.own("pose"), self.own("motion")];
        self.equation(reader, "yaw", &format!("atan2(2*({q}.qw*{q}.qz + {q}.qx*{q}.qy), 1 - 2*({q}.qy^2 + {q}.qz^2))"));
        let yaw = self.own("yaw");
        self.equation(reader, "speed", &format!("{v}.vx*cos({yaw}) + {v}.vy*sin({yaw})"));
        self.equation(reader, "side_speed", &format!("{v}.vy*cos({yaw}) - {v}.vx*sin({yaw})"));
        if let Some(root) = chain.root() {
            let shaft = self.own(&format!("{}_shaft", root.at_shaft.as_ref().unwrap_or(&root.name)));
            self.equation(reader, "rpm", &format!("({RPM:?})*{shaft}.speed"));
        }
        let drives = self.driver(reader, fields);
        self.inputs(reader, fields, &drives);
        self.steering(reader, fields);
    }

    fn equation(&mut self, reader: &mut Reader<'_>, name: &str, value: &str) {
        let text = format!("name = \"{}\"\nkind = \"equation\"\nvalue = \"{value}\"\n", self.own(name));
        self.put(reader, "signal", &text, Vec::new());
    }

    /// Pedals, levers and its own signals; `drives` are those that the driver has.
    fn inputs(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>, drives: &[(&str, String)]) {
        let outside: Vec<String> = super::super::read::names(reader, fields, "inputs");
        let own: Vec<(String, Node)> = match fields.get("signals").map(|node| &node.value) {
            Some(Value::Table(entries)) => entries.iter().map(|e| (e.key.clone(), e.node.clone())).collect(),
            _ => Vec::new(),
        };
        for name in &outside {
            let known = format::INPUTS.iter().map(|input| input.0).chain(own.iter().map(|(name, _)| name.as_str()));
            if !known.clone().any(|input| input == name) {
                let help = super::did_you_mean(name, known);
                reader.error(fields.place_of("inputs"), format!("{} has no input \"{name}\"", fields.what), help);
            }
        }
        let given = format::INPUTS.map(|(name, left, range)| {
            let written = fields.get(name).map(|node| self.equation_of(node));
            let driven = drives.iter().find(|(driven, _)| *driven == name).map(|(_, value)| value.clone());
            (name.to_owned(), written.or(driven).unwrap_or(left.to_owned()), range)
        });
        let own = own.iter().map(|(name, node)| (name.clone(), self.equation_of(node), [-1.0, 1.0]));
        let all: Vec<_> = given.into_iter().chain(own).collect();
        for (name, value, [low, high]) in all {
            if outside.contains(&name) {
                let start = value.parse::<f64>().unwrap_or(0.0);
                let text = format!(
                    "name = \"{}\"\nkind = \"input\"\nstart = {start:?}\nlow = {low:?}\nhigh = {high:?}\n",
                    self.own(&name)
                );
                self.put(reader, "signal", &text, Vec::new());
            } else {
                self.equation(reader, &name, &value);
            }
        }
    }

    fn steering(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        let steered = self.wheels.iter().any(|wheel| wheel.steered);
        let bends = self.bodies.iter().any(|body| body.hangs.as_ref().is_some_and(|hangs| hangs.steer != 0.0));
        let Some(own) = reader.table(fields, "steering", &format::STEERING) else {
            if steered || bends {
                let help = "add [vehicle.steering] with angle_max";
                reader.error(self.place, format!("{} has wheels that turn, and no steering", fields.what), help);
            }
            return;
        };
        let most = reader.number(&own, "angle_max").unwrap_or(0.5);
        self.steering = [
            reader.number(&own, "stiffness").unwrap_or(self.steering[0]),
            reader.number(&own, "damping").unwrap_or(self.steering[1]),
        ];
        let asked = format!("({most:?})*max(-1, min(1, {}))", self.own("steer"));
        match reader.number(&own, "rate") {
            None => self.equation(reader, "steer_angle", &asked),
            Some(rate) => {
                let text = format!(
                    "name = \"{}\"\ninputs = {{ asked = \"{asked}\" }}\nstates = {{ x = 0 }}\nder = {{ x = \"max(-({rate:?}), min({rate:?}, (asked - x)/{STEERS:?}))\" }}\n",
                    self.own("rack")
                );
                self.put(reader, "component", &text, Vec::new());
                let x = self.own("rack.x");
                self.equation(reader, "steer_angle", &x);
            }
        }
        if !steered {
            return;
        }
        let places = || self.wheels.iter().map(|wheel| wheel.p.x);
        let [first, last] = [places().fold(f64::MIN, f64::max), places().fold(f64::MAX, f64::min)];
        let mut straight = self.wheels.iter().filter(|wheel| !wheel.steered).map(|wheel| wheel.p.x);
        let fixed = reader.number(&own, "fixed_at").unwrap_or(straight.next_back().unwrap_or(last));
        let front = self.wheels.iter().filter(|wheel| wheel.steered).map(|wheel| wheel.p.x).fold(f64::MIN, f64::max);
        let middle = 0.5 * (first + last);
        let (alpha, mode) = (self.own("steer_angle"), self.own("steer_mode"));
        let has_modes = fields.get("steer_mode").is_some()
            || super::super::read::names(reader, fields, "inputs").iter().any(|name| name == "steer_mode");
        for wheel in self.wheels.clone().iter().filter(|wheel| wheel.steered) {
            let [x, y] = [wheel.p.x, wheel.p.y];
            let about = |x0: f64, l: f64| format!("atan(({:?})*tan({alpha})/(({l:?}) - ({y:?})*tan({alpha})))", x - x0);
            let as_car = about(fixed, if front == fixed { 1.0 } else { front - fixed });
            let value = if has_modes {
                let turned = if y == 0.0 { 0.0 } else { -libm::atan((x - middle) / y) };
                let all = about(middle, if front == middle { 1.0 } else { front - middle });
                format!("if({mode} < 0.5, {as_car}, if({mode} < 1.5, {all}, if({mode} < 2.5, {alpha}, ({turned:?}))))")
            } else {
                as_car
            };
            self.equation(reader, &format!("{}_angle", wheel.name), &value);
        }
    }

    /// What the driver does with pedals and steering.
    fn driver(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) -> Vec<(&'static str, String)> {
        let Some(own) = reader.table(fields, "driver", &format::DRIVER) else { return Vec::new() };
        let steering = reader.table(fields, "steering", &format::STEERING);
        let most = steering.and_then(|steering| reader.number(&steering, "angle_max")).unwrap_or(0.5);
        let path = super::lay::pairs_any(reader, &own, "path");
        let mut ways: Vec<f64> = vec![0.0];
        for pair in path.windows(2) {
            let way = libm::hypot(pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
            if way <= 0.0 {
                let message = format!("{}: path has the point {}, {} twice", own.what, pair[0][0], pair[0][1]);
                reader.error(own.place_of("path"), message, "points of a path are apart");
            }
            ways.push(ways.last().copied().unwrap_or(0.0) + way);
        }
        if path.len() < 2 {
            reader.error(
                own.place_of("path"),
                format!("{}: a path has two points or more", own.what),
                "such as path = [[0, 0], [100, 0]]",
            );
            return Vec::new();
        }
        let number = |reader: &mut Reader<'_>, key, left: f64| reader.number(&own, key).unwrap_or(left);
        let look = format!(
            "max({:?}, ({:?})*{})",
            number(reader, "preview_min", 5.0),
            number(reader, "preview", 0.6),
            self.own("speed")
        );
        let s = self.own("driver.s");
        let axes = [("x", 0), ("y", 1)];
        for (point, way) in [
            ("here", s.clone()),
            ("before", format!("{s} - {AHEAD:?}")),
            ("behind", format!("{s} + {AHEAD:?}")),
            ("aim", format!("{s} + {look}")),
        ] {
            for (axis, k) in axes {
                // beyond its end a path goes on straight
                let n = path.len() - 1;
                let slope = (path[n][k] - path[n - 1][k]) / (ways[n] - ways[n - 1]);
                let (mut x, mut y) = (ways.clone(), path.iter().map(|p| p[k]).collect::<Vec<_>>());
                x.push(ways[n] + 1e4);
                y.push(path[n][k] + 1e4 * slope);
                let text = format!(
                    "name = \"{}\"\nkind = \"table\"\ninput = \"{way}\"\nx = {x:?}\ny = {y:?}\n",
                    self.own(&format!("{point}_{axis}"))
                );
                self.put(reader, "signal", &text, Vec::new());
            }
        }
        self.drive(reader, &own, most)
    }

    fn drive(&mut self, reader: &mut Reader<'_>, own: &Fields<'_>, most: f64) -> Vec<(&'static str, String)> {
        let n = |name: &str| self.own(name);
        let wheels = self.wheels.iter().map(|wheel| wheel.p.x);
        let base = (wheels.clone().fold(f64::MIN, f64::max) - wheels.fold(f64::MAX, f64::min)).max(0.1);
        let understeer = reader.number(own, "understeer").unwrap_or(0.0);
        let [gain, integral] =
            [("gain", 0.5), ("integral", 0.1)].map(|(key, left)| reader.number(own, key).unwrap_or(left));
        let speed = own.get("speed").map(|node| self.equation_of(node));
        let wanted = speed.clone().unwrap_or(n("speed"));
        let text = format!(
            "name = \"{}\"\n\
             inputs = {{ x = \"{pose}.x\", y = \"{pose}.y\", vx = \"{motion}.vx\", vy = \"{motion}.vy\", v = \"{}\", yaw = \"{}\", \
             hx = \"{}\", hy = \"{}\", bx = \"{}\", by = \"{}\", ax = \"{}\", ay = \"{}\", fx = \"{}\", fy = \"{}\", wanted = \"{wanted}\" }}\n\
             states = {{ s = 0, lack = 0 }}\n\
             let = {{ tx = \"(fx - bx)/{length:?}\", ty = \"(fy - by)/{length:?}\", dx = \"ax - x\", dy = \"ay - y\", \
             kappa = \"2*(cos(yaw)*dy - sin(yaw)*dx)/max(dx^2 + dy^2, 0.01)\", \
             asked = \"{gain:?}*(wanted - v) + {integral:?}*lack\" }}\n\
             der = {{ s = \"vx*tx + vy*ty + ((x - hx)*tx + (y - hy)*ty)/{CATCHES_UP:?}\", \
             lack = \"if(abs(asked) < 1, wanted - v, -lack)\" }}\n\
             outputs = {{ pedal = \"asked\", angle = \"atan({base:?}*kappa) + ({understeer:?})*v^2*kappa\", \
             off = \"(y - hy)*tx - (x - hx)*ty\" }}\n",
            n("driver"),
            n("speed"),
            n("yaw"),
            n("here_x"),
            n("here_y"),
            n("before_x"),
            n("before_y"),
            n("aim_x"),
            n("aim_y"),
            n("behind_x"),
            n("behind_y"),
            pose = n("pose"),
            motion = n("motion"),
            length = 2.0 * AHEAD,
        );
        let mut drives = vec![("steer", format!("{}/({most:?})", n("driver.angle")))];
        if speed.is_some() {
            drives.push(("throttle", format!("max(0, min(1, {}))", n("driver.pedal"))));
            drives.push(("brake", format!("max(0, min(1, -({})))", n("driver.pedal"))));
        }
        self.put(reader, "component", &text, Vec::new());
        drives
    }
}
