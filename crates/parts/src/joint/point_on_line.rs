//! Origin 2 stays on the axis of frame 1: a pin in a slot, a ball on a wire.

use super::{Row, part};
use crate::kinematics::Kinematics;

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
}
