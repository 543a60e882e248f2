"""Cosine and sine transforms (DCT and DST) of types 1 to 4, each by one complex or real Fourier transform."""

import functools
import math

import numpy

from catenary import _core
from catenary.cupy import fft as _fft
from catenary.cupyx.scipy._complex import of_parts

_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
_FEW = 4096  # factors that the host computes faster than the device
_KEPT, _kept = 16, {}  # tables of so few factors
_OTHER_WAY = {None: 'forward', 'backward': 'forward', 'ortho': 'ortho', 'forward': 'backward'}


def _constants(values, like, kind):
    """Copies NumPy constants to the device in the dtype of an array's real parts."""
    single = like.dtype.itemsize == 4
    return _core.from_numpy(numpy.asarray(values).astype({'c': 'F' if single else 'D', 'f': 'f' if single else 'd'}[kind]), None)


def _turns(n, denominator, like, step=1, shift=0):
    """Returns exp(-i pi (step k + shift) / denominator) for k < n, less than one turn."""
    device = _core.device_of(like)
    if n > _FEW and device.info['has_f64']:
        angles = (_core.arange(n) * step + shift).astype('d') * (math.pi / denominator)
        return of_parts(*(part.astype(like.dtype) for part in (_core.ufuncs['cos'](angles), -_core.ufuncs['sin'](angles))))
    if n > _FEW:
        return _host_turns(n, denominator, like, step, shift)
    key = (n, denominator, step, shift, like.dtype.char, device.name)
    if key not in _kept:
        while len(_kept) >= _KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = _host_turns(n, denominator, like, step, shift)
    return _kept[key]


def _host_turns(n, denominator, like, step, shift):
    angles = (numpy.arange(n) * step + shift) * (math.pi / denominator)
    return _constants(numpy.cos(angles) - 1j * numpy.sin(angles), like, 'c')


# All functions below transform real numbers along the last axis (length N) and apply only the factors in their formulas.

def _cosine1(x):
    """Returns x[0] + (-1)^k x[N - 1] + 2 sum of x[n] cos(pi k n / (N - 1)): the spectrum of the even continuation."""
    return _fft.rfft(_core._concatenate([x, x[..., -2:0:-1]], -1)).real


def _cosine2(x):
    """Returns 2 sum of x[n] cos(pi k (2 n + 1) / 2 N): the even elements, then the odd ones in reverse, are transformed and multiplied by phases."""
    n = x.shape[-1]
    v = _fft.rfft(_core._concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1))
    turned = 2 * (v * _turns(n // 2 + 1, 2 * n, x))
    # the other half of the spectrum is conjugate, and its phases are the conjugates of these times -i
    return _core._concatenate([turned.real, -turned.imag[..., (n - 1) // 2:0:-1]], -1)


def _cosine3(x):
    """Returns x[0] + 2 sum of x[n] cos(pi (2 k + 1) n / 2 N), by the steps of _cosine2 in reverse."""
    n = x.shape[-1]
    mirrored = _core._concatenate([_core.zeros_like(x[..., :1]), x[..., :0:-1]], -1)
    half = n // 2 + 1
    turned = of_parts(x[..., :half], -mirrored[..., :half]) * _turns(half, 2 * n, x, -1)
    v = _fft.irfft(turned, n, norm='forward')
    made = _core.empty(x.shape, x.dtype)
    made[..., ::2], made[..., 1::2] = v[..., :(n + 1) // 2], v[..., (n + 1) // 2:][..., ::-1]
    return made


def _cosine4(x):
    """Returns 2 sum of x[n] cos(pi (2 k + 1) (2 n + 1) / 4 N): multiplied by phases before and after a transform of 2 N elements, half of them 0."""
    n = x.shape[-1]
    v = _fft.fft(x * _turns(n, 2 * n, x), 2 * n)[..., :n]
    return 2 * (v * _turns(n, 4 * n, x, 2, 1)).real


def _signed(x):
    n = x.shape[-1]
    if n > _FEW:
        return x * (1 - 2 * (_core.arange(n) % 2)).astype(x.dtype)
    return x * _constants(1 - 2 * (numpy.arange(n) % 2), x, 'f')


def _sine1(x):
    """Returns 2 sum of x[n] sin(pi (k + 1) (n + 1) / (N + 1)): the spectrum of the odd continuation."""
    zero = _core.zeros_like(x[..., :1])
    return -_fft.rfft(_core._concatenate([zero, x, zero, -x[..., ::-1]], -1)).imag[..., 1:-1]


_TRANSFORMS = {('cos', 1): _cosine1, ('cos', 2): _cosine2, ('cos', 3): _cosine3, ('cos', 4): _cosine4, ('sin', 1): _sine1,
               ('sin', 2): lambda x: _cosine2(_signed(x))[..., ::-1], ('sin', 3): lambda x: _signed(_cosine3(x[..., ::-1])),
               ('sin', 4): lambda x: _signed(_cosine4(x[..., ::-1]))}
_LENGTHS = {('cos', 1): lambda n: 2 * (n - 1), ('sin', 1): lambda n: 2 * (n + 1)}  # length of the full period, 2 n for the other types


def _weighted(x, function, type, before, factor):
    """Multiplies the elements at the ends by a factor that makes the transform orthogonal."""
    ends = {('cos', 1): (0, -1), ('cos', 2): () if before else (0,), ('cos', 3): (0,) if before else (),
            ('sin', 2): () if before else (-1,), ('sin', 3): (-1,) if before else ()}.get((function, type), ())
    if not ends:
        return x
    weights = numpy.ones(x.shape[-1])
    weights[list(ends)] = factor
    return x * _constants(weights, x, 'f')


def _along_last(x, function, type, norm, orthogonalize):
    if x.dtype.kind == 'c':
        return of_parts(*(_along_last(part, function, type, norm, orthogonalize) for part in (x.real, x.imag)))
    length = _LENGTHS.get((function, type), lambda n: 2 * n)(x.shape[-1])
    if orthogonalize:
        x = _weighted(x, function, type, True, math.sqrt(2))
    made = _TRANSFORMS[function, type](x)
    if orthogonalize:
        made = _weighted(made, function, type, False, math.sqrt(0.5))
    return made if norm in (None, 'backward') else made * (length ** (-0.5 if norm == 'ortho' else -1))


def _operand(x):
    """Converts the array to the dtype in which it is transformed."""
    x = _fft._operand(x)
    return x.astype('f' if x.dtype == 'e' else 'd') if x.dtype.char not in 'fdFD' else x


def _cut(x, n, axis):
    """Truncates or zero-pads an axis to the given length."""
    have = x.shape[axis]
    if n in (None, -1, have):
        return x
    if n < have:
        return x[(slice(None),) * axis + (slice(0, n),)]
    more = list(x.shape)
    more[axis] = n - have
    return _core._concatenate([x, _core.zeros(tuple(more), x.dtype)], axis)


def _transform(function, name, inverse, x, type, n, axis, norm, orthogonalize):
    if type not in _INVERSE_TYPE:
        raise ValueError(f'{name}: invalid type {type!r}: expected 1, 2, 3 or 4')
    if norm not in _OTHER_WAY:
        raise ValueError(f'{name}: Invalid norm value {norm!r}; should be "backward", "ortho" or "forward"')
    orthogonalize = norm == 'ortho' if orthogonalize is None else orthogonalize
    if inverse:
        type, norm = _INVERSE_TYPE[type], _OTHER_WAY[norm]
    x = _operand(x)
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    axis %= x.ndim
    x = _cut(x, n, axis)
    least = 2 if (function, type) == ('cos', 1) else 1
    if x.shape[axis] < least:
        raise ValueError(f'{name}: invalid number of data points ({x.shape[axis]}) specified: at least {least} is needed')
    rows = _core.moveaxis(x, (axis,), (x.ndim - 1,))
    return _core.moveaxis(_along_last(rows, function, type, norm, orthogonalize), (x.ndim - 1,), (axis,))


def _one(function, name, inverse):
    def transform(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, *, orthogonalize=None):
        return _transform(function, name, inverse, x, type, n, axis, norm, orthogonalize)
    what = 'cosine' if function == 'cos' else 'sine'
    return _named(transform, name, f'Returns the inverse of {name[1:]}.' if inverse else f'Returns the {what} transform of type 1, 2, 3 or 4 along an axis.')


def _several(function, name, inverse):
    def transform(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, *, orthogonalize=None):
        x = _operand(x)
        s = (s,) if isinstance(s, int) else s
        axes = range(x.ndim - (x.ndim if s is None else len(s)), x.ndim) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
        lengths = [None] * len(axes) if s is None else list(s)
        if len(lengths) != len(axes):
            raise ValueError(f'{name}: when given, axes and shape arguments have to be of the same length, not {len(axes)} and {len(lengths)}')
        if any(not -x.ndim <= axis < x.ndim for axis in axes):
            raise ValueError(f'{name}: axes exceeds dimensionality of input: {tuple(axes)} of an array of {x.ndim} axes')
        if len({axis % x.ndim for axis in axes}) != len(axes):
            raise ValueError(f'{name}: all axes must be unique')
        return functools.reduce(lambda y, one: _transform(function, name, inverse, y, type, one[1], one[0], norm, orthogonalize),
                                zip(axes, lengths), x)
    return _named(transform, name, f'Returns the inverse of {name[1:]}.' if inverse else f'Applies {name[:-1]} along several axes.')


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


dct, idct, dst, idst = _one('cos', 'dct', False), _one('cos', 'idct', True), _one('sin', 'dst', False), _one('sin', 'idst', True)
dctn, idctn, dstn, idstn = (_several('cos', 'dctn', False), _several('cos', 'idctn', True), _several('sin', 'dstn', False),
                            _several('sin', 'idstn', True))
