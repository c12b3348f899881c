import inspect
import json
import math
from pathlib import Path

import numpy as np
import pytest
import tippe
from tippe import _tippe


def test_the_words_of_the_product_page():
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    scene.ground(material="wood")
    ball = scene.sphere("ball", radius=0.1, material="steel", position=(0, 0, 1))
    run = scene.run(until=2.0)
    position = run["ball.position"]
    assert position.shape == (len(run), 3)
    assert position[0] == pytest.approx((0, 0, 1))
    first = next(event for event in run.events if event["kind"] == "contact_start")
    assert first["time"] == pytest.approx(math.sqrt(2 * 0.9 / 9.81), abs=1e-9)
    assert first["bodies"] == ("ground", "ball")
    assert str(ball) == "ball"


def test_a_built_scene_is_the_file_of_the_same_words(drop):
    built = drop.run(until=0.5)
    drop.save("drop.toml")
    read = tippe.load("drop.toml").run(until=0.5)
    assert built.hash == read.hash
    drop.save("drop.json")
    assert tippe.load("drop.json").run(until=0.5).hash == built.hash


def test_every_element_of_the_format_has_a_method():
    schema = json.loads(_tippe.schema())
    lists = {key for key, value in schema["properties"].items() if value.get("type") == "array" and key != "tags"}
    words = {"ignore", "include"} | lists
    for word in sorted(words):
        assert callable(getattr(tippe.Scene, word, None)), f"no method for [[{word}]]"
    kinds = [shape["properties"]["kind"]["const"] for shape in schema["$defs"]["shape"]["anyOf"]]
    joints = schema["properties"]["joint"]["items"]["properties"]["kind"]["enum"]
    for kind in kinds + joints:
        assert callable(getattr(tippe.Scene, kind, None)), f"no method for {kind}"
    for kind, keys in tippe.scene._SHAPE_KEYS.items():
        own = next(s["properties"] for s in schema["$defs"]["shape"]["anyOf"] if s["properties"]["kind"]["const"] == kind)
        common = {"kind", "collide", "density", "material", "orientation", "position"}
        assert set(keys) == set(own) - common, kind
    for table in ("contact", "realtime", "granular", "defaults", "params", "materials", "law"):
        assert hasattr(tippe.Scene, table.removesuffix("s")) or hasattr(tippe.Scene, table)
    for name, method in inspect.getmembers(tippe.Scene, inspect.isfunction):
        if not name.startswith("_"):
            assert method.__doc__, f"Scene.{name} says nothing"


def test_many_elements_in_one_scene():
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="all", until=0.2, params={"k": "200 N/m"})
    rubber = scene.material("my_rubber", density=1200, young="5 MPa", poisson=0.45)
    scene.ground(material="steel")
    scene.pair("my_rubber", "steel", materials=True, restitution=0.5, friction=0.8)
    plate = scene.solid("plate", "box", size=(0.2, 0.2, 0.02))
    scene.mesh("part", solid=plate, material=rubber, position=(0, 0, 0.3))
    arm = scene.box("arm", size=(0.5, 0.05, 0.05), material="steel", position=(1.25, 0, 0.5), collide=False)
    tip = arm.frame("tip", position=(0.25, 0, 0))
    hinge = scene.revolute("hinge", "world", arm, at=(1, 0, 0.5), axis="y")
    hinge.motor(kind="torque", value="0.1*sin(t)").limit(lower="-30 deg", upper="30 deg", stiffness=1e4)
    hinge.friction(sliding=0.01)
    scene.spring("pull", "world", arm, at=[[1.5, 0, 1], [1.5, 0, 0.5]], stiffness="k", damping=1)
    scene.signal("double", "equation", value="2*hinge.angle")
    scene.sensor("height", "pose", "world", tip)
    scene.component("lag", inputs={"u": "hinge.angle"}, states={"x": 0}, der={"x": "u - x"}, outputs={"y": "x"})
    scene.change("late", at=0.1, lock=hinge)
    scene.expect("hinge.angle", is_=0, within=1.0, source="it hardly moves")
    scene.ignore("part", "arm")
    run = scene.run()
    assert run["double"] == pytest.approx(2 * run["hinge.angle"])
    assert {event["kind"] for event in run.events} >= {"change"}
    assert run.expectations()[0]["pass"]
    assert run.signals["hinge.angle"] == "rad"


def test_numpy_and_elements_can_stand_anywhere():
    scene = tippe.Scene(gravity=np.array([0, 0, -9.81]))
    floor = scene.ground(material="wood")
    ball = scene.sphere("ball", radius=np.float64(0.1), material="steel", position=np.array([0, 0, 0.5]))
    scene.pair(floor, ball, restitution=1.0)
    assert scene.run(until=0.1)["ball.position.z"][0] == 0.5


def test_errors_have_the_text_of_the_command_line_and_the_line_of_python():
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    line = inspect.currentframe().f_lineno + 1
    scene.sphere("ball", radius=0.1, mass=-0.2, material="steel")
    with pytest.raises(tippe.SceneError) as error:
        scene.run(until=1)
    assert str(error.value) == (
        f'{__file__}:{line}: body "ball" has mass -0.2 kg; a mass is > 0. '
        "help: leave it out to compute it from shape and density"
    )
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    scene.sphere("ball", radius=0.1, materail="steel")
    with pytest.raises(tippe.SceneError, match="did you mean `material`"):
        scene.run(until=1)
    Path("bad.toml").write_text("format = 1\n[world]\ngravity = [0, 0]\n")
    with pytest.raises(tippe.SceneError, match=r"^bad.toml:3:11: "):
        tippe.load("bad.toml")
    with pytest.raises(tippe.SceneError, match="did you mean `billiards`"):
        tippe.load("biliards")
    with pytest.raises(tippe.SceneError, match="gravity"):
        tippe.Scene().run(until=1)


def test_what_cannot_be_is_told():
    scene = tippe.load("bouncing_ball", e=0.5)
    with pytest.raises(TypeError, match="include it"):
        scene.ground()
    with pytest.raises(TypeError, match="cannot stand in a scene"):
        tippe.Scene(gravity=(0, 0, object())).run(until=1)
    with pytest.raises(ValueError, match="there is no clock"):
        scene.run(clock="quick")
    with pytest.raises(ValueError, match="--tolerance belongs to the precise clock"):
        scene.run(clock="realtime", tolerance=1e-6)
    with pytest.raises(ValueError, match="greater than zero"):
        scene.run(until=-1)
    with pytest.raises(tippe.SceneError, match="nonsense"):
        tippe.load("bouncing_ball", nonsense=1)


def test_parameters_of_a_gallery_scene():
    high = tippe.load("bouncing_ball", h="2 m")
    run = high.run(until=0.1)
    assert run["ball.position.z"][0] == pytest.approx(2.1)


def test_a_ball_floats_and_a_brake_holds():
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    ball = scene.sphere("ball", radius=0.5, density=700, position=(0, 0, 0))
    scene.fluid("water", 1000, [{"on": ball, "drag": 5}])
    scene.fluid("air", 1.2, [ball], unbounded=True)
    crank = scene.body("crank", mass=1, inertia=(1, 1, 1))
    shaft = scene.revolute("shaft", "world", crank, axis="z", at=(0, 0, 5), speed=1)
    scene.brake("brake", shaft, capacity=10)
    run = scene.run(until=20)
    assert run["water.ball.volume"][-1] == pytest.approx((700 - 1.2) / 1000 * 4 / 3 * math.pi * 0.125, rel=5e-2)
    assert run["shaft.speed"][-1] == pytest.approx(0, abs=1e-9)
