"""Iterative special functions, compared with SciPy's values (special_values.json)."""

import json
import math

import numpy
import pytest

import make_special_values
from catenary import cupy
from catenary.cupyx.scipy import special

ANSWERS = json.loads(make_special_values.FILE.read_text())
# float64's accuracy, reduced where SciPy itself is less accurate or a function passes through 0
RELATIVE = {'lpmv': 1e-10, 'expi': 1e-11, 'sici': 1e-11, 'shichi': 1e-11, 'wright_bessel': 1e-11, 'bdtri': 1e-11, 'ellipkinc': 1e-9, 'yn': 1e-11, 'spherical_yn': 1e-11, 'spherical_yn derivative': 1e-11}
ABSOLUTE = dict.fromkeys(('j0', 'j1', 'y0', 'y1', 'yn', 'sph_harm_y', 'ellipj', 'lambertw', 'lambertw -1', 'lambertw 1', 'zetac'), 1e-13)


def restored(value):
    if isinstance(value, dict):
        return restored(value['real']) + 1j * restored(value['imag'])
    return numpy.asarray(value[1]).reshape(value[0])


def computed(name, arrays):
    made = make_special_values.call(special, name, *(a if isinstance(a, (int, float)) else cupy.asarray(a) for a in arrays))
    return made if isinstance(made, tuple) else (made,)


def parts_of(name, ours, expected):
    """Returns the values to compare: real and imaginary parts, or complex numbers if one part is negligible."""
    return [(ours.get(), expected)] if name.endswith('complex') else [(ours.get().real, expected.real), (ours.get().imag, expected.imag)]


def test_all_functions_have_answers():
    assert list(make_special_values.ARGUMENTS) == list(ANSWERS)


@pytest.mark.parametrize('name', ANSWERS)
def test_as_scipy(name):
    with cupy.cuda.Device('cpu'):
        made = computed(name, make_special_values.arrays(name))
        for ours, expected in zip(made, ANSWERS[name]['values'], strict=True):
            expected = restored(expected)
            assert ours.shape == expected.shape and ours.dtype == ('D' if ours.dtype.kind == 'c' else 'd')
            for ours, expected in parts_of(name, ours, expected):
                numpy.testing.assert_allclose(ours, expected, rtol=RELATIVE.get(name, 1e-12), atol=ABSOLUTE.get(name, 1e-300))


@pytest.mark.parametrize('name', ANSWERS)
def test_dtypes_and_shapes(name):
    """float32 is computed in float64 and rounded once. Integers and 16-bit floats give SciPy's dtypes."""
    with cupy.cuda.Device('cpu'), numpy.errstate(over='ignore'):
        arrays = make_special_values.arrays(name, 'f')
        wide = [a.astype('d') if a.dtype == 'f' else a for a in arrays]
        for ours, exact in zip(computed(name, arrays), computed(name, wide)):
            if not any(word in name for word in ('lambertw', 'spherical', 'complex')):
                assert ours.dtype == ('F' if exact.dtype.kind == 'c' else 'f')
            numpy.testing.assert_array_equal(ours.get(), exact.get().astype(ours.dtype.char))
        for dtype, expected in ANSWERS[name]['dtypes'].items():
            if dtype == 'f' and name.startswith('sph'):
                continue  # float32 as CuPy's
            whole = [a.dtype == 'l' and name.startswith('sph_harm') for a in arrays]
            assert computed(name, [numpy.ones(1, 'l' if w else dtype) for w in whole])[0].dtype == expected, dtype
        if all(a.dtype.kind == 'f' for a in arrays):  # Python numbers do not determine the dtype, in any position
            for place in range(len(arrays)):
                found = computed(name, [x if i == place else 0.5 for i, x in enumerate([numpy.ones(2, 'f')] * len(arrays))])
                assert name.startswith('spherical') or all(x.dtype == 'f' for x in found)
            if name in ('betaincinv', 'chdtri', 'lpmv'):
                places = [1] * (len(arrays) - 1)
                assert [computed(name, [*places, numpy.ones(1, dtype)])[0].dtype.char for dtype in '?bi'] == ['d', 'f', 'd']
                assert [computed(name, [0.5, *places[1:], numpy.ones(1, dtype)])[0].dtype.char for dtype in '?bief'] == ['d', 'd', 'd', 'f', 'f']
        for shape in ((), (0,), (2, 0, 3)):
            assert all(x.shape == shape for x in computed(name, [numpy.ones(shape, 'l' if a.dtype == 'l' else 'd') for a in arrays]))


# One function per algorithm, at a few points
ON_DEVICES = ('j0', 'k1', 'expi', 'expn', 'sici complex', 'ellipkinc', 'ellipj', 'gammaincinv', 'betaincinv', 'lpmv', 'sph_harm_y', 'lambertw -1', 'wright_bessel', 'zetac')


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('name', ON_DEVICES)
def test_on_every_device(name):
    arrays = [a[::3] for a in make_special_values.arrays(name)]
    for ours, expected in zip(computed(name, arrays), ANSWERS[name]['values'], strict=True):
        expected = restored(expected)[(slice(None, None, 3),) * len(arrays)]
        for ours, expected in parts_of(name, ours, expected):
            numpy.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


def test_values_where_scipy_loses_precision():
    """Values beyond the range of a series or of a complementary probability, which SciPy rounds to 0 or 1 or returns as NaN."""
    with cupy.cuda.Device('cpu'):
        for found, expected in ((special.j0(cupy.asarray(1e10)), 2.175591750246891e-06), (special.j0(cupy.asarray(math.inf)), 0), (special.zetac(cupy.asarray(200.)), 2.0 ** -200),
                                (special.expi(cupy.asarray(715.)), 4.6436256703705706e+307), (special.wright_bessel(0.1, 50, cupy.asarray(1e3)), 5.3374192474045e+217), (special.nbdtri(0, 1000, cupy.asarray(1e-20)), 10 ** -0.02)):
            assert found.item() == expected or abs(found.item() - expected) <= 1e-9 * abs(expected)
        # inverses composed with their functions
        a, p = cupy.asarray([[0.05], [3], [1e4]]), cupy.asarray([1e-9, 0.2, 0.5, 0.97])
        numpy.testing.assert_allclose(special.gammainc(a, special.gammaincinv(a, p)).get(), numpy.broadcast_to(p.get(), (3, 4)), rtol=1e-10)
        numpy.testing.assert_allclose(special.betainc(a, 7., special.betaincinv(a, 7., p)).get(), numpy.broadcast_to(p.get(), (3, 4)), rtol=1e-9)


def test_harmonics_by_their_other_name():
    with cupy.cuda.Device('cpu'):
        n, m = cupy.arange(4)[:, None], cupy.arange(-2, 3)
        assert (special.sph_harm(m, n, 0.3, 1.1) == special.sph_harm_y(n, m, 1.1, 0.3)).all()
        with pytest.raises(TypeError, match='n must be of integers, got float64'):
            special.sph_harm_y(cupy.ones(2), 1, 0.5, 0.5)


@pytest.mark.parametrize('name', sorted({name.partition(' ')[0] for name in ANSWERS} - {'lambertw', 'sph_harm_y', 'sici', 'shichi'}))
def test_complex_numbers_are_refused(name):
    count = len(make_special_values.ARGUMENTS[name])
    with pytest.raises(TypeError, match=f'{name}: complex input is not supported'):
        getattr(special, name)(*[1] * (count - 1), cupy.asarray([2j]))


def test_integrals_of_small_complex_numbers():
    with cupy.cuda.Device('cpu'):
        y = cupy.asarray([0.5, 30, -45])
        assert (special.sici(1j * y)[0] == 1j * special.shichi(y)[0]).all() and (special.sici(1j * y)[1].real == special.shichi(y)[1]).all()
        z = cupy.asarray([2 - 1j, -7 + 30j, 0.5j])
        for function in (special.sici, special.shichi):
            for small, exact in zip(function(z.astype('F')), function(z)):
                assert small.dtype == 'F' and (small == exact.astype('F')).all()


def test_places_of_results():
    with cupy.cuda.Device('cpu'):
        both = cupy.empty(2), cupy.empty(2)
        assert all(a is b for a, b in zip(special.sici(cupy.ones(2), out=both), both)) and (both[1] == special.sici(cupy.ones(2))[1]).all()
        x, out = cupy.asarray([0.5, 2.]), cupy.empty(2)
        assert special.k0(x, out=out) is out and (out == special.k0(x)).all()
        with pytest.raises(TypeError):
            special.k0(x, out=cupy.empty(2, 'i'))
        with pytest.raises(ValueError, match='k0: out has shape'):
            special.k0(cupy.ones((1, 2)), out=cupy.empty(2))


@pytest.mark.parametrize('line, value', [
    ('zetac(x(-1e-12))', -1.499999999999081), ('zetac(x(-1e-300))', -1.5), ('zetac(x(-0.005))', -1.4954302623133413),
    ('yn(10**9, x(1.))', -math.inf), ('spherical_yn(10**9, x(0.5))', -math.inf), ('yn(x(3), x(2.))', -1.1277837768404277),
    ('lpmv(1, 1e-9, x(0.))', -1.00000000069e-9), ('bdtr(1., 2.5, x(0.3))', 0.91), ('bdtrc(1., 2.5, x(0.3))', 0.09), ('nbdtr(1., 2.5, x(0.3))', 0.216),
    ('bdtri(0., 2.5, x(0.01))', 0.9), ('nbdtri(0., 2.5, x(0.5))', 0.7071067811865476), ('nbdtri(0., math.nan, x(0.))', math.nan),
    ('multigammaln(x(3.), cupy.asarray(2))', 1.5501949939575645)])
def test_edges(line, value):
    with cupy.cuda.Device('cpu'):
        numpy.testing.assert_allclose(eval(line, {**vars(special), 'x': cupy.asarray, 'cupy': cupy, 'math': math}).get(), value, rtol=2e-11)


def test_orders_that_would_take_for_ever():
    with cupy.cuda.Device('cpu'):
        for line in ('lpmv(0, 1e9, x)', 'lpmv(10**9, 1.5, x)', 'sph_harm_y(10**9, 0, x, x)'):
            with pytest.raises(ValueError, match='must be at most 100000'):
                eval(line, {**vars(special), 'x': cupy.asarray(0.5)})
