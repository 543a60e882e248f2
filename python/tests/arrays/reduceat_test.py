"""ufunc.reduceat in odd shapes, compared with NumPy."""

import numpy
import pytest

from catenary import cupy
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(3)


@pytest.mark.parametrize('dtype', 'fdlbBeFD?')
@pytest.mark.parametrize('name', ['add', 'multiply', 'maximum', 'minimum', 'logical_and', 'logical_or'])
def test_reduceat(name, dtype):
    ours, numpys = getattr(cupy, name), getattr(numpy, name)
    tolerance = {'e': 3e-2, 'f': 1e-5, 'F': 1e-5}.get(dtype, 1e-11)
    for shape in ((1,), (101,), (33, 5), (4, 3, 35)):
        x = G.uniform(0.8, 1.2, shape).astype(dtype) if dtype in 'fdeFD' else G.integers(0, 2, shape).astype(dtype)
        for axis in range(len(shape)):
            n = shape[axis]
            for indices in ([0], [n - 1, 0], sorted(G.integers(0, n, 9).tolist()), G.integers(0, n, 23).tolist()):
                if name in ('maximum', 'minimum') and dtype in 'FD':
                    continue
                expected = numpys.reduceat(x, indices, axis)
                for given in (indices, cupy.asarray(indices)):
                    made = ours.reduceat(cupy.asarray(x), given, axis)
                    assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
                    numpy.testing.assert_allclose(made.get(), expected, rtol=tolerance, atol=tolerance)


def test_reduceat_of_long_and_many_stretches():
    x = G.normal(size=50021).astype('f')
    x[77] = numpy.nan
    for starts in ([0, 50020], list(range(0, 50021, 3)), [5, 5000, 4000, 20000]):
        same(cupy.maximum.reduceat(cupy.asarray(x), starts), numpy.maximum.reduceat(x, starts))
        exact = numpy.add.reduceat(x.astype('d'), starts)
        assert numpy.allclose(cupy.add.reduceat(cupy.asarray(x), starts).get(), exact, rtol=1e-5, atol=1e-3, equal_nan=True)
    out = cupy.empty(2, 'f')
    assert cupy.minimum.reduceat(cupy.asarray(x), [100, 300], out=out) is out
    same(out, numpy.minimum.reduceat(x, [100, 300]))
    assert cupy.add.reduceat(cupy.asarray(x), []).shape == (0,)
