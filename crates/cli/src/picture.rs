//! A small picture of bodies, drawn without a graphics card: the same bytes on every machine.

use std::path::Path;
use tippe::geometry::{Pose, Shape, TriMesh, Vec3};

/// Pixels are drawn this many times finer and averaged: smooth edges.
const OVERSAMPLING: usize = 3;
/// Corners of a full circle in surfaces.
const SEGMENTS: u32 = 40;
/// From where the light comes: right, up and back of the camera, before it is made a unit vector.
const LIGHT: Vec3 = Vec3::new(0.45, 0.75, 0.65);
/// What is lit from everywhere [-].
const AMBIENT: f64 = 0.45;
const PAPER: Colour = [255.0, 255.0, 255.0];
/// The line between two pictures.
const BETWEEN: [u8; 3] = [200, 204, 210];

/// Red, green, blue, 0 to 255 each.
pub type Colour = [f64; 3];

/// Colours of bodies, to be told apart with any eyes (Okabe and Ito 2008).
pub const COLOURS: [Colour; 7] = [
    [0.0, 114.0, 178.0],
    [213.0, 94.0, 0.0],
    [0.0, 158.0, 115.0],
    [204.0, 121.0, 167.0],
    [230.0, 159.0, 0.0],
    [86.0, 180.0, 233.0],
    [240.0, 228.0, 66.0],
];
/// Colour of what never moves.
pub const STILL: Colour = [196.0, 200.0, 206.0];
/// Colour of lines.
pub const INK: Colour = [70.0, 74.0, 82.0];

/// Looks along parallel lines: no perspective.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// Unit vectors to the right, upwards and towards the eye, resolved in world.
    axes: [Vec3; 3],
    /// What is in the middle [m].
    centre: Vec3,
    /// Half the width and half the height of what is seen [m].
    half: [f64; 2],
}

impl Camera {
    /// Looks from a direction (towards the eye) with `up` upwards at all of these points, width over height `aspect`.
    pub fn on(points: &[Vec3], from: Vec3, up: Vec3, aspect: f64) -> Camera {
        let back = from.normalize_or(Vec3::Z);
        let right = up.cross(back).normalize_or(Vec3::X);
        let axes = [right, back.cross(right), back];
        let bounds = |axis: Vec3| {
            let along = points.iter().map(|p| p.dot(axis)).filter(|x| x.is_finite());
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let mut centre = Vec3::ZERO;
        let mut half = [0.0; 3];
        for (k, &axis) in axes.iter().enumerate() {
            let (low, high) = bounds(axis);
            if low <= high {
                centre += 0.5 * (low + high) * axis;
                half[k] = 0.5 * (high - low);
            }
        }
        // some room around everything, and something to look at where there is but a point
        let height = 1.1 * half[1].max(half[0] / aspect);
        let height = if height > 0.0 { height } else { 1.0 };
        Camera { axes, centre, half: [height * aspect, height] }
    }

    /// Radius of what is seen [m].
    fn radius(&self) -> f64 {
        self.half[0].max(self.half[1])
    }
}

/// A picture that is being drawn.
pub struct Picture {
    camera: Camera,
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
    /// Distance in front of the middle [m]; larger is nearer.
    depth: Vec<f64>,
    /// Of walls only what is seen from inside and lies behind this place is drawn.
    pub open_walls: Option<Vec3>,
}

impl Picture {
    /// An empty one of so many pixels.
    pub fn new(camera: Camera, width: usize, height: usize) -> Picture {
        let (w, h) = (width * OVERSAMPLING, height * OVERSAMPLING);
        Picture {
            camera,
            width: w,
            height: h,
            pixels: vec![PAPER; w * h],
            depth: vec![f64::NEG_INFINITY; w * h],
            open_walls: None,
        }
    }

    /// Pixel and depth of a point.
    fn place(&self, p: Vec3) -> Vec3 {
        let d = p - self.camera.centre;
        let [x, y, z] = self.camera.axes.map(|axis| axis.dot(d));
        let (w, h) = (self.width as f64, self.height as f64);
        Vec3::new(0.5 * w * (1.0 + x / self.camera.half[0]), 0.5 * h * (1.0 - y / self.camera.half[1]), z)
    }

    /// Pixels per metre.
    fn scale(&self) -> f64 {
        0.5 * self.height as f64 / self.camera.half[1]
    }

    fn dot(&mut self, x: usize, y: usize, depth: f64, colour: Colour) {
        let at = y * self.width + x;
        if depth > self.depth[at] {
            (self.depth[at], self.pixels[at]) = (depth, colour);
        }
    }

    /// Pixels from `low` to `high` that are in the picture.
    fn span(low: f64, high: f64, most: usize) -> std::ops::Range<usize> {
        let clamp = |x: f64| if x.is_nan() { 0 } else { x.clamp(0.0, most as f64) as usize };
        clamp(low.floor())..clamp(high.ceil() + 1.0)
    }

    /// How bright a surface is whose normal has these components to the right, upwards and towards the eye.
    fn light(n: Vec3) -> f64 {
        AMBIENT + (1.0 - AMBIENT) * n.dot(LIGHT.normalize()).max(0.0)
    }

    /// A ball.
    pub fn ball(&mut self, centre: Vec3, radius: f64, colour: Colour) {
        let c = self.place(centre);
        // what is smaller than a pixel is still seen
        let r = (radius * self.scale()).max(0.7 * OVERSAMPLING as f64);
        for y in Self::span(c.y - r, c.y + r, self.height) {
            for x in Self::span(c.x - r, c.x + r, self.width) {
                let (dx, dy) = ((x as f64 + 0.5 - c.x) / r, (y as f64 + 0.5 - c.y) / r);
                let rest = 1.0 - dx * dx - dy * dy;
                if rest >= 0.0 {
                    let light = Self::light(Vec3::new(dx, -dy, rest.sqrt()));
                    self.dot(x, y, c.z + radius * rest.sqrt(), colour.map(|part| light * part));
                }
            }
        }
    }

    /// How brightly a flat face is lit.
    fn lit(&self, corners: [Vec3; 3]) -> f64 {
        let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(Vec3::Z);
        let n = Vec3::from_array(self.camera.axes.map(|axis| axis.dot(n)));
        // the inside of what is open too
        Self::light(if n.z < 0.0 { -n } else { n })
    }

    /// Paints each pixel of a triangle, given its depth and the place seen there.
    fn cover(&mut self, corners: [Vec3; 3], mut paint: impl FnMut(&mut Picture, [usize; 2], f64, Vec3)) {
        let [a, b, c] = corners.map(|corner| self.place(corner));
        let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        for y in Self::span(low.y, high.y, self.height) {
            for x in Self::span(low.x, high.x, self.width) {
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let u = ((b.x - px) * (c.y - py) - (c.x - px) * (b.y - py)) / area;
                let v = ((c.x - px) * (a.y - py) - (a.x - px) * (c.y - py)) / area;
                let w = 1.0 - u - v;
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    let place = u * corners[0] + v * corners[1] + w * corners[2];
                    paint(self, [x, y], u * a.z + v * b.z + w * c.z, place);
                }
            }
        }
    }

    /// A triangle, lit as a flat face; `tone` changes the brightness from place to place.
    fn triangle(&mut self, corners: [Vec3; 3], colour: Colour, tone: &dyn Fn(Vec3) -> f64) {
        let light = self.lit(corners);
        self.cover(corners, |picture, [x, y], depth, place| {
            let tone = light * tone(place);
            picture.dot(x, y, depth, colour.map(|part| (tone * part).min(255.0)));
        });
    }

    /// A triangle of one colour, lit as a flat face.
    pub fn face(&mut self, corners: [Vec3; 3], colour: Colour) {
        self.triangle(corners, colour, &|_| 1.0);
    }

    /// A triangle through which the rest is seen, but for the share it hides; drawn after what lies behind it.
    pub fn film(&mut self, corners: [Vec3; 3], colour: Colour, hides: f64) {
        let light = self.lit(corners);
        self.cover(corners, |picture, [x, y], depth, _| {
            let at = y * picture.width + x;
            if depth > picture.depth[at] {
                let behind = picture.pixels[at];
                picture.pixels[at] = [0, 1, 2].map(|k| behind[k] + hides * (light * colour[k] - behind[k]));
            }
        });
    }

    /// What is in the middle [m].
    pub fn centre(&self) -> Vec3 {
        self.camera.centre
    }

    /// Radius of what is seen [m].
    pub fn radius(&self) -> f64 {
        self.camera.radius()
    }

    /// A shape with its frame in this pose; a wall, or something that moves.
    pub fn shape(&mut self, X_ws: &Pose, shape: &Shape, colour: Colour, wall: bool) {
        match shape {
            Shape::Sphere { radius } => self.ball(X_ws.position, *radius, colour),
            Shape::HalfSpace => self.plane(X_ws),
            _ => self.mesh(X_ws, &shape.surface_mesh(SEGMENTS), colour, self.open_walls.filter(|_| wall)),
        }
    }

    fn mesh(&mut self, X_ws: &Pose, mesh: &TriMesh, colour: Colour, behind: Option<Vec3>) {
        for triangle in &mesh.triangles {
            let corners =
                triangle.map(|k| mesh.vertices.get(k as usize).map_or(Vec3::ZERO, |corner| X_ws.point(*corner)));
            let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            let back = self.camera.axes[2];
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            if !behind.is_some_and(|place| n.dot(back) > 0.0 || (middle - place).dot(back) > 0.0) {
                self.triangle(corners, colour, &|_| 1.0);
            }
        }
    }

    /// The part of an infinite plane that is near the middle, with a chequer to see its distance by; nothing from behind.
    fn plane(&mut self, X_ws: &Pose) {
        if X_ws.vector(Vec3::Z).dot(self.camera.axes[2]) < 0.0 {
            return;
        }
        let middle = X_ws.point_into(self.camera.centre);
        let r = 1.25 * self.camera.radius();
        let cell = 0.25 * self.camera.radius();
        let corner = |x: f64, y: f64| X_ws.point(Vec3::new(middle.x + x * r, middle.y + y * r, 0.0));
        let tone = |p: Vec3| {
            let p = X_ws.point_into(p);
            let odd = (p.x / cell).floor() + (p.y / cell).floor();
            if odd.rem_euclid(2.0) < 0.5 { 1.22 } else { 1.16 }
        };
        let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        self.triangle([a, b, c], STILL, &tone);
        self.triangle([a, c, d], STILL, &tone);
    }

    /// A line, some pixels wide, a little in front of where it is so that surfaces it lies on do not hide it.
    pub fn line(&mut self, from: Vec3, to: Vec3, pixels: f64, colour: Colour) {
        let (a, b) = (self.place(from), self.place(to));
        let steps = (b - a).truncate().length().ceil();
        if !steps.is_finite() || steps > 1e5 {
            return;
        }
        let lift = 0.01 * self.camera.radius();
        let r = 0.5 * pixels * OVERSAMPLING as f64;
        for k in 0..=steps as usize {
            let p = if steps > 0.0 { a + (k as f64 / steps) * (b - a) } else { a };
            for y in Self::span(p.y - r, p.y + r - 1.0, self.height) {
                for x in Self::span(p.x - r, p.x + r - 1.0, self.width) {
                    self.dot(x, y, p.z + lift, colour);
                }
            }
        }
    }

    /// Averaged pixels, row by row.
    fn finished(&self) -> Vec<Vec<[u8; 3]>> {
        let n = OVERSAMPLING;
        let one = |x: usize, y: usize| {
            let mut sum = [0.0; 3];
            for pixel in (0..n * n).map(|k| self.pixels[(n * y + k / n) * self.width + n * x + k % n]) {
                sum.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += part);
            }
            // steps of four levels cannot be seen and are half the size
            sum.map(|part| ((part / (n * n) as f64 / 4.0).round() * 4.0).clamp(0.0, 255.0) as u8)
        };
        (0..self.height / n).map(|y| (0..self.width / n).map(|x| one(x, y)).collect()).collect()
    }
}

/// Writes pictures of one height side by side as PNG.
pub fn save(pictures: &[Picture], path: &Path) -> Result<(), String> {
    let finished: Vec<Vec<Vec<[u8; 3]>>> = pictures.iter().map(Picture::finished).collect();
    let height = finished.iter().map(Vec::len).min().unwrap_or(0);
    let mut bytes: Vec<u8> = Vec::new();
    for y in 0..height {
        for (k, rows) in finished.iter().enumerate() {
            if k > 0 {
                bytes.extend(BETWEEN);
            }
            bytes.extend(rows[y].as_flattened());
        }
    }
    let width = (bytes.len() / 3).checked_div(height).unwrap_or(0);
    let write = || -> Result<(), Box<dyn std::error::Error>> {
        let file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, u32::try_from(width)?, u32::try_from(height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes)?;
        Ok(writer.finish()?)
    };
    write().map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The pose of a body.
pub fn pose(state: &tippe::BodyState) -> Pose {
    Pose::new(state.orientation, state.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(picture: &Picture, x: usize, y: usize) -> [u8; 3] {
        picture.finished()[y][x]
    }

    /// A ball is round, in the middle and in front of what is behind it; a plane fills the rest.
    #[test]
    fn balls_and_planes() {
        let corners = [Vec3::splat(-1.0), Vec3::splat(1.0)];
        let camera = Camera::on(&corners, Vec3::new(0.0, -1.0, 0.4), Vec3::Z, 1.5);
        let mut picture = Picture::new(camera, 60, 40);
        picture.shape(&Pose::IDENTITY, &Shape::Sphere { radius: 0.5 }, COLOURS[1], false);
        picture.shape(&Pose::at(Vec3::new(0.0, 5.0, 0.0)), &Shape::Sphere { radius: 0.4 }, COLOURS[0], false);
        let [r, _, b] = at(&picture, 30, 20);
        assert!(r > b + 60, "{:?}", at(&picture, 30, 20));
        assert_eq!(at(&picture, 1, 1), [255; 3]);
        picture.shape(&Pose::at(Vec3::new(0.0, 0.0, -1.0)), &Shape::HalfSpace, COLOURS[0], true);
        assert_ne!(at(&picture, 30, 38), [255; 3]);
        assert_eq!(at(&picture, 30, 20)[0], r, "the plane is behind the ball");
    }

    /// Numbers that are none draw nothing and stop nothing.
    #[test]
    fn nothing_to_see() {
        let camera = Camera::on(&[], Vec3::ZERO, Vec3::ZERO, 1.0);
        let mut picture = Picture::new(camera, 8, 8);
        picture.line(Vec3::splat(f64::NAN), Vec3::ZERO, 1.0, INK);
        picture.shape(&Pose::at(Vec3::splat(f64::NAN)), &Shape::Sphere { radius: 1.0 }, INK, false);
        picture.shape(
            &Pose::at(Vec3::splat(f64::NAN)),
            &Shape::Box { half_extents: Vec3::ONE, smoothing: 0.0 },
            INK,
            false,
        );
        assert_eq!(at(&picture, 4, 4), [255; 3]);
    }
}
