"""Replaces gym for Chainer's examples of reinforcement learning: a pole on a cart and a pendulum, from their equations of motion."""
import math
import types

import numpy


class Box:
    def __init__(self, high):
        self.high = numpy.array(high, 'f')
        self.low = -self.high


class Discrete:
    def __init__(self, n):
        self.n = n

    def sample(self):
        return numpy.random.randint(self.n)


spaces = types.SimpleNamespace(Box=Box, Discrete=Discrete)


class CartPole:
    observation_space, action_space = Box((4.8, 1e9, 0.42, 1e9)), Discrete(2)
    spec = types.SimpleNamespace(reward_threshold=195.0, timestep_limit=200)

    def reset(self):
        self.state = numpy.random.uniform(-0.05, 0.05, 4)
        return self.state.copy()

    def step(self, action):
        x, v, angle, turn = self.state
        force = 10.0 if action else -10.0
        pushed = (force + 0.05 * turn ** 2 * math.sin(angle)) / 1.1
        speeding = (9.8 * math.sin(angle) - math.cos(angle) * pushed) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        self.state = self.state + 0.02 * numpy.array([v, pushed - 0.05 * speeding * math.cos(angle) / 1.1, turn, speeding])
        return self.state.copy(), 1.0, bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21), {}


class Pendulum:
    observation_space, action_space = Box((1, 1, 8)), Box((2,))
    spec = types.SimpleNamespace(reward_threshold=None, timestep_limit=200)

    def _seen(self):
        return numpy.array([math.cos(self.angle), math.sin(self.angle), self.speed])

    def reset(self):
        self.angle, self.speed = numpy.random.uniform(-math.pi, math.pi), numpy.random.uniform(-1, 1)
        return self._seen()

    def step(self, action):
        torque = float(numpy.clip(action, -2, 2)[0])
        off = (self.angle + math.pi) % (2 * math.pi) - math.pi
        cost = off ** 2 + 0.1 * self.speed ** 2 + 0.001 * torque ** 2
        self.speed = float(numpy.clip(self.speed + 0.05 * (15 * math.sin(self.angle) + 3 * torque), -8, 8))
        self.angle += 0.05 * self.speed
        return self._seen(), -cost, False, {}


def make(name):
    return {'CartPole-v0': CartPole, 'Pendulum-v0': Pendulum}[name]()
