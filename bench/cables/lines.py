"""Pulleys, a bent rope and a mooring line: Tippe, MuJoCo, Exudyn and MoorDyn in one call.

    pip install mujoco==4.0.0 exudyn==1.13.6 moordyn==2.7.2 numpy pyarrow
    cargo build --release -p tippe-cli
    python lines.py                    # all that are installed; `python lines.py tippe` one of them

A line for each: the case, the program, its error against the closed form, processor time per step or in all. One thread.
  atwood      12 and 8 kg over a wheel of 0.5 kg m^2, R = 0.25 m: acceleration 1.40095 m/s^2
  cantilever  L = 1, EI = 1, a force of 1 across its end: it sinks by 0.301721 (Bisshopp, Drucker 1945)
  mooring     330 m of 800 N/m, EA = 4e8, over a seabed 120 m below its end, 260 m away: the elastic line of Jonkman 2007
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

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
G = 9.80665
M1, M2, I, R = 12.0, 8.0, 0.5, 0.25
A = (M1 - M2) * G / (M1 + M2 + I / R**2)
SINKS = 0.30172077
LENGTH, W, EA, DEPTH, AWAY = 330.0, 800.0, 4e8, 120.0, 260.0


def say(case, who, what, error, us, unit):
    line = {"case": case, "program": who, "settings": what, "error": error, unit: us}
    print(json.dumps({k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in line.items()}), flush=True)


def top_of_line():
    """Tension at the upper end of the mooring line [N]: what hangs of it leads to the depth, and to the distance with what lies."""

    def zero(of, low, high):
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if of(middle) < 0 else (low, middle)
        return low

    carried = lambda H: zero(lambda V: (math.hypot(H, V) - H) / W + V * V / (2 * EA * W) - DEPTH, 0.0, 1.1 * W * LENGTH)
    leads = lambda H, V: LENGTH - V / W + H / W * math.asinh(V / H) + H * LENGTH / EA
    H = zero(lambda H: leads(H, carried(H)) - AWAY, 1.0, 1e6)
    return math.hypot(H, carried(H))


def tippe():
    program = os.environ.get("TIPPE", os.path.join(ROOT, "target", "release", "tippe"))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    from pyarrow import parquet

    head = 'format = 1\ntitle = "{}"\n[world]\ngravity = [0, 0, {}]\n[run]\nuntil = {}\n[realtime]\nstep = "{}"\n'
    body = '[[body]]\nname = "{}"\nmass = {}\ninertia = [{}, {}, {}]\nposition = [{}, 0, {}]\nshape = {{ kind = "sphere", radius = 0.1, collide = false }}\n'
    atwood = (
        head.format("atwood", -G, 0.5, "1/60") + body.format("wheel", 10, I, I, I, 0, 3) + body.format("one", M1, 1, 1, 1, -R, 1) + body.format("other", M2, 1, 1, 1, R, 1)
        + '[[joint]]\nname = "axle"\nkind = "revolute"\nbodies = ["world", "wheel"]\nat = [0, 0, 3]\naxis = "y"\n'
        + f'[[cable]]\nname = "rope"\naxial_stiffness = 1e8\ndamping = 5e5\ntension = {10 * G}\npoints = [{{ kind = "end", on = "one" }}, '
        + f'{{ kind = "sheave", on = "wheel", radius = {R}, axle = "y" }}, {{ kind = "end", on = "other" }}]\n'
    )
    bent = lambda n: (
        head.format("cantilever", 0, 12, "1/240") + body.format("tip", 0.1, 1e-4, 1e-4, 1e-4, 1, 0)
        + '[[cable]]\nname = "rope"\nspans = "flexible"\naxial_stiffness = 1e6\nbending_stiffness = 1\nmass_per_length = 1e-3\ndiameter = 0.01\n'
        + f'damping = 2e5\ncollide = false\nelements = {n}\npoints = [{{ kind = "end", on = "world", at = [0, 0, 0], clamped = true, direction = "x" }}, {{ kind = "end", on = "tip" }}]\n'
        + '[[force]]\nname = "pull"\nkind = "applied"\non = "tip"\nforce = [0, 0, -1]\n'
    )
    mooring = (
        head.format("mooring", -G, 10, "1/60") + body.format("float", 1e5, 1e6, 1e6, 1e6, AWAY, 0)
        + f'[[joint]]\nname = "held"\nkind = "revolute"\nbodies = ["world", "float"]\nat = [{AWAY}, 0, 0]\naxis = "z"\n'
        + f'[[cable]]\nname = "line"\nspans = "catenary"\nlength = {LENGTH}\nweight = {W}\naxial_stiffness = {EA}\nseabed = -{DEPTH}\n'
        + f'points = [{{ kind = "end", on = "world", at = [0, 0, -{DEPTH}] }}, {{ kind = "end", on = "float" }}]\n'
    )
    top = top_of_line()
    cases = [("atwood", "", atwood, "one.velocity.z", lambda v: -v / 0.5 / A - 1, 30)]
    cases += [("cantilever", f"{n} elements, ", bent(n), "tip.position.z", lambda z: -z / SINKS - 1, 2880) for n in (10, 20)]
    cases += [("mooring", "", mooring, "line.tension_2", lambda t: t / top - 1, 600)]
    for case, what, text, signal, error, steps in cases:
        with tempfile.TemporaryDirectory() as folder:
            scene, out = os.path.join(folder, "scene.toml"), os.path.join(folder, "run")
            with open(scene, "w") as file:
                file.write(text)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, "run", scene, "--clock", "realtime", "--threads", "1", "--quiet", "--out", out], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            last = parquet.read_table(os.path.join(out, "signals.parquet")).column(signal)[-1].as_py()
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        say(case, version, f"realtime clock, {what}{steps} steps, the whole program", error(last), 1e6 * spent / steps, "us_per_step")


def mujoco():
    import mujoco as mj
    import numpy as np

    who = f"MuJoCo {mj.__version__}"
    option = lambda h, g, integrator: f'<option timestep="{h!r}" gravity="0 0 {-g}" integrator="{integrator}" iterations="200"/>'
    weights = "".join(
        f'<body pos="{x} 0 -2"><joint name="z{k}" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{m}" diaginertia="1 1 1"/><site name="s{k}"/></body>'
        for k, m, x in ((1, M1, R), (2, M2, -R))
    )
    wheel = (
        f'<body><joint name="w" type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="{I} {I} {I}"/>'
        f'<geom name="g" type="cylinder" size="{R} 0.1" euler="90 0 0" contype="0" conaffinity="0"/><site name="up" pos="0 0 {R + 0.3}"/></body>'
    )
    stiff = f'solref="{2 / 60!r} 1" solimp="0.9999 0.9999 0.001"'
    wraps = f'<tendon><spatial name="t"><site site="s1"/><geom geom="g" sidesite="up"/><site site="s2"/></spatial></tendon><equality><tendon tendon1="t" {stiff}/></equality>'
    ties = "<equality>" + "".join(f'<joint joint1="z{k}" joint2="w" polycoef="0 {s * R} 0 0 0" {stiff}/>' for k, s in ((1, -1), (2, 1))) + "</equality>"
    for what, tail in (("tendon around the wheel", wraps), ("both weights tied to the wheel's angle by hand", ties)):
        model = mj.MjModel.from_xml_string(f"<mujoco>{option(1 / 60, G, 'implicitfast')}<worldbody>{wheel}{weights}</worldbody>{tail}</mujoco>")
        data = mj.MjData(model)
        begin = time.process_time()
        mj.mj_step(model, data, 30)
        spent = time.process_time() - begin
        say("atwood", who, f"{what}, 1/60 s", float(-data.qvel[model.joint("z1").dofadr[0]] / data.time / A - 1), 1e6 * spent / 30, "us_per_step")
    for n in (10, 20):
        l = 1 / n
        places = " ".join(f"{(k - 1) * l!r} 0 0" for k in range(n + 2))
        pairs = " ".join(f"{k} {k + 1}" for k in range(n + 1))
        young = 1 / (math.pi * 0.01**4 / 4)
        rope = (
            f'<flexcomp name="c" type="direct" dim="1" radius="0.01" mass="{(n + 2) * l!r}" point="{places}" element="{pairs}"><edge equality="true" {stiff}/>'
            f'<elasticity young="{young!r}" damping="0.05"/><pin id="0 1"/><contact contype="0" conaffinity="0" selfcollide="none"/></flexcomp>'
        )
        model = mj.MjModel.from_xml_string(f"<mujoco>{option(1 / 60, 0, 'discrete')}<worldbody>{rope}</worldbody></mujoco>")
        data, tip = mj.MjData(model), model.body(f"c_{n + 1}").id
        begin, steps = time.process_time(), 2400
        for _ in range(steps):
            data.xfrc_applied[tip, 2] = -1.0
            mj.mj_step(model, data)
        spent = time.process_time() - begin
        say("cantilever", who, f"1-D flex, {n} edges, 40 s at 1/60 s", float(-data.xpos[tip][2] / SINKS - 1), 1e6 * spent / steps, "us_per_step")
        assert np.isfinite(data.qpos).all()


def exudyn():
    import exudyn as exu
    import numpy as np
    from exudyn import itemInterface as item

    who = f"Exudyn {exu.config.Version()}"
    kept = dict(storeInternal=True, writeToFile=False)

    def solve(system, h, end, static=False):
        system.Assemble()
        settings = exu.SimulationSettings()
        clock = settings.timeIntegration
        clock.numberOfSteps, clock.endTime, clock.verboseMode = round(end / h), end, 0
        clock.newton.useModifiedNewton, clock.adaptiveStep, clock.generalizedAlpha.spectralRadius = True, False, 0.9
        settings.staticSolver.numberOfLoadSteps, settings.staticSolver.verboseMode = 5, 0
        settings.show.statistics = settings.show.computationTime = settings.solution.file.write = False
        settings.parallel.numberOfThreads = 1
        begin = time.process_time()
        (system.SolveStatic if static else system.SolveDynamic)(settings, showHints=False)
        return time.process_time() - begin

    def weight(system, x, m):
        node = system.AddNode(item.NodeRigidBody2D(referenceCoordinates=[x, -2, 0]))
        body = system.AddObject(item.ObjectRigidBody2D(mass=m, inertia=m, nodeNumber=node))
        marker = system.AddMarker(item.MarkerBodyRigid(bodyNumber=body))
        system.AddLoad(item.Force(markerNumber=marker, loadVector=[0, -m * G, 0]))
        return node, marker

    stiff, axes = 1e8, lambda n: exu.Vector3DList([[0, 0, 1]] * n)
    for what in ("a rope over a sheave", "two ropes, the wheel's angle tied to their lengths by hand"):
        system = exu.SystemContainer().AddSystem()
        ground = system.AddObject(item.ObjectGround())
        at = lambda x: system.AddMarker(item.MarkerBodyRigid(bodyNumber=ground, localPosition=[x, 0, 0]))
        (node, one), (_, other) = weight(system, R, M1), weight(system, -R, M2)
        own = dict(stiffnessPerLength=stiff, dampingPerLength=0.005 * stiff, regularizationForce=-1)
        if what.startswith("a rope"):
            rest = (4 + math.pi * R) / (1 + 10 * G / stiff)
            system.AddObject(item.ReevingSystemSprings(markerNumbers=[one, at(0), other], referenceLength=rest, sheavesAxes=axes(3), sheavesRadii=[0, R, 0], **own))
        else:
            turn = system.AddNode(item.Node1D(referenceCoordinates=[0.0]))
            system.AddObject(item.Mass1D(mass=I, nodeNumber=turn))
            coordinate = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=turn, coordinate=0))
            still = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0))
            for marker, x, factor, tension in ((one, R, -R, M1 * (G - A)), (other, -R, R, M2 * (G + A))):
                rest = 2 / (1 + tension / stiff)
                places = dict(markerNumbers=[marker, at(x), still, coordinate], hasCoordinateMarkers=True, coordinateFactors=[1, factor])
                system.AddObject(item.ReevingSystemSprings(referenceLength=rest, sheavesAxes=axes(2), sheavesRadii=[0, 0], **places, **own))
        spent = solve(system, 1 / 60, 0.5)
        speed = system.GetNodeOutput(node, exu.OutputVariableType.Velocity)[1]
        say("atwood", who, f"{what}, 1/60 s", float(-speed / 0.5 / A - 1), 1e6 * spent / 30, "us_per_step")
    for n in (10, 20):
        system = exu.SystemContainer().AddSystem()
        nodes = [system.AddNode(item.Point2DS1(referenceCoordinates=[k / n, 0, 1, 0])) for k in range(n + 1)]
        for pair in zip(nodes, nodes[1:]):
            system.AddObject(item.ObjectANCFCable2D(length=1 / n, massPerLength=1.0, bendingStiffness=1.0, axialStiffness=1e6, nodeNumbers=list(pair)))
        still = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=system.AddNode(item.NodePointGround()), coordinate=0))
        for k in (0, 1, 3):
            held = system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
            system.AddObject(item.CoordinateConstraint(markerNumbers=[still, held]))
        tip = system.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
        system.AddLoad(item.Force(markerNumber=tip, loadVector=[0, -1.0, 0]))
        spent = solve(system, 1, 1, static=True)
        sinks = -system.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position)[1]
        say("cantilever", who, f"{n} ANCF elements in the plane, statics in 5 steps", float(np.float64(sinks) / SINKS - 1), 1e6 * spent, "us")


def moordyn():
    import moordyn as md
    import numpy as np
    from importlib.metadata import version

    D, top = 0.1, top_of_line()
    mass = W / G + 1025 * math.pi * D * D / 4
    for n in (20, 40):
        h = 0.5 / (2 * math.sqrt(EA / (LENGTH / n) / (mass * LENGTH / n)))
        options = dict(WtrDpth=DEPTH, WtrDnsty=1025, g=G, dtM=f"{h:.6g}", tScheme="RK2", kBot=3e6, cBot=3e5, TmaxIC=200, dtIC=2, CdScaleIC=5, threshIC=1e-4, writeLog=0, disableOutput=1)
        text = ["MoorDyn input", "line", "---- LINE TYPES ----", "Name Diam MassDen EA BA EI Cd Ca CdAx CaAx", "(-) (m) (kg/m) (N) (-) (Nm2) (-) (-) (-) (-)"]
        text += [f"main {D} {mass:.9g} {EA} -0.2 0 1.2 1.0 0.2 0", "---- POINTS ----", "ID Type X Y Z M V CdA CA", "(#) (-) (m) (m) (m) (kg) (m3) (m2) (-)"]
        text += [f"1 Fixed 0 0 {-DEPTH} 0 0 0 0", f"2 Coupled {AWAY} 0 0 0 0 0 0", "---- LINES ----", "ID LineType AttachA AttachB UnstrLen NumSegs Outputs", "(#) (-) (-) (-) (m) (-) (-)"]
        text += [f"1 main 1 2 {LENGTH} {n} -", "---- OPTIONS ----", *(f"{value} {key}" for key, value in options.items()), "---- end ----", ""]
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "line.txt")
            with open(name, "w") as file:
                file.write("\n".join(text))
            system = md.Create(name)
            md.SetVerbosity(system, md.LEVEL_NONE)
            md.SetLogLevel(system, md.LEVEL_NONE)
            place, begin, t, shown = [AWAY, 0, 0], time.process_time(), 0.0, []
            md.Init(system, place, [0, 0, 0])
            while t < 200 and time.process_time() - begin < 30:
                shown.append(float(np.linalg.norm(md.Step(system, place, [0, 0, 0], t, 0.05))))
                t += 0.05
            spent = time.process_time() - begin
            md.Close(system)
        say("mooring", f"MoorDyn {version('moordyn')}", f"{n} segments, {t:.0f} s until it rests", shown[-1] / top - 1, 1e6 * spent / (t / h), "us_per_step")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["tippe", "mujoco", "exudyn", "moordyn"]:
        try:
            {"tippe": tippe, "mujoco": mujoco, "exudyn": exudyn, "moordyn": moordyn}[name]()
        except ImportError as error:
            print(f"{name} is not installed: {error}", file=sys.stderr)
