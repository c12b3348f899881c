//! Blocks of rows as bytes, little endian: what one moment, or a range of them, looks like.
//!
//! | part | type | count |
//! | --- | --- | --- |
//! | `TPB1`, rows, bodies, stride, signals, accounts, contacts, 0 | u32 | 8 |
//! | times [s] | f64 | rows |
//! | energy ledger, then linear momentum x, y, z | f64 | rows x accounts |
//! | signals of the model | f64 | rows x signals |
//! | first contact of each row, and the number of all; zero-padded to 8 bytes | u32 | rows + 1 |
//! | contacts | 16 x 4 bytes | contacts |
//! | bodies: position, quaternion x, y, z, w, and with stride 13 velocity and angular velocity | f32 | rows x bodies x stride |
//!
//! A contact is body 1 (u32), body 2 (u32, its highest bit set while it slips), position, normal, depth, closing speed, force, torque
//! (f32). Values in order of time; within a row in the order of the description.

use tippe::run::{Account, Recording, Subjects};
use tippe::{BodyState, ContactSample, Ledger, Sample};
use tippe_geometry::Vec3;

/// Numbers of one body without its velocities.
pub const POSE: usize = 7;
/// Numbers of one body with its velocities.
pub const MOTION: usize = 13;
/// Up to this many bodies velocities are sent along.
pub const MOTION_BODIES: usize = 2000;
/// Energy accounts and momentum in a row.
pub const ACCOUNTS: usize = Account::STORED.len() + 3;

const MAGIC: u32 = u32::from_le_bytes(*b"TPB1");
const SLIPPING: u32 = 1 << 31;

/// Numbers of one body in a run with this many.
pub fn stride(bodies: usize) -> usize {
    if bodies <= MOTION_BODIES { MOTION } else { POSE }
}

/// Bytes of one row without its contacts.
pub fn row_bytes(subjects: &Subjects) -> usize {
    let bodies = subjects.bodies.len();
    8 * (1 + ACCOUNTS + subjects.signals.len()) + 4 + 4 * bodies * stride(bodies)
}

/// All rows of a recording.
pub fn of_recording(recording: &Recording) -> Vec<u8> {
    let rows = recording.time.len();
    let bodies = recording.subjects.bodies.len();
    let size = rows * row_bytes(&recording.subjects) + 64 * recording.contacts.len() + 40;
    let mut bytes = Bytes(Vec::with_capacity(size));
    bytes.head(rows, bodies, recording.subjects.signals.len(), recording.contacts.len());
    recording.time.iter().for_each(|t| bytes.f64(*t));
    for (ledger, momentum) in recording.energy.iter().zip(&recording.momentum) {
        bytes.books(ledger, *momentum);
    }
    for i in 0..rows {
        recording.signals.iter().for_each(|values| bytes.f64(values.get(i).copied().unwrap_or(f64::NAN)));
    }
    let starts = recording.contact_start.iter().copied().chain([recording.contacts.len()]);
    bytes.starts(starts);
    recording.contacts.iter().for_each(|contact| bytes.contact(contact));
    let with_velocity = stride(bodies) == MOTION;
    for i in 0..rows {
        recording.motion.iter().for_each(|motion| bytes.body(&motion[i], with_velocity));
    }
    bytes.0
}

/// One row as a simulation shows it.
pub fn of_sample(sample: &Sample<'_>, subjects: &Subjects) -> Vec<u8> {
    let bodies = sample.bodies.len();
    let size = row_bytes(subjects) + 64 * sample.contacts.len() + 48;
    let mut bytes = Bytes(Vec::with_capacity(size));
    bytes.head(1, bodies, sample.signals.len(), sample.contacts.len());
    bytes.f64(sample.time);
    bytes.books(sample.energy, subjects.momentum(sample.bodies));
    sample.signals.iter().for_each(|value| bytes.f64(*value));
    bytes.starts([0, sample.contacts.len()].into_iter());
    sample.contacts.iter().for_each(|contact| bytes.contact(contact));
    let with_velocity = stride(bodies) == MOTION;
    sample.bodies.iter().for_each(|body| bytes.body(body, with_velocity));
    bytes.0
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn u32(&mut self, value: usize) {
        self.0.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn f32s<const N: usize>(&mut self, values: [f64; N]) {
        // One extension for all of them: this is most of the work for many bodies.
        self.0.extend_from_slice(values.map(|value| (value as f32).to_le_bytes()).as_flattened());
    }

    fn head(&mut self, rows: usize, bodies: usize, signals: usize, contacts: usize) {
        self.0.extend_from_slice(&MAGIC.to_le_bytes());
        [rows, bodies, stride(bodies), signals, ACCOUNTS, contacts, 0].iter().for_each(|value| self.u32(*value));
    }

    fn books(&mut self, ledger: &Ledger, momentum: Vec3) {
        Account::STORED.iter().for_each(|account| self.f64(account.of(ledger)));
        momentum.to_array().iter().for_each(|value| self.f64(*value));
    }

    fn starts(&mut self, starts: impl Iterator<Item = usize>) {
        starts.for_each(|start| self.u32(start));
        if !self.0.len().is_multiple_of(8) {
            self.u32(0);
        }
    }

    fn contact(&mut self, contact: &ContactSample) {
        let index = |body: usize| u32::try_from(body).unwrap_or(0) & !SLIPPING;
        let slipping = if contact.slipping { SLIPPING } else { 0 };
        self.0.extend_from_slice(&index(contact.body1).to_le_bytes());
        self.0.extend_from_slice(&(index(contact.body2) | slipping).to_le_bytes());
        self.f32s(contact.position.to_array());
        self.f32s(contact.normal.to_array());
        self.f32s([contact.depth, contact.closing_speed]);
        self.f32s(contact.force.to_array());
        self.f32s(contact.torque.to_array());
    }

    fn body(&mut self, body: &BodyState, with_velocity: bool) {
        let (p, q, v, w) = (body.position, body.orientation, body.velocity, body.angular_velocity);
        if with_velocity {
            self.f32s([p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z]);
        } else {
            self.f32s([p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tippe::Observe;
    use tippe::run::Wanted;

    fn u32_at(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// A row from a simulation and the same row from a recording are the same bytes, of the size that the table says.
    #[test]
    fn one_row_two_ways() {
        let scene = tippe::scene::Scene::load("bouncing_ball", &[]).unwrap();
        let model = tippe::Model::compile(&scene).unwrap();
        let subjects = Subjects::of(&model);
        let contact = ContactSample {
            body1: 0,
            body2: 1,
            pair: (0, 1),
            position: Vec3::new(1.0, 2.0, 3.0),
            normal: Vec3::Z,
            depth: 0.5,
            closing_speed: -1.0,
            force: Vec3::new(0.0, 0.0, 9.0),
            torque: Vec3::ZERO,
            slipping: true,
        };
        let ledger = Ledger { kinetic: 7.0, ..Ledger::default() };
        let sample = Sample { time: 0.25, bodies: &model.start, contacts: &[contact], energy: &ledger, signals: &[] };
        let live = of_sample(&sample, &subjects);
        let mut recording = Recording::only(subjects.clone(), Wanted::all(&subjects));
        recording.sample(&sample);
        assert_eq!(of_recording(&recording), live);

        let n = model.start.len();
        assert_eq!(live.len(), 32 + 8 + 8 * ACCOUNTS + 8 + 64 + 4 * 13 * n);
        assert_eq!(&live[..4], b"TPB1");
        assert_eq!([4, 8, 12, 16, 24].map(|at| u32_at(&live, at)), [1, n as u32, 13, 0, 1]);
        assert_eq!(f64::from_le_bytes(live[40..48].try_into().unwrap()), 7.0);
        let contact = 32 + 8 + 8 * ACCOUNTS + 8;
        assert_eq!(u32_at(&live, contact + 4), 1 | 1 << 31);
        assert_eq!(f32::from_bits(u32_at(&live, contact + 16)), 3.0);
        assert_eq!(f32::from_bits(u32_at(&live, contact + 48)), 9.0);
    }
}
