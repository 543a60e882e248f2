"""Arrays from numbers, files and other libraries' memory."""

import functools
import math

import numpy

from catenary import _core
from catenary.cupy._arguments import given, listed, of_anything, operand
from catenary.cupy._array import asarray, is_complex, ndarray
from catenary.cupy._functions.shapes import broadcast_arrays

globals().update(of_anything(__name__, {'vander': 1, 'diag': 1, 'diagflat': 1}))


def wide_arange(start, stop, step, dtype):
    """Computes arange for integers beyond int64, which NumPy promotes to float64, or for a dtype that holds them. Raises OverflowError if the dtype
    is too small."""
    start, stop = (0, start) if stop is None else (start, stop)
    ends = [x.item() if hasattr(x, 'item') else x for x in (start, stop, 1 if step is None else step)]
    start, stop, step = ends
    if step == 0:
        raise ValueError('arange: step must not be zero')
    dtype = numpy.dtype(float if dtype is None else dtype)
    whole = all(isinstance(x, int) for x in ends)
    length = max(-((start - stop) // step), 0) if whole else max(math.ceil((stop - start) / step), 0)
    if length == 0:
        return _core.zeros(0, dtype)
    places = _core.arange(length)
    first, second = start, start + step if length > 1 else start
    if dtype.kind not in 'iu':
        first, second = numpy.array([first, second], dtype).tolist()
        return (places.astype(float) * (second - first) + first).astype(dtype)
    first, second = map(int, numpy.array([int(first), int(second)], dtype))  # numpy.array raises OverflowError
    delta = int(step) if whole else second - first
    wrapped = numpy.array([first % 2 ** 64, delta % 2 ** 64], 'u8')
    return (places.astype('u8') * wrapped[1] + wrapped[0]).astype(dtype)


def tril(m, k=0):
    """Returns the elements on and below the k-th diagonal of matrices, with 0 above."""
    return _core.tril(given(m), k)


def triu(m, k=0):
    """Returns the elements on and above the k-th diagonal of matrices, with 0 below."""
    return _core.triu(given(m), k)


def _is_array(x):
    return isinstance(x, (ndarray, list))


def _dtype_of_ends(*ends):
    """Returns the floating dtype for a range between two ends. Python numbers do not determine it."""
    return numpy.result_type(*ends, 1.0)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Returns evenly spaced values from start to stop. Arrays give such values along a new axis for each element."""
    start, stop = listed(start), listed(stop)
    if not isinstance(start, ndarray) and not isinstance(stop, ndarray):
        found = _dtype_of_ends(start, stop)
        if found.kind != 'c':
            return _core.linspace(start, stop, num, endpoint, retstep, found if dtype is None else dtype, axis)
        values = linspace(asarray(start, found), asarray(stop, found), num, endpoint, False, dtype, axis)
        steps = num - bool(endpoint)
        return (values, (stop - start) / (steps if steps > 0 else numpy.nan)) if retstep else values
    found = _dtype_of_ends(*(x.dtype if isinstance(x, ndarray) else x for x in (start, stop)))
    start, stop = (asarray(x, found) if isinstance(x, (int, float, complex, numpy.generic)) else x for x in (start, stop))
    if dtype is not None and numpy.dtype(dtype).kind == 'f' and (is_complex(start) or is_complex(stop)):
        made = _core.linspace(start, stop, num, endpoint, retstep, None, axis)  # the cast warns
        return (made[0].astype(dtype), made[1]) if retstep else made.astype(dtype)
    return _core.linspace(start, stop, num, endpoint, retstep, dtype, axis)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Returns values that are evenly spaced on a logarithmic scale. Arrays give such values along a new axis for each element."""
    if not any(map(_is_array, (start, stop, base))):
        found = numpy.result_type(_dtype_of_ends(start, stop), base)
        if found.kind != 'c':
            return _core.logspace(start, stop, num, endpoint, base, found if dtype is None else dtype)
    powers = _core.ufuncs['power'](listed(base), linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Returns a geometric progression from start to stop. Arrays give such values along a new axis for each element."""
    if not _is_array(start) and not _is_array(stop) and _dtype_of_ends(start, stop).kind != 'c':
        return _core.geomspace(start, stop, num, endpoint, dtype)
    start, stop = operand(start, 'geomspace'), operand(stop, 'geomspace')
    if not bool(_core.all(start)) or not bool(_core.all(stop)):
        raise ValueError('geomspace: a geometric sequence cannot include zero')
    found = numpy.result_type(start.dtype, stop.dtype, 1.0, *(() if dtype is None else (numpy.zeros((), dtype),)))
    start, stop = broadcast_arrays(start.astype(found), stop.astype(found))
    size, log = _core.ufuncs['absolute'](start), _core.ufuncs['log']
    sign = start / size
    values = _core.ufuncs['exp'](_core.linspace(log(size), log(stop / sign), num, endpoint)) * sign
    if num > 0:  # makes the ends exact
        values[0] = start
    if num > 1 and endpoint:
        values[-1] = stop
    values = values if dtype is None else values.astype(dtype)
    return _core.moveaxis(values, (0,), (axis,)) if axis else values


def require(a, dtype=None, requirements=None):
    """Returns an array of this dtype that meets requirements: C_CONTIGUOUS, F_CONTIGUOUS, OWNDATA, or their letters."""
    wanted = {{'C_CONTIGUOUS': 'C', 'CONTIGUOUS': 'C', 'F_CONTIGUOUS': 'F', 'FORTRAN': 'F', 'OWNDATA': 'O'}.get(r.upper(), r.upper())
              for r in requirements or ()}
    if wanted - set('CFO'):
        raise ValueError(f'require: expected some of C, F and O, got {sorted(wanted - set("CFO"))}')
    if {'C', 'F'} <= wanted:
        raise ValueError('require: cannot specify both C and F order')
    try:
        result = asarray(a, dtype, 'F' if 'F' in wanted else 'C' if 'C' in wanted else 'A')
    except TypeError as error:
        raise ValueError(f'require: {error}') from None
    return _core._copy(result, 'K') if 'O' in wanted and not result.flags.owndata else result


def from_dlpack(x, /, *, device=None, copy=None):
    """Returns an array over another library's memory, on its device.

    `device` (a Device or an ordinal) copies it there if it lies elsewhere. In that case copy=False raises ValueError.
    """
    result = _core.from_dlpack(x, copy=copy)
    if device is None:
        return result
    with _core.Device(device):
        moved = _core._to_current_device(result)
    if copy is False and moved is not result:
        raise ValueError(f'from_dlpack: copy=False, and the array is on {_core.device_of(result).name}, not on {device}')
    return moved


def _on_host(name):
    """Wraps NumPy's function of this name. Its results are copied to the device."""
    host = getattr(numpy, name)

    @functools.wraps(host)
    def function(*args, **kwargs):
        return asarray(host(*args, **kwargs))
    function.__module__ = __name__
    return function


globals().update({_name: _on_host(_name) for _name in (
    'bartlett', 'blackman', 'frombuffer', 'fromfile', 'fromfunction', 'fromiter', 'fromstring', 'genfromtxt', 'hamming',
    'hanning', 'kaiser', 'loadtxt')})


def eye(N, M=None, k=0, dtype=float, order='C'):
    """Returns a matrix with ones on diagonal k and zeros elsewhere."""
    columns = N if M is None else M
    return _core.eye(N, M, max(-N, min(k, columns)), dtype, order)  # all diagonals beyond the corners are equal
