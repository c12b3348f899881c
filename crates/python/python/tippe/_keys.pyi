"""Keywords of the scene builder. Written by crates/python/keys.py from the JSON Schema; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

#: A number in SI, or a text with units, parameters and arithmetic.
Number: TypeAlias = float | str
#: Three of them.
Vector: TypeAlias = Sequence[Number] | Any
#: Two things of the scene, or their names.
Names: TypeAlias = Sequence[Any]

class Body(TypedDict, total=False):
    angular_velocity: Vector
    angular_velocity_body: Vector
    center_of_mass: Vector
    collide: bool
    density: Number
    fixed: bool
    flexible: Mapping[str, Any]
    frames: Sequence[Any] | Any
    groups: Sequence[Any] | Any
    ignore: Sequence[Any] | Any
    inertia: Any
    mass: Number
    material: str | Any
    motion: Mapping[str, Any]
    orientation: Any
    position: Vector
    repeat: Sequence[Any] | Any
    servo: Mapping[str, Any]
    shape: Mapping[str, Any]
    shapes: Sequence[Any] | Any
    solver: str
    velocity: Vector

class ShapedBody(TypedDict, total=False):
    angular_velocity: Vector
    angular_velocity_body: Vector
    center_of_mass: Vector
    collide: bool
    density: Number
    fixed: bool
    flexible: Mapping[str, Any]
    frames: Sequence[Any] | Any
    groups: Sequence[Any] | Any
    ignore: Sequence[Any] | Any
    inertia: Any
    mass: Number
    material: str | Any
    motion: Mapping[str, Any]
    orientation: Any
    position: Vector
    repeat: Sequence[Any] | Any
    servo: Mapping[str, Any]
    shapes: Sequence[Any] | Any
    solver: str
    velocity: Vector

class SphereBody(ShapedBody, total=False):
    diameter: Number
    radius: Number

class EllipsoidBody(ShapedBody, total=False):
    lengths: Vector
    semi_axes: Vector

class BoxBody(ShapedBody, total=False):
    half_extents: Vector
    size: Vector
    smoothing: Number

class CylinderBody(ShapedBody, total=False):
    axis: str
    diameter: Number
    length: Number
    radius: Number
    smoothing: Number

class CapsuleBody(ShapedBody, total=False):
    axis: str
    diameter: Number
    length: Number
    radius: Number

class ConeBody(ShapedBody, total=False):
    axis: str
    diameter: Number
    length: Number
    radius: Number
    smoothing: Number
    top_radius: Number

class HalfSpaceBody(ShapedBody, total=False):
    normal: Vector

class ProfileBody(ShapedBody, total=False):
    curve: Any
    length: Number

class HullBody(ShapedBody, total=False):
    points: Sequence[Any] | Any
    smoothing: Number

class HeightGridBody(ShapedBody, total=False):
    heights: Sequence[Any] | Any
    size: Sequence[Any] | Any

class MeshBody(ShapedBody, total=False):
    file: str | Any
    hull: bool
    pieces: int | str
    scale: Number
    solid: str | Any
    triangles: Sequence[Any] | Any
    unit: str | Any
    vertices: Sequence[Any] | Any
    weld: Number

class PipeBody(ShapedBody, total=False):
    control: Sequence[Any] | Any
    diameter: Number
    mass_per_length: Number
    pieces: int | str
    radius: Number

class AnyShape(TypedDict, total=False):
    axis: str
    collide: bool
    control: Sequence[Any] | Any
    curve: Any
    density: Number
    diameter: Number
    file: str | Any
    half_extents: Vector
    heights: Sequence[Any] | Any
    hull: bool
    length: Number
    lengths: Vector
    mass_per_length: Number
    material: str | Any
    normal: Vector
    orientation: Any
    pieces: int | str
    points: Sequence[Any] | Any
    position: Vector
    radius: Number
    scale: Number
    semi_axes: Vector
    size: Sequence[Any] | Any
    smoothing: Number
    solid: str | Any
    top_radius: Number
    triangles: Sequence[Any] | Any
    unit: str | Any
    vertices: Sequence[Any] | Any
    weld: Number

class Joint(TypedDict, total=False):
    active: bool
    angle: Number
    angle1: Number
    angle2: Number
    angular_velocity: Vector
    apart: bool
    at: Vector
    axis: Any
    axis2: Any
    bend1: Number
    bend2: Number
    breaking_force: Number
    breaking_torque: Number
    collide: bool
    compliance: Number
    crossed: bool
    curve: Any
    damping: Number
    face: Any
    force_max: Number
    friction: Any
    joints: Sequence[Any] | Any
    length: Number
    limit: Any
    motor: Any
    one_sided: bool
    pitch: Number
    position: Number
    radii: Sequence[Any] | Any
    radius: Number
    ratio: Number
    repeat: Sequence[Any] | Any
    rows: bool
    semi_axes: Vector
    shape: str
    speed: Number
    speed1: Number
    speed2: Number
    spring: Any
    torque_max: Number
    turn_speed: Number
    turning_compliance: Number
    turning_damping: Number
    velocity: Vector
    vx: Number
    vy: Number
    x: Number
    y: Number

class Motor(TypedDict, total=False):
    coordinate: str | Any
    damping: Number
    kind: str
    limit: Number
    stiffness: Number
    value: Number

class Limit(TypedDict, total=False):
    coordinate: str | Any
    exponent: Number
    lower: Number
    restitution: Number
    stiffness: Number
    upper: Number

class CoordinateSpring(TypedDict, total=False):
    coordinate: str | Any
    damped_by_step: bool
    damping: Number
    rest: Number
    stiffness: Number

class Friction(TypedDict, total=False):
    coordinate: str | Any
    sliding: Number
    sticking: Number

class Force(TypedDict, total=False):
    advance: Sequence[Any] | Any
    angle: Number
    applied: Number
    area: Number
    aspect: Number
    at: Any
    axial_stiffness: Number
    bending_stiffness: Number
    between: Sequence[Any] | Any
    bias: Number
    bite: Sequence[Any] | Any
    bore: Number
    breaking_load: Number
    capacity: Any
    cell: Number
    cohesion: Number
    cohesive: Number
    current: Vector
    damped_by_step: bool
    damping: Any
    damping_time: Number
    data: str | Any
    deduction: Number
    deepest: Number
    density: Number
    diameter: Number
    displacements: Sequence[Any] | Any
    drag: Any
    efficiency: Number
    engagement: Number
    file: str | Any
    flow: Number
    force: Vector
    friction: Number
    friction_across: Number
    friction_angle: Number
    frictional: Number
    full_load: Sequence[Any] | Any
    gain: Number
    gear: Number
    governor: Number
    grip: Number
    ground: str | Any
    hardness: Number
    high: Sequence[Any] | Any
    idle: Number
    join_angle: Number
    joints: int | str
    kc: Number
    kphi: Number
    law: Any
    leakage: Number
    length: Number
    locked: Number
    low: Sequence[Any] | Any
    mass: Number
    mat: Number
    n: Number
    on: str | Any
    patches: int | str
    peak: Number
    peak_slip: Number
    peat: Number
    power_max: Number
    preload: Number
    radius: Number
    ratio: Number
    ratios: Sequence[Any] | Any
    redline: Number
    refuses: Number
    relaxed: bool
    relief: Number
    repeat: Sequence[Any] | Any
    residual: Number
    resolved: str
    rest: Number
    reverse: Number
    rod: Number
    rolling: Number
    rope: bool
    settling: Number
    shafts: Sequence[Any] | Any
    share: Number
    shear: Number
    shear_law: str
    shift_time: Number
    slip_sinkage: Number
    soil: str | Any
    speed: Number
    stall: Number
    starter: Number
    starter_speed: Number
    starter_torque: Number
    stiffness: Any
    swash: Number
    synchroniser: Number
    terrain: bool
    throttle: Number
    thrust: Sequence[Any] | Any
    torque: Any
    torque_max: Number
    torque_ratio: Sequence[Any] | Any
    torsional_stiffness: Number
    turning_damping: Any
    turning_stiffness: Any
    turns: Number
    unit_weight: Number
    unloading: Number
    unloading_growth: Number
    valve: Number
    wake: Number
    wheels: Any
    width: Number

class Applied(TypedDict, total=False):
    advance: Sequence[Any] | Any
    angle: Number
    applied: Number
    area: Number
    aspect: Number
    at: Any
    axial_stiffness: Number
    bending_stiffness: Number
    between: Sequence[Any] | Any
    bias: Number
    bite: Sequence[Any] | Any
    bore: Number
    breaking_load: Number
    capacity: Any
    cell: Number
    cohesion: Number
    cohesive: Number
    current: Vector
    damped_by_step: bool
    damping: Any
    damping_time: Number
    data: str | Any
    deduction: Number
    deepest: Number
    density: Number
    diameter: Number
    displacements: Sequence[Any] | Any
    drag: Any
    efficiency: Number
    engagement: Number
    file: str | Any
    flow: Number
    force: Vector
    friction: Number
    friction_across: Number
    friction_angle: Number
    frictional: Number
    full_load: Sequence[Any] | Any
    gain: Number
    gear: Number
    governor: Number
    grip: Number
    ground: str | Any
    hardness: Number
    high: Sequence[Any] | Any
    idle: Number
    join_angle: Number
    joints: int | str
    kc: Number
    kphi: Number
    law: Any
    leakage: Number
    length: Number
    locked: Number
    low: Sequence[Any] | Any
    mass: Number
    mat: Number
    n: Number
    patches: int | str
    peak: Number
    peak_slip: Number
    peat: Number
    power_max: Number
    preload: Number
    radius: Number
    ratio: Number
    ratios: Sequence[Any] | Any
    redline: Number
    refuses: Number
    relaxed: bool
    relief: Number
    repeat: Sequence[Any] | Any
    residual: Number
    resolved: str
    rest: Number
    reverse: Number
    rod: Number
    rolling: Number
    rope: bool
    settling: Number
    shafts: Sequence[Any] | Any
    share: Number
    shear: Number
    shear_law: str
    shift_time: Number
    slip_sinkage: Number
    soil: str | Any
    speed: Number
    stall: Number
    starter: Number
    starter_speed: Number
    starter_torque: Number
    stiffness: Any
    swash: Number
    synchroniser: Number
    terrain: bool
    throttle: Number
    thrust: Sequence[Any] | Any
    torque: Any
    torque_max: Number
    torque_ratio: Sequence[Any] | Any
    torsional_stiffness: Number
    turning_damping: Any
    turning_stiffness: Any
    turns: Number
    unit_weight: Number
    unloading: Number
    unloading_growth: Number
    valve: Number
    wake: Number
    wheels: Any
    width: Number

class Spring(TypedDict, total=False):
    advance: Sequence[Any] | Any
    angle: Number
    applied: Number
    area: Number
    aspect: Number
    at: Any
    axial_stiffness: Number
    bending_stiffness: Number
    bias: Number
    bite: Sequence[Any] | Any
    bore: Number
    breaking_load: Number
    capacity: Any
    cell: Number
    cohesion: Number
    cohesive: Number
    current: Vector
    damped_by_step: bool
    damping: Any
    damping_time: Number
    data: str | Any
    deduction: Number
    deepest: Number
    density: Number
    diameter: Number
    displacements: Sequence[Any] | Any
    drag: Any
    efficiency: Number
    engagement: Number
    file: str | Any
    flow: Number
    force: Vector
    friction: Number
    friction_across: Number
    friction_angle: Number
    frictional: Number
    full_load: Sequence[Any] | Any
    gain: Number
    gear: Number
    governor: Number
    grip: Number
    ground: str | Any
    hardness: Number
    high: Sequence[Any] | Any
    idle: Number
    join_angle: Number
    joints: int | str
    kc: Number
    kphi: Number
    law: Any
    leakage: Number
    length: Number
    locked: Number
    low: Sequence[Any] | Any
    mass: Number
    mat: Number
    n: Number
    on: str | Any
    patches: int | str
    peak: Number
    peak_slip: Number
    peat: Number
    power_max: Number
    preload: Number
    radius: Number
    ratio: Number
    ratios: Sequence[Any] | Any
    redline: Number
    refuses: Number
    relaxed: bool
    relief: Number
    repeat: Sequence[Any] | Any
    residual: Number
    resolved: str
    rest: Number
    reverse: Number
    rod: Number
    rolling: Number
    rope: bool
    settling: Number
    shafts: Sequence[Any] | Any
    share: Number
    shear: Number
    shear_law: str
    shift_time: Number
    slip_sinkage: Number
    soil: str | Any
    speed: Number
    stall: Number
    starter: Number
    starter_speed: Number
    starter_torque: Number
    stiffness: Any
    swash: Number
    synchroniser: Number
    terrain: bool
    throttle: Number
    thrust: Sequence[Any] | Any
    torque: Any
    torque_max: Number
    torque_ratio: Sequence[Any] | Any
    torsional_stiffness: Number
    turning_damping: Any
    turning_stiffness: Any
    turns: Number
    unit_weight: Number
    unloading: Number
    unloading_growth: Number
    valve: Number
    wake: Number
    wheels: Any
    width: Number

class Driveline(TypedDict, total=False):
    advance: Sequence[Any] | Any
    angle: Number
    applied: Number
    area: Number
    aspect: Number
    at: Any
    axial_stiffness: Number
    bending_stiffness: Number
    between: Sequence[Any] | Any
    bias: Number
    bite: Sequence[Any] | Any
    bore: Number
    breaking_load: Number
    capacity: Any
    cell: Number
    cohesion: Number
    cohesive: Number
    current: Vector
    damped_by_step: bool
    damping: Any
    damping_time: Number
    data: str | Any
    deduction: Number
    deepest: Number
    density: Number
    diameter: Number
    displacements: Sequence[Any] | Any
    drag: Any
    efficiency: Number
    engagement: Number
    file: str | Any
    flow: Number
    force: Vector
    friction: Number
    friction_across: Number
    friction_angle: Number
    frictional: Number
    full_load: Sequence[Any] | Any
    gain: Number
    gear: Number
    governor: Number
    grip: Number
    ground: str | Any
    hardness: Number
    high: Sequence[Any] | Any
    idle: Number
    join_angle: Number
    joints: int | str
    kc: Number
    kphi: Number
    law: Any
    leakage: Number
    length: Number
    locked: Number
    low: Sequence[Any] | Any
    mass: Number
    mat: Number
    n: Number
    on: str | Any
    patches: int | str
    peak: Number
    peak_slip: Number
    peat: Number
    power_max: Number
    preload: Number
    radius: Number
    ratio: Number
    ratios: Sequence[Any] | Any
    redline: Number
    refuses: Number
    relaxed: bool
    relief: Number
    repeat: Sequence[Any] | Any
    residual: Number
    resolved: str
    rest: Number
    reverse: Number
    rod: Number
    rolling: Number
    rope: bool
    settling: Number
    share: Number
    shear: Number
    shear_law: str
    shift_time: Number
    slip_sinkage: Number
    soil: str | Any
    speed: Number
    stall: Number
    starter: Number
    starter_speed: Number
    starter_torque: Number
    stiffness: Any
    swash: Number
    synchroniser: Number
    terrain: bool
    throttle: Number
    thrust: Sequence[Any] | Any
    torque: Any
    torque_max: Number
    torque_ratio: Sequence[Any] | Any
    torsional_stiffness: Number
    turning_damping: Any
    turning_stiffness: Any
    turns: Number
    unit_weight: Number
    unloading: Number
    unloading_growth: Number
    valve: Number
    wake: Number
    wheels: Any
    width: Number

class Signal(TypedDict, total=False):
    amplitude: Number
    columns: Sequence[Any] | Any
    derivative: Number
    end: Number
    file: str | Any
    filter: Number
    frequency: Number
    from_: Number
    high: Number
    input: Number
    integral: Number
    limit: Number
    low: Number
    measured: Number
    offset: Number
    period: Number
    phase: Number
    proportional: Number
    repeat: Sequence[Any] | Any
    setpoint: Number
    start: Number
    to: Number
    value: Number
    width: Number
    x: Sequence[Any] | Any
    y: Sequence[Any] | Any

class Component(TypedDict, total=False):
    crossing: Sequence[Any] | Any
    der: Mapping[str, Any]
    fmu: str | Any
    inputs: Mapping[str, Any]
    kind: str
    let: Mapping[str, Any]
    outputs: Mapping[str, Any]
    power: Mapping[str, Any]
    repeat: Sequence[Any] | Any
    start: Mapping[str, Any]
    states: Mapping[str, Any]
    step: Number
    timeout: Number

class Constraint(TypedDict, total=False):
    at_least: Number
    at_most: Number
    compliance: Number
    damping: Number
    equals: Number
    force_max: Number
    repeat: Sequence[Any] | Any

class Cable(TypedDict, total=False):
    axial_stiffness: Number
    bending_stiffness: Number
    bonded: Number
    breaking_load: Number
    collide: bool
    curved_towards: Any
    damping: Number
    diameter: Number
    elements: int | str
    elongation: Number
    elongation_load: Number
    join_angle: Number
    joints: int | str
    length: Number
    mass_per_length: Number
    material: str | Any
    repeat: Sequence[Any] | Any
    rest_curvature: Number
    rest_twist: Number
    rope: str
    seabed: Number
    seabed_friction: Number
    segments: Any
    spans: str
    tension: Number
    torsional_stiffness: Number
    weight: Number
    wires: int | str

class Drawing(TypedDict, total=False):
    colour: Vector
    coloured: str
    grid: Sequence[Any] | Any
    opacity: Number
    range: Sequence[Any] | Any
    repeat: Sequence[Any] | Any
    u: Sequence[Any] | Any
    v: Sequence[Any] | Any
    value: Number

class Fluid(TypedDict, total=False):
    cables: Any
    current: Vector
    level: Number
    repeat: Sequence[Any] | Any
    sea: Any
    unbounded: bool
    viscosity: Number
    waves: Any

class Change(TypedDict, total=False):
    at: Number
    attach: str | Any
    contact_off: Sequence[Any] | Any
    contact_on: Sequence[Any] | Any
    delete: str | Any
    lock: str | Any
    release: str | Any
    repeat: Sequence[Any] | Any
    unlock: str | Any
    when: Number

class Solid(TypedDict, total=False):
    addendum: Number
    along: int | str
    angle: Number
    around: int | str
    backlash: Number
    crest: Number
    curve: Any
    dedendum: Number
    depth: Number
    file: str | Any
    flank_points: int | str
    hole: Number
    holes: Sequence[Any] | Any
    left_handed: bool
    length: Number
    mirror: Vector
    module: Number
    of: Sequence[Any] | Any
    orientation: Any
    outline: Sequence[Any] | Any
    path: str | Any
    pitch: Number
    position: Vector
    pressure_angle: Number
    profile: Sequence[Any] | Any
    radius: Number
    repeat: Sequence[Any] | Any
    root: Number
    scale: Any
    segments: int | str
    shift: Number
    size: Vector
    step: Vector
    teeth: int | str
    top_radius: Number
    triangles: Sequence[Any] | Any
    unit: str | Any
    vertices: Sequence[Any] | Any
    weld: Number
    width: Number

class Expect(TypedDict, total=False):
    above: Number
    at: Number
    below: Number
    clock: str
    is_: Number
    relative: bool
    repeat: Sequence[Any] | Any
    tolerance: Number
    until: Number
    with_: Mapping[str, Any]
    within: Number

class Include(TypedDict, total=False):
    orientation: Any
    params: Mapping[str, Any]
    position: Vector
    repeat: Sequence[Any] | Any

class Contact(TypedDict, total=False):
    adhesion: Number
    adhesion_pressure: Number
    blend_speed: Number
    bristle_stiffness: Number
    damping: Number
    damping_max: Number
    exponent: Number
    force_max: Number
    friction: Number
    friction_curve: Sequence[Any] | Any
    friction_force: Number
    friction_law: str
    ignore: bool
    k_red: Number
    law: str | Any
    lever: str
    modulus: Number
    normal_force_max: Number
    patch_radius: Number
    points: int | str
    radius: Number
    repeat: Sequence[Any] | Any
    restitution: Number
    restitution_curve: Sequence[Any] | Any
    restitution_min: Number
    rolling: Number
    slip: Number
    slip_speed: Number
    spin: Number
    spin_damping: Number
    spin_speed: Number
    static_friction: Number
    stiffness: Number

class Defaults(TypedDict, total=False):
    collide: bool
    groups: Sequence[Any] | Any
    material: str | Any
    smoothing: Number

class RunSettings(TypedDict, total=False):
    clock: Any
    integrator: Any
    max_step: Any
    output_interval: Any
    step: Any
    tolerance: Any
    until: Any

class RealtimeSettings(TypedDict, total=False):
    coupled: str
    direct_bodies: int | str
    friction: str
    friction_load: str
    max_contacts: int | str
    merge_distance: Number
    passes: int | str
    points: int | str
    search_margin: Number
    sleeping: bool
    solver: str
    step: Number
    sweeps: int | str

class Optimize(TypedDict, total=False):
    body: str | Any
    filter: Number
    keep: Sequence[Any] | Any
    power: int | str
    rim: Number
    rounds: int | str
    sharpness: Number
    steps: int | str
    volume: Number

class GranularSettings(TypedDict, total=False):
    books: bool
    high: Vector
    low: Vector
    memory: Number
    method: str
    periodic: Sequence[Any] | Any
    snapshot_interval: Number
    step: Number
    stiffness: Number

class Grains(TypedDict, total=False):
    adhesion: Number
    angular_velocity: Vector
    clump: Sequence[Any] | Any
    clump_seed: int | str
    cohesion: Number
    count: int | str
    deviation: Number
    file: str | Any
    friction: Number
    frozen: bool
    high: Vector
    hull: Sequence[Any] | Any
    jitter: Number
    low: Vector
    median: Number
    position: Vector
    radius: Number
    radius_range: Sequence[Any] | Any
    rate: Number
    repeat: Sequence[Any] | Any
    restitution: Number
    rolling: Number
    rolling_damping: Number
    rolling_law: str
    seed: int | str
    sieve: Sequence[Any] | Any
    soil: str | Any
    spheres: Sequence[Any] | Any
    spins: Sequence[Any] | Any
    velocities: Sequence[Any] | Any
    velocity: Vector

class Sink(TypedDict, total=False):
    repeat: Sequence[Any] | Any
    smoothing: Number

class Probe(TypedDict, total=False):
    repeat: Sequence[Any] | Any

class Soil(TypedDict, total=False):
    features: Sequence[Any] | Any
    feeds: Sequence[Any] | Any
    file: str | Any
    ignore: Sequence[Any] | Any
    kinds: Sequence[Any] | Any
    level: Number
    points: Sequence[Any] | Any
    repeat: Sequence[Any] | Any
    tools: Sequence[Any] | Any
