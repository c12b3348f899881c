"""Methods of the scene builder, one for each kind of joint and force element.

Written by crates/python/keys.py from the JSON Schema; do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keys
    from ._keys import Number
    from .scene import Element, Joint


class Kinds:
    """A builder with a method for each kind."""

    def joint(self, name: str, kind: str, first: Any = None, second: Any = None, **keys: Unpack[_keys.Joint]) -> Joint:
        """A joint of a kind."""
        raise NotImplementedError

    def force(self, name: str, kind: str, **keys: Unpack[_keys.Force]) -> Element:
        """A force element of a kind."""
        raise NotImplementedError

    def fixed(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """No motion."""
        return self.joint(name, "fixed", first, second, **keys)

    def revolute(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Rotation about z."""
        return self.joint(name, "revolute", first, second, **keys)

    def prismatic(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Translation along z."""
        return self.joint(name, "prismatic", first, second, **keys)

    def cylindrical(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Translation along and rotation about z."""
        return self.joint(name, "cylindrical", first, second, **keys)

    def spherical(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Rotation about a point."""
        return self.joint(name, "spherical", first, second, **keys)

    def universal(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Rotation about z of frame 1, then about x of frame 2."""
        return self.joint(name, "universal", first, second, **keys)

    def planar(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Translation along x and y, rotation about z."""
        return self.joint(name, "planar", first, second, **keys)

    def free(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """All six."""
        return self.joint(name, "free", first, second, **keys)

    def screw(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Rotation about z with translation along it, `pitch` per turn."""
        return self.joint(name, "screw", first, second, **keys)

    def distance(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Two origins at a given distance."""
        return self.joint(name, "distance", first, second, **keys)

    def point_on_line(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Origin of frame 2 on the z-axis of frame 1."""
        return self.joint(name, "point_on_line", first, second, **keys)

    def constant_velocity(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """Two shafts (z) that bend but do not twist against each other."""
        return self.joint(name, "constant_velocity", first, second, **keys)

    def rolling(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """A disc, ball or ellipsoid (body 2) rolls without slip on a plane (z of frame 1)."""
        return self.joint(name, "rolling", first, second, **keys)

    def cam(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Joint]) -> Joint:
        """A point, roller or flat face (body 2) on the smooth curve of a cam (body 1); without friction."""
        return self.joint(name, "cam", first, second, **keys)

    def gear(self, name: str, first: Any, second: Any, *, ratio: Number, **keys: Any) -> Joint:
        """Two coordinates at a fixed ratio."""
        return self.joint(name, "gear", joints=[first, second], ratio=ratio, **keys)

    def rack_and_pinion(self, name: str, first: Any, second: Any, *, radius: Number, **keys: Any) -> Joint:
        """A rotation moves a translation, `radius` per radian."""
        return self.joint(name, "rack_and_pinion", joints=[first, second], radius=radius, **keys)

    def belt(self, name: str, first: Any, second: Any, *, radii: Any, **keys: Any) -> Joint:
        """Two rotations joined by a belt over `radii`."""
        return self.joint(name, "belt", joints=[first, second], radii=radii, **keys)

    def applied(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element:
        """A force and a torque on one body at a frame."""
        return self.force(name, "applied", on=on, **keys)

    def spring(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Spring]) -> Element:
        """A spring and damper between two points, pulling them together by stiffness (length - rest) + damping length'."""
        return self.force(name, "spring", between=[first, second], **keys)

    def bushing(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Spring]) -> Element:
        """Six springs and dampers between two frames, along and about the axes of frame 1."""
        return self.force(name, "bushing", between=[first, second], **keys)

    def maxwell(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Spring]) -> Element:
        """A spring and a damper one behind the other, whose stretch is a state."""
        return self.force(name, "maxwell", between=[first, second], **keys)

    def tyre(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element:
        """A tyre between a wheel and a road: load, forces from slip with relaxation, torques; it holds at rest."""
        return self.force(name, "tyre", on=on, **keys)

    def fin(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element:
        """A fin, rudder, wing or sail: x forward along the chord, y across the surface, z along the span of its frame."""
        return self.force(name, "fin", on=on, **keys)

    def propeller(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element:
        """A propeller or thruster by its curves: thrust along x of its frame."""
        return self.force(name, "propeller", on=on, **keys)

    def track(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A track as a belt between a sprocket and the ground, a plane."""
        return self.force(name, "track", shafts=list(shafts), **keys)

    def soft_ground(self, name: str, on: Any, **keys: Unpack[_keys.Applied]) -> Element:
        """Soft ground under wheels: sinkage, thrust and resistance from pressure and shear, and the ruts that they leave."""
        return self.force(name, "soft_ground", on=on, **keys)

    def cable_joint(self, name: str, first: Any, second: Any, **keys: Unpack[_keys.Spring]) -> Element:
        """The joint between two elements of a flexible cable, whose frames have x along it."""
        return self.force(name, "cable_joint", between=[first, second], **keys)

    def engine(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A combustion engine on a shaft: full load and drag by tables, idle governor, redline, starter, stall."""
        return self.force(name, "engine", shafts=list(shafts), **keys)

    def electric_motor(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """An electric motor on a shaft, limited in torque and power."""
        return self.force(name, "electric_motor", shafts=list(shafts), **keys)

    def clutch(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A clutch between two shafts: it holds up to a torque, and slips beyond."""
        return self.force(name, "clutch", shafts=list(shafts), **keys)

    def converter(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A torque converter between the shaft of an engine and that of a gearbox."""
        return self.force(name, "converter", shafts=list(shafts), **keys)

    def gearbox(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """Gears between two shafts, one at a time, changed while they turn."""
        return self.force(name, "gearbox", shafts=list(shafts), **keys)

    def differential(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A differential between an input shaft and two outputs: open, locked or of limited slip."""
        return self.force(name, "differential", shafts=list(shafts), **keys)

    def hydrostatic(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A pump that drives one motor or several by oil, with a relief valve."""
        return self.force(name, "hydrostatic", shafts=list(shafts), **keys)

    def brake(self, name: str, *shafts: Any, **keys: Unpack[_keys.Driveline]) -> Element:
        """A brake on a shaft: it holds up to a torque, and slips beyond."""
        return self.force(name, "brake", shafts=list(shafts), **keys)
