//! Motion without rows: gravity, loads, and velocity products, to high order where it is smooth.

use super::Clock;

impl Clock {
    /// Velocities and orientations at the end of the step without rows.
    pub(super) fn coast(&mut self) {
        let h = self.h;
        for b in 0..self.model.bodies.len() {
            let (body, free) = (&self.model.bodies[b], self.is_free(b));
            let (path, load) = (&mut self.paths[b], self.loads[b]);
            if !free || body.mechanism.is_some() {
                path.free_velocity = path.velocity();
                continue;
            }
            let kin = &path.kin;
            let v = kin.v + (self.model.gravity_at(kin.p) + load.linear / body.mass) * h;
            let load_spin = kin.R * (body.I_c_inverse * (kin.R.transpose() * load.angular)) * h;
            path.coast(v, load_spin);
        }
        for k in 0..self.machines.len() {
            self.coast_machine(k);
        }
    }
}
