"""Simulations that are stepped from Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _tippe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .run import Run

_COLUMNS = {"position": slice(0, 3), "orientation": slice(3, 7), "velocity": slice(7, 10), "angular_velocity": slice(10, 13)}


class Inputs(MutableMapping[str, float]):
    """The numbers from outside of a simulation by name. A value holds from the next step on, within the limits of the scene."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._limits = dict(_tippe.Simulation.inputs.__get__(sim))
        self._values: dict[str, float] = {}

    def __setitem__(self, name: str, value: float) -> None:
        self._sim.set_input(name, float(value))
        low, high = self._limits[name]
        self._values[name] = min(max(float(value), low), high)

    def __getitem__(self, name: str) -> float:
        if name not in self._limits:
            raise KeyError(name)
        return self._values[name] if name in self._values else float(self._sim[name])

    def __delitem__(self, name: str) -> None:
        raise TypeError("an input cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._limits)

    def __len__(self) -> int:
        return len(self._limits)

    def limits(self, name: str) -> tuple[float, float]:
        """Smallest and largest value."""
        low, high = self._limits[name]
        return low, high


class Simulation(_tippe.Simulation):
    """A scene on its way through time; made by `Scene.simulation`.

    `positions` [m], `orientations` (w, x, y, z), `velocities` [m/s] and `angular_velocities` [rad/s] are views of one array of all
    bodies that every step refills in place: they are read without copying and always show the present. They are read-only, and
    live as long as anybody holds them; copy what is to be kept (`sim.positions.copy()`).
    """

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]

    def _ready(self) -> Simulation:
        states: NDArray[np.float64] = _tippe.Simulation.states.__get__(self)
        view = states.view()
        view.flags.writeable = False
        self._states = view
        self.positions = view[:, 0:3]
        self.orientations = view[:, 3:7]
        self.velocities = view[:, 7:10]
        self.angular_velocities = view[:, 10:13]
        self._rows = {name: k for k, name in enumerate(self.bodies)}
        self._signals = {name: k for k, (name, _) in enumerate(self.signals)}
        self._inputs = Inputs(self)
        return self

    @property
    def states(self) -> NDArray[np.float64]:
        """All of them: one row of 13 numbers for each body, in the order of `bodies`. Read-only, refilled by every step."""
        return self._states

    @property
    def inputs(self) -> Inputs:
        """Numbers from outside by name; what is set holds from the next step on."""
        return self._inputs

    def __getitem__(self, name: str) -> Any:
        """A signal of the model now (`hinge.angle`), or the motion of a body (`ball.position`, `ball.position.z`)."""
        if name in self._signals:
            return float(self.values()[self._signals[name]])
        owner, _, rest = name.partition(".")
        body = name
        while "." in body:
            body, _, rest = body.rpartition(".")
            if body in self._rows:
                rest = name[len(body) + 1 :]
                break
        quantity, _, axis = rest.partition(".")
        if body not in self._rows or quantity not in _COLUMNS:
            raise KeyError(f'there is no signal "{name}"')
        vector = self._states[self._rows[body], _COLUMNS[quantity]]
        if not axis:
            return vector
        letters = "wxyz" if quantity == "orientation" else "xyz"
        if axis not in letters:
            raise KeyError(f'there is no signal "{name}"')
        return float(vector[letters.index(axis)])

    def set_state(
        self,
        body: object,
        *,
        position: Sequence[float] | NDArray[np.float64] | None = None,
        orientation: Sequence[float] | NDArray[np.float64] | None = None,
        velocity: Sequence[float] | NDArray[np.float64] | None = None,
        angular_velocity: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> None:
        """Sets the motion of a free body that no joint holds; what is left out stays. The energy that comes with it is work."""
        name = str(body)
        if name not in self._rows:
            raise KeyError(f'there is no body "{name}"')
        numbers = self._states[self._rows[name]].copy()
        given = {"position": position, "orientation": orientation, "velocity": velocity, "angular_velocity": angular_velocity}
        for quantity, value in given.items():
            if value is not None:
                numbers[_COLUMNS[quantity]] = value
        self.set_body(name, numbers.tolist())

    def set_coordinate(self, name: str, value: float, rate: float = 0.0) -> None:
        """Sets a coordinate of a joint by the name of its signal (`hinge.angle`), and its rate."""
        self.set_coordinates([(name, float(value), float(rate))])

    def save_checkpoint(self, path: str) -> None:
        """Writes a checkpoint that `load_checkpoint`, or `tippe run --restart`, goes on from with the same bits."""
        with open(path, "wb") as file:
            file.write(self.checkpoint().to_bytes())

    def load_checkpoint(self, path: str) -> None:
        """Goes on from a checkpoint that was saved."""
        with open(path, "rb") as file:
            self.restore(_tippe.Checkpoint.from_bytes(file.read()))

    def restore(self, checkpoint: _tippe.Checkpoint) -> None:
        """Goes back, or on, to a checkpoint of the same scene and clock."""
        super().restore(checkpoint)
        self._inputs._values.clear()

    def run(self) -> Run:
        """Ends a simulation made with `record=True` and hands over what was recorded."""
        from .run import Run

        return Run(self.finish())

    def _controlled(
        self, controller: Callable[[Simulation], Any], interval: float, tell: Callable[[dict[str, Any]], Any] | None
    ) -> None:
        """To the end, with the controller called at every multiple of the interval."""
        if not (interval > 0 and math.isfinite(interval)):
            raise ValueError(f"sample = {interval}: a number greater than zero is needed")
        slack = 1e-9 * interval
        end, start = self.until, self.time
        count = 0
        while self.time < end - slack:
            wanted = controller(self)
            if isinstance(wanted, dict):
                for name, value in wanted.items():
                    self.inputs[name] = value
            count += 1
            # a realtime step ends where it ends
            self.advance(min(max(start + count * interval, self.time + slack), end), tell)

    def __repr__(self) -> str:
        return f"<Simulation of {len(self._rows)} bodies, {self.clock} clock, t = {self.time:.6g} s>"
