"""Special functions at the ends of their domains (SciPy's values in special_edges.json), and far out, compared with mpmath where SciPy is less
accurate."""

import json
import math

import numpy
import pytest

import make_special_values
from catenary import cupy
from catenary.cupyx.scipy import special

ANSWERS = json.loads(make_special_values.FILE_OF_EDGES.read_text())
# One function per algorithm
ON_DEVICES = ('binom', 'poch', 'gammaincc', 'gammaincinv', 'cotdg', 'rel_entr', 'i1', 'y0', 'expn')


def compared(name, found, tolerance):
    for ours, (shape, values) in zip(found, ANSWERS[name], strict=True):
        expected = numpy.where(make_special_values.clear(name), numpy.reshape(values, shape), numpy.nan)
        ours = numpy.where(make_special_values.clear(name), ours.get(), numpy.nan)
        numpy.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance * 1e-290 / 1e-12, err_msg=name)


def computed(name, arrays):
    found = getattr(special, name)(*(cupy.asarray(a) for a in arrays))
    return found if isinstance(found, tuple) else (found,)


def test_all_functions_have_answers():
    assert sorted([*make_special_values.EDGES, *(f'{name} complex' for name in make_special_values.OF_COMPLEX)]) == sorted(ANSWERS)


@pytest.mark.parametrize('name', make_special_values.EDGES)
def test_as_scipy(name):
    with cupy.cuda.Device('cpu'):
        compared(name, computed(name, make_special_values.edges(name)), 1e-12)


def signless(z):
    """Selects numbers in the right half plane, off the axis in the left one, and with unsigned zeros."""
    return (z.imag != 0) | (z.real > 0) | ~(numpy.signbit(z.imag) | numpy.signbit(z.real) & (z.real == 0))


@pytest.mark.parametrize('name', make_special_values.OF_COMPLEX)
def test_of_complex_as_scipy(name):
    """Infinities, zeros and NaN as real and imaginary parts give SciPy's numbers. Parts are compared separately if one is NaN."""
    z = make_special_values.complex_edges()
    with cupy.cuda.Device('cpu'):
        for ours, parts in zip(computed(name, [z]), ANSWERS[f'{name} complex'], strict=True):
            ours, expected = ours.get(), numpy.asarray(parts['real'][1]) + 0j
            expected.imag = parts['imag'][1]
            fine = signless(z) if name in ('shichi', 'sici') else slice(None)
            for part in ('real', 'imag'):
                a, b = getattr(ours, part)[fine], getattr(expected, part)[fine]
                with numpy.errstate(invalid='ignore'):
                    close = abs(ours - expected)[fine] <= 1e-11 * abs(expected)[fine]
                a = numpy.where(close, b, a)
                numpy.testing.assert_allclose(a, b, rtol=1e-9, err_msg=name)


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('name', ON_DEVICES)
def test_on_every_device(name):
    compared(name, computed(name, make_special_values.edges(name)), 1e-9)


@pytest.mark.parametrize('name', make_special_values.EDGES)
def test_of_float32(name):
    """float32 arrays give the results of float64 arrays, unless a number exceeds float32's range."""
    with cupy.cuda.Device('cpu'), numpy.errstate(all='ignore'):
        for ours, wide in zip(computed(name, make_special_values.edges(name, 'f')), computed(name, make_special_values.edges(name)), strict=True):
            ours, wide = ours.get(), wide.get()
            assert ours.dtype == 'f'
            fine = make_special_values.clear(name) & ~((abs(wide) > 1e37) & numpy.isfinite(wide)) & ((abs(wide) > 1e-36) | (wide == 0))
            numpy.testing.assert_allclose(ours[fine], wide[fine], rtol=4e-6, atol=1e-6 if name.startswith(('digamma', 'psi', 'log', 'cos')) else 1e-37)


@pytest.mark.parametrize('name', make_special_values.EDGES)
def test_of_integers(name):
    """Integers give the results of equal float64 numbers, in float64."""
    with cupy.cuda.Device('cpu'):
        wide = [a[numpy.isfinite(a) & (a == numpy.floor(a))] for a in make_special_values.edges(name)]
        wide = [a.reshape((-1,) + (1,) * (len(wide) - 1 - i)) for i, a in enumerate(wide)]
        for ours, expected in zip(computed(name, [a.astype('l') for a in wide]), computed(name, [a + 0 for a in wide]), strict=True):
            assert ours.dtype == 'd'
            ours, expected = ours.get(), expected.get()
            signed = numpy.broadcast_to(sum((a == 0) & numpy.signbit(a) for a in wide) > 0, ours.shape)  # integers have no such zero
            numpy.testing.assert_array_equal(ours[~signed], expected[~signed])


@pytest.mark.parametrize('line, value', [
    ('gammaincc(1e8, x(1e8))', 0.49998670192398588), ('gammaincc(1e8, x(1e8 + 3e4))', 0.0013510801016019576), ('gammaincc(1e12, x(1e12 - 2e6))', 0.9772499220428143),
    ('gammaincc(1e16, x(1e16))', 0.4999999986701924), ('gammaincc(1e16, x(1e16 + 5e8))', 2.8665169081677529e-7), ('gammainc(1e8, x(1e8 - 2e5))', 2.1082443672341444e-89),
    ('gammainc(1e300, x(1e300))', 0.5), ('gammainc(1e300, x(2e300))', 1), ('gammaincc(1e-20, x(0.5))', 5.5977359477616078e-21), ('pdtr(x(1e8 - 1), 1e8)', 0.49998670192398588),
    ('chdtrc(2e8, x(2e8 + 6e4))', 0.0013510801016019576), ('gdtrc(2.0, 1e8, x(5e7))', 0.49998670192398588),
    ('betainc(1e8, 1e8, x(0.5))', 0.5), ('betainc(1e8, 1e8, x(0.4998))', 7.7086191090413382e-9), ('betainc(1e10, 1e6, x(0.9999))', 0.46003920674533235),
    ('betainc(1e6, 2e6, x(0.333))', 0.11032283951664962), ('betainc(1e6, 1.5, x(0.99999))', 0.00016973393081018227), ('betainc(0.5, 1e-300, x(0.7))', 2.4198702426718917e-300),
    ('binom(1e10, x(2.5))', 3.0090111116905106e24), ('binom(-7.5, x(1e5))', 1.6903360123250684e29), ('binom(1e-20, x(1e10))', -1e-30), ('binom(0., x(-0.5))', 2 / math.pi),
    ('poch(1e10, x(2.5))', 1.0000000001875e25), ('poch(-1e6 - 0.5, x(0.25))', 44.721369332790422), ('poch(-3., x(2.))', 6), ('poch(-3., x(4.))', 0), ('poch(0.5, x(-1.5))', math.inf),
    ('beta(1e-8, x(1e5))', 99999987.909864607), ('beta(1e100, x(1e300))', 0),
    ('lambertw(x(-0.7)).imag', 1.0942609133125138), ('i1(x(1e-300))', 5e-301), ('y0(x(5e-324))', -473.99907342300431), ('y1(x(5e-324))', -math.inf), ('k0(x(5e-324))', 744.55600343703967),
    ('k1e(x(1.7e308))', 9.6124806334843437e-155), ('j0(x(1.7e308))', 9.01255881646117e-156), ('rgamma(x(1e-310))', 1e-310), ('i1(x(0.0101))', 0.005050064394086203), ('j0(x(1e-3))', 0.9999997500000155), ('tandg(x(45.)) == 1', True), ('i0(x(0.)) == 1', True), ('j0(x(0.)) == 1', True), ('betaln(1., x(1.))', 0), ('expn(math.inf, x(1.))', math.nan),
    ('boxcox(100., x(155.))', 6.4516129032258065e307), ('boxcox(0.01, x(-155.))', -6.4516129032258065e307), ('boxcox1p(1e-306, x(1e-18))', 1e-306), ('boxcox(1e300, x(1e200))', math.inf),
    ('inv_boxcox(1e300, x(1e10))', 1.0000000713801404), ('inv_boxcox1p(2., x(1e-300))', 6.3890560989306502), ('rel_entr(1e-300, x(1e100))', -9.210340371976183e-298)])
def test_far_out(line, value):
    with cupy.cuda.Device('cpu'):
        numpy.testing.assert_allclose(eval(line, {**vars(special), 'x': cupy.asarray, 'math': math}).get(), value, rtol=1e-11)


@pytest.mark.parametrize('line, value', [
    ('i1(x([0., -0.]))', [0., -0.]), ('cotdg(x([90., 270, -90]))', [0., 0, 0]), ('tandg(x([0., 180]))', [0., 0]), ('erfinv(x([0., -0.]))', [0., -0.])])
@pytest.mark.parametrize('dtype', ['d', 'f'])
def test_signs_of_zeros(line, value, dtype):
    with cupy.cuda.Device('cpu'):
        made = eval(line, {**vars(special), 'x': lambda values: cupy.asarray(values, dtype)}).get()
    numpy.testing.assert_array_equal(made, value)
    numpy.testing.assert_array_equal(numpy.signbit(made), numpy.signbit(value))


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('dtype', ['d', 'f'])
def test_poles_at_extremes(dtype):
    """Negative subnormal numbers, and negative numbers so large that all are integers, give SciPy's values."""
    limits = numpy.finfo(dtype)
    small = numpy.asarray([-limits.smallest_subnormal, -limits.tiny / 8, -limits.tiny, limits.smallest_subnormal, limits.tiny], dtype)
    with numpy.errstate(over='ignore'):
        numpy.testing.assert_allclose(special.digamma(cupy.asarray(small)).get(), -1 / small, rtol=1e-6)
    large = cupy.asarray([-2.0 ** limits.nmant, -2.0 ** (limits.nmant + 3) - 8, -limits.max / 1000, -limits.max], dtype)
    assert (special.gammaln(large).get() == math.inf).all()
    assert numpy.isnan(special.digamma(large).get()).all() and numpy.isnan(special.gamma(large).get()).all()
    assert (special.rgamma(large).get() == 0).all() and (special.polygamma(1, large).get() == math.inf).all()


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('dtype', ['d', 'f'])
@pytest.mark.parametrize('name, at_zero, at_one', [('gammaincinv', 0, math.inf), ('gammainccinv', math.inf, 0)])
def test_edges_of_inverses(name, at_zero, at_one, dtype):
    """Probabilities 0 and 1 for every parameter, and NaN outside the domain and for parameters 0 and infinity, as SciPy."""
    nan, epsilon = math.nan, numpy.finfo(dtype).eps
    p = cupy.asarray([0, 1, 0.5, -1, 1 + epsilon, math.inf, nan], dtype)
    for a in (0, math.inf):
        numpy.testing.assert_array_equal(getattr(special, name)(cupy.asarray(a, dtype), p).get(), [at_zero, at_one, nan, nan, nan, nan, nan])
    for a in (-1, -math.inf, nan):
        assert numpy.isnan(getattr(special, name)(cupy.asarray(a, dtype), p).get()).all()


def test_poles_at_complex_subnormal_numbers():
    """The series around a pole overflow there, where the function is its first term."""
    x = numpy.asarray([5e-324, -5e-324, 1e-309, -1e-309])
    with cupy.cuda.Device('cpu'), numpy.errstate(over='ignore'):
        for name, expected in (('digamma', -1 / x), ('gamma', 1 / x), ('rgamma', x)):
            made = getattr(special, name)(cupy.asarray(x + 0j)).get()
            numpy.testing.assert_allclose(made.real, expected, rtol=1e-13, err_msg=name)
            assert (made.imag[x > 0] == 0).all()


def test_hyperbolic_integral_that_overflows_on_the_real_axis():
    with cupy.cuda.Device('cpu'):
        sine, cosine = special.shichi(cupy.asarray([745 + 0j, 1e5, -1e5, 1e300]))
        assert sine.real.tolist() == [math.inf, math.inf, -math.inf, math.inf] and (cosine.real.get() == math.inf).all()


def test_radian_of_float32_cancels_in_float64():
    with cupy.cuda.Device('cpu'):
        numpy.testing.assert_allclose(special.radian(*(cupy.asarray([v], 'f') for v in (1e-10, -0.5, 30))).get(), numpy.radians([float(numpy.float32(1e-10))]), rtol=1e-6)


@pytest.mark.parametrize('a', [1e4, 1e6, 1e8, 1e12, 1e16])
def test_inverses_of_large_parameters(a):
    """The inverse of the function returns the argument, up to float64's last bit relative to the width of the distribution."""
    with cupy.cuda.Device('cpu'):
        p = cupy.asarray([1e-300, 1e-20, 1e-8, 0.3, 0.5, 0.9, 1 - 1e-10])
        tolerance = 1e-11 + 1e-15 * math.sqrt(a) * 40
        for there, back in ((special.gammaincinv, special.gammainc), (special.gammainccinv, special.gammaincc)):
            numpy.testing.assert_allclose(back(a, there(a, p)).get(), p.get(), rtol=tolerance)
        numpy.testing.assert_allclose(special.betainc(a, 2 * a, special.betaincinv(a, 2 * a, p)).get(), p.get(), rtol=tolerance)


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('dtype', ['d', 'f'])
def test_degrees_of_any_size(dtype):
    """Whole turns are subtracted exactly, however many there are."""
    x = numpy.asarray([1e5, -3e18, 1e17, 8.5e17, 1e30, -1e37, 9e15 + 1, 2.0 ** 100], dtype)
    if dtype == 'd':
        x = numpy.append(x, [1e300, -1.7e308])
    rest = numpy.radians([float(int(v) % 360) for v in x.astype('d')])
    tolerance = 1e-12 if dtype == 'd' else 2e-6
    with numpy.errstate(divide='ignore'):
        of_cotangent = 1 / numpy.tan(rest)
    for name, expected in (('sindg', numpy.sin(rest)), ('cosdg', numpy.cos(rest)), ('tandg', numpy.tan(rest)), ('cotdg', of_cotangent)):
        numpy.testing.assert_allclose(getattr(special, name)(cupy.asarray(x)).get(), expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize('name, args', [
    ('bdtr', (3., 2, .5)), ('bdtr', (5., -3, .5)), ('bdtr', (-1., 3, .5)), ('bdtr', (0., 0, -2.5)), ('bdtr', (1., math.inf, .5)), ('bdtrc', (5., -3, .5)), ('bdtrc', (2., 0, 1.)),
    ('fdtr', (0., 1., .5)), ('fdtrc', (2., 0., 3.)), ('fdtr', (1., 2., -1.)), ('gdtr', (-.5, 7., -.5)), ('gdtrc', (-1., 1., -2.5)), ('nbdtr', (-1., 2., .5)), ('nbdtrc', (-1., 2., .5)),
    ('nbdtr', (1., 2., 1.5)), ('nbdtrc', (1., 0., .5)), ('bdtri', (-1., 3., .5)), ('nbdtri', (-1., 3., .5)), ('pdtri', (-1., .5)), ('pdtr', (1., -1.))])
def test_no_numbers_outside_the_domain(name, args):
    with cupy.cuda.Device('cpu'):
        assert numpy.isnan(getattr(special, name)(*(cupy.asarray(a) for a in args)).get())


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('name, positive, negative', [
    ('sindg', [0., -0., -180, 360, -540], [180, -360, 540]), ('cosdg', [270, -270], [90, -90, 450, -450]),
    ('tandg', [0., -0., 180, -180, 360, -360], []), ('cotdg', [90, -90, 270, -270, 450], [])])
def test_signs_of_zeros_of_degrees(name, positive, negative):
    """SciPy's signs."""
    made = getattr(special, name)(cupy.asarray([*positive, *negative], 'd')).get()
    assert not made.any() and numpy.signbit(made).tolist() == [False] * len(positive) + [True] * len(negative)


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
@pytest.mark.parametrize('name, args, value', [
    ('gammaln', (1.,), 0.), ('loggamma', (1.,), 0.), ('betaln', (1., 1.), 0.), ('erfinv', (-0.,), 0.), ('erfcinv', (1.,), -0.), ('i1', (-0.,), 0.), ('i1e', (-0.,), 0.),
    ('i1e', (-math.inf,), -0.), ('j1', (-0.,), -0.), ('j1', (0.,), 0.), ('rgamma', (-0.,), -0.), ('round', (-0.3,), 0.), ('round', (-0.,), -0.), ('poch', (-1., 2.), 0.),
    ('beta', (0.5, -2.5), -0.), ('beta', (-0.5, -0.5), 0.), ('binom', (-2.5, -1.), -0.), ('binom', (2.5, -1.), 0.), ('bdtri', (0., 3., 1.), -0.), ('bdtri', (1., 3., 1.), 0.),
    ('ellipkinc', (-0., 0.), -0.), ('ellipkinc', (-0., 0.5), 0.), ('ellipeinc', (-0., 0.), -0.), ('ellipeinc', (-0., 0.5), 0.)])
def test_signs_of_zeros(name, args, value):
    """SciPy's signs."""
    made = getattr(special, name)(*(cupy.asarray(a) for a in args)).get()
    assert made == 0 and numpy.signbit(made) == numpy.signbit(value)
