"""Filters by kernels of users', which are called for each window or each line."""

import math
import re

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._kernels import ElementwiseKernel, RawKernel, ReductionKernel
from catenary.cupyx.scipy._sliding_windows import bordered, delivered, origins, result_dtype, views
from catenary.cupyx.scipy.ndimage._filter_functions import _one_mode, axis_of, footprint_of, real

_THREADS = 128
_TYPES = {'?': 'bool', 'b': 'signed char', 'B': 'unsigned char', 'h': 'short', 'H': 'unsigned short', 'i': 'int', 'I': 'unsigned int', 'l': 'long long',
          'q': 'long long', 'L': 'unsigned long long', 'Q': 'unsigned long long', 'f': 'float', 'd': 'double'}
_WHOLE = '''
{code}
extern "C" __global__ void {name}(const {input}* in, {output}* out, long long windows, int size, int results) {{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < windows) {{ {body} }}
}}
'''
_made = {}  # kernels by source, so that each is compiled once


def _kernel(key, code, name, source, target, body, options=()):
    if key not in _made:
        text = _WHOLE.format(code=code, name=name, input=_TYPES[source.char], output=_TYPES[target.char], body=body)
        _made[key] = RawKernel(text, name, options)
    return _made[key]


def _called(function):
    """Returns (text of a whole kernel as a device function, its name). Raises ValueError if the kernel is not in the text."""
    text, found = re.subn(r'(extern\s*"C"\s*)?__global__\s+void\s+%s\s*\(' % re.escape(function.name), f'__device__ void {function.name}(', function.code)
    if found != 1:
        raise ValueError(f'{function.name}: expected the text of a kernel `extern "C" __global__ void {function.name}(...)`, which occurs {found} times')
    return text


def _of_raw(function, windows, size):
    double = numpy.dtype('d')
    name = function.name + '_of_windows'
    kernel = _kernel((function.code, function.name, 'windows'), _called(function), name, double, double, f'{function.name}(in + i * size, size, out + i);',
                     function.options)
    return kernel, windows.astype(double), double


def _of_reduction(function, windows, size, target):
    """Returns a reduction as a function that one thread runs per window, in which the reduction's names of its array mean the window."""
    own = function.in_params[0]
    source = own.dtype or windows.dtype
    out = function.out_params[0]
    result = out.dtype or (source if out.ctype == own.ctype else target)
    names = {p.ctype: t for p, t in ((own, source), (out, result)) if p.dtype is None}

    def own_names(text):
        return re.sub(r'\b_in_ind\s*\.\s*size\s*\(\s*\)', 'size', re.sub(r'\b_raw_%s\b' % re.escape(own.name), '(in + i * size)', text))
    kind = function.reduce_type or _TYPES[result.char]
    types = ''.join(f'typedef {_TYPES[dtype.char]} {name};\n' for name, dtype in names.items())
    body = f'''
        {kind} total;
        for (int k = 0; k < size; ++k) {{
            const {_TYPES[source.char]} {own.name} = in[i * size + k];
            {kind} a = ({kind})({own_names(function.map_expr)});
            if (k == 0) {{ total = a; }} else {{ {kind} b = a; a = total; total = ({kind})({own_names(function.reduce_expr)}); }}
        }}
        {kind} a = total;
        {_TYPES[result.char]} {out.name};
        {own_names(function.post_map_expr)};
        out[i] = {out.name};'''
    if function.identity != '':
        body = body.replace(f'{kind} total;', f'{kind} total = ({kind})({function.identity});').replace('if (k == 0) { total = a; } else {', '{')
    key = (function.preamble, body, types)
    kernel = _kernel(key, function.preamble + types, function.name + '_of_windows', source, result, body)
    return kernel, windows.astype(source), result


def generic_filter(input, function, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None):
    """Applies a kernel to each window, along all axes or the given ones.

    The kernel is a ReductionKernel of one array or a RawKernel `void f(const double* window, int size, double* result)`. Raises TypeError for
    other functions and for complex arrays.
    """
    x = operand(input, 'generic_filter')
    real(x, 'generic_filter')
    if isinstance(function, ElementwiseKernel):
        raise TypeError('only ReductionKernel allowed (not ElementwiseKernel)')
    if not isinstance(function, (RawKernel, ReductionKernel)):
        raise TypeError(f'generic_filter: bad function type: expected a ReductionKernel or a RawKernel, not {type(function)}')
    if isinstance(function, ReductionKernel) and (function.nin != 1 or function.nout != 1):
        raise TypeError('ReductionKernel must have 1 input and output')
    _one_mode(mode, 'generic_filter')
    moved = list(range(x.ndim)) if axes is None else [axis_of(a, x.ndim) for a in ([axes] if numpy.ndim(axes) == 0 else axes)]
    window = footprint_of(_core.zeros((1,) * len(moved), 'f'), size, footprint, 'generic_filter')
    own = origins(origin, window.shape, 'generic_filter')
    shape, at = [1] * x.ndim, [0] * x.ndim
    for axis, n, o in zip(moved, window.shape, own):
        shape[axis], at[axis] = n, o
    order = sorted(range(len(moved)), key=lambda k: moved[k])
    window = window.transpose(order).reshape(shape)
    target = result_dtype(x, output)
    if x.size == 0:
        return delivered(_core._copy(x, 'K'), x, output)
    places = list(zip(*numpy.nonzero(window)))
    stacked = _core._stack(list(views(x, window.shape, at, mode, cval, places)), x.ndim)
    kernel, windows, kind = _of_raw(function, stacked, len(places)) if isinstance(function, RawKernel) else _of_reduction(function, stacked, len(places), target)
    made = _core.empty(x.shape, kind)
    kernel((-(-x.size // _THREADS),), (_THREADS,), (_core._copy(windows, 'C'), made, x.size, len(places), 1))
    return delivered(made, x, output)


def generic_filter1d(input, function, filter_size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0):
    """Applies a RawKernel `void f(const double* line, ptrdiff_t length, double* result, ptrdiff_t length)` to each line along an axis.

    The input line is filter_size - 1 elements longer than the result. Raises TypeError for other functions and for complex arrays.
    """
    x = operand(input, 'generic_filter1d')
    real(x, 'generic_filter1d')
    if not isinstance(function, RawKernel):
        raise TypeError(f'generic_filter1d: bad function type: expected a RawKernel, not {type(function)}')
    if filter_size < 1:
        raise RuntimeError('invalid filter size: %r' % (filter_size,))
    axis = axis_of(axis, x.ndim)
    at = origins(origin, (filter_size,), 'generic_filter1d')[0]
    if x.size == 0:
        return delivered(_core._copy(x, 'K'), x, output)
    before, after = [0] * x.ndim, [0] * x.ndim
    before[axis] = filter_size // 2 + at
    after[axis] = filter_size - 1 - before[axis]
    wide = _core._copy(_core.moveaxis(bordered(x, before, after, mode, cval), (axis,), (x.ndim - 1,)).astype('d'), 'C')
    lines = math.prod(wide.shape[:-1])
    made = _core.empty(wide.shape[:-1] + (x.shape[axis],), 'd')
    double = numpy.dtype('d')
    kernel = _kernel((function.code, function.name, 'lines'), _called(function), function.name + '_of_lines', double, double,
                     f'{function.name}(in + i * size, size, out + i * results, results);', function.options)
    kernel((-(-lines // _THREADS),), (_THREADS,), (wide, made, lines, wide.shape[-1], x.shape[axis]))
    return delivered(_core.moveaxis(made, (-1,), (axis,)), x, output)
