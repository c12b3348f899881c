"""Forward dynamics of a 7-joint arm and of chains: Tippe against Pinocchio's articulated bodies, in the same run.

    pip install pin numpy
    python bench/mechanisms/forward_dynamics.py [--rounds 5]

Both build the models of crates/tippe/benches/forward_dynamics.rs and are timed in turn, one round after the other; the
best of all rounds counts. Pinocchio is called from Python: the time of the same call with a model without joints is
taken off. The ratio is Tippe's time by Pinocchio's, so below one Tippe is faster; `difference` is the largest one of
the accelerations, relative to the largest acceleration. The chain of 1,000 links is Tippe's alone: Pinocchio's working
data for it did not fit into the memory of the machine this was written on.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import timeit

try:
    import numpy as np
    import pinocchio as pin
except ImportError:
    sys.exit("needs Pinocchio and NumPy: pip install pin numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]


def chain(n):
    """Slender links of 0.1 m and 0.1 kg that hang down."""
    return [
        {
            "axis": [0, 1, 0],
            "joint_offset_in_parent": [0, 0, 0 if k == 0 else -0.1],
            "mass": 0.1,
            "com": [0, 0, -0.05],
            "inertia_com": np.diag([1e-4, 1e-4, 1e-6]).tolist(),
        }
        for k in range(n)
    ]


def build(links):
    joints = {(1, 0, 0): pin.JointModelRX, (0, 1, 0): pin.JointModelRY, (0, 0, 1): pin.JointModelRZ}
    model = pin.Model()
    parent = 0
    for k, link in enumerate(links):
        place = pin.SE3(np.eye(3), np.array(link["joint_offset_in_parent"], float))
        parent = model.addJoint(parent, joints[tuple(link["axis"])](), place, f"joint_{k}")
        inertia = pin.Inertia(link["mass"], np.array(link["com"], float), np.array(link["inertia_com"], float))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


class Pinocchio:
    def __init__(self, links):
        n = len(links)
        self.model = build(links)
        self.data = self.model.createData()
        self.q = np.array([0.1 * (7 * k % 11) - 0.5 for k in range(n)])
        self.u = np.array([0.2 * (5 * k % 13) - 1.2 for k in range(n)])
        self.tau = np.array([0.01 * (3 * k % 7) - 0.03 for k in range(n)])
        self.best = float("inf")

    def call(self):
        return pin.aba(self.model, self.data, self.q, self.u, self.tau)

    def time(self):
        calls = 1 + 20000 // (1 + len(self.q))
        self.best = min(self.best, min(timeit.repeat(self.call, number=calls, repeat=10)) / calls * 1e6)


def tippe():
    command = ["cargo", "bench", "--quiet", "-p", "tippe", "--bench", "forward_dynamics", "--", "--json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return {row["model"]: row for row in map(json.loads, lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    arm = json.loads((ROOT / "crates/tippe/benches/arm7.json").read_text())
    models = {"arm7": arm, "chain_10": chain(10), "chain_100": chain(100)}
    peers = {name: Pinocchio(links) for name, links in models.items()}
    empty = Pinocchio([])
    ours = {}
    for _ in range(rounds):
        for name, row in tippe().items():
            best = ours.setdefault(name, row)
            best["us"] = min(best["us"], row["us"])
        for peer in [empty, *peers.values()]:
            peer.time()
    print(f"Pinocchio {pin.__version__}, its call without joints: {empty.best:.2f} us, taken off below")
    print("model       Tippe [us]  Pinocchio [us]  ratio  difference")
    failed = False
    for name, row in ours.items():
        if name not in peers:
            print(f"{name:<10}  {row['us']:10.3f}")
            continue
        time = peers[name].best - empty.best
        theirs = peers[name].call()
        difference = np.abs(np.array(row["acceleration"]) - theirs).max() / np.abs(theirs).max()
        failed |= not difference < 1e-10
        print(f"{name:<10}  {row['us']:10.3f}  {time:14.3f}  {row['us'] / time:5.2f}  {difference:10.1e}")
    if failed:
        sys.exit("the accelerations differ")


if __name__ == "__main__":
    main()
