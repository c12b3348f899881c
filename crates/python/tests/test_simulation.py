import math
import pickle
import re

import numpy as np
import pytest
import tippe


def test_stepping_is_running(drop):
    sim = drop.simulation("realtime", step=1 / 240)
    whole = drop.run(until=1.0, clock="realtime", step=1 / 240)
    for _ in range(240):
        sim.step()
    assert sim.time == pytest.approx(1.0)
    assert np.array_equal(sim.states[1], whole.states("ball")[-1])
    other = drop.simulation("realtime", step=1 / 240)
    other.step(240)
    assert np.array_equal(other.states, sim.states)


def test_advancing_in_pieces_is_running(drop):
    whole = drop.run(until=1.0)
    sim = drop.simulation()
    for k in range(1, 11):
        sim.advance(k / 10)
    assert np.array_equal(sim["ball.position"], whole["ball.position"][-1])
    assert sim.clock == "precise"
    with pytest.raises(ValueError, match="no steps of its own"):
        sim.step()


def test_arrays_are_views_of_the_present(drop):
    sim = drop.simulation("realtime")
    positions = sim.positions
    assert positions[1] == pytest.approx((0, 0, 1))
    sim.step(10)
    assert positions[1, 2] < 1
    assert positions is sim.positions
    assert np.shares_memory(sim.velocities, sim.states)
    with pytest.raises(ValueError):
        positions[1, 2] = 3
    kept = positions
    del sim
    assert np.isfinite(kept).all()


def test_signals_contacts_events_energy(drop):
    sim = drop.simulation("realtime", step=1 / 120)
    seen = []
    while sim.time < 1.5:
        sim.step()
        seen += sim.events
    assert seen[0]["kind"] == "contact_start"
    assert sim.energy["kinetic"] >= 0
    assert all(set(contact["bodies"]) == {"ground", "ball"} for contact in sim.contacts)
    assert sim["ball.position.z"] == sim.positions[1, 2]
    with pytest.raises(KeyError):
        sim["nobody.position"]


@pytest.mark.parametrize("clock", ["precise", "realtime"])
def test_checkpoints_have_the_same_bits(drop, clock):
    sim = drop.simulation(clock)
    sim.advance(0.5)
    mark = sim.checkpoint()
    sim.save_checkpoint("mark.json")
    sim.advance(1.0)
    end = sim.states.copy()
    sim.restore(mark)
    assert sim.time == pytest.approx(0.5, abs=0.02)
    sim.advance(1.0)
    assert np.array_equal(sim.states, end)
    fresh = drop.simulation(clock)
    fresh.load_checkpoint("mark.json")
    fresh.advance(1.0)
    assert np.array_equal(fresh.states, end)
    other = tippe.Scene(gravity=(0, 0, -9.81))
    other.sphere("ball", radius=0.1, material="steel")
    with pytest.raises(ValueError, match="another scene"):
        other.simulation(clock).restore(mark)
    with pytest.raises(ValueError, match="no checkpoint"):
        tippe.Checkpoint.from_bytes(b"{}")
    with pytest.raises(ValueError, match="layout 0"):
        tippe.Checkpoint.from_bytes(re.sub(rb'"format":\d+', b'"format":0', mark.to_bytes()))
    with pytest.raises(ValueError, match="cannot go on"):
        drop.simulation("realtime" if clock == "precise" else "precise").restore(mark)


@pytest.mark.parametrize("clock", ["precise", "realtime"])
def test_inputs(cart, clock):
    sim = cart.simulation(clock, step=1 / 1000 if clock == "realtime" else None)
    sim.inputs["throttle"] = 4.0
    sim.advance(0.5)
    assert sim["rail.speed"] == pytest.approx(1.0, rel=1e-6)
    sim.inputs["throttle"] = -4.0
    sim.advance(1.0)
    assert sim["rail.speed"] == pytest.approx(0.0, abs=1e-6)
    assert sim["rail.position"] == pytest.approx(0.5, rel=1e-2 if clock == "realtime" else 1e-6)
    sim.inputs["throttle"] = 99
    assert sim.inputs["throttle"] == 10
    assert sim.inputs.limits("throttle") == (-10, 10)
    with pytest.raises(KeyError, match="throttle"):
        sim.inputs["throtle"] = 1
    with pytest.raises(ValueError, match="finite"):
        sim.inputs["throttle"] = math.nan
    assert abs(sim.energy["residual"]) < 1e-6


@pytest.mark.parametrize("clock", ["precise", "realtime"])
def test_a_controller_balances(clock):
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="balance", until=3.0)
    scene.box("cart", size=(0.4, 0.2, 0.1), mass=1, collide=False)
    scene.prismatic("rail", "world", "cart", at=(0, 0, 0), axis="x")
    scene.box("pole", size=(0.02, 0.02, 1), mass=0.1, position=(0, 0, 0.5), collide=False)
    scene.revolute("hinge", "cart", "pole", at=(0, 0, 0), axis="y", angle=0.1)
    scene.input("push", low=-50, high=50)
    scene.applied("force", "cart", force=["push", 0, 0])

    def controller(sim):
        angle, rate = sim["hinge.angle"], sim["hinge.speed"]
        return {"push": 60 * angle + 12 * rate + 2 * sim["rail.position"] + 4 * sim["rail.speed"]}

    run = scene.run(clock=clock, controller=controller, sample=0.01 if clock == "precise" else None, step=None)
    assert abs(run["hinge.angle"][0]) == pytest.approx(0.1)
    assert np.abs(run["hinge.angle"][-20:]).max() < 0.02


def test_an_exception_in_a_controller(cart):
    def controller(sim):
        if sim.time > 0.5:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as error:
        cart.run(clock="realtime", controller=controller)
    assert error.traceback[-1].name == "controller"
    part = error.value.run
    assert part.time[-1] == pytest.approx(0.5, abs=0.04)
    with pytest.raises(ValueError, match="sample="):
        cart.run(clock="precise", controller=controller)


@pytest.mark.parametrize("clock", ["precise", "realtime"])
def test_setting_states(drop, pendulum, clock):
    sim = drop.simulation(clock)
    sim.advance(0.1)
    sim.set_state("ball", position=(0, 0, 3), velocity=(1, 0, 0))
    assert sim["ball.position"] == pytest.approx((0, 0, 3))
    sim.advance(sim.time + 0.2)
    assert sim["ball.position.x"] == pytest.approx(0.2, abs=0.02)
    assert abs(sim.energy["residual"]) < 1e-3
    with pytest.raises(ValueError, match="not free"):
        sim.set_state("ground", velocity=(0, 0, 1))
    with pytest.raises(KeyError, match="no body"):
        sim.set_state("nobody", velocity=(0, 0, 1))
    with pytest.raises(ValueError, match="finite"):
        sim.set_state("ball", velocity=(math.nan, 0, 0))
    sim = pendulum.simulation(clock)
    sim.set_coordinate("hinge.angle", 0.3, rate=0.1)
    sim.advance(0.02)
    assert sim["hinge.angle"] == pytest.approx(0.3, abs=0.02)
    assert abs(sim.energy["residual"]) < 1e-6
    with pytest.raises(ValueError, match="did you mean `hinge.angle`"):
        sim.set_coordinate("hinge.angel", 0)
    with pytest.raises(ValueError, match="held by joints"):
        sim.set_state("bob", velocity=(0, 0, 1))


def test_recording_while_stepping(drop):
    sim = drop.simulation("realtime", record=True, until=1.0)
    while sim.time < 1.0:
        sim.step()
    run = sim.run()
    assert run.hash == drop.run(until=1.0, clock="realtime").hash
    with pytest.raises(ValueError, match="record=True"):
        drop.simulation("realtime").run()


def hertz(depth, closing_speed, impact_speed, radius, modulus, friction, mass):
    return 4 / 3 * modulus * math.sqrt(radius) * depth**1.5 if depth > 0 else 0.0


def test_a_contact_law_that_is_a_function():
    def build(law):
        scene = tippe.Scene(gravity=(0, 0, -9.81), until=0.6)
        scene.ground(material="steel")
        scene.sphere("ball", radius=0.1, material="steel", position=(0, 0, 1))
        scene.contact(restitution=1, friction=0)
        if law is not None:
            scene.contact(law=scene.law("mine", law))
        return scene

    own = build(hertz).run()
    equation = build("4/3*modulus*sqrt(radius)*depth^1.5").run()
    built_in = build(None).run()
    assert own["ball.position.z"][-1] == pytest.approx(equation["ball.position.z"][-1], abs=1e-9)
    assert own["ball.position.z"][-1] == pytest.approx(built_in["ball.position.z"][-1], abs=1e-4)
    calls = []

    def broken(depth, *rest):
        calls.append(depth)
        if depth > 1e-6:
            raise LookupError("no such depth")
        return hertz(depth, *rest)

    with pytest.raises(LookupError, match="no such depth") as error:
        build(broken).run()
    assert error.traceback[-1].name == "broken"
    with pytest.raises(ValueError, match="precise clock"):
        build(hertz).run(clock="realtime")
    assert calls
    with pytest.raises(TypeError):
        build(lambda *x: "much").run()
    with pytest.raises(ValueError, match="functions of Python"):
        build(hertz).compare()


def test_warnings_and_repr(drop):
    sim = drop.simulation("realtime")
    assert "2 bodies" in repr(sim)
    assert isinstance(sim.warnings, list)
    assert pickle.loads(pickle.dumps(sim.positions)).shape == (2, 3)


def test_hooks_change_contacts_and_add_rows():
    slope = tippe.Scene(gravity=(3.36, 0, -9.22), name="slope", until=1.0)
    slope.ground(material="steel")
    slope.box("box", size=(0.2, 0.2, 0.2), mass=1, material="steel", position=(0, 0, 0.1))

    def speed(**functions):
        sim = slope.simulation("realtime")
        sim.set_hook(**functions)
        sim.step(60)
        return sim["box.velocity.x"]

    def ice(time, contacts):
        assert {contact["bodies"] for contact in contacts} == {("ground", "box")}
        for contact in contacts:
            contact["friction"] = 0.0

    def off(time, contacts):
        for contact in contacts:
            contact["on"] = False

    def rope(time):
        return [{"bodies": ("box", "world"), "jacobian": ([0, 0, 0, 1, 0, 0], [0] * 6), "target": 0.5, "upper": 0.0}]

    assert abs(speed()) < 1e-6
    assert speed(contacts=ice) == pytest.approx(3.36, rel=1e-6)
    assert speed(contacts=ice, rows=rope) == pytest.approx(0.5, rel=1e-6)
    sim = slope.simulation("realtime")
    sim.set_hook(contacts=off)
    sim.step(60)
    assert sim["box.position.z"] < -1
    # back without functions
    sim.set_hook()
    sim.step()


@pytest.mark.parametrize(
    "row, says",
    [
        ({"bodies": ("bix", None), "jacobian": ([0] * 6, [0] * 6)}, "bix"),
        ({"bodies": ("box", None), "jacobian": ([0] * 5, [0] * 6)}, "six numbers"),
        ({"bodies": ("box", None), "jacobian": ([0] * 6, [0] * 6), "lower": 1, "upper": 0}, "lower <= upper"),
        ({"bodies": ("box", None), "jacobain": ([0] * 6, [0] * 6)}, "jacobain"),
        ({"bodies": ("box", None)}, "jacobian"),
        (7, "dictionary"),
    ],
)
def test_rows_that_make_no_sense(row, says):
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="fall", until=1.0)
    scene.box("box", size=(0.2, 0.2, 0.2), mass=1, material="steel")
    sim = scene.simulation("realtime")
    sim.set_hook(rows=lambda time: [row])
    with pytest.raises((KeyError, ValueError), match=says):
        sim.step()
    sim.set_hook()
    sim.step()


def test_an_exception_in_a_hook_and_clocks_without_steps(drop):
    sim = drop.simulation("realtime")
    sim.set_hook(rows=lambda time: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sim.step(10)
    with pytest.raises(ValueError, match="no steps to hook into"):
        drop.simulation("precise").set_hook(rows=lambda time: [])


def test_a_law_that_is_a_function_is_refused_by_the_realtime_clock_at_load():
    scene = tippe.Scene(gravity=(0, 0, -9.81), until=0.5)
    scene.ground(material="steel")
    scene.sphere("ball", radius=0.1, material="steel", position=(0, 0, 0.5))
    scene.contact(law=scene.law("mine", lambda depth, *rest: 1e6 * depth), friction=0)
    with pytest.raises(ValueError, match="needs the precise clock"):
        scene.simulation("realtime")
