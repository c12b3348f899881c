"""Mass matrix, Jacobians, forward and inverse dynamics against closed forms."""

import math

import numpy as np
import pytest
import tippe


def test_a_pendulum(pendulum):
    here = pendulum.dynamics()
    assert here.rates == ["hinge.speed"]
    assert here.units == ["rad/s"]
    assert here.mass_matrix == pytest.approx(np.array([[0.25]]), rel=1e-6)
    # lies level: the weight has an arm of 0.5 m; the axis is -y, so that gravity turns it the negative way
    assert here.forward() == pytest.approx([-9.81 / 0.5], rel=1e-6)
    assert here.inverse([0.0]) == pytest.approx([9.81 * 0.5], rel=1e-6)
    assert here.forward(here.inverse([3.0])) == pytest.approx([3.0])
    J = here.jacobian("bob")
    assert J[:, 0] == pytest.approx([0, -1, 0, 0, 0, 0.5])


def test_two_links_against_the_textbook():
    """M of the planar double pendulum: m1 l1^2 + m2 (l1^2 + 2 l1 l2 cos q2 + l2^2), m2 (l1 l2 cos q2 + l2^2), m2 l2^2."""
    q2 = 0.7
    scene = tippe.Scene(gravity=(0, 0, 0))
    tiny = (1e-12, 1e-12, 1e-12)
    scene.body("one", mass=2.0, inertia=tiny, position=(0.5, 0, 0))
    tip = (0.5 + 0.3 * math.cos(q2), 0.3 * math.sin(q2), 0)
    scene.body("two", mass=3.0, inertia=tiny, position=tip)
    scene.revolute("a", "world", "one", at=(0, 0, 0), axis="z", speed=0.4)
    scene.revolute("b", "one", "two", at=(0.5, 0, 0), axis="z", speed=-1.1)
    here = scene.dynamics()
    l1, l2, m1, m2 = 0.5, 0.3, 2.0, 3.0
    c = math.cos(q2)
    M = [
        [m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c + l2**2), m2 * (l1 * l2 * c + l2**2)],
        [m2 * (l1 * l2 * c + l2**2), m2 * l2**2],
    ]
    assert here.mass_matrix == pytest.approx(np.array(M), rel=1e-9)
    # velocity products of the textbook: h = -m2 l1 l2 sin q2
    h = -m2 * l1 * l2 * math.sin(q2)
    u1, u2 = here.u
    bias = np.array([h * u2 * (2 * u1 + u2), -h * u1**2])
    assert here.inverse([0.0, 0.0]) == pytest.approx(bias, rel=1e-8)
    # J u is the velocity that the run records
    run = scene.run(until=1e-3)
    J = here.jacobian("two")
    assert (J @ here.u)[3:] == pytest.approx(run["two.velocity"][0], rel=1e-9)
    assert (J @ here.u)[:3] == pytest.approx(run["two.angular_velocity"][0], rel=1e-9)


def test_a_free_body():
    scene = tippe.Scene(gravity=(0, 0, -9.81))
    scene.box("brick", size=(0.3, 0.2, 0.1), mass=6, angular_velocity=(1, 2, 3), velocity=(0, 1, 0), collide=False)
    here = scene.dynamics()
    inertia = 6 / 12 * np.array([0.2**2 + 0.1**2, 0.3**2 + 0.1**2, 0.3**2 + 0.2**2])
    assert here.mass_matrix == pytest.approx(np.diag([6, 6, 6, *inertia]))
    w = np.array([1.0, 2.0, 3.0])
    euler = -np.cross(w, inertia * w) / inertia
    assert here.forward() == pytest.approx([0, 0, -9.81, *euler])
    J = here.jacobian("brick", point=(0.15, 0, 0))
    assert (J @ here.u)[3:] == pytest.approx([0, 1, 0] + np.cross(w, [0.15, 0, 0]))
    assert np.allclose(here.forces, here.mass_matrix @ here.forward())


def test_loops_hold_their_constraints():
    here = tippe.load("four_bar").dynamics()
    G = here.constraints
    assert len(G)
    assert G @ here.u == pytest.approx(np.zeros(len(G)), abs=1e-9)
    now, pushed = here.forward(), here.forward(np.ones(len(here.u)))
    assert G @ (pushed - now) == pytest.approx(np.zeros(len(G)), abs=1e-9)
    assert not np.allclose(pushed, now)
    with pytest.raises(ValueError, match="rates"):
        here.forward([1.0] * 99)
    with pytest.raises(KeyError, match="there is no body"):
        here.jacobian("nobody")
