"""Tippe and every peer that is installed, on the same scenes, in one call; a table with quality next to time.

    python side_by_side.py [SCENE ...] [--engines tippe,mujoco,...] [--cap CPU_SECONDS] [--repeats N] [--out results.jsonl]

What is not installed is named and left out. Scenes are those of scenes.json; default pyramid, wall and slope."""
import argparse, importlib.metadata, importlib.util, os, platform, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
# engine: Python module, or the program and the variable that may point to it
NEEDS = {
    "tippe": ("PEER_TIPPE", os.path.join(HERE, "..", "..", "target", "release", "examples", "peer")),
    "mujoco": "mujoco",
    "rapier": ("PEER_RAPIER", os.path.join(HERE, "rapier", "target", "release", "peer-rapier")),
    "pybullet": "pybullet",
    "drake": "pydrake",
    "exudyn": "exudyn",
    "ode": ("PEER_ODE", os.path.join(HERE, "ode", "peer-ode")),
    "physx": "sapien",
    "jolt": ("PEER_JOLT", os.path.join(HERE, "jolt", "peer-jolt")),
    "pinocchio": ("PEER_PIN", os.path.join(HERE, "pinocchio", "peer-pin")),
}


def missing(engine):
    """Nothing, or what would have to be there."""
    need = NEEDS[engine]
    if isinstance(need, str):
        return None if importlib.util.find_spec(need) else "Python package %s" % need
    path = os.environ.get(need[0], need[1])
    return None if os.path.exists(path) else "program %s" % os.path.relpath(path, HERE)


def version(engine):
    need = NEEDS[engine]
    try:
        return importlib.metadata.version({"pydrake": "drake"}.get(need, need)) if isinstance(need, str) else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("scenes", nargs="*", default=["pyramid", "wall", "slope"])
    ap.add_argument("--engines", default=",".join(NEEDS))
    ap.add_argument("--cap", type=float, default=30.0)
    ap.add_argument("--repeats", type=int, default=1)
    ap.add_argument("--out", default=os.path.join(HERE, "results.jsonl"))
    a = ap.parse_args()
    out = os.path.abspath(a.out)
    if os.path.exists(out):
        os.remove(out)
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PEERS_OUT=out)
    ran, left_out = [], []
    for engine in a.engines.split(","):
        lacks = missing(engine)
        if lacks:
            left_out.append("%s (no %s)" % (engine, lacks))
            continue
        ran.append(" ".join(filter(None, [engine, version(engine)])))
        command = [sys.executable, os.path.join(HERE, engine + "_peer.py"), *a.scenes, "--cap", str(a.cap), "--repeats", str(a.repeats)]
        done = subprocess.run(command, env=env, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            left_out.append("%s (exit %d: %s)" % (engine, done.returncode, (done.stderr.strip().split("\n") or [""])[-1][:160]))
    print("Ran: %s. Python %s, %s, %d processors." % (", ".join(ran) or "nothing", platform.python_version(), platform.machine(), os.cpu_count()))
    if left_out:
        print("Left out: %s." % ", ".join(left_out))
    print(flush=True)
    if os.path.exists(out):
        subprocess.run([sys.executable, os.path.join(HERE, "tables.py"), out], check=True)


if __name__ == "__main__":
    main()
