//! The collider of `tippe.h`.

use super::{c_text, give, panic_text, slice, slice_mut, text};
use crate::collider::Collider;
use crate::serve::{pose, scene};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tippe::foreign::{Collide, ForeignPoint, Question};
use tippe::geometry::{Pose, Vec3};

/// Points that a function of the user's has room for.
const MOST_FOREIGN: usize = 64;

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

/// Bodies of a scene, and their names as C reads them.
pub struct OpenCollider {
    collider: Collider,
    names: Vec<CString>,
}

/// `tippe_point`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
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
#[derive(Default)]
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
    // SAFETY: as the function that is called.
    unsafe { tippe_collider_within(collider, body_a, pose_a, body_b, pose_b, 0.0, most, points, contact) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tippe_collider_within(
    collider: *const OpenCollider,
    body_a: c_int,
    pose_a: *const f64,
    body_b: c_int,
    pose_b: *const f64,
    margin: f64,
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
        let (a, b) = (body(body_a)?, body(body_b)?);
        let found = own.collider.pair_within(a, &pose(pose_a)?, b, &pose(pose_b)?, margin)?;
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

/// `tippe_collide`.
pub type OuterCollide = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    *const f64,
    c_int,
    *const f64,
    f64,
    c_int,
    *mut OuterPoint,
    *mut OuterContact,
) -> c_int;

/// What the function of the user's is told each time.
struct User(*mut c_void);

// SAFETY: `tippe.h` says that threads may ask at once; the library only hands the pointer back.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

/// A pose as C reads it.
fn seven(X: &Pose) -> [f64; 7] {
    let (p, q) = (X.position, X.rotation);
    [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
}

/// A function of C as a foreign collider.
pub(super) fn outer(collide: OuterCollide, user: *mut c_void) -> Arc<Collide> {
    let user = User(user);
    Arc::new(move |question: &Question, out: &mut Vec<ForeignPoint>| {
        let user = &user;
        let mut points = [OuterPoint::default(); MOST_FOREIGN];
        let mut contact = OuterContact::default();
        let [a, b] = question.bodies.map(|body| body as c_int);
        let [pose_a, pose_b] = question.X_wb.each_ref().map(seven);
        let most = question.most.min(MOST_FOREIGN) as c_int;
        // SAFETY: the function of the user's, with places that live through the call.
        let status = unsafe {
            let room = points.as_mut_ptr();
            collide(user.0, a, pose_a.as_ptr(), b, pose_b.as_ptr(), question.margin, most, room, &raw mut contact)
        };
        if status != 0 {
            return Err(format!("returned {status}, not 0"));
        }
        if contact.count < 0 || contact.count > most {
            return Err(format!("wrote {} points where there was room for {most}", contact.count));
        }
        out.extend(points[..contact.count as usize].iter().map(|own| ForeignPoint {
            p_a: Vec3::from_array(own.p_a),
            p_b: Vec3::from_array(own.p_b),
            normal_a: Vec3::from_array(own.normal_a),
            depth: own.depth,
            area: own.area,
            id: own.id,
        }));
        Ok(())
    })
}
