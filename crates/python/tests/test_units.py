"""Units of other tools in scenes, contact from Python, and what other readers make of ours: CasADi, libcosimpy, rumoca."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tippe

ROOT = Path(__file__).resolve().parents[3]

MOTOR = '''
"""The motor of dc_motor_gearbox: L i' = V - R i - k w, in the closed form of a step with w held."""

import math

from pythonfmu{three} import Fmi{version}Causality as Causality
from pythonfmu{three} import Fmi{version}Slave as Slave
from pythonfmu{three} import {real} as Number


class Motor(Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = 0.0
        self.torque = 0.0
        self.i = 0.0
        self.register_variable(Number("w", causality=Causality.input))
        self.register_variable(Number("torque", causality=Causality.output))
        self.register_variable(Number("i", causality=Causality.output))

    def do_step(self, current_time, step_size):
        steady = 24.0 - 0.05 * self.w
        self.i = steady + (self.i - steady) * math.exp(-step_size / 5e-3)
        self.torque = 0.05 * self.i
        return True
'''


def gearbox(component: str) -> str:
    """`dc_motor_gearbox` with a unit instead of the equations of its motor, without what it must show."""
    text = (ROOT / "scenes" / "dc_motor_gearbox.toml").read_text()
    begin = text.index("[[component]]")
    return text[:begin].replace("tolerance = 1e-11", "tolerance = 1e-8") + "[[component]]\nname = \"motor\"\n" + component


@pytest.mark.parametrize("version", [2, 3])
def test_a_motor_in_python_drives_the_gearbox(tmp_path: Path, version: int) -> None:
    """Units of pythonfmu cannot go back: their outputs are one step late, so the error halves with the step."""
    package = "pythonfmu" if version == 2 else "pythonfmu3"
    pytest.importorskip(package, reason=f"{package} is not installed: its units were NOT tested")
    three, real = ("", "Real") if version == 2 else ("3", "Float64")
    (tmp_path / "motor.py").write_text(MOTOR.format(three=three, version=version, real=real))
    subprocess.run([sys.executable, "-m", package, "build", "-f", "motor.py"], check=True, cwd=tmp_path, capture_output=True)
    errors = []
    for step in (1e-3, 5e-4):
        component = f'fmu = "Motor.fmu"\nstep = {step}\ninputs = {{ w = "fast.speed" }}\npower = {{ torque = "w" }}\n'
        (tmp_path / "scene.toml").write_text(gearbox(component))
        run = tippe.load("scene.toml").run(until=0.1)
        errors.append(abs(run["fast.speed"][-1] - 242.23871562317245))  # of dc_motor_gearbox at 0.1 s
        assert abs(run["motor.interface_error"][-1]) < 0.1 * abs(run["motor.interface_work"][-1])
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 2.0


def test_a_collider_in_python() -> None:
    """The balloon of Bardaro and others (2017) touches at 0.31927542840705037 s, whoever gives its contact points."""
    asked = []

    def ball_on_floor(a, pose_a, b, pose_b, margin):
        asked.append((a, b))
        floor, ball = (pose_a, pose_b) if a == "floor" else (pose_b, pose_a)
        w, x, y, z = ball[3:]
        lowest = [-0.5 * n for n in (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))]
        foot = (ball[0] - floor[0], ball[1] - floor[1], 0.0)
        ends = (foot, lowest) if a == "floor" else (lowest, foot)
        return [(*ends, (0.0, 0.0, 1.0 if a == "floor" else -1.0), 0.5 - ball[2] + floor[2])]

    scene = tippe.load("balloon_1")
    for clock in ("precise", "realtime"):
        ends = []
        for collider in (None, ball_on_floor):
            sim = scene.simulation(clock, collider=collider, collider_pairs=[("floor", "balloon")] if collider else None)
            sim.advance(1.0)
            ends.append(np.array(sim["balloon.position"]))
        assert np.abs(ends[0] - ends[1]).max() < 1e-9
    assert len(asked) > 100

    def broken(a, pose_a, b, pose_b, margin):
        raise ZeroDivisionError("no contact today")

    with pytest.raises(ZeroDivisionError, match="no contact today"):
        scene.simulation(collider=broken).advance(1.0)
    with pytest.raises(ValueError, match="there is no body"):
        scene.simulation(collider=broken, collider_pairs=[("floor", "ballon")])


def export(scene: str, out: Path, *more: str) -> Path:
    command = [sys.executable, "-m", "tippe", "fmu", "export", scene, "-o", str(out), *more]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return out


def test_casadi_reads_the_rates(tmp_path: Path) -> None:
    """Rates of a unit in CasADi, and their derivatives by the states, are those of differences of the rates."""
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed: units were NOT tested in it")
    unit = export("slider_crank", tmp_path / "unit.fmu", "--kind", "me")
    folder = tmp_path / "unit"
    import zipfile

    with zipfile.ZipFile(unit) as archive:
        archive.extractall(folder)
    dae = casadi.DaeBuilder("crank", str(folder))
    rates = dae.create("f", ["x"], ["ode"])
    x = np.array([float(dae.start(name)) for name in dae.x()])
    jacobian = np.array(rates.jacobian()(x, rates(x)))
    for k in range(len(x)):
        h = 1e-5
        up, down = x.copy(), x.copy()
        up[k] += h
        down[k] -= h
        difference = (np.array(rates(up)) - np.array(rates(down)))[:, 0] / (2 * h)
        assert np.allclose(jacobian[:, k], difference, rtol=1e-5, atol=1e-5 * np.abs(jacobian).max())


def test_libcosimpy_steps_a_unit(tmp_path: Path) -> None:
    pytest.importorskip("libcosimpy", reason="libcosimpy is not installed: units were NOT tested in it")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator  # noqa: F401
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    unit = export("billiards", tmp_path / "unit.fmu", "--kind", "cs", "--outputs", "cue.position.x")
    execution = CosimExecution.from_step_size(step_size=int(1e7))
    slave = CosimLocalSlave(fmu_path=str(unit), instance_name="table")
    index = execution.add_local_slave(local_slave=slave)
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    execution.simulate_until(target_time=int(1e8))
    names = {own.name.decode(): own.reference for own in execution.slave_variables(index)}
    (value,) = observer.last_real_values(slave_index=index, variable_references=[names["cue.position.x"]])
    run = tippe.load("billiards").simulation()
    run.advance(0.1)
    assert value == pytest.approx(run["cue.position.x"], abs=1e-9)


def test_rumoca_reads_modelica(tmp_path: Path) -> None:
    rumoca = pytest.importorskip("rumoca", reason="rumoca is not installed: Modelica was NOT read")
    library = (ROOT / "modelica" / "TippeContact" / "package.mo").read_text()
    assert not [own for own in rumoca.validate_source(library) if "warning" not in str(own)]
    for scene in ("slider_crank", "bouncing_ball", "double_pendulum", "stack"):
        out = tmp_path / f"{scene}.mo"
        command = [sys.executable, "-m", "tippe", "convert", str(ROOT / "scenes" / f"{scene}.toml"), str(out)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        assert not [own for own in rumoca.validate_source(out.read_text()) if "warning" not in str(own)], scene
