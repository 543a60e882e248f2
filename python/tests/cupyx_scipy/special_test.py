"""Functions of cupyx.scipy.special composed of the library's, compared with the standard library and with defining sums."""

import math

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import _iteration, linalg, special

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
X = numpy.concatenate([numpy.linspace(-9.75, 9.75, 40), [0.25, 1, 2, 3, 10, 20, 21.5, 35, 100.5, 170.6]])
POSITIVE = numpy.abs(X) + 0.125
RATIOS = numpy.linspace(0.02, 0.98, X.size)


def near(ours, expected, tolerance=1e-12, dtype='d'):
    expected = numpy.asarray(expected)
    assert ours.dtype == dtype and ours.shape == expected.shape
    numpy.testing.assert_allclose(ours.get(), expected, rtol=tolerance, atol=tolerance * 1e-3)


def each(function, *arrays):
    return numpy.asarray([function(*values) for values in zip(*(a.tolist() for a in arrays))])


def d(*arrays):
    return [cupy.asarray(a) for a in arrays]


def test_on_every_device():
    near(special.gamma(*d(X)), each(math.gamma, X), 1e-13)
    near(special.gammainc(2.0, *d(X[44:])), 1 - (1 + X[44:]) * numpy.exp(-X[44:]), 1e-11)
    near(special.i0e(*d(X)), numpy.i0(X) * numpy.exp(-abs(X)))


@pytest.mark.parametrize('name', ['i0', 'i0e', 'i1', 'i1e'])
def test_bessel_functions_of_complex_numbers_are_refused(name):
    for x in (cupy.asarray([2j]), 1j):
        with pytest.raises(TypeError, match=f'{name}: complex input is not supported'):
            getattr(special, name)(x)


@pytest.mark.host
def test_gamma():
    near(special.gamma(*d(X)), each(math.gamma, X), 1e-13)
    near(special.rgamma(*d(X)), 1 / each(math.gamma, X), 1e-13)
    near(special.gamma(*d(X[:40].astype('f'))), each(math.gamma, X[:40]), 1e-5, 'f')
    assert special.gamma(cupy.arange(1, 18)).get().tolist() == [math.factorial(k) for k in range(17)]
    edges = special.gamma(cupy.asarray([0., -0., -1, -20, math.inf, math.nan, 172, -171.5])).get().tolist()
    assert edges[:2] == [math.inf, -math.inf] and all(map(math.isnan, edges[2:4] + edges[5:6])) and edges[4] == edges[6] == math.inf
    assert special.gamma(cupy.asarray([36., 35, 1e30, math.inf], 'f')).get().tolist()[::2] == [math.inf, math.inf]
    near(special.gammasgn(*d(X)), numpy.sign(each(math.gamma, X)))
    assert special.gamma(cupy.ones(3, 'e')).dtype == 'd' and special.entr(cupy.ones(3, 'e')).dtype == 'f' and special.softmax(cupy.ones(3, 'e')).dtype == 'e' and special.gamma(5) == 24 and special.gamma(cupy.zeros((0, 2))).shape == (0, 2)
    near(special.multigammaln(*d(POSITIVE + 1), 3), 1.5 * math.log(math.pi) + sum(each(math.lgamma, POSITIVE + 1 - j / 2) for j in range(3)))
    with pytest.raises(ValueError, match='not met'):
        special.multigammaln(cupy.asarray([0.5]), 3)
    for several in (cupy.arange(1, 3), numpy.arange(1, 3), 1.5):
        with pytest.raises(ValueError, match='positive integer'):
            special.multigammaln(cupy.asarray([5.]), several)
    assert special.multigammaln(cupy.asarray([5.]), numpy.int64(2)) == special.multigammaln(cupy.asarray([5.]), 2.0)


@pytest.mark.host
def test_beta_and_combinations():
    a, b = POSITIVE, POSITIVE[::-1].copy()
    near(special.betaln(*d(a, b)), each(lambda x, y: math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y), a, b))
    near(special.beta(*d(a, b)), each(lambda x, y: math.exp(math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)), a, b))
    n = numpy.arange(60)
    near(special.binom(*d(n, n // 3)), each(math.comb, n, n // 3), 1e-12)
    assert special.binom(*d(n[:36], n[:36] // 2)).get().tolist() == [math.comb(k, k // 2) for k in range(36)]
    near(special.binom(3.5, cupy.asarray([0, 1, 2.])), [1, 3.5, 4.375])
    near(special.poch(*d(a, n[:a.size] % 7)), each(lambda z, m: math.prod(z + k for k in range(int(m))), a, n[:a.size] % 7))
    near(special.beta(cupy.asarray([2.5, 30], 'f'), 3), [0.05079365, 6.7204301e-05], 1e-5, 'f')


# Values at poles (SciPy's where they are finite), for large arguments, and where a sum of logarithms would lose digits
AT_EDGES = {
    'beta': [((-1, 2), math.inf), ((-3, 2), 1 / 6), ((-3, 4), math.inf), ((0, 1), math.inf), ((-2.5, -2), math.inf), ((1e10, 2.5), 1.3293403879298865e-25), ((2.5, 1e200), 0),
             ((-math.inf, math.nan), math.inf), ((-0.5, -1.5), 0), ((-2.5, 1.5), 0)],
    'betaln': [((-3, 2), -1.791759469228055), ((0, 1), math.inf), ((1e10, 2.5), -57.27994445456572), ((2.5, 1e200), -1151.00786362655)],
    'binom': [((60, 30), math.comb(60, 30)), ((2.5, 1e10 + 0.5), 0), ((2.5, -1e10 - 0.5), math.gamma(3.5) / math.pi * 1e-35), ((2.5, -1e10), 0), ((1e12, 3.5), 8.597174606404384e+40),
              ((-2, 1), math.nan), ((3e3, 19), math.comb(3000, 19)), ((7, -math.inf), 0), ((-2.5, 3), -6.5625), ((1e-9, 2), -4.999999995e-10), ((5, 7), 0), ((5, -2), 0)],
    'betainc': [((0, 2, 0), 0), ((0, 2, 0.5), 1), ((2, 0, 0.5), 0), ((2, 0, 1), 1), ((0, 0, 0.5), math.nan), ((math.inf, 2, 0.5), 0), ((2, math.inf, 0.5), 1), ((-1, 2, 0.5), math.nan)],
    'chdtrc': [((2, -1), math.nan), ((-2, 1), math.nan), ((0, 1), 0), ((2, 0), 1)],
    'tandg': [((90,), math.inf), ((270,), math.inf), ((-90,), math.inf)], 'cotdg': [((0,), math.inf), ((180,), math.inf)],
    'gammaln': [((-math.inf,), -math.inf), ((math.inf,), math.inf)], 'digamma': [((complex(math.inf),), math.inf)]}


@pytest.mark.host
@pytest.mark.parametrize('name', AT_EDGES)
def test_edges(name):
    arguments, expected = zip(*AT_EDGES[name])
    found = getattr(special, name)(*(cupy.asarray(numpy.asarray(column)) for column in zip(*arguments)))
    numpy.testing.assert_allclose(found.get().real.astype('d'), numpy.asarray(expected, 'd'), rtol=1e-9)


@pytest.mark.host
def test_results_are_rounded_once():
    """These functions compute in float64 and round to the input's dtype."""
    x = numpy.linspace(0.3, 20, 200).astype('f')
    for name, arguments in (('digamma', (x,)), ('binom', (x + 20, x)), ('beta', (x, x[::-1].copy())), ('betaln', (x, x[::-1].copy())),
                            ('gammainc', (x, x[::-1].copy())), ('pdtr', (x, x)), ('chdtr', (x, x + 2)), ('fdtr', (x, x + 1, x))):
        function = getattr(special, name)
        found, exact = function(*d(*arguments)), function(*d(*(a.astype('d') for a in arguments))).get()
        assert found.dtype == 'f'
        numpy.testing.assert_array_equal(found.get(), exact.astype('f'))
    found, exact = special.digamma(cupy.asarray(x + 1j * x[::-1])), special.digamma(cupy.asarray((x + 1j * x[::-1]).astype('D')))
    assert found.dtype == 'F' and (found == exact.astype('F')).all()
    assert special.polygamma(2, cupy.ones(2, 'f')).dtype == 'd' and special.polygamma(*cupy.ones((2, 3), 'f')).dtype == 'f'


@pytest.mark.host
def test_series_and_fractions_end(monkeypatch):
    """A factor that oscillates around 1 counts as converged."""
    x, calls = numpy.linspace(0.3, 20, 200), {'gammainc': lambda x: special.gammainc(x, x[::-1]), 'betainc': lambda x: special.betainc(x, x[::-1], x / 21)}
    for name, call in calls.items():
        for dtype in 'fd':
            whole = call(cupy.asarray(x, dtype)).get()
            with monkeypatch.context() as patch:
                patch.setattr(_iteration, '_MOST', 200)
                numpy.testing.assert_array_equal(call(cupy.asarray(x, dtype)).get(), whole)
                steps = []
                patch.setattr(_iteration._core, 'any', lambda mask, any=_iteration._core.any: steps.append(1) or any(mask))
                call(cupy.asarray(x, dtype))
                assert len(steps) < 20, name


@pytest.mark.host
def test_incomplete_gamma():
    n, x = numpy.arange(1, 60), numpy.linspace(0.3, 75, 59)
    upper = each(lambda k, y: math.exp(-y) * sum(y ** j / math.factorial(j) for j in range(k)), n, x)
    near(special.gammaincc(*d(n, x)), upper, 1e-11)
    near(special.gammainc(*d(n, x)), 1 - upper, 1e-9)
    near(special.gammainc(0.5, *d(x)), each(math.erf, numpy.sqrt(x)))
    near(special.gammaincc(0.5, *d(x[:20])), each(math.erfc, numpy.sqrt(x[:20])), 1e-11)
    terms = [math.exp(j * math.log(980.) - 980 - math.lgamma(j + 1)) for j in range(1000)]
    near(special.gammaincc(cupy.asarray([1000.]), 980.), [math.fsum(terms)], 1e-10)
    near(special.gammainc(cupy.asarray([[0., 1], [2, 3]]), cupy.asarray([1., math.inf])), [[1, 1], [special.gammainc(2., 1.).item(), 1]])
    assert numpy.isnan(special.gammainc(cupy.asarray([-1., 1, math.nan]), cupy.asarray([1., -1, 2])).get()).all()
    near(special.gammainc(cupy.asarray([2.], 'f'), cupy.asarray([1.5], 'f')), [1 - 2.5 * math.exp(-1.5)], 1e-5, 'f')
    near(special.pdtr(*d(n - 1, x)), upper, 1e-11)
    near(special.pdtrc(*d(n - 1, x)), 1 - upper, 1e-9)
    near(special.chdtrc(*d(2 * n, 2 * x)), upper, 1e-11)
    near(special.gdtrc(2, *d(n, x / 2)), upper, 1e-11)
    near(special.gdtr(2, *d(n, x / 2)), 1 - upper, 1e-9)
    near(special.chdtr(*d(2 * n, 2 * x)), 1 - upper, 1e-9)


@pytest.mark.host
def test_incomplete_beta():
    k, n, p = numpy.arange(30), numpy.arange(30) + 12, RATIOS[:30]
    to_k = each(lambda j, m, q: sum(math.comb(m, i) * q ** i * (1 - q) ** (m - i) for i in range(j + 1)), k, n, p)
    near(special.bdtr(*d(k, n, p)), to_k, 1e-11)
    near(special.bdtrc(*d(k, n, p)), 1 - to_k, 1e-9)
    near(special.betainc(*d(n - k, k + 1, 1 - p)), to_k, 1e-11)
    near(special.btdtr(*d(n - k, k + 1, 1 - p)), to_k, 1e-11)
    near(special.betainc(0.5, 0.5, *d(p)), 2 / math.pi * numpy.arcsin(numpy.sqrt(p)))
    assert special.bdtr(4, 4, cupy.asarray([0.5])) == 1 and special.bdtrc(4, 4, cupy.asarray([0.5])) == 0
    assert special.betainc(2., 3., cupy.asarray([0., 1])).get().tolist() == [0, 1]
    assert numpy.isnan(special.betainc(cupy.asarray([1., 1, -1]), 1., cupy.asarray([-1, 2, .5])).get()).all()
    near(special.fdtr(2, *d(2 * (k + 1), p)), 1 - (1 + p / (k + 1)) ** -(k + 1.), 1e-11)
    near(special.fdtrc(2, *d(2 * (k + 1), p)), (1 + p / (k + 1)) ** -(k + 1.), 1e-11)
    failures = each(lambda j, m, q: sum(math.comb(i + m - 1, i) * (1 - q) ** i * q ** m for i in range(j + 1)), k, n, p)
    near(special.nbdtr(*d(k, n, p)), failures, 1e-10)
    near(special.nbdtrc(*d(k, n, p)), 1 - failures, 1e-9)
    for name in ('nbdtr', 'nbdtrc'):
        assert numpy.isnan(getattr(special, name)(2, cupy.asarray([0, -1]), 0.5).get()).all()
        assert getattr(special, name)(*d(k.astype('h'), n.astype('h'), p.astype('f'))).dtype == 'd' and getattr(special, name)(*d(k.astype('f'), n.astype('f'), p.astype('f'))).dtype == 'f'


def test_logarithms_and_entropies():
    x, y = POSITIVE, POSITIVE[::-1].copy()
    near(special.xlogy(*d(x, y)), x * numpy.log(y))
    near(special.xlog1py(*d(x, y)), x * numpy.log1p(y))
    assert special.xlogy(0, cupy.asarray([0., 1])).get().tolist() == [0, 0] and math.isnan(special.xlogy(0., cupy.asarray(math.nan)))
    near(special.entr(*d(x)), -x * numpy.log(x))
    near(special.rel_entr(*d(x, y)), x * numpy.log(x / y))
    near(special.kl_div(*d(x, y)), x * numpy.log(x / y) - x + y, 1e-11)
    zero = cupy.asarray([0., 0, 1, -1])
    other = cupy.asarray([2., -1, 0, 1])
    assert special.rel_entr(zero, other).get().tolist() == [0, math.inf, math.inf, math.inf]
    assert special.kl_div(zero, other).get().tolist() == [2, math.inf, math.inf, math.inf]
    assert special.entr(zero).get().tolist() == [0, 0, 0, -math.inf]
    near(special.logit(*d(RATIOS)), numpy.log(RATIOS / (1 - RATIOS)), 1e-12)
    assert special.logit(cupy.asarray([0, 0.5, 1])).get().tolist() == [-math.inf, 0, math.inf]
    near(special.log_expit(*d(X)), -numpy.logaddexp(0, -X))
    near(special.exp10(*d(X[:40])), 10 ** X[:40])
    near(special.huber(1.5, *d(X)), numpy.where(abs(X) <= 1.5, X * X / 2, 1.5 * (abs(X) - 0.75)))
    near(special.pseudo_huber(1.5, *d(X)), 2.25 * (numpy.sqrt(1 + (X / 1.5) ** 2) - 1), 1e-11)
    assert special.huber(-1., cupy.asarray([1.])) == math.inf and special.pseudo_huber(0., cupy.asarray([1.])) == 0
    for power in (0., 0.5, -2):
        expected = numpy.log(x) if power == 0 else (x ** power - 1) / power
        near(special.boxcox(*d(x), power), expected)
        near(special.inv_boxcox(special.boxcox(*d(x), power), power), x, 1e-10)
        near(special.boxcox1p(*d(x - 1), power), expected)
        near(special.inv_boxcox1p(special.boxcox1p(*d(x), power), power), x, 1e-10)
    near(special.cosm1(*d(X * 1e-5)), -2 * numpy.sin(X * 5e-6) ** 2)
    near(special.exprel(*d(X)), numpy.expm1(X) / X)
    assert special.exprel(cupy.asarray([0., math.inf])).get().tolist() == [1, math.inf]


@pytest.mark.parametrize('axis', [None, pytest.param(0, marks=pytest.mark.host), -1, pytest.param((0, 1), marks=pytest.mark.host)])
def test_softmax(axis):
    a = numpy.random.default_rng(0).uniform(-300, 300, (3, 5))
    top = a.max(axis=axis, keepdims=True)
    expected = numpy.exp(a - top) / numpy.exp(a - top).sum(axis=axis, keepdims=True)
    near(special.softmax(cupy.asarray(a), axis), expected)
    near(special.log_softmax(cupy.asarray(a), axis), a - top - numpy.log(numpy.exp(a - top).sum(axis=axis, keepdims=True)))
    b = numpy.random.default_rng(1).uniform(-1, 1, a.shape)
    total = (b * numpy.exp(a - top)).sum(axis=axis)
    value, sign = special.logsumexp(cupy.asarray(a), axis, cupy.asarray(b), return_sign=True)
    near(value, numpy.log(abs(total)) + top.reshape(total.shape), 1e-10)
    near(sign, numpy.sign(total))
    near(special.logsumexp(cupy.asarray(a), axis, cupy.asarray(abs(b)), True),
         numpy.log((abs(b) * numpy.exp(a - top)).sum(axis=axis, keepdims=True)) + top, 1e-10)


def test_degrees():
    x = numpy.arange(-720, 721, 30)
    for name, f in (('sindg', numpy.sin), ('cosdg', numpy.cos)):
        near(getattr(special, name)(*d(x + 0.5)), f(numpy.radians(x + 0.5)), 1e-11)
    assert special.sindg(cupy.asarray([0., 90, 180, 270, -90])).get().tolist() == [0, 1, 0, -1, -1]
    assert special.cosdg(cupy.asarray([0., 90, 180, 270, -90])).get().tolist() == [1, 0, -1, 0, 0]
    near(special.tandg(*d(x + 7.5)), numpy.tan(numpy.radians(x + 7.5)), 1e-11)
    near(special.cotdg(*d(x + 7.5)), 1 / numpy.tan(numpy.radians(x + 7.5)), 1e-11)
    near(special.radian(10, 20, cupy.asarray(30.)), math.radians(10 + 20 / 60 + 30 / 3600))


@pytest.mark.host
@pytest.mark.parametrize('order', [0, 1])
def test_modified_bessel_functions(order):
    def series(x):
        return math.fsum((x / 2) ** (2 * k + order) / math.factorial(k) / math.factorial(k + order) for k in range(90))
    x = numpy.concatenate([X[:40], [0, 8, -8, 12.5, 30, 60]])
    near(getattr(special, 'i%d' % order)(*d(x)), each(series, x), 1e-13)
    near(getattr(special, 'i%de' % order)(*d(x)), each(series, x) * numpy.exp(-abs(x)), 1e-13)
    near(getattr(special, 'i%d' % order)(cupy.asarray([89.], 'f')), [series(89.)], 1e-5, 'f')
    assert abs(getattr(special, 'i%de' % order)(cupy.asarray(1e8)).item() * math.sqrt(2e8 * math.pi) - 1) < 1e-8


@pytest.mark.host
def test_elliptic_integrals():
    m = numpy.concatenate([RATIOS, [-3, 0]])
    angles = math.pi / 2 * (numpy.arange(4000) + 0.5) / 4000
    expected = (1 / numpy.sqrt(1 - numpy.multiply.outer(m, numpy.sin(angles) ** 2))).mean(axis=1) * math.pi / 2
    near(special.ellipk(*d(m)), expected, 1e-12)
    near(special.ellipkm1(*d(1 - m)), expected, 1e-12)
    assert special.ellipk(cupy.asarray(1.)) == math.inf


def test_matrices():
    generator = numpy.random.default_rng(3)
    a, b = generator.normal(size=(5, 5)), generator.normal(size=(5, 2))
    factors = linalg.lu_factor(cupy.asarray(a))
    for trans, matrix in ((0, a), (1, a.T), (2, a.T)):
        near(linalg.lu_solve(factors, cupy.asarray(b), trans), numpy.linalg.solve(matrix, b), 1e-11)
        near(linalg.lu_solve(factors, cupy.asarray(b[:, 0]), trans), numpy.linalg.solve(matrix, b[:, 0]), 1e-11)
    p, lower, upper = linalg.lu(cupy.asarray(a))
    near(p @ lower @ upper, a)
    assert (numpy.diag(lower.get()) == 1).all() and not numpy.triu(lower.get(), 1).any() and not numpy.tril(upper.get(), -1).any()
    left, right = linalg.lu(cupy.asarray(a), permute_l=True)
    near(left @ right, a)
    for refused in (lambda: linalg.lu_solve(factors, cupy.ones(4)), lambda: linalg.lu_solve(factors, cupy.ones(5), 3),
                    lambda: linalg.lu_factor(cupy.full((2, 2), math.nan)), lambda: linalg.hadamard(3), lambda: linalg.companion([1.]),
                    lambda: linalg.expm(cupy.ones((2, 3))), lambda: linalg.khatri_rao(cupy.ones((2, 3)), cupy.ones((2, 2)))):
        with pytest.raises(ValueError):
            refused()
    values, vectors = numpy.linalg.eigh(a + a.T)
    for scale in (0., 1e-3, 1., 20.):
        near(linalg.expm(cupy.asarray((a + a.T) * scale)) / math.exp(values[-1] * scale),
             (vectors * numpy.exp(values * scale - values[-1] * scale)) @ vectors.T, 1e-9)
    near(linalg.toeplitz([1, 2, 3], [1, 5, 6, 7]), [[1, 5, 6, 7], [2, 1, 5, 6], [3, 2, 1, 5]], dtype='l')
    near(linalg.toeplitz([1., 2]), [[1, 2], [2, 1]])
    near(linalg.hankel([1, 2, 3], [3, 5, 6, 7]), [[1, 2, 3, 5], [2, 3, 5, 6], [3, 5, 6, 7]], dtype='l')
    near(linalg.hankel([1, 2, 3]), [[1, 2, 3], [2, 3, 0], [3, 0, 0]], dtype='l')
    near(linalg.circulant([1, 2, 3]), [[1, 3, 2], [2, 1, 3], [3, 2, 1]], dtype='l')
    near(linalg.hilbert(3), [[1 / (i + j + 1) for j in range(3)] for i in range(3)])
    near(linalg.hadamard(4), [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype='l')
    near(linalg.companion([2., 3, 4]), [[-1.5, -2], [1, 0]])
    near(linalg.block_diag([[1, 2]], 3, [[4], [5]]), [[1, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4], [0, 0, 0, 5]], dtype='l')
    near(linalg.khatri_rao([[1, 2], [3, 4]], [[5, 6]]), [[5, 12], [15, 24]], dtype='l')
    near(linalg.kron([[1, 2]], [[3], [4]]), [[3, 6], [4, 8]], dtype='l')


def test_factors_of_matrices_that_are_not_square():
    made = numpy.random.RandomState(5)
    for shape in ((5, 2), (2, 5), (1, 4), (4, 1), (3, 3)):
        a = made.uniform(-1, 1, shape)
        (packed, swaps), small = linalg.lu_factor(cupy.asarray(a)), min(shape)
        p, lower, upper = linalg.lu(cupy.asarray(a))
        assert (packed.shape, swaps.shape, p.shape, lower.shape, upper.shape) == (shape, (small,), (shape[0],) * 2, (shape[0], small), (small, shape[1]))
        near(p @ lower @ upper, a)
        assert float(abs(cupy.tril(lower)).max()) == 1 and (cupy.triu(upper) == upper).all()


def test_several_triangular_matrices_with_vectors():
    made = numpy.random.RandomState(6)
    a = numpy.tril(made.uniform(1, 2, (4, 3, 3)))
    for b in (made.uniform(size=(4, 3)), made.uniform(size=3)):
        found = linalg.solve_triangular(cupy.asarray(a), cupy.asarray(b), lower=True)
        near(found, numpy.stack([numpy.linalg.solve(a[k], b[k] if b.ndim == 2 else b) for k in range(4)]))


def test_logarithms_of_sums_of_complex_numbers():
    a = numpy.random.RandomState(7).uniform(-3, 3, (4, 5)) + 1j * numpy.random.RandomState(8).uniform(-3, 3, (4, 5)) + 800
    near(special.logsumexp(cupy.asarray(a), axis=1), numpy.log(numpy.exp(a - 800).sum(1)) + 800, dtype='D')


@pytest.mark.host
@pytest.mark.parametrize('dtype', ['D', 'F'])
def test_gamma_of_complex_numbers(dtype):
    """SciPy's values, and the identities for z + 1 and for conjugates."""
    places = [2 + 1j, -1.5 + 0.5j, 0.3 - 7j, -20.25 - 3j, complex(-0.5, 0.0), complex(-0.5, -0.0), 40 + 30j, -2.5 + 300j, 1, 0.5]
    expected = {'loggamma': [-0.30434960902188557 + 0.4837578429299154j, 0.0008154671525179014 - 5.926765791507546j, -10.465674446702916 - 6.31030964704077j, None,
                             1.2655121234846454 - 3.141592653589793j, 1.2655121234846454 + 3.141592653589793j, None, None, 0, 0.5723649429247]}
    z = numpy.asarray(places).astype(dtype)
    x, tolerance = cupy.asarray(z), 2e-5 if dtype == 'F' else 1e-12
    logarithm, derived = special.loggamma(x), special.digamma(x)
    assert logarithm.dtype == derived.dtype == special.gamma(x).dtype == dtype
    for ours, value in zip(logarithm.get(), expected['loggamma']):
        if value is not None:
            numpy.testing.assert_allclose(ours, value, rtol=tolerance, atol=tolerance)
    numpy.testing.assert_allclose((special.loggamma(x + 1) - logarithm).get(), numpy.log(z), rtol=50 * tolerance, atol=50 * tolerance)
    numpy.testing.assert_allclose((special.digamma(x + 1) - derived).get(), 1 / z, rtol=50 * tolerance, atol=50 * tolerance)
    numpy.testing.assert_allclose(special.loggamma(x.conj()).get(), logarithm.get().conj(), rtol=tolerance)
    small = cupy.asarray(z[:6])
    numpy.testing.assert_allclose(special.gamma(small).get(), numpy.exp(logarithm.get()[:6]), rtol=50 * tolerance, atol=1e-7 if dtype == 'F' else 0)
    numpy.testing.assert_allclose((special.gamma(small) * special.rgamma(small)).get(), numpy.ones(6), rtol=100 * tolerance, atol=1e-6)
    poles = cupy.asarray(numpy.asarray([0, -1, -7], dtype))
    assert numpy.isnan(special.gamma(poles).get()).all() and special.rgamma(poles).tolist() == [0, 0, 0] and numpy.isnan(special.digamma(poles).get()).all()


def test_products_with_logarithms_of_complex_numbers():
    x, y = numpy.asarray([0, 1, 2, -1 + 1j, 0], 'D'), numpy.asarray([0, 2, 1j, 3 - 2j, numpy.nan], 'D')
    with cupy.cuda.Device('cpu'):
        with numpy.errstate(all='ignore'):
            for name, logarithm in (('xlogy', numpy.log), ('xlog1py', numpy.log1p)):
                expected = x * logarithm(y)
                expected[0] = 0
                numpy.testing.assert_allclose(getattr(special, name)(cupy.asarray(x), cupy.asarray(y)).get(), expected, rtol=1e-12)
        assert numpy.isnan(special.gammainc(cupy.asarray([0, numpy.inf]), cupy.asarray([0, numpy.inf])).get()).all()
        assert numpy.isnan(special.loggamma(cupy.asarray([-1.5])).get()).all()
