import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import tippe  # noqa: E402
from tippe.gym import Env, Task, VectorEnv, cart_pole  # noqa: E402


def push_back(observation):
    x, v, angle, rate = np.moveaxis(observation, -1, 0)
    return np.clip(40 * angle + 8 * rate + 1.5 * x + 2.5 * v, -10, 10)[..., None]


@pytest.mark.filterwarnings("ignore:.*")
def test_the_checker_of_gymnasium_agrees():
    check_env(Env(cart_pole()), skip_render_check=True)


def test_a_simple_policy_keeps_the_pole_up():
    env = Env(cart_pole(time_limit=4.0))
    observation, _ = env.reset(seed=3)
    total, done = 0.0, False
    while not done:
        observation, reward, terminated, truncated, info = env.step(push_back(observation))
        total += reward
        done = terminated or truncated
    assert truncated and not terminated
    assert total == 200
    assert info["time"] == pytest.approx(4.0)


def test_the_same_seed_gives_the_same_bits():
    def play(seed):
        env = Env(cart_pole())
        rows = [env.reset(seed=seed)[0]]
        for _ in range(50):
            rows.append(env.step(push_back(rows[-1]))[0])
        return np.array(rows)

    assert np.array_equal(play(1), play(1))
    assert not np.array_equal(play(1), play(2))


def test_many_environments_are_as_many_single_ones():
    many = VectorEnv(cart_pole(time_limit=1.0), 5)
    rows, _ = many.reset(seed=10)
    singles = [Env(cart_pole(time_limit=1.0)) for _ in range(5)]
    own = np.array([env.reset(seed=10 + k)[0] for k, env in enumerate(singles)])
    assert np.array_equal(rows, own)
    for _ in range(50):
        actions = push_back(rows)
        rows, rewards, terminated, truncated, _ = many.step(actions)
        own = np.array([env.step(action)[0] for env, action in zip(singles, actions)])
        assert np.array_equal(rows, own)
    assert truncated.all()
    again, rewards, terminated, truncated, _ = many.step(actions)
    assert (rewards == 0).all() and not truncated.any()
    assert (np.abs(again) <= 0.05).all()
    many.close()


def test_observations_of_bodies_and_bad_names(cart):
    task = Task(cart, actions=["throttle"], observations=["cart.position", "cart.velocity.x", "rail.position"])
    env = Env(task)
    observation, _ = env.reset(seed=0)
    assert observation.shape == (5,)
    for _ in range(60):
        observation, *_ = env.step(np.array([2.0]))
    assert observation[3] == pytest.approx(1.0, rel=1e-6)
    assert observation[4] == observation[0]
    with pytest.raises(ValueError, match="no input"):
        Env(Task(cart, actions=["nothing"], observations=[]))
    with pytest.raises(ValueError, match="no signal"):
        Env(Task(cart, actions=["throttle"], observations=["nobody.position"]))
    assert env.simulation.clock == "realtime"
    with pytest.raises(ValueError, match="no steps"):
        tippe._tippe.step_many([cart.simulation("precise")], 1, [], np.zeros((1, 0)), [], np.zeros((1, 0)))
    with pytest.raises(ValueError, match="do not fit"):
        tippe._tippe.step_many([cart.simulation("realtime")], 1, [7], np.zeros((1, 1)), [], np.zeros((1, 0)))
    with pytest.raises(ValueError, match="finite"):
        env.step(np.array([np.nan]))
