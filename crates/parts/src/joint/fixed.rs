//! Nothing moves: R_12 = 1, p_12 = 0.

use super::{Row, part};
use crate::kinematics::Kinematics;

pub fn rows(f1: &Kinematics, f2: &Kinematics, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    part::parallel_frames(f1, f2, rows);
}
