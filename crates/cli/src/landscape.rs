//! Ground and water in the picture of a scene.

use crate::picture::{Colour, Picture};
use tippe::Model;
use tippe::geometry::Vec3;
use tippe::ground::Ground;
use tippe_viewer::drawing::{DescribedWater, waters};

/// Colour of soil that lies as densely as it can, and of the loosest.
const SOIL: [Colour; 2] = [[150.0, 108.0, 72.0], [214.0, 180.0, 138.0]];
const WATER: Colour = [86.0, 160.0, 220.0];
/// How much of what is under water its surface hides [-].
const HIDES: f64 = 0.35;
/// Squares along a side of a surface with waves.
const SQUARES: usize = 60;
/// Cells between two lines on the ground, which show its shape.
const LINES: usize = 8;

/// The middle of the surface over a cell.
fn surface(ground: &Ground, at: [usize; 2]) -> Vec3 {
    let [x, y] = ground.centre(at);
    Vec3::new(x, y, ground.height(at))
}

/// What a camera has to see of a ground: its surface, every few cells.
pub fn places(ground: &Ground) -> Vec<Vec3> {
    let [across, along] = ground.counts;
    let every = |count: usize| (0..count).step_by((count / 64).max(1)).chain([count - 1]);
    every(across).flat_map(|i| every(along).map(move |j| [i, j])).map(|at| surface(ground, at)).collect()
}

/// The surface of a ground, darker where it lies densely.
pub fn draw_ground(picture: &mut Picture, ground: &Ground) {
    let [across, along] = ground.counts;
    for i in 1..across {
        for j in 1..along {
            let column = ground.column([i, j]);
            let dense = column
                .top()
                .map_or(0.0, |top| ground.kinds[usize::from(top.kind)].compactness(top.void_ratio).clamp(0.0, 1.0));
            let line = if i % LINES == 0 || j % LINES == 0 { 0.94 } else { 1.0 };
            let colour = [0, 1, 2].map(|k| line * (SOIL[1][k] + dense * (SOIL[0][k] - SOIL[1][k])));
            let corner = |di, dj| surface(ground, [i - di, j - dj]);
            let [a, b, c, d] = [corner(1, 1), corner(0, 1), corner(0, 0), corner(1, 0)];
            picture.face([a, b, c], colour);
            picture.face([a, c, d], colour);
        }
    }
}

/// The surfaces of all fluids at a time [s], over what has been drawn.
pub fn draw_waters(picture: &mut Picture, model: &Model, time: f64) {
    for water in waters(model) {
        draw_water(picture, &water, time);
    }
}

/// A surface around what is seen; a wave raises it by amplitude cos(number along.x - omega t + phase).
fn draw_water(picture: &mut Picture, water: &DescribedWater, time: f64) {
    let up = Vec3::from_array(water.up);
    let middle = picture.centre() + up * (water.level - up.dot(picture.centre()));
    let east = up.any_orthonormal_vector();
    let north = up.cross(east);
    let squares = if water.waves.is_empty() { 1 } else { SQUARES };
    let half = 1.5 * picture.radius();
    let corner = |i: usize, j: usize| {
        let side = |k: usize| half * (2.0 * k as f64 / squares as f64 - 1.0);
        let x = middle + east * side(i) + north * side(j);
        let elevation = |wave: &tippe_viewer::drawing::DescribedWave| {
            let theta = wave.number * Vec3::from_array(wave.along).dot(x) - wave.omega * time + wave.phase;
            wave.amplitude * libm::cos(theta)
        };
        x + up * water.waves.iter().map(elevation).sum::<f64>()
    };
    for i in 0..squares {
        for j in 0..squares {
            let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
            picture.film([a, b, c], WATER, HIDES);
            picture.film([a, c, d], WATER, HIDES);
        }
    }
}
