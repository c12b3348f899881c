"""Ten tons on fifty elements of a hundred grams, swung by five degrees: Tippe, MuJoCo and Exudyn in one call.

    pip install mujoco==4.0.0 exudyn==1.13.6 numpy pyarrow
    cargo build --release -p tippe-cli
    python hoist.py                    # all that are installed; `python hoist.py tippe` one of them

A line for each: whether the load stays on its circle for 13 s (two swings), the amplitude that is left, the largest error of the tension at the
top against that of a point pendulum, the error of the period, and processor time per step. One thread. What is not installed is said.
TIPPE may name another program than target/release/tippe.
"""
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
G = 9.80665
LOAD, MASS, N, ELEMENT, EA = 10_000.0, 0.1, 50, 0.2, 1e8
LENGTH, TILT, END = N * ELEMENT, math.radians(5), 13.0


def judge(t, x, z, tension, long=LENGTH):
    """Figures of the motion of the load, from its places [m] and the tension at the top [N], on a cable so long under it [m]."""
    t, x, z, tension = (np.asarray(v, dtype=float) for v in (t, x, z, tension))
    angle = np.arctan2(x, -z)
    holds = len(t) > 3 and t[-1] > END - 0.3 and np.isfinite(angle).all() and abs(angle).max() < math.radians(6) and abs(np.hypot(x, z) - LENGTH).max() < 0.1
    if not holds:
        return {"holds": False, "until_s": float(t[-1]) if len(t) else 0.0}
    last = angle[t > END - 7.0]
    exact = LOAD * G * (3 * np.cos(angle) - 2 * math.cos(TILT)) + N * MASS * G * np.cos(angle)
    error = abs(tension - exact)[(t > 1) & np.isfinite(tension)] / (LOAD * G)
    down = np.where((angle[:-1] > 0) & (angle[1:] <= 0))[0]
    at = t[down] - angle[down] * (t[down + 1] - t[down]) / (angle[down + 1] - angle[down])
    period = 2 * math.pi * math.sqrt(long / G) * (1 + TILT**2 / 16)
    return {
        "holds": True,
        "amplitude_deg": float(np.degrees(last.max() - last.min()) / 2),
        "tension_error": float(error.max()) if len(error) else float("nan"),
        "period_error": float((at[1] - at[0]) / period - 1) if len(at) > 1 else float("nan"),
    }


def say(who, what, step, steps, seconds, figures):
    line = {"program": who, "settings": what, "step_s": round(step, 7), "us_per_step": round(1e6 * seconds / max(1, steps), 1), **figures}
    print(json.dumps({k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in line.items()}), flush=True)


def tippe():
    from pyarrow import parquet

    program = os.environ.get("TIPPE", os.path.join(ROOT, "target", "release", "tippe"))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "run", "crane_hoist", "--clock", "realtime", "--quiet", "--out", out], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        table = parquet.read_table(os.path.join(out, "signals.parquet"))
        column = lambda name: table.column(name).to_numpy()
        figures = judge(column("time"), column("load.position.x"), column("load.position.z"), column("wire.j0.tension"))
    # the whole program: reading, compiling and writing are within it
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    say(version, "realtime clock, 50 elements in space", 1 / 60, round(END * 60), spent, figures)


def mujoco():
    import mujoco as mj

    turn = MASS * ELEMENT**2 / 12

    def chain(h, damping):
        bodies = ""
        for k in range(N):
            place = f'pos="0 0 {-ELEMENT if k else 0}"' + ("" if k else f' euler="0 {-math.degrees(TILT)!r} 0"')
            bodies += f'<body {place}><inertial pos="0 0 {-ELEMENT / 2}" mass="{MASS}" diaginertia="{turn} {turn} {turn / 20}"/>'
            bodies += f'<joint type="ball" damping="{damping if k else 0!r}"/>' + ("" if k else '<site name="top"/>')
        bodies += f'<body name="load" pos="0 0 {-ELEMENT}"><inertial pos="0 0 0" mass="{LOAD}" diaginertia="1800 1800 1800"/><joint type="ball"/></body>'
        option = f'<option timestep="{h!r}" gravity="0 0 {-G}" integrator="implicitfast"><flag autoreset="disable"/></option>'
        return f'<mujoco>{option}<worldbody>{bodies}{"</body>" * N}</worldbody><sensor><force site="top"/></sensor></mujoco>'

    def tendon(h):
        long = LENGTH * (1 + LOAD * G * math.cos(TILT) / EA)
        option = f'<option timestep="{h!r}" gravity="0 0 {-G}" integrator="implicit"><flag autoreset="disable"/></option>'
        load = f'<body name="load" pos="{long * math.sin(TILT)!r} 0 {-long * math.cos(TILT)!r}"><freejoint/><inertial pos="0 0 0" mass="{LOAD}" diaginertia="1800 1800 1800"/><site name="b"/></body>'
        rope = f'<spatial stiffness="{EA / LENGTH}" damping="{0.1 * math.sqrt(EA / LENGTH * LOAD)!r}" springlength="0 {LENGTH}"><site site="a"/><site site="b"/></spatial>'
        return f'<mujoco>{option}<worldbody><site name="a"/>{load}</worldbody><tendon>{rope}</tendon></mujoco>'

    bend = lambda h: 5 * h**3 * (LOAD * G) ** 2 / (32 * MASS)
    for what, h, text in (
        ("ball joints", 1 / 60, chain(1 / 60, 0.0)),
        ("ball joints", 1 / 4000, chain(1 / 4000, 0.0)),
        ("ball joints, Tippe's damping of bending set by hand", 1 / 60, chain(1 / 60, bend(1 / 60))),
        ("one tendon without mass", 1 / 60, tendon(1 / 60)),
    ):
        model = mj.MjModel.from_xml_string(text)
        data, load = mj.MjData(model), mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, "load")
        t, x, z, pull, spent, steps = [], [], [], [], 0.0, 0
        every = max(1, round(1 / 60 / h))
        while data.time < END:
            begin = time.process_time()
            for _ in range(every):
                mj.mj_step(model, data)
            spent += time.process_time() - begin
            steps += every
            p = data.xipos[load]
            top = abs(data.sensordata[2]) if model.nsensor else model.tendon_stiffness[0] * (data.ten_length[0] - LENGTH) + N * MASS * G
            t.append(data.time), x.append(p[0]), z.append(p[2]), pull.append(top)
            if not np.isfinite(p).all() or np.linalg.norm(p) > 15:
                break
        say(f"MuJoCo {mj.__version__}", what, h, steps, spent, judge(t, x, z, pull))


def exudyn():
    import exudyn as exu
    from exudyn import itemInterface as item

    along = [math.sin(TILT), -math.cos(TILT)]
    strain = (LOAD + N * MASS / 2) * G * math.cos(TILT) / EA
    for n in (50, 10):
        system = exu.SystemContainer().AddSystem()
        l = LENGTH / n
        nodes, cables = [], []
        for k in range(n + 1):
            place = [along[0] * l * k, along[1] * l * k, *along]
            nodes.append(system.AddNode(item.Point2DS1(referenceCoordinates=place, initialCoordinates=[strain * v for v in place])))
        for k in range(n):
            cable = item.ObjectANCFCable2D(length=l, massPerLength=MASS / ELEMENT, bendingStiffness=40.0, axialStiffness=EA, nodeNumbers=nodes[k : k + 2])
            cables.append(system.AddObject(cable))
            marker = system.AddMarker(item.MarkerBodyMass(bodyNumber=cables[-1]))
            system.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[0, -G, 0]))
        ground = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0))
        for k in (0, 1):
            held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
            system.AddObject(item.CoordinateConstraint(markerNumbers=[ground, held]))
        mass = np.diag([LOAD, LOAD, 0, 0])
        system.AddObject(item.ObjectGenericODE2(nodeNumbers=[nodes[-1]], massMatrix=mass, forceVector=[0, -LOAD * G, 0, 0]))
        kept = dict(storeInternal=True, writeToFile=False)
        place = system.AddSensor(item.SensorNode(nodeNumber=nodes[-1], outputVariableType=exu.OutputVariableType.Position, **kept))
        force = system.AddSensor(item.SensorBody(bodyNumber=cables[0], localPosition=[l / 2, 0, 0], outputVariableType=exu.OutputVariableType.ForceLocal, **kept))
        system.Assemble()
        settings = exu.SimulationSettings()
        clock = settings.timeIntegration
        clock.numberOfSteps, clock.endTime, clock.verboseMode = round(END * 60), END, 0
        clock.newton.useModifiedNewton, clock.adaptiveStep, clock.generalizedAlpha.spectralRadius = True, False, 0.5
        settings.show.statistics = settings.show.computationTime = settings.solution.file.write = False
        settings.solution.sensors.writePeriod = 1 / 60
        settings.parallel.numberOfThreads = 1
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        begin = time.process_time()
        system.SolveDynamic(settings, showHints=False)
        spent = time.process_time() - begin
        p, f = system.GetSensorStoredData(place), system.GetSensorStoredData(force)
        what = f"{n} ANCF elements in the plane, generalised alpha 0.5"
        say(f"Exudyn {exu.config.Version()}", what, 1 / 60, round(END * 60), spent, judge(p[:, 0], p[:, 1], p[:, 2], f[:, 1], LENGTH * (1 + strain)))


if __name__ == "__main__":
    for name in sys.argv[1:] or ["tippe", "mujoco", "exudyn"]:
        try:
            {"tippe": tippe, "mujoco": mujoco, "exudyn": exudyn}[name]()
        except ImportError as error:
            print(f"{name} is not installed: {error}", file=sys.stderr)
