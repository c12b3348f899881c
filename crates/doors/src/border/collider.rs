//! The collider of `tippe.h`.

use super::{c_text, give, panic_text, slice, slice_mut, text};
use crate::collider::Collider;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tippe::geometry::{Pose, Quat, Vec3};
use tippe::scene::Scene;

thread_local! {
    /// What the last call of this thread that failed had to say.
    static SAID: RefCell<CString> = RefCell::new(CString::default());
}

/// Runs a call: 0, or 1 with a text for [`tippe_error`].
pub(super) fn answer(work: impl FnOnce() -> Result<(), String>) -> c_int {
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return 0,
        Ok(Err(text)) => text,
        Err(payload) => format!("the library failed: {}", panic_text(&*payload)),
    };
    SAID.with(|said| *said.borrow_mut() = c_text(&failed));
    1
}

/// A scene by the name of a file or of the gallery, or as a text of more than one line.
pub(super) fn scene(text: &str, sets: &[(String, String)]) -> Result<Scene, String> {
    let read = if text.contains('\n') { Scene::parse("scene.toml", text, sets) } else { Scene::load(text, sets) };
    read.map_err(|errors| errors.to_string())
}

/// Bodies of a scene, and their names as C reads them.
pub struct OpenCollider {
    collider: Collider,
    names: Vec<CString>,
}

/// `tippe_point`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OuterPoint {
    p_a: [f64; 3],
    p_b: [f64; 3],
    normal_a: [f64; 3],
    normal_b: [f64; 3],
    depth: f64,
    area: f64,
    id: u64,
}

/// `tippe_contact`.
#[repr(C)]
pub struct OuterContact {
    count: i32,
    found: i32,
    depth: f64,
    volume: f64,
    area: f64,
    centroid: [f64; 3],
}

#[unsafe(no_mangle)]
pub extern "C" fn tippe_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn tippe_error() -> *const c_char {
    SAID.with(|said| said.borrow().as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_open(name: *const c_char, out: *mut *mut OpenCollider) -> c_int {
    answer(|| {
        // SAFETY: a text of the caller.
        let own = Collider::new(&scene(unsafe { text(name, "the scene")? }, &[])?)?;
        let names = own.names().iter().map(|name| c_text(name)).collect();
        let open = Box::into_raw(Box::new(OpenCollider { collider: own, names }));
        if out.is_null() {
            // SAFETY: made above.
            drop(unsafe { Box::from_raw(open) });
            return Err("the place for the collider is missing".to_owned());
        }
        // SAFETY: not null, and the caller's.
        unsafe { give(out, open) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_close(collider: *mut OpenCollider) {
    if !collider.is_null() {
        // SAFETY: made by `tippe_collider_open`, closed once.
        drop(unsafe { Box::from_raw(collider) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_count(collider: *const OpenCollider) -> c_int {
    // SAFETY: null, or made by `tippe_collider_open`.
    unsafe { collider.as_ref() }.map_or(0, |own| own.names.len() as c_int)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_name(collider: *const OpenCollider, body: c_int) -> *const c_char {
    // SAFETY: null, or made by `tippe_collider_open`.
    let own = unsafe { collider.as_ref() }.and_then(|own| own.names.get(usize::try_from(body).ok()?));
    own.map_or(std::ptr::null(), |name| name.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_body(collider: *const OpenCollider, name: *const c_char) -> c_int {
    let mut found = -1;
    answer(|| {
        // SAFETY: null, or made by `tippe_collider_open`; a text of the caller.
        let (own, name) =
            unsafe { (collider.as_ref().ok_or("the collider is missing")?, text(name, "the body's name")?) };
        let names = own.collider.names().iter().map(String::as_str);
        let help = || tippe::scene::did_you_mean(name, names);
        let body = own.collider.body(name).ok_or_else(|| format!("there is no body \"{name}\". help: {}", help()))?;
        found = body as c_int;
        Ok(())
    });
    found
}

/// Position x, y, z, then orientation w, x, y, z.
fn pose(numbers: &[f64]) -> Result<Pose, String> {
    let [x, y, z, w, i, j, k] = *numbers else { return Err("a pose has seven numbers".to_owned()) };
    let (p, q) = (Vec3::new(x, y, z), Quat::from_xyzw(i, j, k, w));
    if !p.is_finite() || !q.is_finite() || (q.length() - 1.0).abs() > 1e-3 {
        return Err(format!("{numbers:?} is no pose: x, y, z, then a unit quaternion w, x, y, z"));
    }
    Ok(Pose::new(q.normalize(), p))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_pair(
    collider: *const OpenCollider,
    body_a: c_int,
    pose_a: *const f64,
    body_b: c_int,
    pose_b: *const f64,
    most: c_int,
    points: *mut OuterPoint,
    contact: *mut OuterContact,
) -> c_int {
    answer(|| {
        // SAFETY: null, or made by `tippe_collider_open`; seven numbers each; `most` points of the caller.
        let (own, pose_a, pose_b, places) = unsafe {
            let own = collider.as_ref().ok_or("the collider is missing")?;
            let room = usize::try_from(most).map_err(|_| "there is room for less than no points")?;
            (own, slice(pose_a, 7)?, slice(pose_b, 7)?, slice_mut(points, room)?)
        };
        let body = |own: c_int| usize::try_from(own).map_err(|_| format!("there is no body {own}"));
        let found = own.collider.pair(body(body_a)?, &pose(pose_a)?, body(body_b)?, &pose(pose_b)?)?;
        for (place, own) in places.iter_mut().zip(&found.points) {
            *place = OuterPoint {
                p_a: own.p_a.to_array(),
                p_b: own.p_b.to_array(),
                normal_a: own.normal_a.to_array(),
                normal_b: own.normal_b.to_array(),
                depth: own.depth,
                area: own.area,
                id: own.id,
            };
        }
        let all = found.points.len();
        let told = OuterContact {
            count: places.len().min(all) as i32,
            found: all as i32,
            depth: found.depth,
            volume: found.volume,
            area: found.area,
            centroid: found.centroid.to_array(),
        };
        // SAFETY: null, or the caller's.
        unsafe { give(contact, told) };
        Ok(())
    })
}
