"""Tippe's realtime clock.  Build: cargo build --release -p tippe --example peer (from the repository's root)"""
import os
from common import *
exe = os.environ.get("PEER_TIPPE", os.path.join(HERE, "..", "..", "target", "release", "examples", "peer"))
CONFIGS = {"direct": "projected Newton on a sparse factorisation, cone friction", "sweeps": "10 small steps of soft Gauss-Seidel passes"}
if __name__ == "__main__":
    D = ["direct"]
    native_main("tippe", "0.1", exe, CONFIGS, {"heavy_chain": D, "pyramid": D + ["sweeps"], "wall": D + ["sweeps"], "billiards16": D, "balls5050": ["sweeps"],
                                               "newton_cradle": D, "slope": D, "pendulum": D, "spheres10k": ["sweeps"]})
