"""Runs: what a simulation leaves behind."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _tippe

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VECTORS = {
    "position": (slice(0, 3), ("x", "y", "z"), "m"),
    "orientation": (slice(3, 7), ("w", "x", "y", "z"), "-"),
    "velocity": (slice(7, 10), ("x", "y", "z"), "m/s"),
    "angular_velocity": (slice(10, 13), ("x", "y", "z"), "rad/s"),
}
_CONTACT_NUMBERS = [
    *(f"{what}.{axis}" for what in ("position", "normal", "force", "torque") for axis in "xyz"),
    "depth",
    "closing_speed",
    "slipping",
    "element1",
    "element2",
]


class Run:
    """What a simulation left behind. Columns are read without copying them and must not be written to.

    `run["ball.position"]` is an array of three columns, `run["ball.position.z"]` one of them, `run["hinge.angle"]` a signal of the
    model, `run["energy.kinetic"]` an account of the ledger, `run["2*ball.speed"]` an expression; `run.value("max(ball.speed)")` is a
    number: anything that an `[[expect]]` can ask.
    """

    def __init__(self, data: _tippe.RunData) -> None:
        self._data = data
        self._rows = {name: k for k, name in enumerate(data.bodies)}
        self._signals = {name: k for k, (name, _) in enumerate(data.signals)}
        self._views: dict[str, NDArray[np.float64]] = {}

    @property
    def time(self) -> NDArray[np.float64]:
        """Communication points [s]. At an event two rows may share one time."""
        return _read_only(self._data.time)

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies."""
        return list(self._rows)

    @property
    def signals(self) -> dict[str, str]:
        """Names and units of the signals of the model: joints, force elements, sensors, equations."""
        return dict(self._data.signals)

    def __getitem__(self, name: str) -> Any:
        found = self._column(name)
        if found is not None:
            return found
        if name == "energy":
            raise KeyError("energy: one account at a time, `energy.kinetic`; all of them are `run.energy`")
        try:
            return self._data.series(name)
        except KeyError:
            prefix = [signal for signal in self._signals if signal.startswith(name + ".")]
            if prefix:
                return np.stack([self[signal] for signal in prefix], axis=1)
            raise

    def _column(self, name: str) -> NDArray[np.float64] | None:
        if name == "time":
            return self.time
        if name in self._views:
            return self._views[name]
        view: NDArray[np.float64] | None = None
        if name in self._signals:
            view = self._data.signal(self._signals[name])
        else:
            for body, row in self._rows.items():
                if not name.startswith(body + "."):
                    continue
                quantity, _, axis = name[len(body) + 1 :].partition(".")
                if quantity in _VECTORS:
                    columns, letters, _ = _VECTORS[quantity]
                    whole = self._data.motion(row)[:, columns]
                    if not axis:
                        view = whole
                    elif axis in letters:
                        view = whole[:, letters.index(axis)]
        if view is not None:
            view = _read_only(view)
            self._views[name] = view
        return view

    def states(self, body: object) -> NDArray[np.float64]:
        """Motion of a body: position, orientation (w, x, y, z), velocity, angular velocity in 13 columns, not copied."""
        return _read_only(self._data.motion(self._rows[str(body)]))

    def value(self, question: str, at: float | None = None) -> float:
        """The answer to a question such as `ball.position.z` or `max(ball.speed)`: at the end, or at a time [s]."""
        return self._data.value(question, at)

    def unit(self, name: str) -> str | None:
        """SI unit of a signal."""
        return self._data.unit(name)

    @property
    def energy(self) -> Any:
        """The ledger as a pandas frame over time [J]; what was lost is by cause, `residual` is what the books do not explain."""
        import pandas as pd

        accounts = self._data.accounts
        index = pd.Index(self.time, name="time")
        return pd.DataFrame(self._data.books[:, : len(accounts) - 3], index=index, columns=accounts[:-3], copy=False)

    @property
    def momentum(self) -> NDArray[np.float64]:
        """Linear momentum of all bodies with a mass [kg m/s]."""
        return _read_only(self._data.books[:, -3:])

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened, in order of time."""
        return self._data.events()

    @property
    def contacts(self) -> dict[str, Any]:
        """Touching pairs at all communication points, in columns: time, body1, body2, position, normal, force, torque, depth, ..."""
        rows, bodies, numbers = self._data.contacts()
        names = np.array(self.bodies, dtype=object)
        table: dict[str, Any] = {"time": self.time[rows], "body1": names[bodies[:, 0]], "body2": names[bodies[:, 1]]}
        for k, name in enumerate(_CONTACT_NUMBERS):
            table[name] = numbers[:, k]
        table["slipping"] = table["slipping"] != 0
        for name in ("element1", "element2"):
            table[name] = table[name].astype(np.int64)
        return table

    @property
    def summary(self) -> dict[str, Any] | None:
        """How it went: steps, events by kind, energy, final motion, hash; none if it failed."""
        text = self._data.summary
        return None if text is None else dict(json.loads(text))

    @property
    def manifest(self) -> dict[str, Any]:
        """How to repeat it: scene, version, settings, status."""
        return dict(json.loads(self._data.manifest))

    @property
    def hash(self) -> str | None:
        """Hash of the final state, 16 hexadecimal digits: the same for the same bits."""
        summary = self.summary
        return None if summary is None else str(summary["hash"])

    def expectations(self) -> list[dict[str, Any]]:
        """What the scene expects of a run like this one, and whether it is met."""
        keys = ("question", "at", "value", "no_answer", "expected", "source", "pass")
        return [dict(zip(keys, row)) for row in self._data.expectations()]

    # ---- frames --------------------------------------------------------------------------------------------------------------

    def columns(self, *names: str) -> dict[str, NDArray[np.float64]]:
        """Columns by name, `time` first; without names those of `signals.parquet`: motion of all bodies, signals of the model."""
        table = {"time": self.time}
        for name in names or (*(f"{body}.{q}" for body in self._rows for q in _VECTORS), *self._signals):
            values = np.asarray(self[name])
            if values.ndim == 1:
                table[name] = values
                continue
            quantity = name.rpartition(".")[2]
            letters = _VECTORS[quantity][1] if quantity in _VECTORS else [str(k) for k in range(values.shape[1])]
            for k, letter in enumerate(letters):
                table[f"{name}.{letter}"] = values[:, k]
        return table

    def frame(self, *names: str, kind: str = "pandas") -> Any:
        """The signals asked for, or all of them, as a frame: `kind` is pandas, polars or pyarrow."""
        table = self.columns(*names)
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(table, copy=False)
        if kind == "polars":
            import polars as pl

            return pl.DataFrame(table)
        if kind == "pyarrow":
            import pyarrow as pa

            return pa.table(table)
        raise ValueError(f'there is no frame of kind "{kind}". help: possible: pandas, polars, pyarrow')

    # ---- pictures ------------------------------------------------------------------------------------------------------------

    def plot(self, *names: str, ax: Any = None, events: bool = False) -> Any:
        """Draws signals over time with matplotlib, one axis for each unit; without names the ledger. Returns the axes."""
        import matplotlib.pyplot as plt

        curves: list[tuple[str, str, NDArray[np.float64]]] = []
        for name in names or ("energy",):
            if name == "energy" and name not in self._rows:
                ledger = self.energy
                drawn = [a for a in ledger.columns if a not in ("initial", "stored", "dissipated") and ledger[a].any()]
                curves += [(f"energy.{account}", "J", ledger[account].to_numpy()) for account in drawn]
                continue
            for label, values in list(self.columns(name).items())[1:]:
                curves.append((label, self._unit_of(label), values))
        units = list(dict.fromkeys(unit for _, unit, _ in curves))
        if ax is None:
            _, grid = plt.subplots(len(units), 1, sharex=True, squeeze=False, figsize=(8, 1.2 + 2.4 * len(units)))
            axes = list(grid[:, 0])
        else:
            axes = [ax] * len(units)
        for label, unit, values in curves:
            axes[units.index(unit)].plot(self.time, values, label=label)
        for unit, axis in zip(units, axes):
            axis.set_ylabel(f"[{unit}]")
            axis.legend(loc="best", fontsize="small")
            axis.grid(alpha=0.3)
            if events:
                for event in self.events[:1000]:
                    axis.axvline(event["time"], color="0.8", linewidth=0.6, zorder=0)
        axes[-1].set_xlabel("time [s]")
        return axes[0] if len(axes) == 1 else axes

    def _unit_of(self, name: str) -> str:
        try:
            return self._data.unit(name) or "-"
        except KeyError:
            return "-"

    def html(self) -> str:
        """The run as one page of the viewer that a browser opens from anywhere, without a server and without a network."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run")
            self._data.save(path, False)
            return _tippe.html([path])

    def view(self, height: int = 480, path: str | os.PathLike[str] | None = None) -> Any:
        """Shows the run in the viewer: inline in a notebook, elsewhere in the browser (the page is written to `path`)."""
        page = self.html()
        if path is None and _in_notebook():
            return View(page, height)
        if path is None:
            folder = tempfile.mkdtemp(prefix="tippe-")
            path = os.path.join(folder, "run.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        if not os.environ.get("TIPPE_NO_BROWSER"):
            import webbrowser

            webbrowser.open(f"file://{os.path.abspath(path)}")
        return os.fspath(path)

    def save(self, folder: str | os.PathLike[str], *, csv: bool = False, force: bool = False) -> str:
        """Writes the run folder that `tippe view`, `tippe plot` and `open_run` read, and returns where it is: where something
        stands, the next free name (`folder-2`). With `force` a run that stands there is replaced."""
        return os.fspath(self._data.save(os.fspath(folder), csv, force))

    def __len__(self) -> int:
        return len(self._data.time)

    def __repr__(self) -> str:
        manifest = self.manifest
        end = self.time[-1] if len(self) else 0.0
        return (
            f"<Run of {manifest['scene']['name']}, {manifest['clock']} clock, {len(self)} points to t = {end:.6g} s, "
            f"{manifest['status']}>"
        )


class View:
    """A page inside a notebook."""

    def __init__(self, page: str, height: int) -> None:
        self._page = page
        self._height = height

    def _repr_html_(self) -> str:
        from html import escape

        page = escape(self._page, quote=True)
        # scripts of the page have an origin of their own: they cannot reach the notebook
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
            f'style="width: 100%; height: {self._height}px; border: 0"></iframe>'
        )


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Opens a run folder, whether it is complete, interrupted or failed."""
    return Run(_tippe.open_run(os.fspath(folder)))


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    view = array.view()
    view.flags.writeable = False
    return view


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    ipython = shell.get_ipython()
    return ipython is not None and "IPKernelApp" in getattr(ipython, "config", {})


class Progress:
    """A line on stderr that moves while a run goes on, or a function that is told."""

    def __init__(self, name: str, wanted: bool | Callable[[dict[str, Any]], Any] | None) -> None:
        self._name = name
        self._started = time.monotonic()
        self._shown = 0
        self._tell: Callable[[dict[str, Any]], Any] | None
        if callable(wanted):
            self._tell = wanted
        elif wanted or (wanted is None and (sys.stderr.isatty() or _in_notebook())):
            self._tell = self._show
        else:
            self._tell = None

    def __enter__(self) -> Callable[[dict[str, Any]], Any] | None:
        return self._tell

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()

    def _show(self, p: dict[str, Any]) -> None:
        wall = time.monotonic() - self._started
        share = min(max(p["time"] / p["until"], 0.0), 1.0) if p["until"] > 0 else 1.0
        bar = "━" * round(24 * share) + "─" * (24 - round(24 * share))
        left = f"{wall * (1 - share) / share:.0f} s" if share > 0 else "?"
        by = f" by {p['limiter']}" if p["limiter"] else ""
        line = (
            f"{self._name} {bar} {p['time']:.4g}/{p['until']:.4g} s  {p['time'] / max(wall, 1e-9):.3g} x real time  "
            f"ETA {left}  step {p['step']:.1e} s{by}  contacts {p['contacts']}  events {p['events']}"
        )
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = max(self._shown, len(line))


