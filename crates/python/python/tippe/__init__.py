"""Tippe: a simulator for machines that touch things.

>>> import tippe
>>> scene = tippe.Scene(gravity=(0, 0, -9.81))
>>> ground = scene.ground(material="wood")
>>> ball = scene.sphere("ball", radius=0.1, material="steel", position=(0, 0, 1))
>>> run = scene.run(until=2.0)
>>> run["ball.position"].shape[1]
3
"""

import os as _os
from pathlib import Path as _Path

from ._tippe import (
    Checkpoint,
    ExpectationError,
    ResourceError,
    SceneError,
    SimulationError,
    TippeError,
    __version__,
)
from .commands import check, contact, explain, gallery, variables
from .dynamics import Dynamics
from .run import Run, open_run
from .scene import Body, Element, Scene, load
from .simulation import Simulation

__all__ = [
    "Body",
    "Checkpoint",
    "Dynamics",
    "Element",
    "ExpectationError",
    "ResourceError",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "SimulationError",
    "TippeError",
    "__version__",
    "check",
    "contact",
    "explain",
    "gallery",
    "load",
    "open_run",
    "variables",
]

# the library that units hold lies beside this file where the wheel brought it along
for _library in _Path(__file__).parent.glob("libtippe_doors.*"):
    _os.environ.setdefault("TIPPE_LIBRARY", str(_library))
