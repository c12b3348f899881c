"""What Python costs: a step of the realtime clock over one in Rust, a million states, 64 environments.

    pip install '.[gym]'; python bench/python.py
"""

import time

import numpy as np
import tippe
from tippe.gym import Env, VectorEnv, cart_pole


def best(function, rounds=7, clock=time.perf_counter):
    times = []
    for _ in range(rounds):
        started = clock()
        function()
        times.append(clock() - started)
    return min(times)


def step_overhead(scene, n=3000):
    """n steps in one call are a loop in Rust; n calls are a loop in Python. Both take the same steps from the same state."""
    sim = scene.simulation("realtime")
    sim.step(10)
    mark = sim.checkpoint()

    def rust():
        sim.restore(mark)
        sim.step(n)

    def python():
        sim.restore(mark)
        for _ in range(n):
            sim.step()

    def seen():
        sim.restore(mark)
        for _ in range(n):
            sim.step()
            sim.positions[0, 2]

    # time of this process alone: others may use the machine
    in_rust, in_python, and_seen = (best(way, 15, time.process_time) for way in (rust, python, seen))
    print(f"{scene.name}: {len(sim.bodies)} bodies, a step in Rust {1e6 * in_rust / n:.2f} us, ", end="")
    print(f"from Python {1e6 * (in_python - in_rust) / n:.2f} us more, {1e6 * (and_seen - in_rust) / n:.2f} us with a position read")


def million_states():
    scene = tippe.Scene(gravity=(0, 0, 0), name="million")
    scene.sphere("ball", radius=0.1, material="steel", velocity=(1, 0, 0))
    run = scene.run(until=1.0, output_interval=1e-6)
    took = best(lambda: tippe.Run(run._data)["ball.position"], 3)
    view, whole = run["ball.position"], run.states("ball")
    print(f"{len(run)} states: a column of three in {1e6 * took:.1f} us, shared: {np.shares_memory(view, whole)}")


def environments(n=64, steps=300):
    many = VectorEnv(cart_pole(), n)
    many.reset(seed=0)
    actions = np.zeros((n, 1))
    took = best(lambda: [many.step(actions) for _ in range(steps)], 3)
    one = Env(cart_pole(time_limit=1e9))
    one.reset(seed=0)
    alone = best(lambda: [one.step(actions[0]) for _ in range(steps)], 3)
    print(f"{n} environments: {n * steps / took:,.0f} steps/s; one alone: {steps / alone:,.0f} steps/s")


if __name__ == "__main__":
    for name in ("remote_cart", "bouncing_ball", "stack"):
        step_overhead(tippe.load(name))
    million_states()
    environments()
