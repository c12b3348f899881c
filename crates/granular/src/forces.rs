//! Forces and torques on the grains of one chunk: of pairs, then of walls, in batches of vector instructions where the law is Hertz,
//! Mindlin and Coulomb, one contact at a time where it has more.

use crate::chunk::{Chunk, Lists, TOUCH};
use crate::clump::Clump;
use crate::grains::Six;
use crate::law::full::{Extra, Losses, Meeting, NO_EXTRA, Parting, pair_range, pull_range};
use crate::law::{BATCH, Batch, Between, V3, V4, cross, dot, each, each4, square};
use crate::neighbours::{PeriodicSizes, nearest_image};
use crate::settings::Coefficients;
use crate::wall::{CONTACTS, WallContact, WallHistory, WallPair};
use crate::{Grains, Settings, Wall};
use pulp::{Arch, Simd, WithSimd};
use tippe_geometry::Vec3;

/// What stays the same over an advance.
pub(crate) struct Pass {
    /// Step [s].
    pub h: f64,
    /// Gravity [m/s^2].
    pub gravity: V4,
    /// Coefficients of every pair of classes, row by row.
    pub table: Vec<Coefficients>,
    pub classes: usize,
    pub sizes: PeriodicSizes,
    /// Radius, effective radius and effective mass of any pair, where all grains are alike.
    pub alike: Option<[f64; 3]>,
    /// The law has more than Hertz, Mindlin and Coulomb, or books are kept.
    pub full: bool,
    /// Largest gap at which any pair still attracts [m].
    pub pull: f64,
    /// Some grains are polyhedra.
    pub solids: bool,
}

impl Pass {
    /// What is kept of pairs under this law.
    pub fn lists(&self) -> Lists {
        if self.full { Lists::Full } else { Lists::Plain }
    }

    /// Of these grains under these settings.
    pub fn new(grains: &Grains, settings: &Settings) -> Pass {
        let g = settings.gravity;
        let table = settings.coefficients();
        let first = grains.position.first().zip(grains.motion.first()).map(|(x, m)| (x[3], m.linear[3]));
        let alike = first.filter(|(r, inv_mass)| {
            let mut all = grains.position.iter().zip(&grains.motion);
            table.len() == 1
                && *inv_mass > 0.0
                && grains.clumps.is_empty()
                && all.all(|(x, m)| x[3] == *r && m.linear[3] == *inv_mass)
        });
        let alike = alike.map(|(r, inv_mass)| [r, 0.5 * r, 0.5 / inv_mass]);
        let solids = grains.has_solids();
        let full = solids || settings.ledger || !table.iter().all(Coefficients::is_plain);
        Pass {
            h: settings.step,
            gravity: [g.x, g.y, g.z, 0.0],
            table,
            classes: settings.materials.len(),
            sizes: PeriodicSizes::new(settings),
            alike,
            full,
            solids,
            pull: pull_range(settings, grains.position.iter().map(|p| p[3]).fold(0.0, f64::max)),
        }
    }
}

/// What all chunks read.
pub(crate) struct View<'a> {
    pub position: &'a [V4],
    pub motion: &'a [Six],
    pub class: &'a [u8],
    /// Clump of each grain, and clumps; empty without any.
    pub clump: &'a [u32],
    pub clumps: &'a [Clump],
    pub walls: &'a [Wall],
    /// z axes of the walls.
    pub normals: &'a [Vec3],
    /// `Grains::skin`.
    pub skin: f64,
}

/// Force and torque on one wall.
pub(crate) type WallSum = [Vec3; 2];

/// Force and torque on every wall, and what goes to the books.
pub(crate) type ChunkSums = (Vec<WallSum>, ChunkBooks);

/// Forces and torques on the grains of one chunk.
pub(crate) fn forces_of(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six]) -> ChunkSums {
    load.fill(Six::default());
    if chunk.is_due() {
        chunk.choose(view.position, &pass.sizes, view.skin, pass.pull);
    }
    match (pass.alike.is_some(), pass.table.len() > 1, pass.sizes.any) {
        _ if pass.full => {
            let mut books = full_pairs(chunk, view, pass, load);
            let sums = full_walls(chunk, view, pass, load, &mut books);
            return (sums, books);
        }
        (true, _, false) => Pairs::<true, false, false>::sum(chunk, view, pass, load),
        (true, _, true) => Pairs::<true, false, true>::sum(chunk, view, pass, load),
        (false, false, false) => Pairs::<false, false, false>::sum(chunk, view, pass, load),
        (false, false, true) => Pairs::<false, false, true>::sum(chunk, view, pass, load),
        (false, true, false) => Pairs::<false, true, false>::sum(chunk, view, pass, load),
        (false, true, true) => Pairs::<false, true, true>::sum(chunk, view, pass, load),
    }
    (Arch::new().dispatch(WallTouches { chunk, view, pass, load }), ChunkBooks::default())
}

/// Forces of the pairs of one chunk on its own grains.
struct Pairs<'a, const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> {
    chunk: &'a mut Chunk,
    view: &'a View<'a>,
    pass: &'a Pass,
    load: &'a mut [Six],
}

impl<'a, const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> Pairs<'a, ALIKE, TABLE, PERIODIC> {
    fn sum(chunk: &'a mut Chunk, view: &'a View<'a>, pass: &'a Pass, load: &'a mut [Six]) {
        Arch::new().dispatch(Pairs::<ALIKE, TABLE, PERIODIC> { chunk, view, pass, load });
    }
}

impl<const ALIKE: bool, const TABLE: bool, const PERIODIC: bool> WithSimd for Pairs<'_, ALIKE, TABLE, PERIODIC> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Pairs { chunk, view, pass, load } = self;
        let (mut batch, mut between) = (Batch::new(), Between::new());
        let Chunk { start, pairs, memory, .. } = chunk;
        let one = pass.alike.unwrap_or([1.0; 3]);
        let far = view.position.len() > IN_CACHE;
        let (pairs, memory) = (&mut pairs[..], &mut memory[..]);
        let mut slot = 0;
        while slot < pairs.len() {
            let mut count = 0;
            while count < BATCH && slot < pairs.len() {
                if far {
                    ask_for_pair(view, pairs, memory, slot + AHEAD);
                }
                let (pair, memory) = (&mut pairs[slot], &mut memory[slot]);
                let place = [count, slot];
                let touches = gather::<ALIKE, TABLE, PERIODIC>(&mut batch, place, view, pass, pair, memory, one[0]);
                count += usize::from(touches);
                slot += 1;
            }
            batch.evaluate::<ALIKE, TABLE>(count, &pass.table, pass.h, one, &mut between);
            scatter::<ALIKE>(&batch, count, memory, *start, load);
        }
    }
}

/// Pairs ahead of the one at work that are asked for, where there are more grains than the second cache holds. A list in the
/// order of the second grains brings them by itself but for every new page; first grains come from anywhere before.
const AHEAD: usize = 48;
const IN_CACHE: usize = 8000;

/// Asks for a line of memory that will be needed soon.
#[inline(always)]
fn ask_for<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(one) = all.get(place) {
        safe_arch::prefetch_t0(one);
    }
}

/// Asks for what the pair at this place will need: a pair at a time, since only so many lines can be on their way at once.
#[inline(always)]
fn ask_for_pair(view: &View<'_>, pairs: &[[u32; 2]], memory: &[V4], place: usize) {
    let Some([first, second]) = pairs.get(place) else { return };
    ask_for(view.position, *first as usize);
    ask_for(view.motion, *first as usize);
    // two memories are one line, and most second grains have two pairs or more
    if place.is_multiple_of(2) {
        let second = (second & !TOUCH) as usize;
        ask_for(view.position, second);
        ask_for(view.motion, second);
        ask_for(memory, place);
    }
}

/// True when a listed pair touches. It is written into the batch in any case: no branch depends on it, and everything that
/// is far away is fetched at once.
#[inline(always)]
fn gather<const ALIKE: bool, const TABLE: bool, const PERIODIC: bool>(
    batch: &mut Batch,
    [k, slot]: [usize; 2],
    view: &View<'_>,
    pass: &Pass,
    [first, mark]: &mut [u32; 2],
    memory: &mut V4,
    radius: f64,
) -> bool {
    let second = *mark & !TOUCH;
    let (i, j) = (*first as usize, second as usize);
    let (p, q) = (&view.position[i], &view.position[j]);
    let (m1, m2) = (&view.motion[i], &view.motion[j]);
    // the fourth numbers are radii
    let mut d = each4(|c| q[c] - p[c]);
    if !ALIKE {
        d[3] = 0.0;
    }
    if PERIODIC {
        let [x, y, z] = each(|c| nearest_image(d[c], pass.sizes.size[c], pass.sizes.inv[c]));
        d = [x, y, z, 0.0];
    }
    let sum = if ALIKE { 2.0 * radius } else { p[3] + q[3] };
    let touches = square(d) < sum * sum;
    if touches != (*mark & TOUCH != 0) {
        *mark ^= TOUCH;
        *memory = [0.0; 4];
    }
    batch.who[k] = [*first, second, slot as u32, 0];
    batch.d[k] = d;
    batch.memory[k] = *memory;
    let (v1, v2, w1, w2) = (&m1.linear, &m2.linear, &m1.angular, &m2.angular);
    if ALIKE {
        batch.v[k] = each4(|c| v2[c] - v1[c]);
        batch.rw[k] = each4(|c| w1[c] + w2[c]);
    } else {
        let (r1, r2) = (p[3], q[3]);
        batch.v[k] = [v2[0] - v1[0], v2[1] - v1[1], v2[2] - v1[2], v2[3] + v1[3]];
        batch.rw[k] = each4(|c| r1 * w1[c] + r2 * w2[c]);
        batch.r[k] = [r1, r2];
    }
    if TABLE {
        batch.class[k] = u32::from(view.class[i]) * pass.classes as u32 + u32::from(view.class[j]);
    }
    touches
}

/// Adds the answers to the grains of this chunk. The fourth numbers of forces and torques mean nothing.
#[inline(always)]
fn scatter<const ALIKE: bool>(batch: &Batch, count: usize, memory: &mut [V4], start: u32, load: &mut [Six]) {
    for k in 0..count.min(BATCH) {
        let [first, second, slot, _] = batch.who[k];
        memory[slot as usize] = batch.memory[k];
        let (f, t) = (batch.force[k], batch.torque[k]);
        let [r1, r2] = if ALIKE { [1.0; 2] } else { batch.r[k] };
        let (i, j) = (first.wrapping_sub(start) as usize, second.wrapping_sub(start) as usize);
        if let Some(to) = load.get_mut(i) {
            to.linear = each4(|c| to.linear[c] - f[c]);
            to.angular = each4(|c| to.angular[c] + r1 * t[c]);
        }
        if let Some(to) = load.get_mut(j) {
            to.linear = each4(|c| to.linear[c] + f[c]);
            to.angular = each4(|c| to.angular[c] + r2 * t[c]);
        }
    }
}

/// Forces of walls on the grains of one chunk; gives the sums on the walls.
struct WallTouches<'a> {
    chunk: &'a mut Chunk,
    view: &'a View<'a>,
    pass: &'a Pass,
    load: &'a mut [Six],
}

impl WithSimd for WallTouches<'_> {
    type Output = Vec<WallSum>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<WallSum> {
        let WallTouches { chunk, view, pass, load } = self;
        let mut sums = vec![[Vec3::ZERO; 2]; view.walls.len()];
        let Chunk { start, walls, triangles, wall_history, .. } = chunk;
        if walls.is_empty() {
            return sums;
        }
        let mut batch = Batch::new();
        let mut next = 0;
        while next < walls.len() {
            let mut count = 0;
            while next < walls.len() && count + CONTACTS <= BATCH {
                let pair = &walls[next];
                let history = &mut wall_history[pair.slots()];
                count += find_wall_contacts(&mut batch, count, pair, view, pass, pair.triangles_of(triangles), history);
                next += 1;
            }
            if pass.table.len() > 1 {
                batch.evaluate_walls::<true>(count, &pass.table, pass.h);
            } else {
                batch.evaluate_walls::<false>(count, &pass.table, pass.h);
            }
            for k in 0..count.min(BATCH) {
                let [grain, wall, slot, _] = batch.who[k];
                wall_history[slot as usize].memory = batch.memory[k];
                let (f, t, lever) = (batch.force[k], batch.torque[k], batch.force[k][3]);
                let i = (grain - *start) as usize;
                let to = &mut load[i];
                to.linear = each4(|c| to.linear[c] + f[c]);
                to.angular = each4(|c| to.angular[c] + t[c]);
                let (p, n) = (&view.position[grain as usize], &batch.d[k]);
                let wall = wall as usize;
                let arm = Vec3::from_array(each(|c| p[c] - lever * n[c])) - view.walls[wall].X_ws.position;
                let f = Vec3::new(f[0], f[1], f[2]);
                sums[wall][0] -= f;
                sums[wall][1] -= arm.cross(f);
            }
        }
        sums
    }
}

/// Writes the contacts of a grain with a wall into the batch, with the history each goes on with; how many there are.
#[inline(always)]
fn find_wall_contacts(
    batch: &mut Batch,
    at: usize,
    pair: &WallPair,
    view: &View<'_>,
    pass: &Pass,
    triangles: &[u32],
    history: &mut [WallHistory],
) -> usize {
    let i = pair.grain as usize;
    let (p4, v4, w4) = (view.position[i], view.motion[i].linear, view.motion[i].angular);
    let wall = &view.walls[pair.wall as usize];
    let (p, radius) = (Vec3::new(p4[0], p4[1], p4[2]), p4[3]);
    let mut found = [WallContact::default(); CONTACTS];
    let count = wall.contacts(view.normals[pair.wall as usize], p, radius, 0.0, triangles, &mut found);
    if count == 0 || v4[3] == 0.0 {
        if history.iter().any(WallHistory::touches) {
            history.fill(WallHistory::default());
        }
        return 0;
    }
    if history.len() > 1 {
        match_history(history, &mut [], &found[..count]);
    }
    for (slot, touch) in found[..count].iter().enumerate() {
        let n = touch.normal;
        history[slot].normal = n;
        let k = at + slot;
        batch.who[k] = [pair.grain, pair.wall, pair.slot + slot as u32, 0];
        batch.d[k] = [n.x, n.y, n.z, touch.depth];
        batch.v[k] = v4;
        if wall.velocity != Vec3::ZERO || wall.spin != Vec3::ZERO {
            let u = wall.velocity_at(p - n * (radius - touch.depth));
            batch.v[k] = [v4[0] - u.x, v4[1] - u.y, v4[2] - u.z, v4[3]];
        }
        batch.rw[k] = [w4[0], w4[1], w4[2], radius];
        batch.class[k] = u32::from(wall.class) * pass.classes as u32 + u32::from(view.class[i]);
        batch.memory[k] = history[slot].memory;
    }
    count
}

/// Each new contact goes on with the old one whose normal, which it keeps, is nearest, and begins anew when none is within 45 degrees.
fn match_history(history: &mut [WallHistory], extra: &mut [Extra], found: &[WallContact]) {
    let mut old = [(WallHistory::default(), NO_EXTRA); CONTACTS];
    for (k, old) in old.iter_mut().enumerate().take(history.len()) {
        *old = (history[k], extra.get(k).copied().unwrap_or(NO_EXTRA));
    }
    history.fill(WallHistory::default());
    extra.fill(NO_EXTRA);
    for (k, touch) in found.iter().enumerate() {
        let n = touch.normal;
        let near = |k: &usize| n.dot(old[*k].0.normal);
        let nearest = (0..CONTACTS).max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0);
        if near(&nearest) > 0.7 {
            let (kept, more) = std::mem::take(&mut old[nearest]);
            history[k] = kept;
            if let Some(extra) = extra.get_mut(k) {
                *extra = more;
            }
        }
    }
}

/// What one chunk adds to the books.
#[derive(Clone, Copy, Default)]
pub(crate) struct ChunkBooks {
    pub losses: Losses,
    /// Energy its contacts hold [J].
    pub elastic: f64,
}

/// Forces of the pairs of one chunk with the whole law, one by one. Pairs across chunks are booked by the upper one.
fn full_pairs(chunk: &mut Chunk, view: &View<'_>, pass: &Pass, load: &mut [Six]) -> ChunkBooks {
    let mut books = ChunkBooks::default();
    let Chunk { start, pairs, own, memory, extra, .. } = chunk;
    for (slot, [first, mark]) in pairs.iter_mut().enumerate().filter(|(_, pair)| view.is_of_balls(pair)) {
        let (i, j) = (*first as usize, (*mark & !TOUCH) as usize);
        let (p, q) = (view.position[i], view.position[j]);
        let mut d = each(|c| q[c] - p[c]);
        if pass.sizes.any {
            d = each(|c| nearest_image(d[c], pass.sizes.size[c], pass.sizes.inv[c]));
        }
        let (sum, dd) = (p[3] + q[3], dot(d, d));
        let (class1, class2) = (view.class[i] as usize, view.class[j] as usize);
        let c = &pass.table[class1 * pass.classes + class2];
        let radius = p[3] * q[3] / sum;
        let touched = *mark & TOUCH != 0;
        let far = sum + if touched { pair_range(c, radius) } else { 0.0 };
        let booked = slot < *own as usize;
        let dist = dd.sqrt();
        if !(dist < far || touched) {
            continue;
        }
        let (v1, v2, w1, w2) =
            (view.motion[i].linear, view.motion[j].linear, view.motion[i].angular, view.motion[j].angular);
        let apart = each(|c| v2[c] - v1[c]);
        // relative velocity at a contact whose centres are d apart
        let seen = |n: V3, dist: f64| {
            let (l1, l2) = (dist * p[3] / sum, dist * q[3] / sum);
            let turn = cross(each(|c| l1 * w1[c] + l2 * w2[c]), n);
            each(|c| apart[c] - turn[c])
        };
        let d0 = each(|c| d[c] - pass.h * apart[c]);
        let dist0 = dot(d0, d0).sqrt();
        let n0 = each(|c| d0[c] / dist0);
        let (v0, w) = (seen(n0, dist0), each(|c| w2[c] - w1[c]));
        if !(dist < far) {
            *mark &= !TOUCH;
            if booked {
                let (memory, extra, depth0) = (memory[slot], extra[slot], sum - dist0);
                let parting = Parting { c, h: pass.h, radius, depth0, n0, v0, w, memory, extra };
                books.losses.add(&parting.losses());
            }
            memory[slot] = [0.0; 4];
            extra[slot] = NO_EXTRA;
            continue;
        }
        *mark |= TOUCH;
        let n = each(|c| d[c] / dist);
        let (l1, l2) = (dist * p[3] / sum, dist * q[3] / sum);
        let meeting = Meeting {
            c,
            h: pass.h,
            n,
            depth: sum - dist,
            radius,
            mass: 1.0 / (v1[3] + v2[3]),
            inv_inertia: w1[3] + w2[3],
            v: seen(n, dist),
            n0,
            v0,
            w,
            memory: memory[slot],
            extra: extra[slot],
            begins: !touched,
        };
        let out = meeting.resolve();
        (memory[slot], extra[slot]) = (out.touch.memory, out.extra);
        let (f, twist) = (out.touch.force, cross(out.touch.force, n));
        for (place, sign, lever) in [(i, -1.0, l1), (j, 1.0, l2)] {
            let at = place.wrapping_sub(*start as usize);
            if let Some(to) = load.get_mut(at) {
                for c in 0..3 {
                    to.linear[c] += sign * f[c];
                    to.angular[c] += lever * twist[c] + sign * out.couple[c];
                }
            }
        }
        if booked {
            books.losses.add(&out.losses);
            books.elastic += out.elastic;
        }
    }
    books
}

/// Forces of walls with the whole law.
fn full_walls(
    chunk: &mut Chunk,
    view: &View<'_>,
    pass: &Pass,
    load: &mut [Six],
    books: &mut ChunkBooks,
) -> Vec<WallSum> {
    let mut sums = vec![[Vec3::ZERO; 2]; view.walls.len()];
    let Chunk { start, walls, triangles, wall_history, wall_extra, .. } = chunk;
    for pair in walls.iter().filter(|pair| view.is_of_balls(&[pair.grain; 2])) {
        let i = pair.grain as usize;
        let (p4, v4, w4) = (view.position[i], view.motion[i].linear, view.motion[i].angular);
        let wall = &view.walls[pair.wall as usize];
        let (p, radius) = (Vec3::new(p4[0], p4[1], p4[2]), p4[3]);
        let history = &mut wall_history[pair.slots()];
        let c = &pass.table[wall.class as usize * pass.classes + view.class[i] as usize];
        let pull = if history.iter().any(WallHistory::touches) { pair_range(c, radius) } else { 0.0 };
        let mut found = [WallContact::default(); CONTACTS];
        let n = view.normals[pair.wall as usize];
        let count = wall.contacts(n, p, radius, pull, pair.triangles_of(triangles), &mut found);
        let spin = Vec3::new(w4[0], w4[1], w4[2]);
        let w = (spin - wall.spin).to_array();
        let seen = |n: Vec3, lever: f64| {
            let v = Vec3::new(v4[0], v4[1], v4[2]) - spin.cross(n) * lever - wall.velocity_at(p - n * lever);
            v.to_array()
        };
        if count == 0 || v4[3] == 0.0 {
            for (history, extra) in history.iter().zip(&wall_extra[pair.slots()]).filter(|(x, _)| x.touches()) {
                let (n0, v0) = (history.normal.to_array(), seen(history.normal, radius));
                let (memory, extra, depth0) = (history.memory, *extra, -pair_range(c, radius));
                let parting = Parting { c, h: pass.h, radius, depth0, n0, v0, w, memory, extra };
                books.losses.add(&parting.losses());
            }
            history.fill(WallHistory::default());
            wall_extra[pair.slots()].fill(NO_EXTRA);
            continue;
        }
        let extra = &mut wall_extra[pair.slots()];
        match_history(history, extra, &found[..count]);
        for ((touch, history), extra) in found[..count].iter().zip(history).zip(extra) {
            let n = touch.normal;
            let lever = radius - touch.depth;
            let at = p - n * lever;
            let n0 = if history.touches() { history.normal } else { n };
            let meeting = Meeting {
                c,
                h: pass.h,
                n: n.to_array(),
                depth: touch.depth,
                radius,
                mass: 1.0 / v4[3],
                inv_inertia: w4[3],
                v: seen(n, lever),
                n0: n0.to_array(),
                v0: seen(n0, lever),
                w,
                memory: history.memory,
                extra: *extra,
                begins: history.memory[3] == 0.0,
            };
            let out = meeting.resolve();
            (history.memory, history.normal, *extra) = (out.touch.memory, n, out.extra);
            let f = Vec3::from_array(out.touch.force);
            let couple = Vec3::from_array(out.couple);
            let turn = f.cross(n) * lever + couple;
            let k = i - *start as usize;
            for c in 0..3 {
                load[k].linear[c] += f[c];
                load[k].angular[c] += turn[c];
            }
            let sum = &mut sums[pair.wall as usize];
            sum[0] -= f;
            sum[1] -= (at - wall.X_ws.position).cross(f) + couple;
            books.losses.add(&out.losses);
            books.elastic += out.elastic;
        }
    }
    sums
}
