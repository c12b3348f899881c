//! The functions of FMI 3.0.1: Model Exchange and Co-Simulation; Scheduled Execution is refused.

use super::fmi2::{
    free_state, get_state, indicators, refuse, set_state, set_states, state_bytes, state_from_bytes, state_size,
};
use super::{ERROR, Listener, OK, c_text, give, made, on, slice, slice_mut, vector};
use crate::instance::Phase;
use crate::plan::Slot;
use std::ffi::{c_char, c_int, c_void};
use tippe::precise::Occasion;

/// `fmi3LogMessageCallback`.
pub(crate) type Logger = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);
/// `fmi3IntermediateUpdateCallback`.
pub(crate) type Intermediate = unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64);

type C = *mut c_void;

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(c: C, logging: bool, _: usize, _: *const *const c_char) -> c_int {
    unsafe {
        on(c, "fmi3SetDebugLogging", |own| {
            own.logging = logging;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    environment: *mut c_void,
    call: Option<Logger>,
) -> C {
    unsafe { made(name, token, resources, true, logging, Listener::Three { call, environment }) }.cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    event_mode: bool,
    early_return: bool,
    _required: *const u32,
    _required_count: usize,
    environment: *mut c_void,
    call: Option<Logger>,
    intermediate: Option<Intermediate>,
) -> C {
    let component = unsafe { made(name, token, resources, false, logging, Listener::Three { call, environment }) };
    if let Some(own) = unsafe { component.as_mut() } {
        own.instance.event_mode = event_mode;
        own.instance.early_return = early_return;
        own.intermediate = intermediate.map(|call| (call, environment));
    }
    component.cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _name: *const c_char,
    _token: *const c_char,
    _resources: *const c_char,
    _visible: bool,
    _logging: bool,
    environment: *mut c_void,
    call: Option<Logger>,
    _clock_update: *const c_void,
    _lock: *const c_void,
    _unlock: *const c_void,
) -> C {
    let listener = Listener::Three { call, environment };
    listener.tell(
        c"tippe",
        ERROR,
        c"logStatusError",
        "this unit offers no Scheduled Execution; the description says so",
    );
    std::ptr::null_mut()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(c: C) {
    unsafe { super::fmi2::fmi2FreeInstance(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    c: C,
    tolerance_defined: bool,
    tolerance: f64,
    start: f64,
    _stop_defined: bool,
    _stop: f64,
) -> c_int {
    unsafe {
        on(c, "fmi3EnterInitializationMode", |own| {
            own.instance.set_up(tolerance_defined.then_some(tolerance), start)?;
            own.instance.phase = Phase::Initialization;
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(c: C) -> c_int {
    unsafe { super::fmi2::fmi2ExitInitializationMode(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterEventMode(c: C) -> c_int {
    unsafe { super::fmi2::fmi2EnterEventMode(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(c: C) -> c_int {
    unsafe { super::fmi2::fmi2Terminate(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(c: C) -> c_int {
    unsafe { super::fmi2::fmi2Reset(c) }
}

fn lengths(references: usize, values: usize) -> Result<(), String> {
    if references == values {
        Ok(())
    } else {
        Err(format!("{references} variables and {values} values: all are scalars"))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(c: C, vr: *const u32, n: usize, values: *mut f64, count: usize) -> c_int {
    unsafe {
        on(c, "fmi3GetFloat64", |own| {
            lengths(n, count)?;
            own.get(slice(vr, n)?, slice_mut(values, n)?)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(c: C, vr: *const u32, n: usize, values: *const f64, count: usize) -> c_int {
    unsafe {
        on(c, "fmi3SetFloat64", |own| {
            lengths(n, count)?;
            own.set(slice(vr, n)?, slice(values, n)?)
        })
    }
}

const ONLY_REAL: &str = "all variables of this unit are of type Float64";

macro_rules! of_other_types {
    ($($name:ident: $pointer:ty),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: C, _vr: *const u32, n: usize, _values: $pointer, _count: usize) -> c_int {
            unsafe { refuse(c, stringify!($name), n, ONLY_REAL) }
        }
    )*};
}

of_other_types! {
    fmi3GetFloat32: *mut f32, fmi3SetFloat32: *const f32,
    fmi3GetInt8: *mut i8, fmi3SetInt8: *const i8,
    fmi3GetUInt8: *mut u8, fmi3SetUInt8: *const u8,
    fmi3GetInt16: *mut i16, fmi3SetInt16: *const i16,
    fmi3GetUInt16: *mut u16, fmi3SetUInt16: *const u16,
    fmi3GetInt32: *mut i32, fmi3SetInt32: *const i32,
    fmi3GetUInt32: *mut u32, fmi3SetUInt32: *const u32,
    fmi3GetInt64: *mut i64, fmi3SetInt64: *const i64,
    fmi3GetUInt64: *mut u64, fmi3SetUInt64: *const u64,
    fmi3GetBoolean: *mut bool, fmi3SetBoolean: *const bool,
    fmi3GetString: *mut *const c_char, fmi3SetString: *const *const c_char,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBinary(
    c: C,
    _vr: *const u32,
    n: usize,
    _sizes: *mut usize,
    _values: *mut *const u8,
    _count: usize,
) -> c_int {
    unsafe { refuse(c, "fmi3GetBinary", n, ONLY_REAL) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBinary(
    c: C,
    _vr: *const u32,
    n: usize,
    _sizes: *const usize,
    _values: *const *const u8,
    _count: usize,
) -> c_int {
    unsafe { refuse(c, "fmi3SetBinary", n, ONLY_REAL) }
}

const NO_CLOCKS: &str = "this unit has no clocks of FMI 3";

macro_rules! of_clocks {
    ($($name:ident($($argument:ty),*)),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: C, _vr: *const u32, n: usize $(, _: $argument)*) -> c_int {
            unsafe { refuse(c, stringify!($name), n, NO_CLOCKS) }
        }
    )*};
}

of_clocks! {
    fmi3GetClock(*mut bool), fmi3SetClock(*const bool),
    fmi3GetIntervalDecimal(*mut f64, *mut c_int), fmi3GetIntervalFraction(*mut u64, *mut u64, *mut c_int),
    fmi3GetShiftDecimal(*mut f64), fmi3GetShiftFraction(*mut u64, *mut u64),
    fmi3SetIntervalDecimal(*const f64), fmi3SetIntervalFraction(*const u64, *const u64),
    fmi3SetShiftDecimal(*const f64), fmi3SetShiftFraction(*const u64, *const u64),
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfVariableDependencies(c: C, _vr: u32, _count: *mut usize) -> c_int {
    unsafe {
        refuse(
            c,
            "fmi3GetNumberOfVariableDependencies",
            1,
            "dependencies are not listed: anything may depend on anything",
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetVariableDependencies(
    c: C,
    _vr: u32,
    _of: *mut usize,
    _independents: *mut u32,
    _by: *mut usize,
    _kinds: *mut c_int,
    _count: usize,
) -> c_int {
    unsafe {
        refuse(c, "fmi3GetVariableDependencies", 1, "dependencies are not listed: anything may depend on anything")
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(c: C, state: *mut *mut c_void) -> c_int {
    unsafe { get_state(c, "fmi3GetFMUState", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(c: C, state: *mut c_void) -> c_int {
    unsafe { set_state(c, "fmi3SetFMUState", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(c: C, state: *mut *mut c_void) -> c_int {
    unsafe { free_state(c, "fmi3FreeFMUState", state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(c: C, state: *mut c_void, size: *mut usize) -> c_int {
    unsafe { state_size(c, "fmi3SerializedFMUStateSize", state, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(c: C, state: *mut c_void, bytes: *mut u8, size: usize) -> c_int {
    unsafe { state_bytes(c, "fmi3SerializeFMUState", state, bytes, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    c: C,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    unsafe { state_from_bytes(c, "fmi3DeserializeFMUState", bytes, size, state) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    c: C,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    shares: *const f64,
    share_count: usize,
    derivatives: *mut f64,
    derivative_count: usize,
) -> c_int {
    unsafe {
        on(c, "fmi3GetDirectionalDerivative", |own| {
            lengths(known_count, share_count)?;
            lengths(unknown_count, derivative_count)?;
            let unknowns = slice(unknowns, unknown_count)?;
            let found = own.instance.directional(unknowns, slice(knowns, known_count)?, slice(shares, share_count)?)?;
            slice_mut(derivatives, derivative_count)?.copy_from_slice(&found);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetAdjointDerivative(
    c: C,
    _unknowns: *const u32,
    _unknown_count: usize,
    _knowns: *const u32,
    _known_count: usize,
    _seed: *const f64,
    _seed_count: usize,
    _derivatives: *mut f64,
    _derivative_count: usize,
) -> c_int {
    unsafe {
        refuse(c, "fmi3GetAdjointDerivative", 1, "there are directional derivatives only; the description says so")
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterConfigurationMode(c: C) -> c_int {
    unsafe { refuse(c, "fmi3EnterConfigurationMode", 1, "there are no structural parameters") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitConfigurationMode(c: C) -> c_int {
    unsafe { refuse(c, "fmi3ExitConfigurationMode", 1, "there are no structural parameters") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EvaluateDiscreteStates(c: C) -> c_int {
    unsafe { refuse(c, "fmi3EvaluateDiscreteStates", 0, "") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    c: C,
    needed: *mut bool,
    terminate: *mut bool,
    nominals_changed: *mut bool,
    values_changed: *mut bool,
    next_defined: *mut bool,
    next: *mut f64,
) -> c_int {
    unsafe {
        on(c, "fmi3UpdateDiscreteStates", |own| {
            let (mut changed, mut time) = (false, None);
            // of Co-Simulation the clock has handled the event already
            if own.instance.equations().is_ok() {
                let handled = own.instance.handle_event()?;
                (changed, time) = (handled.states_changed, handled.next);
            }
            [needed, terminate, nominals_changed].into_iter().for_each(|flag| give(flag, false));
            give(values_changed, changed);
            give(next_defined, time.is_some());
            give(next, time.unwrap_or(0.0));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterContinuousTimeMode(c: C) -> c_int {
    unsafe { super::fmi2::fmi2EnterContinuousTimeMode(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3CompletedIntegratorStep(
    c: C,
    _no_set: bool,
    event: *mut bool,
    terminate: *mut bool,
) -> c_int {
    unsafe {
        on(c, "fmi3CompletedIntegratorStep", |own| {
            let wanted = own.instance.equations()?.completed();
            give(event, wanted);
            give(terminate, false);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetTime(c: C, time: f64) -> c_int {
    unsafe { super::fmi2::fmi2SetTime(c, time) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetContinuousStates(c: C, x: *const f64, n: usize) -> c_int {
    unsafe { set_states(c, "fmi3SetContinuousStates", x, n) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStateDerivatives(c: C, rates: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi3GetContinuousStateDerivatives", |own| vector(own, slice_mut(rates, n)?, |own, k| own.rate(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetEventIndicators(c: C, z: *mut f64, n: usize) -> c_int {
    unsafe { indicators(c, "fmi3GetEventIndicators", z, n) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStates(c: C, x: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi3GetContinuousStates", |own| vector(own, slice_mut(x, n)?, |own, k| own.state(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNominalsOfContinuousStates(c: C, x: *mut f64, n: usize) -> c_int {
    unsafe { on(c, "fmi3GetNominalsOfContinuousStates", |own| vector(own, slice_mut(x, n)?, |own, k| own.nominal(k))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfEventIndicators(c: C, count: *mut usize) -> c_int {
    unsafe {
        on(c, "fmi3GetNumberOfEventIndicators", |_| {
            give(count, Occasion::ALL.len());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfContinuousStates(c: C, count: *mut usize) -> c_int {
    unsafe {
        on(c, "fmi3GetNumberOfContinuousStates", |own| {
            give(count, own.instance.package.items_where(|slot| matches!(slot, Slot::State(_))).count());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(c: C) -> c_int {
    unsafe { super::fmi2::fmi2EnterContinuousTimeMode(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    c: C,
    _vr: *const u32,
    n: usize,
    _orders: *const i32,
    _values: *mut f64,
    _count: usize,
) -> c_int {
    unsafe { refuse(c, "fmi3GetOutputDerivatives", n, "outputs have no derivatives; the description says so") }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    c: C,
    now: f64,
    length: f64,
    _no_set_prior: bool,
    event: *mut bool,
    terminate: *mut bool,
    early: *mut bool,
    last: *mut f64,
) -> c_int {
    let mut asked: Option<(Intermediate, *mut c_void, f64, bool)> = None;
    let status = unsafe {
        on(c, "fmi3DoStep", |own| {
            own.instance.phase = Phase::Running;
            let stepped = own.instance.step(now, length)?;
            own.last_time = stepped.time;
            give(event, stepped.event);
            give(terminate, false);
            give(early, stepped.early);
            give(last, stepped.time);
            asked = own.intermediate.map(|(call, environment)| (call, environment, stepped.time, stepped.early));
            if own.logging {
                for (time, event) in own.instance.events() {
                    own.listener.tell(&own.name, OK, &c_text("logEvents"), &format!("t = {time} s: {event}"));
                }
            }
            Ok(())
        })
    };
    if let (OK, Some((call, environment, time, _))) = (status, asked) {
        let (mut wanted, mut until) = (false, time);
        // SAFETY: the caller's function; while it runs nobody else holds the instance, which it may ask for values.
        unsafe { call(environment, time, false, true, true, false, &raw mut wanted, &raw mut until) };
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ActivateModelPartition(c: C, _clock: u32, _time: f64) -> c_int {
    unsafe {
        refuse(c, "fmi3ActivateModelPartition", 1, "this unit offers no Scheduled Execution; the description says so")
    }
}
