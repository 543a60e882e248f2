"""cupy.random: the functions of a RandomState, of which each device has one."""

import inspect
import os
import sys

import numpy

from catenary import _core
from catenary.cupy._array import array, asarray, ndarray

RandomState = _core.RandomState
_states = {}  # of each device; all threads draw from them, as in CuPy


def _seed_of(seed):
    """A number of 64 bits from what NumPy takes for a seed."""
    if seed is None:
        return int.from_bytes(os.urandom(8), 'little')
    if isinstance(seed, (numpy.ndarray, list, tuple, ndarray)):
        return int(numpy.random.SeedSequence([int(x) for x in array(seed).tolist()]).generate_state(1, numpy.uint64)[0])
    seed = numpy.asarray(seed)
    if seed.dtype.kind not in 'iub':
        raise TypeError(f'seed: expected an integer, not {seed.dtype}')
    if not -2 ** 63 <= int(seed) < 2 ** 64:
        raise ValueError(f'seed: {seed} has more than 64 bits')
    return int(seed) % 2 ** 64


def _method(function):
    setattr(RandomState, function.__name__, function)
    return function


@_method
def rand(self, *size, dtype=float):
    """Uniform in [0, 1), with extents as arguments."""
    return self.random_sample(size, dtype)


@_method
def randn(self, *size, dtype=float):
    """Standard normal, with extents as arguments."""
    return self.standard_normal(size, dtype)


@_method
def randint(self, low, high=None, size=None, dtype=int):
    """Integers in [low, high), or in [0, low)."""
    low, high = (0, low) if high is None else (low, high)
    dtype = numpy.dtype(dtype)
    if dtype == bool:
        return self._integers(int(low), int(high), size, numpy.int8).astype(bool)
    return self._integers(int(low), int(high), size, dtype)


@_method
def random_integers(self, low, high=None, size=None):
    """Integers in [low, high], or in [1, low]."""
    low, high = (1, low) if high is None else (low, high)
    return self.randint(low, high + 1, size)


@_method
def tomaxint(self, size=None):
    """Integers in [0, 2**63 - 1)."""
    return self._integers(0, 2 ** 63 - 1, size, numpy.int64)


@_method
def multinomial(self, n, pvals, size=None):
    """How often each outcome comes up in n draws."""
    return self._multinomial(n, asarray(pvals, numpy.float64), size)


@_method
def dirichlet(self, alpha, size=None, dtype=float):
    """Points of the simplex."""
    return self._dirichlet(asarray(alpha, numpy.float64), size, dtype)


@_method
def multivariate_normal(self, mean, cov, size=None, check_valid='ignore', tol=1e-8, method='cholesky', dtype=float):
    """Points of a normal distribution of several variables."""
    return self._multivariate_normal(asarray(mean, numpy.float64), asarray(cov, numpy.float64), size, dtype)


_drawn = RandomState.choice


@_method
def choice(self, a, size=None, replace=True, p=None):
    """Draws from 0 … a - 1, or the elements of a."""
    if not isinstance(a, ndarray) and numpy.ndim(a) > 0:
        a = array(a)
    return _drawn(self, a, size, replace, p if p is None else asarray(p))


def get_random_state():
    """The state of the current device."""
    device = _core.getDevice()
    if device not in _states:
        seed = os.getenv('CUPY_SEED')
        made = RandomState(None if seed is None else int(numpy.asarray(int(seed), dtype=numpy.uint32)))
        return _states.setdefault(device, made)  # another thread may have been faster
    return _states[device]


def set_random_state(rs):
    """Makes `rs` the state of the current device."""
    if not isinstance(rs, RandomState):
        raise TypeError(f'Random state must be an instance of RandomState. Actual: {type(rs)}')
    _states[_core.getDevice()] = rs


def reset_states():
    """Forgets the states of all devices."""
    _states.clear()


def _bind(name, method):
    def function(*args, **kwargs):
        return getattr(get_random_state(), name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    return function


random = ranf = sample = None
globals().update({_name: _bind(_name, _value) for _name, _value in inspect.getmembers(RandomState)
                  if not _name.startswith('_') and callable(_value)})
random = ranf = sample = random_sample  # noqa: F821
_distributions = _generator = sys.modules[__name__]  # names of modules of CuPy's
