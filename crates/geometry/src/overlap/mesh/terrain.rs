//! A surface that dips into the ground below a height grid.
//!
//! In the frame of the grid the ground lies below z = h(x, y), linear over each triangle of a cell. With c(x, y) the cosine of the slope
//! at the points of the grid, linear over the same triangles,
//!   phi = c (h - z)
//! is continuous, zero on the ground's surface, and the depth along its normal where the ground is plane. The ground ends in upright walls
//! around its rim and reaches down without end: nearer to a wall than c (h - z), phi is the distance to it. The foundation takes
//! U = int_B phi dV alone, whose gradient is the pressure phi on the surface of the solid below the ground: f = -int phi n dA, at the
//! rim too (docs/theory/overlap.md, section 6). Triangles of the solid are cut by the walls between the triangles of the ground and by
//! their planes; columns along z give
//!   V = -int (h - z) n_z dA,   int x dV = -int (x, y, (h + z)/2) (h - z) n_z dA,   U = -int c (h - z)^2/2 n_z dA,
//! and likewise columns to a wall. The midpoints of the sides integrate what is quadratic on a triangle: all of it where c is constant.

use super::foundation::{Foundation, PressurePoint};
use super::half_space::{Dip, list_regions};
use super::region::Region;
use super::surface::Surface;
use crate::shape::HeightGrid;
use crate::{Aabb, Mat3, Pose, Vec3};

/// Most corners of a part: a triangle cut by four walls, a diagonal and a plane, and by four planes half way to the walls around the rim.
const ROOM: usize = 14;
/// The highest point below a box is looked for among so many cells at most.
const FEW: usize = 32;

/// A convex polygon in the frame of the grid. Each side knows which side of its triangle it lies on; 3 where it was cut.
#[derive(Clone, Copy, Debug)]
struct Polygon {
    corners: [Vec3; ROOM],
    sides: [u8; ROOM],
    count: usize,
}

/// Part of triangle `face` of the solid below one triangle of the ground, or behind a wall around its rim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub face: u32,
    polygon: Polygon,
    ground: Ground,
}

impl Piece {
    /// In the frame of the grid.
    pub fn corners(&self) -> &[Vec3] {
        self.polygon.corners()
    }
}

/// One triangle of the ground, or a wall around its rim: its plane, the direction of its columns, and c = c_a + slope . ((x, y) - a).
#[derive(Clone, Copy, Debug)]
struct Ground {
    a: Vec3,
    n: Vec3,
    up: Vec3,
    c: f64,
    slope: [f64; 2],
}

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct Terrain {
    stack: Vec<u32>,
    /// Triangles whose boxes reach below the ground.
    near: Vec<u32>,
    /// Parts below the ground, triangle by triangle.
    pub pieces: Vec<Piece>,
    /// Of each triangle with a part below: the sides that have one too, by epoch; then its region.
    marks: Vec<(u32, u8, u32)>,
    epoch: u32,
    queue: Vec<u32>,
    dips: Vec<Dip>,
}

impl Terrain {
    /// Fills regions and points; the grid is body 1.
    #[expect(clippy::too_many_arguments, reason = "two solids with their poses, and two buffers of the caller")]
    pub fn run(
        &mut self,
        grid: &HeightGrid,
        X_w1: &Pose,
        s: &Surface,
        X_w2: &Pose,
        about_w: Vec3,
        regions: &mut Vec<Region>,
        points: &mut Vec<PressurePoint>,
    ) -> Foundation {
        points.clear();
        self.dips.clear();
        let X_12 = X_w1.inverse().then(X_w2);
        self.find_near(grid, s, &X_12);
        self.cut(grid, s, &X_12);
        self.connect(s);

        let R_12 = Mat3::from_quat(X_12.rotation);
        let (mut force, mut moment, mut energy, mut area, mut deepest) = (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0, 0.0);
        for piece in &self.pieces {
            let (ground, f) = (&piece.ground, piece.face);
            let place = self.marks[f as usize].2;
            let dip = &mut self.dips[place as usize];
            let n = R_12 * s.normals[f as usize];
            let corners = piece.corners();
            for &x in corners {
                dip.bounds = dip.bounds.union(&Aabb { min: x, max: x });
                dip.depth = dip.depth.max(ground.depth(x).0);
            }
            let (axis, normal) = (X_w1.vector(ground.n), X_w1.vector(-n));
            let a = corners[0];
            for side in corners[1..].windows(2) {
                let (b, c) = (side[0], side[1]);
                let part = 0.5 * n.dot((b - a).cross(c - a));
                area += part;
                dip.vector += n * part;
                for x in [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)] {
                    let (share, (depth, column)) = (part / 3.0, ground.depth(x));
                    let push = n * (-depth * share);
                    force += push;
                    moment += x.cross(push);
                    let section = -share * n.dot(ground.up);
                    energy += 0.5 * depth * column * section;
                    let volume = column * section;
                    dip.volume += volume;
                    dip.first += (x + ground.up * (0.5 * column) - dip.o) * volume;
                    let (point, id) = (X_w1.point(x), [0, f]);
                    points.push(PressurePoint { point, normal, axis, side: 1, area: share, depth, region: place, id });
                }
            }
            deepest = f64::max(deepest, dip.depth);
        }
        list_regions(&mut self.dips, X_w1, regions, |dip| {
            let area = dip.vector.length();
            (X_w1.vector(if area > 0.0 { dip.vector / -area } else { Vec3::Z }), area)
        });
        for p in points.iter_mut() {
            p.region = self.dips[p.region as usize].region;
        }
        let force = X_w1.vector(force);
        let moment = X_w1.vector(moment) + (X_w1.position - about_w).cross(force);
        Foundation { force, moment, energy, area, depth: deepest, beyond: 0.0 }
    }

    /// Triangles of the solid in boxes that reach below the highest point under them.
    fn find_near(&mut self, grid: &HeightGrid, s: &Surface, X_12: &Pose) {
        let R = Mat3::from_quat(X_12.rotation);
        let R_abs = Mat3::from_cols(R.x_axis.abs(), R.y_axis.abs(), R.z_axis.abs());
        self.near.clear();
        self.stack.clear();
        self.stack.push(0);
        while let Some(i) = self.stack.pop() {
            let node = &s.tree.nodes[i as usize];
            let (center, half) = (X_12.point(node.center), R_abs * node.half);
            if center.z - half.z > grid.highest_under(center - half, center + half, FEW) {
                continue;
            }
            if node.count == 0 {
                self.stack.push(node.link);
                self.stack.push(i + 1);
                continue;
            }
            self.near.extend_from_slice(s.tree.leaf(node));
        }
    }

    /// Parts of the triangles below the ground, row by row and cell by cell. A part on the wall between two triangles of the ground belongs
    /// to one of them: sides of a solid may well stand on lines of the grid.
    fn cut(&mut self, grid: &HeightGrid, s: &Surface, X_12: &Pose) {
        self.pieces.clear();
        if self.epoch == u32::MAX {
            self.marks.clear();
            self.epoch = 0;
        }
        self.epoch += 1;
        if self.marks.len() < s.triangles.len() {
            self.marks.resize(s.triangles.len(), (0, 0, 0));
        }
        for i in 0..self.near.len() {
            let f = self.near[i];
            let triangle = Polygon::of(s.corners(f).map(|x| X_12.point(x)));
            let [_, rows] = grid.cells_under(triangle.least(), triangle.most());
            for row in rows {
                let (low, high) = (grid.point(0, row).y, grid.point(0, row + 1).y);
                let mut band = triangle;
                band.keep(|x| x.y - low);
                band.keep_strictly(|x| high - x.y);
                if band.count < 3 {
                    continue;
                }
                let [columns, _] = grid.cells_under(band.least(), band.most());
                for column in columns {
                    let (left, right) = (grid.point(column, 0).x, grid.point(column + 1, 0).x);
                    let mut part = band;
                    part.keep(|x| x.x - left);
                    part.keep_strictly(|x| right - x.x);
                    if part.count >= 3 {
                        self.cut_cell(grid, [column, row], f, &part);
                    }
                }
            }
        }
    }

    /// The part of a polygon over one cell below each of its two triangles.
    fn cut_cell(&mut self, grid: &HeightGrid, [column, row]: [usize; 2], face: u32, part: &Polygon) {
        let [first, second] = grid.cell(column, row);
        let [a, _, c] = first;
        let beside = |x: Vec3| (x.x - a.x) * (c.y - a.y) - (x.y - a.y) * (c.x - a.x);
        let place = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)];
        for (k, triangle) in [first, second].into_iter().enumerate() {
            let cosines = [0, 1 + k, 2 + k].map(|i| grid.slope_cosine(place[i].0, place[i].1));
            let ground = Ground::new(triangle, cosines);
            if part.corners().iter().all(|x| ground.n.dot(ground.a - *x) <= 0.0) {
                continue;
            }
            let mut polygon = *part;
            match k {
                0 => polygon.keep(beside),
                _ => polygon.keep_strictly(|x| -beside(x)),
            }
            polygon.keep_strictly(|x| ground.n.dot(ground.a - x));
            if polygon.count < 3 {
                continue;
            }
            let sides = polygon.sides[..polygon.count].iter().filter(|k| **k < 3).fold(0, |all, k| all | 1 << k);
            let mark = &mut self.marks[face as usize];
            let known = if mark.0 == self.epoch { mark.1 } else { 0 };
            *mark = (self.epoch, known | sides, u32::MAX);
            self.share(grid, face, &polygon, &ground);
        }
    }

    /// Pieces of a part by what is nearest: the ground above it or a wall around the rim.
    fn share(&mut self, grid: &HeightGrid, face: u32, part: &Polygon, ground: &Ground) {
        let walls = Ground::walls(grid);
        let near = |wall: &Ground| part.corners().iter().any(|x| wall.depth(*x).0 < ground.depth(*x).0);
        if !walls.iter().any(near) {
            self.pieces.push(Piece { face, polygon: *part, ground: *ground });
            return;
        }
        let c = ground.cosine(part.corners().iter().sum::<Vec3>() / part.count as f64);
        let all = [ground, &walls[0], &walls[1], &walls[2], &walls[3]];
        let height =
            |k: usize, x: Vec3| all[k].n.dot(all[k].a - x) / all[k].n.dot(all[k].up) * if k == 0 { c } else { 1.0 };
        for k in 0..all.len() {
            let mut polygon = *part;
            for other in (0..all.len()).filter(|j| *j != k) {
                let nearer = |x: Vec3| height(other, x) - height(k, x);
                if other < k { polygon.keep_strictly(nearer) } else { polygon.keep(nearer) }
            }
            if polygon.count >= 3 {
                self.pieces.push(Piece { face, polygon, ground: *all[k] });
            }
        }
    }

    /// Joins triangles across sides that have a part below the ground.
    fn connect(&mut self, s: &Surface) {
        for i in 0..self.pieces.len() {
            let seed = self.pieces[i].face;
            if self.marks[seed as usize].2 != u32::MAX {
                continue;
            }
            let place = self.dips.len() as u32;
            self.dips.push(Dip::from(self.pieces[i].corners()[0]));
            self.marks[seed as usize].2 = place;
            self.queue.clear();
            self.queue.push(seed);
            while let Some(f) = self.queue.pop() {
                let sides = self.marks[f as usize].1;
                for (_, e) in s.face_edges[f as usize].iter().enumerate().filter(|(k, _)| sides >> k & 1 == 1) {
                    for g in s.edge_faces[*e as usize] {
                        let (epoch, _, region) = self.marks[g as usize];
                        if epoch == self.epoch && region == u32::MAX {
                            self.marks[g as usize].2 = place;
                            self.queue.push(g);
                        }
                    }
                }
            }
        }
    }
}

impl Ground {
    fn new([a, b, c]: [Vec3; 3], cosines: [f64; 3]) -> Ground {
        let (u, v) = (b - a, c - a);
        let n = u.cross(v).normalize();
        let (du, dv) = (cosines[1] - cosines[0], cosines[2] - cosines[0]);
        let twice = u.x * v.y - u.y * v.x;
        let slope = [(du * v.y - dv * u.y) / twice, (dv * u.x - du * v.x) / twice];
        Ground { a, n, up: Vec3::Z, c: cosines[0], slope }
    }

    /// The four sides of the rim.
    fn walls(grid: &HeightGrid) -> [Ground; 4] {
        let [x, y] = grid.half_lengths();
        let wall = |n: Vec3, far: f64| Ground { a: n * far, n, up: n, c: 1.0, slope: [0.0; 2] };
        [wall(Vec3::X, x), wall(-Vec3::X, x), wall(Vec3::Y, y), wall(-Vec3::Y, y)]
    }

    fn cosine(&self, x: Vec3) -> f64 {
        self.c + self.slope[0] * (x.x - self.a.x) + self.slope[1] * (x.y - self.a.y)
    }

    /// phi and the length of the column [m].
    fn depth(&self, x: Vec3) -> (f64, f64) {
        let column = (self.n.dot(self.a - x) / self.n.dot(self.up)).max(0.0);
        (self.cosine(x) * column, column)
    }
}

impl Polygon {
    fn of(corners: [Vec3; 3]) -> Polygon {
        let mut all = [Vec3::ZERO; ROOM];
        all[..3].copy_from_slice(&corners);
        let mut sides = [3; ROOM];
        sides[..3].copy_from_slice(&[0, 1, 2]);
        Polygon { corners: all, sides, count: 3 }
    }

    fn corners(&self) -> &[Vec3] {
        &self.corners[..self.count]
    }

    fn least(&self) -> [f64; 2] {
        let min = self.corners[1..self.count].iter().fold(self.corners[0], |min, x| min.min(*x));
        [min.x, min.y]
    }

    fn most(&self) -> [f64; 2] {
        let max = self.corners[1..self.count].iter().fold(self.corners[0], |max, x| max.max(*x));
        [max.x, max.y]
    }

    /// Keeps the part where a linear function is not negative.
    fn keep(&mut self, height: impl Fn(Vec3) -> f64) {
        self.clip(height, |h| h >= 0.0);
    }

    /// Keeps the part where it is positive.
    fn keep_strictly(&mut self, height: impl Fn(Vec3) -> f64) {
        self.clip(height, |h| h > 0.0);
    }

    fn clip(&mut self, height: impl Fn(Vec3) -> f64, is_inside: impl Fn(f64) -> bool) {
        let mut heights = [0.0; ROOM];
        let mut inside = 0;
        for k in 0..self.count {
            heights[k] = height(self.corners[k]);
            inside += usize::from(is_inside(heights[k]));
        }
        if inside == self.count {
            return;
        }
        let (corners, sides, count) = (self.corners, self.sides, std::mem::take(&mut self.count));
        if inside == 0 {
            return;
        }
        let mut push = |x: Vec3, side: u8| {
            if self.count < ROOM {
                (self.corners[self.count], self.sides[self.count]) = (x, side);
                self.count += 1;
            }
        };
        for k in 0..count {
            let next = if k + 1 < count { k + 1 } else { 0 };
            let (a, b, ha, hb) = (corners[k], corners[next], heights[k], heights[next]);
            let (inside_a, inside_b) = (is_inside(ha), is_inside(hb));
            if inside_a {
                push(a, sides[k]);
            }
            if inside_a != inside_b {
                let x = a + (b - a) * (ha / (ha - hb)).clamp(0.0, 1.0);
                push(x, if inside_a { 3 } else { sides[k] });
            }
        }
    }
}
