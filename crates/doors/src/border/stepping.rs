//! Stepping of `tippe.h`.

use super::collider::{OuterCollide, answer, outer};
use super::{c_text, give, slice, slice_mut, text};
use crate::serve::scene;
use crate::session::{Asked, Session};
use std::ffi::{CString, c_char, c_int, c_void};
use tippe::stepping::Saved;

/// A scene on its way, and names as C reads them.
pub struct Run {
    session: Session,
    names: Vec<[CString; 3]>,
    kinds: Vec<CString>,
}

impl Run {
    fn new(session: Session) -> Run {
        let mut run = Run { session, names: Vec::new(), kinds: Vec::new() };
        run.learn();
        run
    }

    /// Names of variables that joined.
    fn learn(&mut self) {
        let new = self.session.variables().skip(self.names.len());
        let new: Vec<[CString; 3]> = new.map(|own| [&own.name, &own.unit, own.role.name()].map(c_text)).collect();
        self.names.extend(new);
    }
}

type Handle = *mut Run;

/// The run behind a handle.
unsafe fn run<'a>(handle: Handle) -> Result<&'a mut Run, String> {
    // SAFETY: null, or made by `tippe_open` and used by one thread at a time.
    unsafe { handle.as_mut() }.ok_or_else(|| "the run is missing".to_owned())
}

fn index(k: c_int) -> Result<usize, String> {
    usize::try_from(k).map_err(|_| format!("there is no variable {k}"))
}

/// Texts ONE, a mark and OTHER, taken apart.
unsafe fn pairs(
    texts: *const *const c_char,
    count: usize,
    what: &str,
    mark: char,
) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for own in unsafe { slice(texts, count)? } {
        let own = unsafe { text(*own, what)? };
        let (one, other) =
            own.split_once(mark).ok_or_else(|| format!("\"{own}\": {what} has the form ONE{mark}OTHER"))?;
        all.push((one.trim().to_owned(), other.trim().to_owned()));
    }
    Ok(all)
}

unsafe fn open(
    name: *const c_char,
    clock: *const c_char,
    sets: (*const *const c_char, usize),
    foreign: Option<Asked>,
    out: *mut Handle,
) -> Result<(), String> {
    unsafe {
        let given = pairs(sets.0, sets.1, "a parameter", '=')?;
        let clock = if clock.is_null() { None } else { Some(text(clock, "the clock")?) };
        if out.is_null() {
            return Err("the place for the run is missing".to_owned());
        }
        let session = Session::open_with(&scene(text(name, "the scene")?, &given)?, clock, foreign)?;
        give(out, Box::into_raw(Box::new(Run::new(session))));
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_open(
    name: *const c_char,
    clock: *const c_char,
    sets: *const *const c_char,
    count: usize,
    out: *mut Handle,
) -> c_int {
    answer(|| unsafe { open(name, clock, (sets, count), None, out) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_open_with(
    name: *const c_char,
    clock: *const c_char,
    sets: *const *const c_char,
    count: usize,
    bodies: *const *const c_char,
    pair_count: usize,
    collide: Option<OuterCollide>,
    user: *mut c_void,
    out: *mut Handle,
) -> c_int {
    answer(|| unsafe {
        let collide = collide.ok_or("the foreign collider is missing")?;
        let named = if bodies.is_null() { None } else { Some(pairs(bodies, pair_count, "a pair", ',')?) };
        open(name, clock, (sets, count), Some(Asked { pairs: named, collide: outer(collide, user) }), out)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_close(handle: Handle) {
    if !handle.is_null() {
        drop(unsafe { Box::from_raw(handle) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_count(handle: Handle) -> c_int {
    unsafe { run(handle) }.map_or(0, |own| own.names.len() as c_int)
}

unsafe fn name(handle: Handle, k: c_int, which: usize) -> *const c_char {
    let own = unsafe { run(handle) }.ok().and_then(|own| own.names.get(usize::try_from(k).ok()?));
    own.map_or(std::ptr::null(), |names| names[which].as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_name(handle: Handle, k: c_int) -> *const c_char {
    unsafe { name(handle, k, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_unit(handle: Handle, k: c_int) -> *const c_char {
    unsafe { name(handle, k, 1) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_role(handle: Handle, k: c_int) -> *const c_char {
    unsafe { name(handle, k, 2) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_find(handle: Handle, name: *const c_char) -> c_int {
    let mut found = -1;
    answer(|| unsafe {
        let own = run(handle)?;
        found = own.session.find(text(name, "the variable's name")?)? as c_int;
        own.learn();
        Ok(())
    });
    found
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_get(handle: Handle, variables: *const c_int, count: usize, values: *mut f64) -> c_int {
    answer(|| unsafe {
        let own = run(handle)?;
        for (k, value) in slice(variables, count)?.iter().zip(slice_mut(values, count)?) {
            *value = own.session.get(index(*k)?)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_set(handle: Handle, variables: *const c_int, count: usize, values: *const f64) -> c_int {
    answer(|| unsafe {
        let own = run(handle)?;
        let mut all = slice(variables, count)?.iter().zip(slice(values, count)?);
        all.try_for_each(|(k, value)| own.session.set(index(*k)?, *value))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_time(handle: Handle) -> f64 {
    unsafe { run(handle) }.map_or(f64::NAN, |own| own.session.time())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_advance(handle: Handle, until: f64) -> c_int {
    answer(|| unsafe { run(handle)?.session.advance(until) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_advance_to_event(handle: Handle, until: f64, event: *mut c_int) -> c_int {
    answer(|| unsafe {
        give(event, c_int::from(run(handle)?.session.advance_to_event(until)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_events(handle: Handle) -> c_int {
    let mut count = 0;
    answer(|| unsafe {
        let own = run(handle)?;
        own.kinds = own.session.events().map(|(_, kind)| c_text(kind)).collect();
        count = own.kinds.len() as c_int;
        Ok(())
    });
    count
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_event(handle: Handle, k: c_int, time: *mut f64, kind: *mut *const c_char) -> c_int {
    answer(|| unsafe {
        let (own, k) = (run(handle)?, index(k)?);
        match (own.session.events().nth(k), own.kinds.get(k)) {
            (Some((when, _)), Some(word)) => {
                give(time, when);
                give(kind, word.as_ptr());
                Ok(())
            }
            _ => Err(format!("there is no event {k}. help: tippe_events counts those of the last stretch")),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_save(handle: Handle, out: *mut *mut Saved) -> c_int {
    answer(|| unsafe {
        let own = run(handle)?;
        if out.is_null() {
            return Err("the place for the state is missing".to_owned());
        }
        give(out, Box::into_raw(Box::new(own.session.save())));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_restore(handle: Handle, saved: *const Saved) -> c_int {
    answer(|| unsafe { run(handle)?.session.restore(saved.as_ref().ok_or("the state is missing")?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_state_free(saved: *mut Saved) {
    if !saved.is_null() {
        drop(unsafe { Box::from_raw(saved) });
    }
}
