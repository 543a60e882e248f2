"""Complex functions at zeros, infinities and NaN, compared with the host's complex256, which follows C99's Annex G. Each part must agree in value,
infinity or NaN, and in the sign of zero where the standard defines it."""

import numpy
import pytest

from catenary import cupy

pytestmark = pytest.mark.usefixtures('device')

PARTS = [0., -0., 1., -1., 0.5, -0.5, 2., -3., 1e-3, numpy.inf, -numpy.inf, numpy.nan]
GRID = numpy.array([complex(re, im) for re in PARTS for im in PARTS])
FUNCTIONS = ('sqrt exp log sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh conjugate absolute log2 log10 square negative '
             'isnan isinf isfinite').split()


def parts(z):
    return (z.real, z.imag) if z.dtype.kind == 'c' else (z, numpy.zeros_like(z))


def differ(mine, theirs, limit, free=False):
    """Returns the results that differ from the table. `free` lists parts whose signs the standard leaves open."""
    wrong = numpy.zeros(mine.shape, bool)
    sizes = numpy.abs(numpy.where(numpy.isfinite(theirs), theirs, 0))
    for own, wanted, other in zip(parts(mine), parts(theirs), parts(theirs)[::-1]):
        beside_nan = numpy.isnan(other) | free
        finite = numpy.isfinite(wanted)
        wrong |= numpy.isnan(own) != numpy.isnan(wanted)
        wrong |= numpy.isinf(own) != numpy.isinf(wanted)
        wrong |= ~numpy.isnan(wanted) & ~beside_nan & (~finite | (wanted == 0)) & (numpy.signbit(own) != numpy.signbit(wanted)) & (abs(own) <= limit)
        wrong |= numpy.isinf(wanted) & ~beside_nan & (own != wanted)
        off = numpy.where(finite, own, 0) - numpy.where(finite, wanted, 0)
        wrong |= ~(numpy.abs(off) <= limit * numpy.where(finite, numpy.maximum(sizes, numpy.abs(wanted)), 1))
    return wrong


@pytest.mark.parametrize('dtype', 'FD')
@pytest.mark.parametrize('name', FUNCTIONS)
def test_values_at_zeros_infinities_and_nan(name, dtype):
    z = GRID.astype(dtype)
    with numpy.errstate(all='ignore'):
        table = getattr(numpy, name)(z.astype(numpy.clongdouble))
    mine = getattr(cupy, name)(cupy.asarray(z)).get()
    if mine.dtype == bool:
        numpy.testing.assert_array_equal(mine, table)
        return
    free = (name == 'exp') & (z.real == -numpy.inf) & numpy.isinf(z.imag)
    wrong = differ(mine, table.astype(mine.dtype), 16 * numpy.finfo(mine.dtype).eps, free)
    assert not wrong.any(), [(z[k], mine[k], complex(table[k])) for k in numpy.flatnonzero(wrong)[:20]]


@pytest.mark.parametrize('dtype', 'FD')
@pytest.mark.parametrize('name', ['add', 'subtract', 'multiply', 'divide'])
def test_arithmetic_with_infinities(name, dtype):
    """An infinite times a non-zero number is infinite, as is an infinite divided by a finite number. A number divided by 0 is infinite, and a finite
    one divided by an infinite one is 0."""
    a, b = (x.ravel().astype(dtype) for x in numpy.meshgrid(GRID, GRID))
    with numpy.errstate(all='ignore'):
        table = getattr(numpy, name)(a.astype(numpy.clongdouble), b.astype(numpy.clongdouble))
    mine = getattr(cupy, name)(cupy.asarray(a), cupy.asarray(b)).get()
    wrong = differ(mine, table.astype(dtype), 16 * numpy.finfo(mine.dtype).eps)
    assert not wrong.any(), [(a[k], b[k], mine[k], complex(table[k])) for k in numpy.flatnonzero(wrong)[:20]]
