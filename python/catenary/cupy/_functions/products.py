"""Products of vectors, matrices and arrays."""

import numpy

from catenary import _core
from catenary.cupy._arguments import delivered, given, listed, of_anything
from catenary.cupy._array import ndarray

globals().update(of_anything(__name__, {'dot': 1, 'inner': 2, 'outer': 2, 'kron': 2}))
globals().update(of_anything(__name__, {'convolve': 2, 'cross': 2}, listed))


def correlate(a, v, mode='valid'):
    """Returns the cross-correlation of 1-d arrays, in which v is conjugated."""
    a, v = listed(a), listed(v)
    return _core.correlate(a, _core.ufuncs['conjugate'](v) if isinstance(v, ndarray) and v.dtype.kind == 'c' else v, mode)


def matmul(x1, x2, out=None, *, casting='same_kind', dtype=None, axes=None):
    """Returns the product of matrices or stacks of matrices. `axes` selects the matrix axes of operands and result."""
    if dtype is not None:
        x1, x2 = x1.astype(dtype, casting=casting), x2.astype(dtype, casting=casting)
    if axes is not None:
        x1, x2 = (_core.moveaxis(x, tuple(at), (-2, -1)) for x, at in zip((x1, x2), axes))
        result = _core.moveaxis(_core.matmul(x1, x2), (-2, -1), tuple(axes[2]))
        return delivered(result, out, 'matmul', casting)
    return _core.matmul(x1, x2) if out is None else delivered(_core.matmul(x1, x2), out, 'matmul', casting)


def tensordot(a, b, axes=2):
    """Sums products over axes of both arrays: the last of a and the first of b, or those given."""
    if a.ndim == 0 or b.ndim == 0:
        if axes != 0 and axes != ((), ()):
            raise ValueError('An input is zero-dim while axes has dimensions')
        return _core.ufuncs['multiply'](a, b)
    if isinstance(axes, (int, numpy.integer)):
        a_axes, b_axes = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        a_axes, b_axes = ((x,) if isinstance(x, (int, numpy.integer)) else tuple(x) for x in axes)
    if len(a_axes) != len(b_axes):
        raise ValueError('Axes length mismatch')
    return _core._tensordot(a, b, a_axes, b_axes)


def einsum(*operands, dtype=None, casting='safe', optimize=False):
    """Evaluates Einstein's summation convention: einsum('ij,jk', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if len(operands) < 2:
        raise ValueError('einsum: expected subscripts and at least one operand')
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        def letters(axes):
            names = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
            return ''.join('...' if x is Ellipsis else names[x] for x in axes)
        arrays = operands[:len(operands) // 2 * 2:2]
        subscripts = ','.join(letters(x) for x in operands[1::2])
        if len(operands) % 2:
            subscripts += '->' + letters(operands[-1])
    return _core._einsum(subscripts, [given(a) for a in arrays], dtype, casting)
