"""Scenes: loaded from files and from the gallery, or built element by element.

A `Scene` collects the JSON form of the scene file. Every element has a method, every key of the file is a keyword of that method
(`from`, `is` and `with` are written `from_`, `is_`, `with_`), values are numbers in SI, texts with units ("2 mm", "30 deg") or
equations, as in the file. Mistakes are found by the same reader that reads files; the message names the line of Python that
made the element.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _tippe
from ._kinds import Kinds
from .commands import answer
from .dynamics import Dynamics
from .run import Progress, Run
from .simulation import Simulation

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keys
    from ._keys import Number, Vector

#: A contact law: normal force [N] from depth, closing_speed, impact_speed, radius, modulus, friction, mass.
LawFunction = Callable[[float, float, float, float, float, float, float], float]
#: A controller: called at every sample with the simulation; sets its inputs.
Controller = Callable[[Simulation], Any]

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SHAPE_KEYS = {
    "sphere": ("radius", "diameter"),
    "ellipsoid": ("semi_axes", "lengths"),
    "box": ("size", "half_extents", "smoothing"),
    "cylinder": ("radius", "diameter", "length", "axis", "smoothing"),
    "capsule": ("radius", "diameter", "length", "axis"),
    "cone": ("radius", "diameter", "top_radius", "length", "axis", "smoothing"),
    "pipe": ("radius", "diameter", "control", "pieces", "mass_per_length"),
    "half_space": ("normal",),
    "profile": ("curve", "length"),
    "hull": ("points", "smoothing"),
    "height_grid": ("heights", "size"),
    "mesh": ("solid", "file", "unit", "scale", "vertices", "triangles", "hull", "pieces", "weld"),
}


class Element:
    """Something of a scene with a name. It can stand wherever a name can."""

    def __init__(self, scene: Scene, table: dict[str, Any]) -> None:
        self._scene = scene
        self._table = table

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._table["name"])

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __getitem__(self, key: str) -> Any:
        return self._table[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._table[_word(key)] = value


class Body(Element):
    """A body of a scene."""

    def frame(self, name: str, *, position: Vector = (0, 0, 0), orientation: Any = None) -> str:
        """Adds a frame on the body; returns `BODY.FRAME` for joints, forces and sensors."""
        frame: dict[str, Any] = {"name": name, "position": position}
        if orientation is not None:
            frame["orientation"] = orientation
        self._table.setdefault("frames", []).append(frame)
        return f"{self.name}.{name}"

    def shape(self, kind: str, **keys: Unpack[_keys.AnyShape]) -> Body:
        """Adds a shape to the body."""
        if "shape" in self._table:
            self._table["shapes"] = [self._table.pop("shape")]
        self._table.setdefault("shapes", []).append({"kind": kind, **_words(keys)})
        return self


class Joint(Element):
    """A joint of a scene."""

    def _more(self, what: str, keys: Mapping[str, Any]) -> Joint:
        self._table.setdefault(what, []).append(_words(keys))
        return self

    def motor(self, **keys: Unpack[_keys.Motor]) -> Joint:
        """Drives a coordinate: kind torque, speed, position or motion, and its value over time."""
        return self._more("motor", keys)

    def spring(self, **keys: Unpack[_keys.CoordinateSpring]) -> Joint:
        """Puts a spring on a coordinate."""
        return self._more("spring", keys)

    def limit(self, **keys: Unpack[_keys.Limit]) -> Joint:
        """Puts stops on a coordinate."""
        return self._more("limit", keys)

    def friction(self, **keys: Unpack[_keys.Friction]) -> Joint:
        """Puts dry friction on a coordinate."""
        return self._more("friction", keys)


class Scene(Kinds):
    """A scene, built or loaded."""

    def __init__(
        self,
        *,
        gravity: Vector | None = None,
        name: str = "scene",
        title: str | None = None,
        description: str | None = None,
        until: Number | None = None,
        clock: str | None = None,
        material: str | None = None,
        params: Mapping[str, Number] | None = None,
    ) -> None:
        """An empty scene. There is no default gravity [m/s^2]: say it. `material` is that of bodies that name none."""
        self.name = name
        self._sets: list[tuple[str, str]] = []
        self._source: tuple[str, str] | None = None
        self._laws: dict[str, LawFunction] = {}
        self._top: dict[str, Any] = {"format": 1}
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._marks: dict[int, str] = {}
        for key, text in (("title", title), ("description", description)):
            if text is not None:
                self._top[key] = text
        if gravity is not None:
            self._top["world"] = {"gravity": gravity}
        self.settings(until=until, clock=clock)
        if material is not None:
            self.defaults(material=material)
        if params:
            self.params(**params)

    # ---- surroundings -------------------------------------------------------------------------------------------------

    def _merge(self, what: str, keys: Mapping[str, Any]) -> None:
        self._changeable()
        given = {key: value for key, value in _words(keys).items() if value is not None}
        if given:
            self._top.setdefault(what, {}).update(given)
            self._mark(self._top[what])

    def settings(self, **keys: Unpack[_keys.RunSettings]) -> None:
        """How to run the scene: until, clock, tolerance, output_interval, integrator, step, max_step."""
        self._merge("run", keys)

    def realtime(self, **keys: Unpack[_keys.RealtimeSettings]) -> None:
        """How the realtime clock runs the scene: step, friction, passes, points, solver, sweeps, friction_load,
        direct_bodies, max_contacts, merge_distance, search_margin, sleeping."""
        self._merge("realtime", keys)

    def optimize(self, **keys: Unpack[_keys.Optimize]) -> None:
        """A flexible body to be made of less material by `tippe optimize`: body, volume, filter, rim, keep, rounds, steps."""
        self._merge("optimize", keys)

    def granular(self, **keys: Unpack[_keys.GranularSettings]) -> None:
        """How the granular clock runs the scene: step, low and high corner, periodic, books, memory, snapshot_interval."""
        self._merge("granular", keys)

    def defaults(self, **keys: Unpack[_keys.Defaults]) -> None:
        """What bodies have that do not say otherwise: material, groups, collide, smoothing."""
        self._merge("defaults", keys)

    def contact(self, **keys: Unpack[_keys.Contact]) -> None:
        """Contact parameters wherever a pair says nothing."""
        self._merge("contact", keys)

    def params(self, **values: Number) -> None:
        """Names for expressions, in order."""
        self._changeable()
        self._top.setdefault("params", {}).update(values)

    def attractor(self, *, mu: Number, position: Vector = (0, 0, 0)) -> None:
        """A point mass that attracts every body; mu = G M [m^3/s^2]."""
        self._changeable()
        world = self._top.setdefault("world", {})
        world.setdefault("attractors", []).append({"mu": mu, "position": position})

    def material(self, name: str, *, density: Number, young: Number, poisson: Number) -> str:
        """A material beside the built-in ones: density [kg/m^3], Young's modulus [Pa], Poisson's ratio [-]."""
        self._changeable()
        table = {"density": density, "young": young, "poisson": poisson}
        self._top.setdefault("materials", {})[name] = table
        return name

    def pair(self, first: Any, second: Any, *, materials: bool = False, **keys: Unpack[_keys.Contact]) -> None:
        """Contact parameters of two bodies (or `group:NAME`s), or with `materials=True` of two materials."""
        what = "materials" if materials else "bodies"
        self._add("pair", {what: [first, second], **_words(keys)})

    def ignore(self, first: Any, second: Any) -> None:
        """Two bodies, or `group:NAME`s, that never collide."""
        self._add("ignore", {"bodies": [first, second]})

    def law(
        self,
        name: str,
        normal: str | LawFunction,
        *,
        energy: str | None = None,
        friction: str | None = None,
        let: Mapping[str, Number] | None = None,
    ) -> str:
        """A contact law by name, for `law=` of `pair` and `contact`: an equation, or a function of Python.

        A function gets depth [m], closing_speed [m/s], impact_speed [m/s], radius [m], modulus [Pa], friction [-], mass [kg]
        and returns the normal force [N]; its value at closing_speed 0 is the elastic part, the rest is damping. An exception
        in it stops the run in good order and is raised there.
        """
        self._changeable()
        table: dict[str, Any] = {}
        if callable(normal):
            self._laws[name] = normal
            # what the file says for whoever reads it without this function
            table["normal"] = "0 N*depth/(1 m)"
        else:
            table["normal"] = normal
        for key, value in (("energy", energy), ("friction", friction), ("let", let)):
            if value is not None:
                table[key] = dict(value) if isinstance(value, Mapping) else value
        self._top.setdefault("law", {})[name] = table
        return name

    # ---- bodies --------------------------------------------------------------------------------------------------------

    def body(self, name: str, **keys: Unpack[_keys.Body]) -> Body:
        """A body with any number of shapes, or none."""
        return Body(self, self._add("body", {"name": name, **_words(keys)}))

    def _shaped(self, kind: str, name: str, keys: Mapping[str, Any]) -> Body:
        words = _words(keys)
        own = {key: words.pop(key) for key in _SHAPE_KEYS[kind] if key in words}
        return Body(self, self._add("body", {"name": name, "shape": {"kind": kind, **own}, **words}))

    def ground(self, name: str = "ground", *, height: Number = 0, **keys: Unpack[_keys.HalfSpaceBody]) -> Body:
        """A fixed half-space: everything below z = `height` [m], or below the plane of `normal`."""
        if height != 0:
            keys.setdefault("position", (0, 0, height))
        return self._shaped("half_space", name, {"fixed": True, **keys})

    def half_space(self, name: str, **keys: Unpack[_keys.HalfSpaceBody]) -> Body:
        """A body that is a half-space below the plane of `normal`."""
        return self._shaped("half_space", name, keys)

    def sphere(self, name: str, **keys: Unpack[_keys.SphereBody]) -> Body:
        """A sphere of `radius` or `diameter` [m]."""
        return self._shaped("sphere", name, keys)

    def ellipsoid(self, name: str, **keys: Unpack[_keys.EllipsoidBody]) -> Body:
        """An ellipsoid of `semi_axes` or `lengths` [m]."""
        return self._shaped("ellipsoid", name, keys)

    def box(self, name: str, **keys: Unpack[_keys.BoxBody]) -> Body:
        """A box of edge lengths `size` [m]."""
        return self._shaped("box", name, keys)

    def cylinder(self, name: str, **keys: Unpack[_keys.CylinderBody]) -> Body:
        """A cylinder of `radius` and `length` [m] along `axis`, by default z."""
        return self._shaped("cylinder", name, keys)

    def pipe(self, name: str, **keys: Unpack[_keys.PipeBody]) -> Body:
        """A pipe of `radius` along the spline of its `control` points."""
        return self._shaped("pipe", name, keys)

    def capsule(self, name: str, **keys: Unpack[_keys.CapsuleBody]) -> Body:
        """A capsule of `radius` and `length` [m] along `axis`, by default z."""
        return self._shaped("capsule", name, keys)

    def cone(self, name: str, **keys: Unpack[_keys.ConeBody]) -> Body:
        """A cone of `radius`, `top_radius` and `length` [m] along `axis`, by default z."""
        return self._shaped("cone", name, keys)

    def profile(self, name: str, **keys: Unpack[_keys.ProfileBody]) -> Body:
        """A prism of `length` [m] along z over a smooth `curve` in x and y."""
        return self._shaped("profile", name, keys)

    def hull(self, name: str, **keys: Unpack[_keys.HullBody]) -> Body:
        """The convex hull of `points` [m]."""
        return self._shaped("hull", name, keys)

    def height_grid(self, name: str, **keys: Unpack[_keys.HeightGridBody]) -> Body:
        """Ground of `heights` [m], row by row, over an area of `size` [m]."""
        return self._shaped("height_grid", name, keys)

    def mesh(self, name: str, **keys: Unpack[_keys.MeshBody]) -> Body:
        """A closed triangle mesh: a `solid` of the scene, a `file` with its `unit`, or `vertices` and `triangles`."""
        return self._shaped("mesh", name, keys)

    def grains(self, name: str, *, material: str, packing: str, **keys: Unpack[_keys.Grains]) -> Element:
        """Grains by the million, spheres for the granular clock: where they start (`packing`), how many, of which sizes."""
        table = {"name": name, "material": material, "packing": packing, **_words(keys)}
        return Element(self, self._add("grains", table))

    def sink(self, name: str, *, low: Vector, high: Vector, **keys: Unpack[_keys.Sink]) -> Element:
        """A box in which grains vanish and are counted."""
        return Element(self, self._add("sink", {"name": name, "low": low, "high": high, **_words(keys)}))

    def probe(self, name: str, *, low: Vector, high: Vector, **keys: Unpack[_keys.Probe]) -> Element:
        """A box in which grains are measured: packing fraction, coordination number, mass, flow, stress."""
        return Element(self, self._add("probe", {"name": name, "low": low, "high": high, **_words(keys)}))

    def soil(
        self, name: str, *, low: Vector, high: Vector, cell: Number, layers: Any, **keys: Unpack[_keys.Soil]
    ) -> Element:
        """Ground that is cut, heaped and pressed: columns over cells between two corners in plan, with layers from the top down."""
        table = {"name": name, "low": low, "high": high, "cell": cell, "layers": layers, **_words(keys)}
        return Element(self, self._add("soil", table))

    def solid(self, name: str, kind: str, **keys: Unpack[_keys.Solid]) -> Element:
        """A solid built step by step, for meshes: box, sphere, cylinder, cone, prism, revolved, gear, thread, mesh, union, ..."""
        return Element(self, self._add("solid", {"name": name, "kind": kind, **_words(keys)}))

    # ---- joints --------------------------------------------------------------------------------------------------------

    def joint(self, name: str, kind: str, first: Any = None, second: Any = None, **keys: Unpack[_keys.Joint]) -> Joint:
        """A joint between two bodies (or `BODY.FRAME`s, or "world"); couplings take `joints=[a, b]` instead."""
        table: dict[str, Any] = {"name": name, "kind": kind}
        if first is not None or second is not None:
            table["bodies"] = [first if first is not None else "world", second if second is not None else "world"]
        return Joint(self, self._add("joint", {**table, **_words(keys)}))

    def motor(self, joint: Any, kind: str, value: Number, **keys: Any) -> Joint:
        """Drives a coordinate of a joint; see `Joint.motor`."""
        return self._joint(joint).motor(kind=kind, value=value, **keys)

    def limit(self, joint: Any, **keys: Unpack[_keys.Limit]) -> Joint:
        """Puts stops on a coordinate of a joint; see `Joint.limit`."""
        return self._joint(joint).limit(**keys)

    def _joint(self, joint: Any) -> Joint:
        if isinstance(joint, Joint):
            return joint
        for table in self._lists.get("joint", []):
            if table["name"] == str(joint):
                return Joint(self, table)
        raise KeyError(f'there is no joint "{joint}"')

    # ---- forces, signals, sensors, changes, expectations ------------------------------------------------------------------

    def force(self, name: str, kind: str, **keys: Unpack[_keys.Force]) -> Element:
        """A force element; every kind has a method of its own too."""
        return Element(self, self._add("force", {"name": name, "kind": kind, **_words(keys)}))

    def signal(self, name: str, kind: str = "equation", **keys: Unpack[_keys.Signal]) -> Element:
        """A named scalar over time: equation, table, ramp, pulse, sine, input or pid."""
        return Element(self, self._add("signal", {"name": name, "kind": kind, **_words(keys)}))

    def input(self, name: str, *, low: Number = -1, high: Number = 1, start: Number = 0) -> Element:
        """A number from outside: a controller, `Simulation.inputs`, a slider of the viewer."""
        return self.signal(name, "input", low=low, high=high, start=start)

    def component(self, name: str, **keys: Unpack[_keys.Component]) -> Element:
        """A component with states of its own, as equations."""
        return Element(self, self._add("component", {"name": name, **_words(keys)}))

    def constraint(self, name: str, terms: Mapping[str, Number], **keys: Unpack[_keys.Constraint]) -> Element:
        """A sum of coordinates, `{"left.position": 1, "right.position": 2}`, that equals a limit, or is at_most or at_least it."""
        return Element(self, self._add("constraint", {"name": name, "terms": dict(terms), **_words(keys)}))

    def cable(self, name: str, points: Sequence[Mapping[str, Any]], **keys: Unpack[_keys.Cable]) -> Element:
        """A cable from an end over rings, pulleys and sheaves to an end or a drum: `[{"kind": "end", "on": "load"}, ...]`."""
        return Element(self, self._add("cable", {"name": name, "points": [dict(point) for point in points], **_words(keys)}))

    def fluid(self, name: str, density: Any, bodies: Sequence[Any], **keys: Unpack[_keys.Fluid]) -> Element:
        """Water or air around bodies: their names, or `{"on": "float", "drag": 1}`."""
        wet = [dict(body) if isinstance(body, Mapping) else {"on": body} for body in bodies]
        return Element(self, self._add("fluid", {"name": name, "density": density, "bodies": wet, **_words(keys)}))

    def vehicle(self, name: str, vehicle: str | None = None, **keys: Any) -> Element:
        """A vehicle: a template such as "sedan" or a vehicle file, and what comes over it: `chassis={...}`, `axle=[...]`, `throttle="..."`."""
        template = {} if vehicle is None else {"vehicle": vehicle}
        return Element(self, self._add("vehicle", {"name": name, **template, **_words(keys)}))

    def sensor(self, name: str, kind: str, first: Any, second: Any) -> Element:
        """A sensor between two frames: pose, velocity, acceleration, distance or contact."""
        return Element(self, self._add("sensor", {"name": name, "kind": kind, "between": [first, second]}))

    def drawing(self, name: str, on: str, shape: Sequence[Any], **keys: Unpack[_keys.Drawing]) -> Element:
        """A surface that is drawn and touches nothing: x, y, z as equations of u, v, t and signals in a frame of `on`."""
        return Element(self, self._add("drawing", {"name": name, "on": on, "shape": list(shape), **_words(keys)}))

    def change(self, name: str, **keys: Unpack[_keys.Change]) -> Element:
        """A structural change `at` a time or `when` an equation rises through zero: attach, release, lock, unlock, delete, ..."""
        return Element(self, self._add("change", {"name": name, **_words(keys)}))

    def expect(self, value: str, *, source: str = "", **keys: Unpack[_keys.Expect]) -> None:
        """What a run must show: `is_` within `within`, `below` or `above`; `source` says where the number comes from."""
        self._add("expect", {"value": value, "source": source, **_words(keys)})

    def include(self, file: str, prefix: str, **keys: Unpack[_keys.Include]) -> None:
        """Another scene, file or of the gallery, under a prefix."""
        self._add("include", {"file": file, "prefix": prefix, **_words(keys)})

    # ---- what Python keeps -------------------------------------------------------------------------------------------------

    def _changeable(self) -> None:
        if self._source is not None:
            raise TypeError("a scene that was loaded cannot be added to. help: include it in a scene of your own")

    def _add(self, what: str, table: dict[str, Any]) -> dict[str, Any]:
        self._changeable()
        self._lists.setdefault(what, []).append(table)
        self._mark(table)
        return table

    def _mark(self, table: dict[str, Any]) -> None:
        """Remembers the line of Python that made an element."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
            frame = frame.f_back
        self._marks[id(table)] = f"{frame.f_code.co_filename}:{frame.f_lineno}"

    def to_json(self) -> str:
        """The scene as JSON; for a scene that was built, one element a line, as it was written."""
        if self._source is not None:
            return _tippe.convert(*self._source, self._sets, "json")
        return self._text()[0]

    def to_toml(self) -> str:
        """The scene as TOML, every number in SI."""
        file, text, _ = self._sourced()
        with self._errors():
            return _tippe.convert(file, text, self._sets, "toml")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scene to a .toml or .json file."""
        text = self.to_toml() if str(path).endswith(".toml") else self.to_json()
        Path(path).write_text(text, encoding="utf-8")

    def _text(self) -> tuple[str, list[str]]:
        """The JSON text, and for each of its lines the place in Python it comes from."""
        lines: list[str] = ["{"]
        places: list[str] = [""]
        parts: list[tuple[str, list[str], list[str]]] = []
        for key, value in self._top.items():
            place = self._marks.get(id(value), "")
            parts.append((f"{json.dumps(key)}: {_encode(value)}", [], [place]))
        for key, tables in self._lists.items():
            marks = [self._marks.get(id(table), "") for table in tables]
            parts.append((f"{json.dumps(key)}: [", [_encode(table) for table in tables], marks))
        for k, (head, rows, marks) in enumerate(parts):
            end = "," if k + 1 < len(parts) else ""
            if not rows:
                lines.append(head + end)
                places.append(marks[0])
                continue
            lines.append(head)
            places.append("")
            for i, (row, mark) in enumerate(zip(rows, marks)):
                lines.append(row + ("," if i + 1 < len(rows) else ""))
                places.append(mark)
            lines.append("]" + end)
            places.append("")
        lines.append("}")
        places.append("")
        return "\n".join(lines) + "\n", places

    def _sourced(self) -> tuple[str, str, list[str]]:
        """File name, text, places of its lines."""
        if self._source is not None:
            return (*self._source, [])
        text, places = self._text()
        return f"{self.name}.json", text, places

    def _errors(self) -> _Places:
        file, _, places = self._sourced()
        return _Places(file, places)

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}>"

    # ---- running -------------------------------------------------------------------------------------------------------------

    def simulation(
        self,
        clock: str | None = None,
        *,
        until: float | None = None,
        tolerance: float | None = None,
        step: float | None = None,
        threads: int | None = 1,
        output_interval: float | None = None,
        integrator: str | None = None,
        record: bool = False,
        out: str | os.PathLike[str] | None = None,
        csv: bool = False,
        force: bool = False,
        collider: Callable[..., Any] | None = None,
        collider_pairs: Iterable[tuple[str, str]] | None = None,
    ) -> Simulation:
        """A simulation to be stepped from Python; `record=True` keeps everything for `Simulation.run()`.

        `collider(a, pose_a, b, pose_b, margin)` gives the contact points of the pairs of bodies in `collider_pairs`, or of all: a list of
        (p_a, p_b, normal, depth[, area[, id]]) with p_a and p_b in the bodies' frames, the normal out of a in the world, and depth = -distance
        while they are apart. Poses are x, y, z, then w, x, y, z.
        """
        given = {
            "clock": clock,
            "until": until,
            "tolerance": tolerance,
            "step": step,
            "threads": threads,
            "output_interval": output_interval,
            "integrator": integrator,
            "sets": self._sets,
        }
        file, text, places = self._sourced()
        with _Places(file, places):
            folder = None if out is None else os.fspath(out)
            pairs = None if collider_pairs is None else [(a, b) for a, b in collider_pairs]
            foreign = None if collider is None else (collider, pairs)
            sim = Simulation(self.name, file, text, given, list(self._laws.items()), record, folder, csv, force, foreign)
        if folder is not None and sim.folder is not None and Path(sim.folder) != Path(folder):
            warnings.warn(f"{folder} is not empty: the run goes to {sim.folder}. help: force=True replaces a run", stacklevel=3)
        if self._laws and sim.clock != "precise":
            raise ValueError("a contact law that is a function needs the precise clock. help: write it as equations")
        return sim._ready()

    def run(
        self,
        until: float | None = None,
        clock: str | None = None,
        *,
        tolerance: float | None = None,
        step: float | None = None,
        threads: int | None = None,
        output_interval: float | None = None,
        integrator: str | None = None,
        out: str | os.PathLike[str] | None = None,
        csv: bool = False,
        force: bool = False,
        progress: bool | Callable[[dict[str, Any]], Any] | None = None,
        controller: Controller | None = None,
        sample: float | None = None,
    ) -> Run:
        """Simulates to the end and returns the run.

        `progress` is True for a bar on stderr, False for none, a function that is called with a dictionary now and then; by
        default a bar where stderr is a terminal or a notebook. `controller` is called every `sample` [s] (by default every step
        of the realtime clock) with the simulation, and sets its inputs. With `out` the run is also written to that folder as it
        goes on; where something stands there, to the next free name (with a warning that names it), and with `force` a run that
        stands there is replaced. What a failure or Ctrl-C leaves of the run is the attribute `run` of the exception.
        """
        sim = self.simulation(
            clock,
            until=until,
            tolerance=tolerance,
            step=step,
            threads=threads,
            output_interval=output_interval,
            integrator=integrator,
            record=True,
            out=out,
            csv=csv,
            force=force,
        )
        interval = sample
        if controller is not None and interval is None:
            interval = sim.step_size
            if interval is None:
                raise ValueError("the precise clock has no steps of its own. help: say how often with sample=")
        with Progress(self.name, progress) as tell:
            try:
                if controller is None:
                    sim.advance(sim.until, tell)
                else:
                    sim._controlled(controller, float(interval or 0.0), tell)
            except _tippe.SimulationError as error:
                error.run = Run(sim.finish(str(error)))  # type: ignore[attr-defined]
                raise
            except BaseException as error:
                error.run = Run(sim.finish(interrupted=True))  # type: ignore[attr-defined]
                raise
        return Run(sim.finish())

    def check(self) -> list[dict[str, Any]]:
        """Runs the scene and compares with what it expects; raises `ExpectationError` where that is not met."""
        return list(self._answer("check")["scenes"][0]["expectations"])

    def compare(
        self,
        *,
        step: float | None = None,
        target: float | None = None,
        tolerance: float | None = None,
        until: float | None = None,
    ) -> dict[str, Any]:
        """Runs both clocks: where they part, how far apart they are before, and with `target` [m] which step meets it."""
        options: list[object] = []
        given = (("--step", step), ("--target", target), ("--tolerance", tolerance), ("--until", until))
        for option, value in given:
            if value is not None:
                options += [option, value]
        return dict(self._answer("compare", *options))

    def equilibrium(self) -> dict[str, Any]:
        """The pose in which the scene can rest, what its joints carry there, and whether it is stable."""
        return dict(self._answer("equilibrium"))

    def linearize(self, at: float = 0.0) -> dict[str, Any]:
        """A, B, C, D about an instant [s] as arrays, with names and units of states, inputs and outputs, and the modes."""
        import numpy as np

        system = dict(self._answer("linearize", "--at", at))
        for name, rows, columns in (
            ("A", "states", "states"),
            ("B", "states", "inputs"),
            ("C", "outputs", "states"),
            ("D", "outputs", "inputs"),
        ):
            shape = (len(system[rows]), len(system[columns]))
            system[name] = np.array(system[name], dtype=float).reshape(shape)
        return system

    def dynamics(self, at: float = 0.0) -> Dynamics:
        """Mass matrix, Jacobians, inverse and forward dynamics at an instant [s]."""
        file, text, places = self._sourced()
        with _Places(file, places):
            return Dynamics(_tippe.Dynamics(self.name, file, text, self._sets, float(at)))

    def _answer(self, command: str, *options: object) -> Any:
        """A command of the command line about this scene."""
        if self._laws:
            raise ValueError(f"{command}: contact laws that are functions of Python are known to run and simulation only")
        sets: list[object] = []
        if command != "check":
            for name, value in self._sets:
                sets += ["--set", f"{name}={value}"]
        elif self._sets:
            raise ValueError("check: a scene with other parameters than its own has no expectations")
        file, text, places = self._sourced()
        if self._source is not None and (os.path.isfile(file) or not os.path.dirname(file)):
            name = file if os.path.isfile(file) else self.name
            return answer(command, name, *sets, *options)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, file)
            Path(path).write_text(text, encoding="utf-8")
            with _Places(path, places, file):
                return answer(command, path, *sets, *options)


def load(path_or_name: str | os.PathLike[str], **params: Number) -> Scene:
    """A scene from a .toml or .json file, or by name from the gallery, with other values of its parameters."""
    name, file, text = _tippe.find(os.fspath(path_or_name))
    scene = Scene(name=name)
    scene._source = (file, text)
    scene._sets = [(key, value if isinstance(value, str) else repr(float(value))) for key, value in params.items()]
    # what is wrong with it is told now
    _tippe.convert(file, text, scene._sets, "json")
    return scene


class _Places:
    """Errors of a scene that was built name the line of Python that made the element."""

    def __init__(self, file: str, places: list[str], shown: str | None = None) -> None:
        self._file = file
        self._places = places
        self._shown = shown

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, _tippe.TippeError) or not error.args or not self._places:
            return
        text = re.sub(f"(?m)^{re.escape(self._file)}(?::(\\d+):\\d+)?: ", self._place, str(error.args[0]))
        error.args = (text, *error.args[1:])

    def _place(self, found: re.Match[str]) -> str:
        line = int(found.group(1) or 0)
        place = self._places[line - 1] if 0 < line <= len(self._places) else ""
        return f"{place}: " if place else ""


def _word(key: str) -> str:
    return key[:-1] if key.endswith("_") else key


def _words(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {_word(key): value for key, value in keys.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Element):
        return value.name
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} cannot stand in a scene")


def _encode(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


