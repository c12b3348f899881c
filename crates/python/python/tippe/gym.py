"""Scenes as Gymnasium environments: one, or many that are stepped together.

An action sets inputs of the scene, an observation is a vector of its signals. Reward and termination are functions of the observation
and the action; they index the last axis (`observation[..., 0]`), so that the same functions serve one environment and many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import _tippe
from .scene import Scene
from .simulation import _COLUMNS, Simulation

Array = NDArray[np.float64]
#: Reward of an observation and the action that led to it.
Reward = Callable[[Array, Array], Any]
#: Whether an episode has ended with this observation.
Terminated = Callable[[Array], Any]
#: Makes the start of an episode: sets states of a simulation that stands at the start of its scene.
Reset = Callable[[Simulation, np.random.Generator], Any]


def _nothing(observation: Array, action: Array) -> Any:
    return np.zeros(observation.shape[:-1])


def _never(observation: Array) -> Any:
    return np.zeros(observation.shape[:-1], dtype=bool)


@dataclass
class Task:
    """What is asked of a scene: which inputs an action sets, which signals are seen, what is wanted."""

    #: The scene.
    scene: Scene
    #: Inputs that an action sets, in order; limits are the scene's.
    actions: Sequence[str]
    #: Signals that are seen: `hinge.angle`, `ball.position`, `ball.velocity.x`, ...
    observations: Sequence[str]
    #: Reward.
    reward: Reward = _nothing
    #: End of an episode.
    terminated: Terminated = _never
    #: Start of an episode.
    reset: Reset | None = None
    #: Steps of the clock for each action.
    frame_skip: int = 1
    #: Length of an episode [s]; none for no end.
    time_limit: float | None = None
    #: Step of the clock instead of the scene's [s].
    step: float | None = None


class _World:
    """A simulation with its way to actions and observations."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.sim = task.scene.simulation("realtime", step=task.step)
        self.start = self.sim.checkpoint()
        self.names = [str(name) for name in task.actions]
        for name in self.names:
            if name not in self.sim.inputs:
                raise ValueError(f'there is no input "{name}". help: the scene has {", ".join(self.sim.inputs) or "none"}')
        limits = np.array([self.sim.inputs.limits(name) for name in self.names], dtype=np.float64).reshape(-1, 2)
        self.action_space = gymnasium.spaces.Box(limits[:, 0], limits[:, 1], dtype=np.float64)
        self.inputs = [list(self.sim.inputs).index(name) for name in self.names]
        #: numbers that are seen, among the states of bodies (True) and the signals of the model (False)
        self.places = [place for name in task.observations for place in self._places(str(name))]
        self.size = len(self.places)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.size,), dtype=np.float64)

    def _places(self, name: str) -> list[tuple[bool, int]]:
        signals = [signal for signal, _ in self.sim.signals]
        if name in signals:
            return [(False, signals.index(name))]
        for row, body in enumerate(self.sim.bodies):
            quantity, _, axis = name[len(body) + 1 :].partition(".")
            if name.startswith(body + ".") and quantity in _COLUMNS:
                columns = range(*_COLUMNS[quantity].indices(13))
                letters = "wxyz" if quantity == "orientation" else "xyz"
                chosen = columns if not axis else [columns[letters.index(axis)]] if axis in letters else []
                if chosen:
                    return [(True, 13 * row + column) for column in chosen]
        raise ValueError(f'there is no signal "{name}"')

    def go(self, actions: Array, steps: int) -> Array:
        """Makes steps with an action; returns what is seen."""
        seen = np.empty((1, self.size))
        _tippe.step_many([self.sim], steps, self.inputs, actions[None], self.places, seen)
        return np.asarray(seen[0])

    def look(self) -> Array:
        """What is seen now."""
        states, values = self.sim.states.reshape(-1), self.sim.values()
        return np.array([states[at] if body else values[at] for body, at in self.places], dtype=np.float64)

    def begin(self, generator: np.random.Generator) -> None:
        self.sim.restore(self.start)
        if self.task.reset is not None:
            self.task.reset(self.sim, generator)

    def over(self) -> bool:
        limit = self.task.time_limit
        return limit is not None and self.sim.time >= limit - 1e-9


class Env(gymnasium.Env[Array, Array]):
    """A scene as one environment."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task) -> None:
        self._world = _World(task)
        self.action_space = self._world.action_space
        self.observation_space = self._world.observation_space
        self.render_mode = None

    @property
    def simulation(self) -> Simulation:
        """The simulation behind it."""
        return self._world.sim

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode."""
        super().reset(seed=seed)
        self._world.begin(self.np_random)
        return self._world.look(), {"time": self._world.sim.time}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One action."""
        world = self._world
        action = np.asarray(action, dtype=np.float64)
        observation = world.go(action, world.task.frame_skip)
        reward = float(world.task.reward(observation, action))
        terminated = bool(world.task.terminated(observation))
        return observation, reward, terminated, world.over(), {"time": world.sim.time}


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, NDArray[Any]]):
    """Many environments of one task, stepped together on all cores. One that has ended starts anew with the next step."""

    metadata: dict[str, Any] = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int) -> None:
        self.num_envs = num_envs
        self.task = task
        self._worlds = [_World(task) for _ in range(num_envs)]
        self._sims = [world.sim for world in self._worlds]
        self.single_action_space = self._worlds[0].action_space
        self.single_observation_space = self._worlds[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._observations = np.zeros((num_envs, self._worlds[0].size))
        self._ended = np.zeros(num_envs, dtype=bool)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]
        self.render_mode = None

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """A new episode everywhere; environment k has the seed `seed` + k."""
        if seed is not None:
            seeds = seed if isinstance(seed, list) else [seed + k for k in range(self.num_envs)]
            self._generators = [np.random.default_rng(one) for one in seeds]
        for world, generator, row in zip(self._worlds, self._generators, self._observations):
            world.begin(generator)
            row[:] = world.look()
        self._ended[:] = False
        return self._observations.copy(), {}

    def step(self, actions: Array) -> tuple[Array, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One action everywhere."""
        actions = np.asarray(actions, dtype=np.float64)
        going = ~self._ended
        observations = np.empty_like(self._observations)
        times = np.zeros(self.num_envs)
        first, task = self._worlds[0], self.task
        if going.all():
            times = _tippe.step_many(self._sims, task.frame_skip, first.inputs, actions, first.places, observations)
        else:
            rows = np.flatnonzero(going)
            seen = np.empty((len(rows), first.size))
            sims = [self._sims[k] for k in rows]
            times[rows] = _tippe.step_many(sims, task.frame_skip, first.inputs, actions[rows], first.places, seen)
            observations[rows] = seen
            for k in np.flatnonzero(~going):
                self._worlds[k].begin(self._generators[k])
                observations[k] = self._worlds[k].look()
        rewards = np.where(going, np.asarray(self.task.reward(observations, actions), dtype=np.float64), 0.0)
        terminated = going & np.asarray(self.task.terminated(observations), dtype=bool)
        limit = np.inf if task.time_limit is None else task.time_limit
        truncated = going & (times >= limit - 1e-9)
        self._ended = terminated | truncated
        return observations, rewards, terminated, truncated, {}

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is left open."""


def cart_pole(time_limit: float = 10.0) -> Task:
    """A pole to be balanced on a cart: the usual first task. The pole hangs free beyond 0.2 rad, the track is 2.4 m either way."""
    scene = Scene(gravity=(0, 0, -9.81), name="cart_pole", title="A pole balanced on a cart")
    scene.box("cart", size=(0.4, 0.2, 0.1), mass=1.0, collide=False)
    scene.prismatic("rail", "world", "cart", at=(0, 0, 0), axis="x")
    scene.box("pole", size=(0.02, 0.02, 1.0), mass=0.1, position=(0, 0, 0.5), collide=False)
    scene.revolute("hinge", "cart", "pole", at=(0, 0, 0), axis="y")
    scene.input("push", low=-10, high=10)
    scene.applied("force", "cart", force=["push", 0, 0])

    def reset(sim: Simulation, generator: np.random.Generator) -> None:
        x, v, angle, rate = generator.uniform(-0.05, 0.05, 4)
        sim.set_coordinates([("rail.position", float(x), float(v)), ("hinge.angle", float(angle), float(rate))])

    def terminated(observation: Array) -> Any:
        return (np.abs(observation[..., 0]) > 2.4) | (np.abs(observation[..., 2]) > 0.2)

    return Task(
        scene,
        actions=["push"],
        observations=["rail.position", "rail.speed", "hinge.angle", "hinge.speed"],
        reward=lambda observation, action: np.ones(observation.shape[:-1]),
        terminated=terminated,
        reset=reset,
        time_limit=time_limit,
        step=0.02,
    )
