//! The functions of FMI 2.0.4, both kinds.

use super::{DISCARD, ERROR, Listener, OK, give, made, on, slice, slice_mut, vector};
use crate::instance::{Phase, Snapshot};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// `fmi2CallbackLogger`.
pub(crate) type Logger = unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...);

/// `fmi2CallbackFunctions`.
#[repr(C)]
pub struct Callbacks {
    logger: Option<Logger>,
    allocate: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    environment: *mut c_void,
}

/// `fmi2EventInfo`.
#[repr(C)]
pub struct EventInfo {
    new_discrete_states_needed: c_int,
    terminate_simulation: c_int,
    nominals_changed: c_int,
    values_changed: c_int,
    next_defined: c_int,
    next: f64,
}

type C = *mut c_void;

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(c: C, logging: c_int, _: usize, _: *const *const c_char) -> c_int {
    unsafe {
        on(c, "fmi2SetDebugLogging", |own| {
            own.logging = logging != 0;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    location: *const c_char,
    functions: *const Callbacks,
    _visible: c_int,
    logging: c_int,
) -> C {
    let (call, environment) = match unsafe { functions.as_ref() } {
        Some(own) => (own.logger, own.environment),
        None => (None, std::ptr::null_mut()),
    };
    unsafe { made(name, guid, location, kind == 0, logging != 0, Listener::Two { call, environment }) }.cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: C) {
    if !c.is_null() {
        drop(unsafe { Box::from_raw(c.cast::<super::Component>()) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: C,
    tolerance_defined: c_int,
    tolerance: f64,
    start: f64,
    _stop_defined: c_int,
    _stop: f64,
) -> c_int {
    let tolerance = (tolerance_defined != 0).then_some(tolerance);
    unsafe { on(c, "fmi2SetupExperiment", |own| own.instance.set_up(tolerance, start)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: C) -> c_int {
    unsafe {
        on(c, "fmi2EnterInitializationMode", |own| {
            own.instance.phase = Phase::Initialization;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: C) -> c_int {
    unsafe {
        on(c, "fmi2ExitInitializationMode", |own| {
            own.instance.ready()?;
            own.instance.phase = Phase::Event;
            own.last_time = own.instance.start;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: C) -> c_int {
    unsafe {
        on(c, "fmi2Terminate", |own| {
            own.instance.phase = Phase::Terminated;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: C) -> c_int {
    unsafe { on(c, "fmi2Reset", |own| own.instance.reset()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(c: C, vr: *const c_uint, n: usize, values: *mut f64) -> c_int {
    unsafe { on(c, "fmi2GetReal", |own| own.get(slice(vr, n)?, slice_mut(values, n)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(c: C, vr: *const c_uint, n: usize, values: *const f64) -> c_int {
    unsafe { on(c, "fmi2SetReal", |own| own.set(slice(vr, n)?, slice(values, n)?)) }
}

/// All variables are real: of other types there are none.
unsafe fn none(c: C, function: &str, n: usize) -> c_int {
    unsafe {
        on(c, function, |_| match n {
            0 => Ok(()),
            _ => Err("all variables of this unit are real numbers".to_owned()),
        })
    }
}

macro_rules! of_other_types {
    ($($name:ident: $pointer:ty),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: C, _vr: *const c_uint, n: usize, _values: $pointer) -> c_int {
            unsafe { none(c, stringify!($name), n) }
        }
    )*};
}

of_other_types! {
    fmi2GetInteger: *mut c_int,
    fmi2GetBoolean: *mut c_int,
    fmi2GetString: *mut *const c_char,
    fmi2SetInteger: *const c_int,
    fmi2SetBoolean: *const c_int,
    fmi2SetString: *const *const c_char,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: C, state: *mut *mut c_void) -> c_int {
    unsafe { get_state(c, "fmi2GetFMUstate", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: C, state: *mut c_void) -> c_int {
    unsafe { set_state(c, "fmi2SetFMUstate", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: C, state: *mut *mut c_void) -> c_int {
    unsafe { free_state(c, "fmi2FreeFMUstate", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(c: C, state: *mut c_void, size: *mut usize) -> c_int {
    unsafe { state_size(c, "fmi2SerializedFMUstateSize", state, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(c: C, state: *mut c_void, bytes: *mut u8, size: usize) -> c_int {
    unsafe { state_bytes(c, "fmi2SerializeFMUstate", state, bytes, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: C,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    unsafe { state_from_bytes(c, "fmi2DeSerializeFMUstate", bytes, size, state) }
}

/// A copy of everything; memory that was given before is used again.
pub(super) unsafe fn get_state(c: C, function: &str, state: *mut *mut c_void) -> c_int {
    unsafe {
        on(c, function, |own| {
            let Some(place) = state.as_mut() else { return Err("the place for the state is missing".to_owned()) };
            let snapshot = own.instance.snapshot();
            match place.cast::<Snapshot>().as_mut() {
                Some(old) => *old = snapshot,
                None => *place = Box::into_raw(Box::new(snapshot)).cast(),
            }
            Ok(())
        })
    }
}

pub(super) unsafe fn set_state(c: C, function: &str, state: *mut c_void) -> c_int {
    unsafe {
        on(c, function, |own| match state.cast::<Snapshot>().as_ref() {
            Some(snapshot) => own.instance.restore(snapshot),
            None => Err("the state is missing".to_owned()),
        })
    }
}

pub(super) unsafe fn free_state(c: C, function: &str, state: *mut *mut c_void) -> c_int {
    unsafe {
        on(c, function, |_| {
            if let Some(place) = state.as_mut()
                && !place.is_null()
            {
                drop(Box::from_raw(place.cast::<Snapshot>()));
                *place = std::ptr::null_mut();
            }
            Ok(())
        })
    }
}

unsafe fn written(own: &super::Component, state: *mut c_void) -> Result<Vec<u8>, String> {
    match unsafe { state.cast::<Snapshot>().as_ref() } {
        Some(snapshot) => own.instance.to_bytes(snapshot),
        None => Err("the state is missing".to_owned()),
    }
}

pub(super) unsafe fn state_size(c: C, function: &str, state: *mut c_void, size: *mut usize) -> c_int {
    unsafe {
        on(c, function, |own| {
            give(size, written(own, state)?.len());
            Ok(())
        })
    }
}

pub(super) unsafe fn state_bytes(c: C, function: &str, state: *mut c_void, bytes: *mut u8, size: usize) -> c_int {
    unsafe {
        on(c, function, |own| {
            let all = written(own, state)?;
            if all.len() != size {
                return Err(format!("the state has {} bytes, there is room for {size}", all.len()));
            }
            slice_mut(bytes, size)?.copy_from_slice(&all);
            Ok(())
        })
    }
}

pub(super) unsafe fn state_from_bytes(
    c: C,
    function: &str,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    unsafe {
        on(c, function, |own| {
            let Some(place) = state.as_mut() else { return Err("the place for the state is missing".to_owned()) };
            let snapshot = own.instance.from_bytes(slice(bytes, size)?)?;
            *place = Box::into_raw(Box::new(snapshot)).cast();
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: C,
    unknowns: *const c_uint,
    unknown_count: usize,
    knowns: *const c_uint,
    known_count: usize,
    shares: *const f64,
    derivatives: *mut f64,
) -> c_int {
    unsafe {
        on(c, "fmi2GetDirectionalDerivative", |own| {
            let unknowns = slice(unknowns, unknown_count)?;
            let found = own.instance.directional(unknowns, slice(knowns, known_count)?, slice(shares, known_count)?)?;
            slice_mut(derivatives, unknown_count)?.copy_from_slice(&found);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterEventMode(c: C) -> c_int {
    unsafe {
        on(c, "fmi2EnterEventMode", |own| {
            own.instance.phase = Phase::Event;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: C, info: *mut EventInfo) -> c_int {
    unsafe {
        on(c, "fmi2NewDiscreteStates", |own| {
            let handled = own.instance.handle_event()?;
            give(
                info,
                EventInfo {
                    new_discrete_states_needed: 0,
                    terminate_simulation: 0,
                    nominals_changed: 0,
                    values_changed: c_int::from(handled.states_changed),
                    next_defined: c_int::from(handled.next.is_some()),
                    next: handled.next.unwrap_or(0.0),
                },
            );
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterContinuousTimeMode(c: C) -> c_int {
    unsafe {
        on(c, "fmi2EnterContinuousTimeMode", |own| {
            own.instance.phase = Phase::Running;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: C,
    _no_set_prior: c_int,
    event: *mut c_int,
    terminate: *mut c_int,
) -> c_int {
    unsafe {
        on(c, "fmi2CompletedIntegratorStep", |own| {
            let wanted = own.instance.equations()?.completed();
            give(event, c_int::from(wanted));
            give(terminate, 0);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetTime(c: C, time: f64) -> c_int {
    unsafe { on(c, "fmi2SetTime", |own| own.instance.set_time(time)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: C, x: *const f64, n: usize) -> c_int {
    unsafe { set_states(c, "fmi2SetContinuousStates", x, n) }
}

pub(super) unsafe fn set_states(c: C, function: &str, x: *const f64, n: usize) -> c_int {
    unsafe {
        on(c, function, |own| {
            let (x, equations) = (slice(x, n)?, own.instance.equations()?);
            if n != equations.count() {
                return Err(format!("{n} numbers are given, there are {} states", equations.count()));
            }
            x.iter().enumerate().for_each(|(k, value)| equations.set_state(k, *value));
            Ok(())
        })
    }
}

pub(super) unsafe fn indicators(c: C, function: &str, z: *mut f64, n: usize) -> c_int {
    unsafe {
        on(c, function, |own| {
            let (z, all) = (slice_mut(z, n)?, own.instance.indicators()?);
            if n != all.len() {
                return Err(format!("{n} event indicators are asked for, there are {}", all.len()));
            }
            z.copy_from_slice(&all);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDerivatives(c: C, rates: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi2GetDerivatives", |own| vector(own, slice_mut(rates, n)?, |own, k| own.rate(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetEventIndicators(c: C, z: *mut f64, n: usize) -> c_int {
    unsafe { indicators(c, "fmi2GetEventIndicators", z, n) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetContinuousStates(c: C, x: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi2GetContinuousStates", |own| vector(own, slice_mut(x, n)?, |own, k| own.state(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetNominalsOfContinuousStates(c: C, x: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi2GetNominalsOfContinuousStates", |own| vector(own, slice_mut(x, n)?, |own, k| own.nominal(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: C,
    _vr: *const c_uint,
    n: usize,
    _order: *const c_int,
    _values: *const f64,
) -> c_int {
    unsafe { refuse(c, "fmi2SetRealInputDerivatives", n, "inputs are not interpolated; the description says so") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: C,
    _vr: *const c_uint,
    n: usize,
    _order: *const c_int,
    _values: *mut f64,
) -> c_int {
    unsafe { refuse(c, "fmi2GetRealOutputDerivatives", n, "outputs have no derivatives; the description says so") }
}

pub(super) unsafe fn refuse(c: C, function: &str, n: usize, why: &str) -> c_int {
    unsafe { on(c, function, |_| if n == 0 { Ok(()) } else { Err(why.to_owned()) }) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(c: C, now: f64, length: f64, _no_set_prior: c_int) -> c_int {
    unsafe {
        on(c, "fmi2DoStep", |own| {
            own.instance.phase = Phase::Running;
            own.last_time = own.instance.step(now, length)?.time;
            if own.logging {
                for (time, event) in own.instance.events() {
                    own.listener.tell(&own.name, OK, c"logEvents", &format!("t = {time} s: {event}"));
                }
            }
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: C) -> c_int {
    unsafe { refuse(c, "fmi2CancelStep", 1, "steps are over when fmi2DoStep returns") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(c: C, _kind: c_int, _value: *mut c_int) -> c_int {
    if c.is_null() { ERROR } else { DISCARD }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: C, kind: c_int, value: *mut f64) -> c_int {
    /// `fmi2LastSuccessfulTime`.
    const LAST: c_int = 2;
    if kind != LAST {
        return DISCARD;
    }
    unsafe {
        on(c, "fmi2GetRealStatus", |own| {
            give(value, own.last_time);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(c: C, _kind: c_int, _value: *mut c_int) -> c_int {
    if c.is_null() { ERROR } else { DISCARD }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(c: C, _kind: c_int, _value: *mut c_int) -> c_int {
    if c.is_null() { ERROR } else { DISCARD }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(c: C, _kind: c_int, _value: *mut *const c_char) -> c_int {
    if c.is_null() { ERROR } else { DISCARD }
}
