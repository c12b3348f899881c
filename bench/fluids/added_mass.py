"""The water that bodies take along, over what they displace: Tippe and Capytaine (infinite frequency, no surface) in one call.

    pip install capytaine==3.0.0 numpy pyarrow
    cargo build --release -p tippe-cli
    python added_mass.py               # all that are installed; `python added_mass.py tippe` one of them

A line for each body and program: A11 and A33 over the displaced mass, and how far they are from the exact value where there is one (Lamb 1932 for balls and
spheroids), wall time with all that is done at load. TIPPE may name another program than target/release/tippe.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
RHO = 1000.0
# name, shape of a scene, volume, exact A11 and A33 over the displaced mass (None: there is no closed form)
BODIES = [
    ("ball", '{ kind = "sphere", radius = 1, collide = false }', 4 / 3 * math.pi, (0.5, 0.5)),
    ("ball of triangles", '{ kind = "mesh", solid = "ball", collide = false }', 4 / 3 * math.pi, (0.5, 0.5)),
    ("spheroid 2:1", '{ kind = "ellipsoid", semi_axes = [2, 1, 1], collide = false }', 8 / 3 * math.pi, (0.21001505, 0.70421043)),
    ("cube", '{ kind = "box", size = [1, 1, 1], collide = false }', 1.0, None),
    ("box 3:1:1", '{ kind = "box", size = [3, 1, 1], collide = false }', 3.0, None),
]
SCENE = """format = 1
title = "added mass"
[world]
gravity = [0, 0, 0]
[run]
until = 0.02
output_interval = 0.01
[[solid]]
name = "ball"
kind = "sphere"
radius = 1
segments = 32
[[body]]
name = "body"
density = 1000
shape = SHAPE
[[fluid]]
name = "water"
density = 1000
unbounded = true
bodies = [{ on = "body", added_mass = true }]
"""


def say(who, name, volume, exact, found, seconds):
    line = {"program": who, "body": name, "A11": found[0] / (RHO * volume), "A33": found[1] / (RHO * volume)}
    if exact:
        line["error"] = max(abs(line[k] / e - 1) for k, e in zip(("A11", "A33"), exact))
    print(json.dumps({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in (line | {"seconds": seconds}).items()}), flush=True)


def tippe():
    from pyarrow import parquet

    program = os.environ.get("TIPPE", os.path.join(ROOT, "target", "release", "tippe"))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    for name, shape, volume, exact in BODIES:
        with tempfile.TemporaryDirectory() as folder:
            scene = os.path.join(folder, "scene.toml")
            with open(scene, "w") as file:
                file.write(SCENE.replace("SHAPE", shape))
            start = time.perf_counter()
            subprocess.run([program, "run", scene, "--clock", "realtime", "--out", os.path.join(folder, "run")], check=True, capture_output=True)
            seconds = time.perf_counter() - start
            signals = parquet.read_table(os.path.join(folder, "run", "signals.parquet"))
            found = [signals.column(f"water.body.added.{k}")[-1].as_py() for k in ("A11", "A33")]
        say(version, name, volume, exact, found, seconds)


def capytaine():
    import capytaine as cpt
    import numpy as np

    cpt.set_logging("ERROR")
    meshes = {
        "ball of triangles": lambda: cpt.mesh_sphere(radius=1.0, resolution=(36, 36), center=(0, 0, 0)),
        "cube": lambda: cpt.mesh_parallelepiped(size=(1, 1, 1), resolution=(15, 15, 15), center=(0, 0, 0)),
        "box 3:1:1": lambda: cpt.mesh_parallelepiped(size=(3, 1, 1), resolution=(30, 10, 10), center=(0, 0, 0)),
    }
    for name, _, volume, exact in BODIES:
        if name not in meshes:
            continue
        start = time.perf_counter()
        body = cpt.FloatingBody(mesh=meshes[name](), dofs=cpt.rigid_body_dofs(rotation_center=(0, 0, 0)))
        solver, found = cpt.BEMSolver(), []
        for dof in ("Surge", "Heave"):
            problem = cpt.RadiationProblem(body=body, omega=np.inf, free_surface=np.inf, rho=RHO, radiating_dof=dof)
            found.append(float(solver.solve(problem).added_masses[dof]))
        say(f"capytaine {cpt.__version__}", name, volume, exact, found, time.perf_counter() - start)


for which in (tippe, capytaine):
    if len(sys.argv) > 1 and which.__name__ not in sys.argv[1:]:
        continue
    try:
        which()
    except ImportError as error:
        print(f"{which.__name__}: not installed ({error})")
