"""The equations of motion at an instant as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import _tippe

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Dynamics:
    """M u' = tau + Q with G u = 0 where loops are closed: mass matrix, Jacobians, forward and inverse dynamics at an instant.

    u are velocity and angular velocity of every free body that no joint holds (resolved in world, of its centre of mass), then
    rates of the joints' coordinates; Q is everything that acts already, velocity products and forces of constraints included.
    """

    def __init__(self, data: _tippe.Dynamics) -> None:
        self._data = data

    @property
    def time(self) -> float:
        """The instant [s]."""
        return self._data.time

    @property
    def rates(self) -> list[str]:
        """Names of u."""
        return [name for name, _ in self._data.rates]

    @property
    def units(self) -> list[str]:
        """Units of u."""
        return [unit for _, unit in self._data.rates]

    @property
    def u(self) -> NDArray[np.float64]:
        """u at the instant."""
        return self._data.u()

    @property
    def mass_matrix(self) -> NDArray[np.float64]:
        """M."""
        return self._data.mass_matrix()

    @property
    def constraints(self) -> NDArray[np.float64]:
        """G, one row for each constraint that closes a loop or couples coordinates; some may be redundant."""
        return self._data.constraints()

    def jacobian(self, body: object, point: Sequence[float] = (0.0, 0.0, 0.0)) -> NDArray[np.float64]:
        """J (6 x n): angular velocity, then velocity of a point of a body (body axes, from its origin) [m] are J u in world."""
        x, y, z = point
        return self._data.jacobian(str(body), (float(x), float(y), float(z)))

    @property
    def forces(self) -> NDArray[np.float64]:
        """Q: everything that acts already, forces of constraints included."""
        return self.mass_matrix @ self._data.acceleration()

    def forward(self, tau: Sequence[float] | NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """u' under additional generalised forces tau; constraints hold."""
        now = self._data.acceleration()
        if tau is None:
            return now
        extra = np.asarray(tau, dtype=float)
        if extra.shape != now.shape:
            raise ValueError(f"tau has shape {extra.shape}; there are {len(now)} rates")
        M, G = self.mass_matrix, self.constraints
        change = np.linalg.solve(M, extra)
        if len(G):
            # M a = tau - G^T lambda, G a = 0
            MG = np.linalg.solve(M, G.T)
            change -= MG @ np.linalg.lstsq(G @ MG, G @ change, rcond=None)[0]
        return np.asarray(now + change)

    def inverse(self, acceleration: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """tau that gives this u', beside what acts already. Where loops are closed u' must allow them; constraints then carry as much
        as they do now."""
        wanted = np.asarray(acceleration, dtype=float)
        return np.asarray(self.mass_matrix @ (wanted - self._data.acceleration()))
