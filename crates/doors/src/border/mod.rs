//! The border to C: pointers become slices and texts, errors become numbers, panics end here.
//!
//! Unsafe, because callers of another language own the memory. What they promise is what the standards say: pointers are null or
//! point to as many elements as they name, texts end with a zero, an instance is used by one thread at a time.
#![allow(unsafe_code)]
#![allow(missing_docs, clippy::missing_safety_doc)] // the standards and `tippe.h` describe these functions

pub mod collider;
pub mod fmi2;
pub mod fmi3;
pub mod stepping;

use crate::instance::Instance;
use crate::plan::Package;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const OK: c_int = 0;
pub(crate) const DISCARD: c_int = 2;
pub(crate) const ERROR: c_int = 3;
pub(crate) const FATAL: c_int = 4;

/// Who wants to hear messages.
pub(crate) enum Listener {
    Two { call: Option<fmi2::Logger>, environment: *mut c_void },
    Three { call: Option<fmi3::Logger>, environment: *mut c_void },
}

/// An instance in the hands of C.
pub(crate) struct Component {
    pub instance: Instance,
    pub name: CString,
    pub listener: Listener,
    pub logging: bool,
    /// Called at events and at the ends of steps.
    pub intermediate: Option<(fmi3::Intermediate, *mut c_void)>,
    /// Time the last step reached [s].
    pub last_time: f64,
}

/// A text without zeros inside.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

impl Listener {
    pub(crate) fn tell(&self, name: &CStr, status: c_int, category: &CStr, text: &str) {
        let text = c_text(&text.replace('%', "%%"));
        // SAFETY: the function and its environment are the caller's, valid as long as the instance is; all texts end with a zero.
        unsafe {
            match *self {
                Listener::Two { call: Some(call), environment } => {
                    call(environment, name.as_ptr(), status, category.as_ptr(), text.as_ptr());
                }
                Listener::Three { call: Some(call), environment } => {
                    call(environment, status, category.as_ptr(), text.as_ptr());
                }
                Listener::Two { call: None, .. } | Listener::Three { call: None, .. } => {}
            }
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without words".to_owned())
}

/// Work on an instance: its status, errors told to the listener.
pub(crate) unsafe fn on(
    pointer: *mut c_void,
    function: &str,
    work: impl FnOnce(&mut Component) -> Result<(), String>,
) -> c_int {
    // SAFETY: null, or made by `made` below and not freed.
    let Some(own) = (unsafe { pointer.cast::<Component>().as_mut() }) else { return ERROR };
    match catch_unwind(AssertUnwindSafe(|| work(own))) {
        Ok(Ok(())) => OK,
        Ok(Err(text)) => {
            own.listener.tell(&own.name, ERROR, c"logStatusError", &format!("{function}: {text}"));
            ERROR
        }
        Err(payload) => {
            let text = panic_text(&*payload);
            own.listener.tell(&own.name, FATAL, c"logStatusFatal", &format!("{function}: the library failed: {text}"));
            FATAL
        }
    }
}

/// A text of C; an error for null and for what is not UTF-8.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Err(format!("{what} is missing"));
    }
    // SAFETY: the caller's text ends with a zero.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| format!("{what} is not UTF-8"))
}

/// Elements that the caller reads out.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], String> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err("an array is missing".to_owned()),
        // SAFETY: the caller names how many there are.
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// Elements that the caller receives.
pub(crate) unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize) -> Result<&'a mut [T], String> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err("an array is missing".to_owned()),
        // SAFETY: the caller names how many there are, and nobody else has them now.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) }),
    }
}

/// A number or flag that the caller receives; null is nobody who asks.
pub(crate) unsafe fn give<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: not null, and the caller's.
        unsafe { pointer.write(value) };
    }
}

/// The folder that a URI or a path names.
pub(crate) fn folder(location: &str) -> Result<PathBuf, String> {
    let Some(rest) = location.strip_prefix("file:") else { return Ok(PathBuf::from(location)) };
    let path = rest.strip_prefix("//").map_or(rest, |own| own.find('/').map_or(own, |at| &own[at..]));
    let mut bytes = Vec::with_capacity(path.len());
    let mut all = path.bytes();
    while let Some(byte) = all.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [all.next(), all.next()].map(|digit| digit.and_then(|d| (d as char).to_digit(16)));
        let [Some(high), Some(low)] = digits else { return Err(format!("\"{location}\" is no URI of a folder")) };
        bytes.push((16 * high + low) as u8);
    }
    let path = String::from_utf8(bytes).map_err(|_| format!("\"{location}\" is not UTF-8"))?;
    Ok(PathBuf::from(path))
}

/// A new instance of the unit in this folder of resources; null and a message where that cannot be.
pub(crate) unsafe fn made(
    name: *const c_char,
    token: *const c_char,
    location: *const c_char,
    exchange: bool,
    logging: bool,
    listener: Listener,
) -> *mut Component {
    let work = || -> Result<Component, String> {
        // SAFETY: texts of the caller.
        let (name, token, location) = unsafe {
            (
                text(name, "the instance's name")?,
                text(token, "the unit's token")?,
                text(location, "the place of the resources")?,
            )
        };
        let package = Package::load(&folder(location)?)?;
        let own = package.token();
        if token != own {
            return Err(format!(
                "the description has the token \"{token}\", its resources have \"{own}\": they are of two units"
            ));
        }
        let instance = Instance::new(Arc::new(package), exchange)?;
        Ok(Component {
            instance,
            name: c_text(name),
            listener: Listener::Three { call: None, environment: std::ptr::null_mut() },
            logging,
            intermediate: None,
            last_time: 0.0,
        })
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(component)) => Box::into_raw(Box::new(Component { listener, ..component })),
        Ok(Err(text)) => {
            listener.tell(c"tippe", ERROR, c"logStatusError", &format!("the unit cannot be instantiated: {text}"));
            std::ptr::null_mut()
        }
        Err(payload) => {
            listener.tell(c"tippe", FATAL, c"logStatusFatal", &panic_text(&*payload));
            std::ptr::null_mut()
        }
    }
}

impl Component {
    /// Numbers by value reference.
    pub(crate) fn get(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), String> {
        for (reference, value) in references.iter().zip(values) {
            *value = self.instance.get(*reference)?;
        }
        Ok(())
    }

    /// Numbers by value reference.
    pub(crate) fn set(&mut self, references: &[u32], values: &[f64]) -> Result<(), String> {
        references.iter().zip(values).try_for_each(|(reference, value)| self.instance.set(*reference, *value))
    }
}

/// Something of a whole vector of states.
pub(crate) fn vector(
    own: &mut Component,
    values: &mut [f64],
    of: impl Fn(&mut crate::exchange::Exchange, usize) -> f64,
) -> Result<(), String> {
    let equations = own.instance.equations()?;
    if values.len() != equations.count() {
        return Err(format!("{} numbers are asked for, there are {} states", values.len(), equations.count()));
    }
    values.iter_mut().enumerate().for_each(|(k, value)| *value = of(equations, k));
    Ok(())
}
