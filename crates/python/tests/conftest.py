import os

import matplotlib

matplotlib.use("Agg")
os.environ.setdefault("TIPPE_NO_BROWSER", "1")

import pytest
import tippe


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Every test in a folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def drop():
    """A steel ball above a wooden floor."""
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="drop")
    scene.ground(material="wood")
    scene.sphere("ball", radius=0.1, material="steel", position=(0, 0, 1))
    return scene


@pytest.fixture
def cart():
    """A cart on a rail with its force as an input."""
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="cart", until=1.0)
    scene.box("cart", size=(0.4, 0.2, 0.1), mass=2, collide=False)
    scene.prismatic("rail", "world", "cart", at=(0, 0, 0), axis="x")
    scene.input("throttle", low=-10, high=10)
    scene.applied("pull", "cart", force=["throttle", 0, 0])
    return scene


@pytest.fixture
def pendulum():
    """A point mass of 1 kg at 0.5 m from a hinge."""
    scene = tippe.Scene(gravity=(0, 0, -9.81), name="pendulum", until=1.0)
    scene.body("bob", mass=1.0, inertia=(1e-9, 1e-9, 1e-9), position=(0.5, 0, 0))
    scene.revolute("hinge", "world", "bob", at=(0, 0, 0), axis=(0, -1, 0))
    return scene
