#!/usr/bin/env python3
"""Overlap of two meshes: Tippe against manifold3d (PyPI), the same meshes and poses, in one run.

    python3 -m venv venv && venv/bin/pip install manifold3d numpy
    venv/bin/python bench/mesh/manifold.py

Runs `cargo bench -p tippe-geometry --bench mesh` (release) for Tippe and writes its meshes and poses for manifold3d, whose Boolean,
volume and centroid are timed as a Python user calls them; the call itself takes microseconds. manifold3d takes single precision.
Prints both times (best of 25 passes over 200 poses, one thread) and the mean volumes.
"""
import os, subprocess, sys, tempfile, time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import manifold3d


def read(path):
    words = iter(open(path).read().split())
    def mesh():
        nv, nt = int(next(words)), int(next(words))
        v = np.array([float(next(words)) for _ in range(3 * nv)]).reshape(nv, 3)
        return v, np.array([int(next(words)) for _ in range(3 * nt)]).reshape(nt, 3)
    a, b = mesh(), mesh()
    n = int(next(words))
    poses = np.array([float(next(words)) for _ in range(7 * n)]).reshape(n, 7)
    return a, b, poses


def matrix(pose):
    w, x, y, z = pose[:4]
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
         [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
         [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return np.c_[np.array(r), pose[4:]]


def volume_and_centroid(v, f):
    a, b, c = v[f[:, 0]], v[f[:, 1]], v[f[:, 2]]
    w = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return w.sum(), ((a + b + c) / 4 * w[:, None]).sum(0) / w.sum()


bench = ["cargo", "bench", "-q", "-p", "tippe-geometry", "--bench", "mesh", "--"]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(bench + ["poses", folder], check=True)
    for name in sorted(os.listdir(folder), key=len):
        a, b, poses = read(os.path.join(folder, name))
        solid = lambda m: manifold3d.Manifold(manifold3d.Mesh(m[0].astype(np.float32), m[1].astype(np.uint32)))
        A, B = solid(a), solid(b)
        def overlap(T):
            both = A ^ B.transform(T)
            if not both.num_tri():
                return 0.0, None
            mesh = both.to_mesh()
            return volume_and_centroid(np.asarray(mesh.vert_properties)[:, :3].astype(float), np.asarray(mesh.tri_verts))
        transforms = [matrix(p) for p in poses]
        best, volumes = 1e9, []
        for _ in range(25):
            start = time.perf_counter()
            volumes = [overlap(T)[0] for T in transforms]
            best = min(best, (time.perf_counter() - start) / len(transforms))
        print(f"{len(a[1]):6d} triangles  manifold3d: Boolean, volume, centroid (mean volume {np.mean(volumes):.6e}) {best * 1e6:9.1f} us", flush=True)
subprocess.run(bench + sys.argv[1:], check=True)
