"""Units of scenes in an importer of others: FMPy validates and simulates them, both kinds, both versions of the standard."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tippe

pytest.importorskip("fmpy", reason="FMPy is not installed: units were NOT tested in an importer of others")


def export(scene: str, out: Path, *more: str) -> Path:
    command = [sys.executable, "-m", "tippe", "fmu", "export", scene, "-o", str(out), *more]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return out


def simulate(unit: Path, **more: Any) -> Any:
    from fmpy import simulate_fmu

    return simulate_fmu(str(unit), **more)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("scene", ["bouncing_ball", "slider_crank", "billiards", "geneva"])
def test_validator_has_no_message(tmp_path: Path, scene: str, version: str) -> None:
    from fmpy.validation import validate_fmu

    unit = export(scene, tmp_path / "unit.fmu", "--fmi", version)
    assert validate_fmu(str(unit)) == []


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_first_impact_by_another_integrator(tmp_path: Path, version: str) -> None:
    """The ball meets the floor at sqrt(2 h/g): CVODE finds it by the unit's event indicator."""
    unit = export("bouncing_ball", tmp_path / "unit.fmu", "--fmi", version)
    found = simulate(
        unit,
        fmi_type="ModelExchange",
        stop_time=0.5,
        relative_tolerance=1e-8,
        output=["ball.position.z"],
        record_events=True,
        output_interval=0.5,
    )
    times = [float(t) for t in found["time"]]
    first = next(t for t in times if 0.0 < t < 0.5)
    assert abs(first - math.sqrt(2 * 0.9 / 9.81)) < 1e-7


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("clock", ["precise", "realtime"])
def test_co_simulation_is_the_run(tmp_path: Path, version: str, clock: str) -> None:
    unit = export("bouncing_ball", tmp_path / "unit.fmu", "--fmi", version, "--clock", clock)
    found = simulate(unit, fmi_type="CoSimulation", stop_time=1.0, step_size=0.01, output_interval=0.01, output=["ball.position.z"])
    run = tippe.load("bouncing_ball").simulation(clock=clock)
    run.advance(float(found["time"][-1]))
    assert found["ball.position.z"][-1] == run["ball.position.z"]


def test_parameters_are_given_before_the_start(tmp_path: Path) -> None:
    unit = export("bouncing_ball", tmp_path / "unit.fmu")
    low = simulate(unit, fmi_type="CoSimulation", stop_time=0.1, step_size=0.1, start_values={"h": 0.25}, output=["ball.position.z"])
    assert low["ball.position.z"][0] == pytest.approx(0.35)


def test_both_kinds_agree(tmp_path: Path) -> None:
    unit = export("slider_crank", tmp_path / "unit.fmu")
    common = {"stop_time": 1.0, "output_interval": 0.1}
    one = simulate(unit, fmi_type="ModelExchange", relative_tolerance=1e-9, **common)
    other = simulate(unit, fmi_type="CoSimulation", step_size=0.1, **common)
    names = [name for name in one.dtype.names if name.endswith("position.x")]
    assert names
    for name in names:
        ends = [np.interp(1.0, table["time"], table[name]) for table in (one, other)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_one_table_of_variables() -> None:
    table = {own["name"]: own for own in tippe.variables("bouncing_ball")}
    assert table["h"] == {"name": "h", "role": "parameter", "unit": "m", "start": 0.9, "nominal": None, "limits": None}
    assert table["ball.position.z"]["role"] == "output"
    assert table["state(ball.centre.z)"]["nominal"] == pytest.approx(0.1)
