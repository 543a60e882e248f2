"""cupyx.scipy.fft: transforms with SciPy's names and arguments, based on cupy.fft. The module is also a backend for scipy.fft.set_backend."""

import sys as _sys

from catenary import _core, _names, _wheel
from catenary.cupy import fft as _transforms
from catenary.cupy._array import asarray as _asarray, ndarray as _ndarray
from catenary.cupy.fft import fftfreq, fftshift, ifftshift, rfftfreq  # noqa: F401
from catenary.cupyx.scipy._fht import fht, ifht  # noqa: F401
from catenary.cupyx.scipy._fft_plan import check_plan as _check_plan, get_fft_plan  # noqa: F401
from catenary.cupyx.scipy._dct_dst import dct, dctn, dst, dstn, idct, idctn, idst, idstn  # noqa: F401

__ua_domain__ = 'numpy.scipy.fft'


def _operand(x):
    """Returns the array, with float16 converted to float32 for the transform and its result."""
    x = _transforms._operand(x)
    return x.astype('f') if x.dtype == 'e' else x


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'Calls cupy.fft.{name}. `overwrite_x` is ignored.'
    return function


def _one(name):
    transform = getattr(_transforms, name)

    def function(x, n=None, axis=-1, norm=None, overwrite_x=False, *, plan=None):
        x = _operand(x)
        _check_plan(plan, name, x, n, axis)
        return transform(x, n, axis, norm)
    return _named(function, name)


def _several(name, axes):
    transform = getattr(_transforms, name)

    def function(x, s=None, axes=axes, norm=None, overwrite_x=False, *, plan=None):
        x, s, axes = _placed(x, s, axes)
        _check_plan(plan, name, x, s, axes)
        if axes == () and name.startswith(('rfft', 'irfft')):
            raise ValueError('at least 1 axis must be transformed')
        return transform(x, s, axes, norm)
    return _named(function, name)


def _placed(x, s, axes):
    """Returns the array, and lengths and axes as tuples, with axis sizes in place of -1."""
    x = _operand(x)
    s, axes = ((v,) if isinstance(v, int) else v if v is None else tuple(int(k) for k in v) for v in (s, axes))
    if s is not None and -1 in s:
        places = range(x.ndim - len(s), x.ndim) if axes is None else axes
        if any(not -x.ndim <= axis < x.ndim for axis in places):
            raise ValueError(f'axes exceeds dimensionality of input: {tuple(places)} of an array of {x.ndim} axes')
        s = tuple(x.shape[axis] if n == -1 else n for n, axis in zip(s, places))
    return x, s, axes


fft, ifft, rfft, irfft, hfft, ihfft = map(_one, ('fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'))
fftn, ifftn, rfftn, irfftn = (_several(name, None) for name in ('fftn', 'ifftn', 'rfftn', 'irfftn'))
fft2, ifft2, rfft2, irfft2 = (_several(name, (-2, -1)) for name in ('fft2', 'ifft2', 'rfft2', 'irfft2'))
_OTHER_WAY = {None: 'forward', 'backward': 'forward', 'forward': 'backward'}


def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None):
    """Returns the real transform of a Hermitian-symmetric array, of which the last of the axes holds one half."""
    _check_plan(plan, 'hfftn')
    x, s, axes = _placed(x, s, axes)
    return _transforms.irfftn(_core.ufuncs['conjugate'](x), s, axes, _OTHER_WAY.get(norm, norm))


def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, *, plan=None):
    """Returns the inverse of hfftn."""
    _check_plan(plan, 'ihfftn')
    return _core.ufuncs['conjugate'](_transforms.rfftn(*_placed(x, s, axes), _OTHER_WAY.get(norm, norm)))


def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None):
    """Returns hfftn over two axes."""
    return hfftn(x, s, axes, norm, overwrite_x, plan=plan)


def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, *, plan=None):
    """Returns the inverse of hfft2."""
    return ihfftn(x, s, axes, norm, overwrite_x, plan=plan)


def next_fast_len(target, real=False):
    """Returns the least length of at least `target` whose prime factors are 2, 3, 5 and 7, for which there are compiled passes. Raises ValueError for
    target below 1."""
    target = int(target)
    if target < 1:
        raise ValueError(f'next_fast_len: the length must be positive, not {target}')
    best = 1 << (target - 1).bit_length()
    sevens = 1
    while sevens < best:
        fives = sevens
        while fives < best:
            threes = fives
            while threes < best:
                best = min(best, threes << max(0, (-(-target // threes) - 1).bit_length()))
                threes *= 3
            fives *= 5
        sevens *= 7
    return best


def __ua_convert__(dispatchables, coerce):
    """Converts the arguments that scipy.fft passes to this backend to arrays. Returns NotImplemented if an argument is not an array and may not
    become one."""
    values = []
    for one in dispatchables:
        if one.value is not None and not isinstance(one.value, _ndarray) and getattr(one.type, '__name__', '') == 'ndarray':
            if not (coerce and one.coercible):
                return NotImplemented
            values.append(_asarray(one.value))
        else:
            values.append(one.value)
    return values


def __ua_function__(method, args, kwargs):
    """Calls this module's function with the name of scipy.fft's. Returns NotImplemented if there is none."""
    function = getattr(_sys.modules[__name__], method.__name__, None) if method.__name__ in _names.here('cupyx.scipy.fft') else None
    kwargs = {name: value for name, value in kwargs.items() if name != 'workers'}  # SciPy's number of threads
    return NotImplemented if function is None else function(*args, **kwargs)


__getattr__ = _wheel.getter('cupyx.scipy.fft')
