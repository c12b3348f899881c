//! Origin 2 stays on the axis of frame 1: a pin in a slot, a ball on a wire.

use super::{FrameMotion, Row, part};

pub fn rows(f1: &FrameMotion, f2: &FrameMotion, rows: &mut Vec<Row>) {
    part::origin_on_axis(f1, f2, rows);
}
