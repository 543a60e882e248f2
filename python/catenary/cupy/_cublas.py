"""Vector functions of cupy.cublas, for real and complex numbers, by the library's own operations."""

import numpy

from catenary import _core

_ufuncs = _core.ufuncs


def _checked(name, *vectors):
    for x in vectors:
        if x.dtype.char not in 'fdFD':
            raise TypeError(f'cublas.{name}: expected float32, float64, complex64 or complex128, given {x.dtype}')
        if x.ndim != 1 or x.size != vectors[0].size or x.dtype != vectors[0].dtype:
            raise ValueError(f'cublas.{name}: expected vectors of one length and dtype, given {[f"{v.dtype}{v.shape}" for v in vectors]}')


def _delivered(result, out):
    if out is None:
        return result
    out[...] = result.astype(out.dtype, copy=False)
    return out


def _magnitude(x):
    """Returns BLAS's magnitude: for a complex number the sum of the magnitudes of its parts."""
    return _ufuncs['absolute'](x) if x.dtype.kind == 'f' else _ufuncs['absolute'](x.real) + _ufuncs['absolute'](x.imag)


def iamax(x, out=None):
    """Returns the 1-based index of the first element of largest magnitude."""
    _checked('iamax', x)
    return _delivered((_magnitude(x).argmax() + 1).astype('i'), out)


def iamin(x, out=None):
    """Returns the 1-based index of the first element of least magnitude."""
    _checked('iamin', x)
    return _delivered((_magnitude(x).argmin() + 1).astype('i'), out)


def asum(x, out=None):
    """Returns the sum of the magnitudes."""
    _checked('asum', x)
    return _delivered(_magnitude(x).sum(), out)


def axpy(a, x, y):
    """Adds a times x to y, in place."""
    _checked('axpy', x, y)
    y += numpy.dtype(y.dtype).type(a.item() if hasattr(a, 'item') else a) * x


def dot(x, y, out=None):
    """Returns the dot product of real vectors. Complex vectors need dotu or dotc."""
    if x.dtype.kind == 'c':
        raise TypeError('cublas.dot: complex numbers have dotu and dotc')
    _checked('dot', x, y)
    return _delivered(_core.dot(x, y), out)


def dotu(x, y, out=None):
    """Returns the dot product without conjugation."""
    _checked('dotu', x, y)
    return _delivered(_core.dot(x, y), out)


def dotc(x, y, out=None):
    """Returns the dot product of x's conjugates with y."""
    _checked('dotc', x, y)
    return _delivered(_core.dot(_ufuncs['conjugate'](x), y), out)


def nrm2(x, out=None):
    """Returns the Euclidean norm."""
    _checked('nrm2', x)
    squares = x.real ** 2 + x.imag ** 2 if x.dtype.kind == 'c' else x * x
    return _delivered(_ufuncs['sqrt'](squares.sum()), out)


def scal(a, x):
    """Multiplies x by a, in place."""
    _checked('scal', x)
    x *= numpy.dtype(x.dtype).type(a.item() if hasattr(a, 'item') else a)
