"""Seeds of both libraries during a test."""

import functools
import os
import random

import numpy

_before = []


def do_setup(deterministic=True):
    """Keeps the states of Python's, NumPy's and cupy's random numbers, and seeds them."""
    from catenary import cupy
    _before.append((random.getstate(), numpy.random.get_state(), cupy.random.get_random_state()._state))
    seed = 100 if deterministic and os.getenv('CUPY_TEST_RANDOM', '0') == '0' else None
    random.seed(seed)
    numpy.random.seed(seed)
    cupy.random.seed(seed)


def do_teardown():
    """Gives the states back."""
    from catenary import cupy
    python, host, device = _before.pop()
    random.setstate(python)
    numpy.random.set_state(host)
    cupy.random.get_random_state()._set_state(*device)


def generate_seed():
    """Returns a seed."""
    return numpy.random.randint(0x7fffffff)


def fix_random():
    """Decorates test functions and classes so that they use equal random numbers each time."""
    def decorate(target):
        if isinstance(target, type):
            up, down = target.setUp, target.tearDown

            def set_up(self):
                do_setup()
                up(self)

            def tear_down(self):
                try:
                    down(self)
                finally:
                    do_teardown()
            target.setUp, target.tearDown = set_up, tear_down
            return target

        @functools.wraps(target)
        def run(*args, **kwargs):
            do_setup()
            try:
                return target(*args, **kwargs)
            finally:
                do_teardown()
        return run
    return decorate
