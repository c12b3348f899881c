//! Nothing moves: R_12 = 1, p_12 = 0.

use super::{FrameMotion, Row, part};

pub fn rows(f1: &FrameMotion, f2: &FrameMotion, rows: &mut Vec<Row>) {
    part::same_origin(f1, f2, rows);
    part::parallel_frames(f1, f2, rows);
}
