"""cupy.random: functions of a RandomState, one per device, and generators, which also draw from a RandomState."""

import inspect
import os
import sys

import numpy

from catenary import _core, _names
from catenary.cupy._array import array, asarray, ndarray, of_real_numbers
from catenary.cupy._core import get_size

RandomState = _core.RandomState
_random_states = {}  # one per device, shared by all threads, as in CuPy


def _seed_of(seed):
    """Returns a 64-bit number from a seed in any form that NumPy accepts."""
    if seed is None:
        return int.from_bytes(os.urandom(8), 'little')
    if isinstance(seed, (numpy.ndarray, list, tuple, ndarray)):
        seed = numpy.random.SeedSequence([int(x) for x in array(seed).tolist()])
    if isinstance(seed, numpy.random.SeedSequence):
        return int(seed.generate_state(1, numpy.uint64)[0])
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
    """Returns uniform numbers in [0, 1). The arguments are the shape."""
    return self.random_sample(size, dtype)


@_method
def randn(self, *size, dtype=float):
    """Returns standard normal numbers. The arguments are the shape."""
    return self.standard_normal(size, dtype)


@_method
def randint(self, low, high=None, size=None, dtype=int):
    """Returns integers in [low, high), or in [0, low)."""
    low, high = (0, low) if high is None else (low, high)
    for value in (low, high):
        if not isinstance(value, (int, float, numpy.number, numpy.bool_, numpy.ndarray, ndarray, list, tuple)):
            raise TypeError(f'randint: low and high must be integers or arrays of integers, given {type(value).__name__} {value!r}')
    dtype = numpy.dtype(dtype)
    if numpy.ndim(low) or numpy.ndim(high):
        kind = dtype if dtype == 'u8' else int
        low, high = asarray(low).astype(kind), asarray(high).astype(kind)
        if not bool((low < high).all()):
            raise ValueError('randint: low must be less than high in every element')
        drawn = self._integers(0, 2 ** 63 - 1, (high - low).shape if size is None else size, int).astype(kind)
        return (drawn % (high - low) + low).astype(dtype, copy=False)
    if dtype == bool:
        return self._integers(int(low), int(high), size, numpy.int8).astype(bool)
    if dtype == 'u8' and 0 <= low < high <= 2 ** 64 and high >= 2 ** 63:
        return _wide_integers(self, int(low), int(high), size)
    if dtype == 'i8' and high == 2 ** 63 and -2 ** 63 <= low < high:  # int64 does not hold the end
        return (_wide_integers(self, int(low) + 2 ** 63, 2 ** 64, size) ^ numpy.uint64(2 ** 63)).view('i8')
    if low < -2 ** 63 or high > 2 ** 63:
        raise ValueError(f'randint: {dtype} does not hold [{low}, {high})')
    return self._integers(int(low), int(high), size, dtype)


def _wide_integers(state, low, high, size):
    """Returns uint64 numbers in [low, high) if high exceeds int64. They are drawn with an offset of 2**63 + low."""
    if high - low == 2 ** 64:
        halves = [state._integers(0, 2 ** 32, size, numpy.uint64) for _ in range(2)]
        return halves[0] * numpy.uint64(2 ** 32) + halves[1]
    drawn = state._integers(-2 ** 63, high - low - 2 ** 63, size, numpy.int64)
    return drawn.astype('u8') + numpy.uint64((low + 2 ** 63) % 2 ** 64)


@_method
def random_integers(self, low, high=None, size=None):
    """Returns integers in [low, high], or in [1, low]."""
    low, high = (1, low) if high is None else (low, high)
    return self.randint(low, high + 1, size)


@_method
def tomaxint(self, size=None):
    """Returns integers in [0, 2**63 - 1)."""
    return self._integers(0, 2 ** 63 - 1, size, numpy.int64)


@_method
def multinomial(self, n, pvals, size=None):
    """Returns the counts of each outcome in n draws."""
    return self._multinomial(n, asarray(pvals, numpy.float64), size)


@_method
def dirichlet(self, alpha, size=None, dtype=float):
    """Draws from the Dirichlet distribution. As in CuPy, a number for alpha counts for each element of the size's last axis."""
    alpha = asarray(alpha, numpy.float64)
    if alpha.ndim == 0 and size is not None and (shape := get_size(size)):
        alpha, size = _core.full(shape[-1:], alpha), shape[:-1]
    return self._dirichlet(alpha, size, dtype)


@_method
def multivariate_normal(self, mean, cov, size=None, check_valid='ignore', tol=1e-8, method='cholesky', dtype=float):
    """Draws from the multivariate normal distribution."""
    return self._multivariate_normal(asarray(mean, numpy.float64), asarray(cov, numpy.float64), size, dtype)


def _fractional(dtype):
    return float if numpy.dtype(dtype).kind in 'iu' else dtype


@_method
def noncentral_chisquare(self, df, nonc, size=None, dtype=float):
    """Draws from the noncentral chi-square distribution. As in CuPy, an integer dtype truncates."""
    return self._noncentral_chisquare(df, nonc, size, _fractional(dtype)).astype(dtype, copy=False)


@_method
def noncentral_f(self, dfnum, dfden, nonc, size=None, dtype=float):
    """Draws from the noncentral F distribution. As in CuPy, an integer dtype truncates."""
    return self._noncentral_f(dfnum, dfden, nonc, size, _fractional(dtype)).astype(dtype, copy=False)


@_method
def shuffle(self, a):
    """Shuffles the first axis of `a` in place."""
    if numpy.ndim(a) == 0:
        raise TypeError('shuffle: expected an array with at least one axis, got a 0-d array')
    self._shuffle(a)


@_method
def bytes(self, length):
    """Returns random bytes."""
    if length < 0:
        raise ValueError(f'bytes: the length must not be negative, given {length}')
    return self._integers(0, 2 ** 32, -(-length // 4), numpy.uint32).get().tobytes()[:length]


_drawn = RandomState.choice


def _pickled(self, *state):
    """Returns what pickle stores: the class by its name, which does not depend on the library that serves `cupy`, and the attributes."""
    kind = type(self)
    return _restored, (kind.__name__ if _CLASSES.get(kind.__name__) is kind else kind, *state), getattr(self, '__dict__', None) or None


def _restored(kind, *state):
    """Returns an object of a class or its name. `state` is the seed and the number of calls of its RandomState."""
    kind = _CLASSES[kind] if isinstance(kind, str) else kind
    made = kind.__new__(kind)
    if issubclass(kind, RandomState):
        RandomState.__init__(made, 0)
        made._set_state(*state)
    elif issubclass(kind, BitGenerator):
        made._random_state = _restored('RandomState', *state)
    return made


@_method
def __reduce__(self):
    return _pickled(self, *self._state)


@_method
def choice(self, a, size=None, replace=True, p=None):
    """Draws from 0 … a - 1, or the elements of a."""
    if not isinstance(a, ndarray) and numpy.ndim(a) > 0:
        a = array(a)
    elif not hasattr(a, '__index__'):
        raise ValueError(f'choice: expected an integer or an array of one axis, not {a!r}')
    return _drawn(self, a, size, replace, p if p is None else asarray(p))


for _name in ('beta', 'binomial', 'chisquare', 'dirichlet', 'exponential', 'f', 'gamma', 'geometric', 'gumbel', 'hypergeometric', 'laplace', 'logistic',
              'lognormal', 'logseries', 'multinomial', 'multivariate_normal', 'negative_binomial', 'noncentral_chisquare', 'noncentral_f', 'normal', 'pareto',
              'poisson', 'power', 'randint', 'rayleigh', 'standard_gamma', 'standard_t', 'triangular', 'uniform', 'vonmises', 'wald', 'weibull', 'zipf'):
    setattr(RandomState, _name, of_real_numbers(getattr(RandomState, _name), _name, __name__))


def get_random_state():
    """Returns the random state of the current device."""
    device = _core.getDevice()
    if device not in _random_states:
        seed = os.getenv('CUPY_SEED')
        made = RandomState(None if seed is None else int(numpy.asarray(int(seed), dtype=numpy.uint32)))
        return _random_states.setdefault(device, made)  # another thread may have set it meanwhile
    return _random_states[device]


def set_random_state(rs):
    """Makes `rs` the state of the current device."""
    if not isinstance(rs, RandomState):
        raise TypeError(f'Random state must be an instance of RandomState. Actual: {type(rs)}')
    _random_states[_core.getDevice()] = rs


def reset_states():
    """Discards the random states of all devices."""
    global _random_states
    _random_states = {}


class BitGenerator:
    """The source of a Generator: Philox4x32-10, also for XORWOW, MRG32k3a and Philox4x3210."""

    def __init__(self, seed=None, *, size=-1):
        if isinstance(seed, numpy.random.SeedSequence):
            self._seed_seq = seed
        elif isinstance(seed, (numpy.ndarray, list, tuple, ndarray)):
            self._seed_seq = numpy.random.SeedSequence([int(x) for x in array(seed).tolist()])
        else:
            self._seed_seq = numpy.random.SeedSequence(None if seed is None else _seed_of(seed))
        self._random_state = RandomState(self._seed_seq if seed is None else seed)

    def __reduce__(self):
        restore, arguments, attributes = _pickled(self, *self._random_state._state)
        return restore, arguments, {name: value for name, value in attributes.items() if name != '_random_state'} or None

    def random_raw(self, size=None, output=True):
        """Returns 32 random bits per element as int32, or None if output is False."""
        drawn = self._random_state._integers(-2 ** 31, 2 ** 31, size, numpy.int32)
        return drawn if output else None


class XORWOW(BitGenerator):
    """Draws by Philox4x32-10, whatever its name."""


class MRG32k3a(BitGenerator):
    """Draws by Philox4x32-10, whatever its name."""


class Philox4x3210(BitGenerator):
    """Draws by Philox4x32-10. The numbers differ from CuPy's."""


class Generator:
    """Random numbers with the interface of numpy.random.Generator, from a BitGenerator."""

    def __init__(self, bit_generator):
        self.bit_generator = bit_generator

    __reduce__ = _pickled

    def integers(self, low, high=None, size=None, dtype=numpy.int64, endpoint=False):
        """Returns integers in [low, high), or in [low, high] with endpoint. Without high they are in [0, low)."""
        low, high = (0, low) if high is None else (low, high)
        return self.bit_generator._random_state.randint(low, int(high) + bool(endpoint), size, dtype)

    def random(self, size=None, dtype=float, out=None):
        """Returns uniform numbers in [0, 1)."""
        return self._draw('random_sample', (), size, dtype, out)

    def standard_normal(self, size=None, dtype=float, out=None):
        """Returns standard normal numbers."""
        return self._draw('standard_normal', (), size, dtype, out)

    def standard_exponential(self, size=None, dtype=float, method='inv', out=None):
        """Returns exponential numbers with mean 1."""
        if method != 'inv':
            raise (NotImplementedError if method == 'zig' else ValueError)(f'method: expected inv, not {method!r}')
        return self._draw('standard_exponential', (), size, dtype, out)

    def standard_gamma(self, shape, size=None, dtype=float, out=None):
        """Returns gamma-distributed numbers with scale 1."""
        if out is not None and not out.flags.c_contiguous:
            raise ValueError('out: expected an array in C order')
        return self._draw('standard_gamma', (shape,), size, dtype, out)

    def _draw(self, name, parameters, size, dtype, out):
        dtype = numpy.dtype(dtype)
        if dtype.char not in 'fd':
            raise TypeError(f'dtype: expected float32 or float64, not {dtype}')
        if out is not None:
            if out.dtype != dtype:
                raise TypeError(f'out: expected {dtype}, not {out.dtype}')
            if not (out.flags.c_contiguous or out.flags.f_contiguous):
                raise ValueError('out: expected a contiguous array')
            if size is not None and out.shape != get_size(size):
                raise ValueError(f'size: {size} is not the shape of out, {out.shape}')
            size = out.shape
        drawn = getattr(self.bit_generator._random_state, name)(*parameters, size, dtype)
        if out is None:
            return drawn
        out[...] = drawn
        return out


def default_rng(seed=None):
    """Returns a Generator: `seed` itself, or one on a given BitGenerator, or on a new one with this seed."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else XORWOW(seed))


def _pass(name, method):
    def function(self, *args, **kwargs):
        return getattr(self.bit_generator._random_state, name)(*args, **kwargs)
    function.__name__, function.__qualname__, function.__doc__ = name, 'Generator.' + name, method.__doc__
    setattr(Generator, name, function)


for _name in ('beta', 'binomial', 'chisquare', 'dirichlet', 'exponential', 'f', 'gamma', 'geometric', 'hypergeometric',
              'logseries', 'poisson', 'power', 'uniform'):
    _pass(_name, getattr(RandomState, _name))


def _bind(name, method):
    def function(*args, **kwargs):
        return getattr(get_random_state(), name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    return function


_CLASSES = {_class.__name__: _class for _class in (RandomState, BitGenerator, XORWOW, MRG32k3a, Philox4x3210, Generator)}
for _class in _CLASSES.values():
    _class.__module__ = 'cupy.random'  # programs find a generator's package by this name

random = ranf = sample = None
globals().update({_name: _bind(_name, _value) for _name, _value in inspect.getmembers(RandomState)
                  if not _name.startswith('_') and callable(_value)})
random = ranf = sample = random_sample  # noqa: F821
_bit_generator = _distributions = _generator = _generator_api = _permutations = _sample = sys.modules[__name__]  # names of CuPy's modules


__getattr__ = _names.getter('cupy.random')
