//! Nothing moves: R_12 = 1, p_12 = 0.

use crate::kinematics::Kinematics;
use super::{Row, part};

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    part::parallel_frames(f1, f2, rows);
}
