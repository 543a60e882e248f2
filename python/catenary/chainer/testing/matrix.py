"""Random matrices with known singular values."""

import numpy


def generate_matrix(shape, dtype=float, **kwargs):
    """Returns random matrices with the given `singular_values`, which are broadcast to `shape[:-2] + (min(shape[-2:]),)`."""
    if 'singular_values' not in kwargs:
        raise TypeError('generate_matrix needs the argument singular_values')
    values = numpy.asarray(kwargs.pop('singular_values'))
    if kwargs:
        raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
    dtype = numpy.dtype(dtype)
    if len(shape) < 2:
        raise ValueError(f'matrices have at least two dimensions, not the shape {shape}')
    if dtype.kind not in 'fc':
        raise TypeError(f'matrices have real or complex numbers, not {dtype}')
    if values.dtype.kind == 'c':
        raise TypeError('singular values are real')
    if (values < 0).any():
        raise ValueError('singular values are not negative')
    rank = min(shape[-2:])
    values = _broadcast_to(values, (*shape[:-2], rank))
    if 0 in shape:
        return numpy.empty(shape, dtype)
    wide = numpy.complex128 if dtype.kind == 'c' else numpy.float64
    left, right = [_orthogonal((*shape[:-2], size, rank), wide) for size in shape[-2:]]
    return ((left * values[..., None, :]) @ numpy.swapaxes(right.conj(), -1, -2)).astype(dtype)


def _orthogonal(shape, dtype):
    matrices = numpy.random.standard_normal(shape).astype(dtype)
    if dtype is numpy.complex128:
        matrices += 1j * numpy.random.standard_normal(shape)
    return numpy.linalg.qr(matrices)[0]


def _broadcast_to(array, shape):
    if array.ndim and array.shape[-1] != 1 and array.shape[-1] != shape[-1]:
        raise ValueError(f'singular values of the shape {array.shape} do not fit {shape}')
    return numpy.broadcast_to(array, shape)
