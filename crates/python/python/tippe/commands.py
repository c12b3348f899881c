"""Commands of the command line as functions: what they print with --json comes back as Python objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _tippe

if TYPE_CHECKING:
    from .scene import Scene


def answer(*words: object) -> Any:
    """What a command prints as JSON; raises what it ends with."""
    data, error = _tippe.answer(["tippe", *(str(word) for word in words), "--json"])
    if error is not None:
        if data:
            error.results = json.loads(data)  # type: ignore[attr-defined]
        raise error
    return json.loads(data)


def check(*scenes: str | Scene, run: bool = True, clock: str | None = None) -> list[dict[str, Any]]:
    """Validates scenes, runs them and compares with what they expect; without any, all scenes that come with the program.

    Returns a dictionary for each scene with `scene`, `pass`, `wall_s` and `expectations`. Raises `ExpectationError` (its
    `results` are all of them) where an expectation is not met, `SceneError` and `SimulationError` as the command line does.
    """
    from .scene import Scene

    options: list[object] = [] if run else ["--no-run"]
    if clock is not None:
        options += ["--clock", clock]
    if len(scenes) == 1 and isinstance(scenes[0], Scene):
        return list(scenes[0]._answer("check", *options)["scenes"])
    names = [str(scene) for scene in scenes]
    return list(answer("check", *names, *options)["scenes"])


def contact(
    first: str,
    second: str,
    *,
    radius: float,
    radius2: float | None = None,
    speed: float = 1.0,
    restitution: float | None = None,
    k_red: float = 1.0,
    scene: str | None = None,
) -> dict[str, Any]:
    """What two materials imply for an impact: stiffness, depth, duration, force, restitution, the step that resolves it.

    A ball of material `first` and `radius` [m] hits a plane, or a ball of `radius2` [m], of material `second` at `speed` [m/s].
    """
    words: list[object] = ["contact", first, second, "--radius", radius, "--speed", speed, "--k-red", k_red]
    for option, value in (("--radius2", radius2), ("--restitution", restitution), ("--scene", scene)):
        if value is not None:
            words += [option, value]
    return dict(answer(*words))


def gallery() -> list[dict[str, Any]]:
    """The scenes that come with the program: name, title, cost, tags."""
    return list(answer("list")["scenes"])


def variables(scene: str) -> list[dict[str, Any]]:
    """The one table of variables of a scene (a file, or a name of the gallery) that units, the C interface and Python share.

    A dictionary for each with `name`, `role` (`parameter`, `input`, `effort`, `output`, `state`), `unit`, `start`, `nominal`, `limits`.
    """
    return list(answer("explain", "variables", scene))


def explain(topic: str) -> str:
    """What `tippe explain` says about a topic: the scene file, a contact law, an event, a setting, ..."""
    data, error = _tippe.answer(["tippe", "explain", topic])
    if error is not None:
        raise error
    return data
