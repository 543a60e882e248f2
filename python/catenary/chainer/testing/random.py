"""Random numbers of tests that are the same in each run."""

import atexit
import functools
import os
import random

import numpy

from ..backends import cuda
from . import _bundle

_states = []


def do_setup(deterministic=True):
    """Saves the states of the generators and seeds them: with a constant, or with CHAINER_TEST_RANDOM_NONDETERMINISTIC, at random."""
    _states.append((random.getstate(), numpy.random.get_state()))
    seed = 100 if deterministic and not os.environ.get('CHAINER_TEST_RANDOM_NONDETERMINISTIC') else None
    random.seed(seed)
    numpy.random.seed(seed)
    if cuda.available:
        cuda.cupy.random.seed(seed)


def do_teardown():
    """Gives the generators their states back."""
    state, numpy_state = _states.pop()
    random.setstate(state)
    numpy.random.set_state(numpy_state)


def generate_seed():
    """Returns a seed for another generator. It may only be called in a test with `fix_random`."""
    if not _states:
        raise RuntimeError('generate_seed() has to be called in a test that fix_random() decorates')
    return numpy.random.randint(0xffffffff, dtype=numpy.uint32)


@atexit.register
def _check_ended():
    if _states:
        raise RuntimeError('do_setup() was called more often than do_teardown()')


def fix_random(*, setup_method='setUp', teardown_method='tearDown'):
    """Returns a decorator that seeds the random numbers of a test function, or of each test of a case."""
    def decorate(target):
        if not isinstance(target, (type, _bundle._ParameterizedTestCaseBundle)):
            return _fixed_function(target)
        return _bundle.visit(target, lambda case: _fix_case(case, setup_method, teardown_method))
    return decorate


def _fixed_function(function):
    @functools.wraps(function)
    def test(*args, **kwargs):
        do_setup()
        try:
            return function(*args, **kwargs)
        finally:
            do_teardown()
    return test


def _fix_case(case, setup_method, teardown_method):
    setup = getattr(case, setup_method, None)
    teardown = getattr(case, teardown_method, None)

    def set_up(self):
        do_setup()
        try:
            if setup is not None:
                setup(self)
        except BaseException:
            do_teardown()
            raise

    def tear_down(self):
        try:
            if teardown is not None:
                teardown(self)
        finally:
            do_teardown()
    setattr(case, setup_method, set_up)
    setattr(case, teardown_method, tear_down)
