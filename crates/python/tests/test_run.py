import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tippe


def test_signals_expressions_and_units(drop):
    run = drop.run(until=0.6)
    z = run["ball.position.z"]
    assert z is run["ball.position.z"]
    assert np.shares_memory(z, run["ball.position"])
    assert run.value("max(ball.position.z)") == z.max()
    assert run["2*ball.position.z"] == pytest.approx(2 * z)
    assert run["ball.speed"] == pytest.approx(np.linalg.norm(run["ball.velocity"], axis=1))
    assert run["energy.kinetic"].shape == run.time.shape
    assert run.unit("ball.speed") == "m/s"
    assert run.value("ball.position.z", at=0.1) == pytest.approx(1 - 9.81 / 2 * 0.01)
    assert drop.run(until=0.6, output_interval=1e-4)["contact(ball, ground).normal_force"].max() > 100
    with pytest.raises(KeyError, match="did you mean"):
        run["ball.positon.z"]
    with pytest.raises(ValueError):
        z[0] = 3


def test_a_million_states_are_not_copied():
    scene = tippe.Scene(gravity=(0, 0, 0))
    scene.sphere("ball", radius=0.1, material="steel", velocity=(1, 0, 0))
    run = scene.run(until=1.0, output_interval=1e-6)
    assert len(run) >= 1_000_000
    started = time.perf_counter()
    views = [run["ball.position"], run["ball.orientation"], run["ball.velocity"], run["ball.angular_velocity"]]
    took = time.perf_counter() - started
    whole = run.states("ball")
    assert all(np.shares_memory(view, whole) for view in views)
    assert sum(view.size for view in views) == 13 * len(run)
    assert took < 1e-3
    print(f"13 x {len(run)} numbers in {took * 1e6:.0f} us")


def test_the_books(drop):
    run = drop.run(until=1.0)
    energy = run.energy
    assert energy["residual"].abs().max() < 1e-4 * energy["kinetic"].max()
    assert energy["contact_damping"].iloc[-1] > 0
    assert run.momentum.shape == (len(run), 3)
    summary = run.summary
    assert summary["events"]["contact_start"] >= 1
    assert summary["hash"] == run.hash


def test_frames(drop):
    run = drop.run(until=0.2)
    frame = run.frame("ball.position", "ball.speed")
    assert list(frame.columns) == ["time", "ball.position.x", "ball.position.y", "ball.position.z", "ball.speed"]
    assert len(run.frame().columns) == 1 + 2 * 13
    table = run.frame("ball.position.z", kind="pyarrow")
    assert table.num_rows == len(run)
    polars = pytest.importorskip("polars")
    assert isinstance(run.frame("ball.position.z", kind="polars"), polars.DataFrame)
    with pytest.raises(ValueError, match="pandas, polars, pyarrow"):
        run.frame(kind="excel")


def test_contacts(drop):
    contacts = drop.run(until=0.6, output_interval=1e-4).contacts
    assert set(contacts["body2"]) == {"ball"}
    assert (contacts["force.z"] > 0).all()
    assert 0 < contacts["depth"].max() < 2e-3


def test_folders_and_memory_hold_the_same(drop):
    drop.settings(until=0.6)
    one = drop.run(out="folder")
    one.save("saved")
    for folder in ("folder", "saved"):
        two = tippe.open_run(folder)
        assert two.hash == one.hash
        assert np.array_equal(two["ball.position"], one["ball.position"])
        assert two.events == one.events
        assert np.array_equal(two["energy.kinetic"], one["energy.kinetic"])
        assert two.manifest["status"] == "complete"
    with pytest.raises(ValueError, match="manifest.json"):
        tippe.open_run("nowhere")
    os.makedirs("full")
    with open("full/notes.txt", "w") as file:
        file.write("mine")
    assert one.save("full") == "full-2"
    with pytest.raises(ValueError, match="not written by tippe"):
        one.save("full", force=True)
    assert os.listdir("full") == ["notes.txt"]
    with pytest.warns(UserWarning, match="saved-2"):
        drop.run(out="saved")
    assert one.save("saved", force=True) == "saved"
    with pytest.raises(tippe.ResourceError, match="cannot write"):
        one.save("/proc/nowhere/run")


def test_a_folder_that_is_not_whole(drop):
    drop.run(until=0.1, out="folder")
    with open("folder/signals.parquet", "r+b") as file:
        file.truncate(100)
    with pytest.raises(ValueError, match="signals.parquet"):
        tippe.open_run("folder")
    with open("folder/manifest.json", "w") as file:
        file.write('{"format": 1')
    with pytest.raises(ValueError, match="manifest.json"):
        tippe.open_run("folder")


def test_the_clocks_and_threads(drop):
    precise = drop.run(until=0.3, threads=1)
    assert precise.hash == drop.run(until=0.3, threads=2).hash
    realtime = drop.run(until=0.3, clock="realtime", step=1 / 240)
    assert realtime.manifest["clock"] == "realtime"
    assert realtime["ball.position.z"][-1] == pytest.approx(precise["ball.position.z"][-1], abs=0.01)


def test_the_same_bits_as_the_command_line(tmp_path):
    subprocess.run([sys.executable, "-m", "tippe", "run", "bouncing_ball", "--out", "cli", "--quiet"], check=True)
    run = tippe.load("bouncing_ball").run()
    assert run.hash == tippe.open_run("cli").hash
    assert np.array_equal(run["ball.position"], tippe.open_run("cli")["ball.position"])


def test_plots_and_pages(drop):
    run = drop.run(until=0.3)
    axes = run.plot("ball.position", "ball.speed", events=True)
    assert [axis.get_ylabel() for axis in axes] == ["[m]", "[m/s]"]
    assert run.plot().get_ylabel() == "[J]"
    page = run.html()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert run.view(path="run.html") == "run.html"
    assert "srcdoc" in tippe.run.View("<p>&\"</p>", 300)._repr_html_()
    assert '<p>&"' not in tippe.run.View("<p>&\"</p>", 300)._repr_html_()


def test_progress_is_told():
    told = []
    scene = tippe.load("double_pendulum")
    scene.run(until=300, output_interval=1.0, progress=told.append)
    assert told
    assert {"time", "until", "step", "limiter", "contacts", "events"} <= set(told[0])
    times = [p["time"] for p in told]
    assert times == sorted(times)


def test_an_exception_while_told_stops_the_run():
    def tell(p):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as error:
        tippe.load("double_pendulum").run(until=1e6, output_interval=1.0, progress=tell, out="part")
    assert "tell" in [entry.name for entry in error.traceback]
    assert error.value.run.manifest["status"] == "interrupted"
    assert tippe.open_run("part").manifest["status"] == "interrupted"


def test_ctrl_c_stops_in_good_order():
    script = """
        import tippe
        try:
            print("ready", flush=True)
            tippe.load("double_pendulum").run(until=1e6, output_interval=1.0, out="stopped", progress=False)
        except KeyboardInterrupt as error:
            print(error.run.manifest["status"], flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n"
    assert tippe.open_run("stopped").manifest["status"] == "interrupted"


def test_the_interpreter_goes_on_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.perf_counter()
    tippe.load("billiards16").run(until=0.6, progress=False)
    took = time.perf_counter() - started
    done.set()
    thread.join()
    assert len(ticks) > 100 * took


def test_a_failure_hands_over_what_there_is(drop):
    # a law that has no value beyond some depth
    drop.contact(law=drop.law("odd", "1e6*sqrt(1e-5 - depth)"))
    with pytest.raises(tippe.SimulationError, match='at t = 0.4.* body "ball" .*help: ') as error:
        drop.run(until=1.0, out="failed")
    part = error.value.run
    assert part.manifest["status"] == "failed"
    assert len(part) > 10
    assert part.summary is None
    assert tippe.open_run("failed").manifest["failure"] == str(error.value)


def test_commands():
    verdicts = tippe.check("hertz_impact")
    assert verdicts[0]["pass"]
    assert all(line["pass"] for line in verdicts[0]["expectations"])
    implied = tippe.contact("steel", "steel", radius=0.01, speed=1)
    assert 0 < implied["duration"] < 1e-3
    with pytest.raises(ValueError, match="there is no material"):
        tippe.contact("stel", "steel", radius=0.01)
    assert "billiards" in {scene["name"] for scene in tippe.gallery()}
    assert "hertz" in tippe.explain("hertz").lower()
    with pytest.raises(ValueError):
        tippe.explain("nothing of the kind")


def test_expectations_of_a_built_scene(drop):
    drop.settings(until=0.1)
    drop.expect("ball.position.z", is_=1 - 9.81 / 2 * 0.01, within=1e-9, source="free fall")
    assert [line["pass"] for line in drop.check()] == [True]
    assert drop.run().expectations()[0]["pass"]
    drop.expect("ball.position.z", above=2, source="wrong on purpose")
    with pytest.raises(tippe.ExpectationError, match="1 of 2 expectations met") as error:
        drop.check()
    assert [line["pass"] for line in error.value.results["scenes"][0]["expectations"]] == [True, False]


def test_compare_equilibrium_linearize(pendulum):
    pendulum.settings(until=0.5)
    compared = pendulum.compare(step=1 / 240)
    assert compared["gaps"]["position"]["worst"] < 1e-2
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    scene.body("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), position=(0, 0, -0.5))
    scene.revolute("hinge", "world", "bob", at=(0, 0, 0), axis="y")
    system = scene.linearize()
    assert system["A"].shape == (2, 2)
    assert system["modes"][0]["frequency"] == pytest.approx(math.sqrt(9.81 / 0.5) / (2 * math.pi), rel=1e-6)
    assert scene.equilibrium()["stability"] == "stable"


def test_inputs_are_replayed(cart):
    def controller(sim):
        return {"throttle": 1.0 if sim.time < 0.5 else -1.0}

    run = cart.run(clock="realtime", controller=controller, out="driven")
    lines = [json.loads(line) for line in open("driven/inputs.jsonl")]
    assert [line["value"] for line in lines] == [1.0, -1.0]
    subprocess.run([sys.executable, "-m", "tippe", "rerun", "driven"], check=True)
    run.save("again")
    assert open("again/inputs.jsonl").read() == open("driven/inputs.jsonl").read()
