"""Complex numbers and Fourier transforms, compared with NumPy."""

import pickle
import warnings

import numpy
import pytest
from compare import same

from catenary import _core, cupy, cupyx

DTYPES = ['F', 'D']


def numbers(shape, dtype, seed=0):
    random = numpy.random.RandomState(seed)
    return (random.uniform(-2, 2, shape) + 1j * random.uniform(-2, 2, shape)).astype(dtype)


def close(x, y):
    y = numpy.asarray(y)
    assert x.dtype == y.dtype and x.shape == y.shape, (x.dtype, y.dtype, x.shape, y.shape)
    single = y.dtype.char in 'fFe' or y.dtype.kind in 'biu'
    numpy.testing.assert_allclose(x.get(), y, rtol=2e-5 if single else 1e-12, atol=2e-5 if single else 1e-12)


LINES = '''
x + y; x - y; x * y; x / y; x ** 2; x ** -1; x ** 0.5; x ** y; -x; +x; abs(x); x == y; x != y; x < y; x >= y; x + 1; 1 - x; 2j * x; x / 1j; x + r; r * 1j; i + 1j
x.real; x.imag; x.conj(); x.T; x.sum(); x.sum(0); x.prod(1); x.mean(); x.var(); x.std(0); x.max(); x.min(1); x.cumsum(); x.cumprod(1); x.round(2); x.argmax(); x.argmin(0)
xp.conj(x); xp.conjugate(r); xp.real(x); xp.imag(r); xp.angle(x); xp.angle(x, deg=True); xp.abs(x); xp.absolute(r); xp.sign(x); xp.square(x); xp.reciprocal(x)
xp.sqrt(x); xp.exp(x); xp.exp2(x); xp.expm1(x); xp.log(x); xp.log2(x); xp.log10(x); xp.log1p(x); xp.sin(x); xp.cos(x); xp.tan(x)
xp.arcsin(x); xp.arccos(x); xp.arctan(x); xp.sinh(x); xp.cosh(x); xp.tanh(x); xp.arcsinh(x); xp.arccosh(x); xp.arctanh(x); xp.rint(x)
xp.isnan(x); xp.isinf(x); xp.isfinite(x); xp.iscomplex(x); xp.isreal(x); xp.iscomplex(r); xp.maximum(x, y); xp.minimum(x, y); xp.fmax(x, y); xp.logical_not(x); xp.logical_and(x, y)
xp.real_if_close(x); xp.real_if_close(r + 0j); xp.nan_to_num(x); xp.sort(x); xp.argsort(x, 0); xp.unique(x); xp.where(x.real > 0, x, y); xp.concatenate([x, r]); xp.stack([x, y]); xp.tril(x)
xp.dot(x, y.T); x @ y.T; r @ x.T; xp.vdot(x, y); xp.outer(x[0], y[0]); xp.inner(x, y); xp.tensordot(x, y, 2); xp.einsum('ij,kj->ik', x, y); xp.kron(x, y); xp.trace(x)
xp.linalg.inv(m); xp.linalg.solve(m, x[:, :3].T); xp.linalg.norm(x); xp.linalg.cholesky(m @ m.conj().T); xp.linalg.matrix_power(m, 3)
xp.zeros(3, x.dtype); xp.full((2,), 1 + 2j); xp.ones_like(x); xp.arange(4, dtype=x.dtype); xp.eye(3, dtype=x.dtype); xp.array([1, 2j]); xp.linspace(0, 1, 5) * 1j; xp.roots(xp.array([1., 0, 1])); xp.poly(xp.array([1j, -1j]))
x.astype('D'); x.astype(bool); r.astype(x.dtype); i.astype(x.dtype); x[::-1, ::2]; x[[2, 0]]; x[x.real > 0]; x.ravel(); x.reshape(4, 3); x.copy(); x.flatten('F'); x.view(x.real.dtype); xp.take(x, xp.array([1, 0]), 1)
xp.pad(x, 2, 'wrap'); xp.pad(x, ((1, 0), (2, 3)), 'reflect'); xp.pad(x.T, 1, 'edge'); xp.pad(x, 1, 'symmetric'); xp.allclose(x, x + 1e-9); xp.isclose(x, y); xp.array_equal(x, y); xp.result_type(x, 'f'); xp.iscomplexobj(x); xp.count_nonzero(x); x.any(); x.all(0); xp.diff(x); xp.nansum(x); xp.average(x, 1); xp.ptp(x.real)
xp.median(x); xp.median(x, 0); xp.nanmedian(x, 1); xp.searchsorted(xp.sort(x.ravel()), x); xp.searchsorted(xp.sort(y.ravel()), x, 'right'); xp.isin(x, x[0]); xp.setdiff1d(x, x[0]); xp.cov(x); xp.corrcoef(x); xp.partition(x, 1).real[:, 1]
xp.interp(r.ravel(), xp.arange(4.), x[0]); xp.interp(r.ravel(), xp.arange(4.), x[0], 1j, 2); xp.float_power(x, 2); x.byteswap(); xp.polyfit(xp.arange(3.), x, 1); xp.pad(x, 1, 'mean')
xp.histogram(r, 3, weights=x)[0]; xp.histogram(r, 3, (0, 2), weights=x, density=True)[0].astype('F'); xp.trapezoid(r.ravel(), x.ravel()); xp.trapezoid(r, dx=2j); xp.trapezoid(x, dx=1j, axis=0); xp.trapezoid(r[:0, 0], x[:0, 0])
xp.pad(x, 2, 'linear_ramp'); xp.pad(x, 2, 'linear_ramp', end_values=((1j, 2), (0, 3 - 1j))); xp.pad(x, 1, constant_values=2j); xp.select([r > 1], [x], 1j); xp.select([r > 1, r > 2], [r, x], 0.5)
xp.fft.fft(x); xp.fft.ifft(x, axis=0); xp.fft.fft(r); xp.fft.fft(i); xp.fft.fft(x, 7, 0, 'ortho'); xp.fft.ifft(x, 2, norm='forward'); xp.fft.rfft(r); xp.fft.irfft(x); xp.fft.irfft(x, 5, 0); xp.fft.hfft(x); xp.fft.ihfft(r)
xp.fft.fft2(x); xp.fft.ifft2(x, (2, 5)); xp.fft.rfft2(r); xp.fft.irfft2(x); xp.fft.fftn(x); xp.fft.ifftn(x, axes=(0,)); xp.fft.rfftn(r, (4, 4), (0, 1)); xp.fft.irfftn(x, norm='ortho'); xp.fft.fftn(x, (-1, 2), (0, 1)); xp.fft.irfftn(x, (2, -1), (0, 1)); xp.fft.fftfreq(5, 0.1); xp.fft.rfftfreq(6); xp.fft.fftshift(x); xp.fft.ifftshift(x, 1)
'''


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('line', [line.strip() for line in LINES.replace('\n', ';').split(';') if line.strip()])
def test_beside_numpy(line, dtype):
    host = {'x': numbers((3, 4), dtype), 'y': numbers((3, 4), dtype, 1), 'm': numbers((3, 3), dtype, 2),
            'r': numpy.abs(numbers((3, 4), dtype, 3)), 'i': numpy.arange(12).reshape(3, 4)}
    here = eval(line, {'xp': cupy, **{k: cupy.asarray(v) for k, v in host.items()}})
    there = eval(line, {'xp': numpy, **host})
    if isinstance(here, cupy.ndarray):
        close(here, there)
    else:
        assert here == there


@pytest.mark.parametrize('dtype', DTYPES)
def test_parts_are_written_through(dtype):
    x = cupy.asarray(numbers((2, 3), dtype))
    y = x.get()
    x.real[0] = 5
    x.imag = x.real
    y.real[0] = 5
    y.imag = y.real
    x[1] *= 2j
    y[1] *= 2j
    x[0, 1] = 1 - 1j
    y[0, 1] = 1 - 1j
    same(x, y)
    with pytest.raises(TypeError, match='no imaginary part'):
        cupy.ones(2).imag = 1


@pytest.mark.parametrize('line', '''
xp.linspace(0, 1j, 3); xp.linspace(2 - 1j, 2, 3, dtype='D'); xp.linspace(0, numpy.complex64(1j), 3); xp.linspace(1j, 2, 4, False, dtype='F'); xp.linspace(1j, 2, 0); xp.linspace(1j, 2, 1)
xp.linspace(1j, 2, 4, retstep=True)[0]; xp.logspace(0, 1j, 3); xp.logspace(0, numpy.complex128(1j), 2); xp.logspace(0, 1, 3, base=1j); xp.logspace(1j, 2, 3, dtype='F'); xp.logspace(0, numpy.complex64(1j), 4, False)
xp.geomspace(1, 1j, 4); xp.geomspace(-1j, -4 + 1j, 5, False); xp.geomspace(1, numpy.complex128(8j), 3, dtype='F'); xp.geomspace(xp.array([1, 2j]), 3, 4); xp.geomspace([1j, 2], [3, 4 - 1j], 3, axis=1); xp.geomspace(2, 1j, 1)
'''.replace('\n', ';').split(';')[1:-1])
def test_spaces_between_numbers(line):
    line = line.strip()
    close(eval(line, {'xp': cupy, 'numpy': numpy}), eval(line, {'xp': numpy, 'numpy': numpy}))


def test_steps_of_spaces():
    assert cupy.linspace(1j, 2, 5, retstep=True)[1] == numpy.linspace(1j, 2, 5, retstep=True)[1]
    assert numpy.isnan(cupy.linspace(1j, 2, 1, retstep=True)[1])
    for ends in ((0, 5 + 1j), (cupy.array(0j), 5)):
        with pytest.warns(numpy.exceptions.ComplexWarning, match='discards the imaginary part'):
            close(cupy.linspace(*ends, 3, dtype='f'), numpy.linspace(0, 5, 3, dtype='f'))
        with pytest.raises(TypeError):
            cupy.linspace(*ends, 3, dtype='i')


@pytest.mark.parametrize('call', '''
random.uniform(0, 1j, 2); random.uniform(low=0, high=1j); random.normal(1j, 1, 3); random.normal(z, 1); random.gamma([1, 2j]); random.poisson(numpy.complex64(2)); random.default_rng().uniform(0, 1j)
random.RandomState(0).beta(1j, 2); random.binomial(3, 1j); random.multinomial(3, [1j, 1]); quantile(x, 1j); percentile(x, z); nanquantile(x, q=1j); nanpercentile(x, [1, 2j]); quantile(z, 0.5)
histogram(x, range=(0, 1j)); ldexp(x, 1j); ldexp(x[:2], z); ldexp(z, 1); i0(z); isneginf(z); isposinf(z); packbits(z); unpackbits(z)
'''.replace('\n', ';').split(';')[1:-1])
def test_where_real_numbers_are_computed_with_complex_ones_are_refused(call):
    with pytest.raises(TypeError, match='complex input is not supported|not defined for complex128'):
        eval('xp.' + call.strip(), {'xp': cupy, 'numpy': numpy, 'x': cupy.arange(3.), 'z': cupy.array([1 + 2j, 3])})


def test_numbers_and_text():
    x = cupy.array([1 + 2j, -0.5j])
    assert x.dtype == 'D' and complex(x[0]) == 1 + 2j and x[1].item() == -0.5j and x.tolist() == [1 + 2j, -0.5j]
    assert repr(x) == repr(x.get()) and str(x) == str(x.get())
    assert repr(x.astype('F')) == repr(x.get().astype('F'))
    same(pickle.loads(pickle.dumps(x)), x.get())
    with pytest.raises(TypeError):
        float(x[0])


def test_a_cast_to_real_numbers_warns():
    x = cupy.array([1 + 2j])
    with pytest.warns(numpy.exceptions.ComplexWarning):
        assert x.astype('f').get() == 1
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert x.astype(bool).get() == [True]


def test_in_place_and_out():
    x, z = cupy.arange(3.), cupy.zeros(3, 'D')
    with pytest.raises(TypeError, match='does not go into|cannot cast the result'):
        x += 1j
    cupy.add(x, 1j, out=z)
    same(z, numpy.arange(3) + 1j)
    cupyx.scatter_add(z, cupy.array([0, 0]), cupy.array([1j, 1.]))
    same(z, numpy.array([1 + 2j, 1 + 1j, 2 + 1j]))


FUNCTIONS = {name: name for name in 'exp expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh'.split()}
FUNCTIONS.update({short: 'arc' + short[1:] for short in ('asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh')}, conj='conj')


def test_kernels_of_users(device):
    kernel = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x * y + T(0, 1) - 2 / x', 'kernel_of_complex')
    mixed = cupy.ElementwiseKernel(
        'complex64 x, complex128 y, complex128 a', 'complex128 z, float64 n, bool t',
        'z = x * y - 2.5 * y + a; z.imag(z.imag() + 1); n = norm(x) + arg(y) + abs(x); t = isfinite(z) && !isnan(z) && !isinf(z)', 'mixed')
    for dtype in DTYPES:
        x, y = numbers((2, 5), dtype), numbers(5, dtype, 1)
        close(kernel(cupy.asarray(x), cupy.asarray(y)), (x * y + 1j - 2 / x).astype(dtype))
        parts = ', '.join('y%d = %s(x)' % (k, name) for k, name in enumerate(FUNCTIONS))
        outs = ', '.join('T y%d' % k for k in range(len(FUNCTIONS)))
        for got, name in zip(cupy.ElementwiseKernel('T x', outs, parts.replace(',', ';'), 'functions')(cupy.asarray(x)), FUNCTIONS.values()):
            same(got, getattr(cupy, name)(cupy.asarray(x)).get())
        total = cupy.ReductionKernel('T x', 'T y', 'x * conj(x)', 'a + b', 'y = a', '0', 'norms')(cupy.asarray(x), axis=1)
        close(total, (x * x.conj()).sum(1))
        sums = cupy.zeros(2, dtype)
        cupy.ElementwiseKernel('T x', 'raw T z', 'atomicAdd(&z[1], x)', 'added')(cupy.asarray(x), sums)
        close(sums, numpy.array([0, x.sum()], dtype))
    x, y = numbers(5, 'F'), numbers(5, 'D', 1)
    z, n, t = mixed(cupy.asarray(x), cupy.asarray(y), 2 - 3j)
    close(z, x * y - 2.5 * y + 2 - 2j)
    numpy.testing.assert_allclose(n.get(), abs(x) ** 2 + numpy.angle(y) + abs(x), rtol=1e-5)
    assert t.all()
    with pytest.raises(TypeError, match='cannot pass a complex number as float32'):
        cupy.ElementwiseKernel('float32 x, float32 a', 'float32 y', 'y = x + a', 'of_real')(cupy.ones(2, 'f'), 1j)


def test_operators_and_functions_in_kernels(device):
    x, y = numbers(6, 'F'), numbers(6, 'D', 1)
    here = cupy.asarray(x), cupy.asarray(y)
    steps = cupy.ElementwiseKernel('complex64 x, complex128 y', 'complex128 a, complex128 b, complex128 c, complex128 d, complex128 e, complex64 f',
                                   'a = y; a += x; b = y; b -= +y * y; c = y; c *= 2 - y; d = -y; d /= y + 1; e = x / y - y / x + (x - y) * (x + y); f = y; f *= y', 'steps')
    for got, expected in zip(steps(*here), (y + x, y - y * y, y * (2 - y), -y / (y + 1), x / y - y / x + (x - y) * (x + y), (y * y.astype('F')).astype('F'))):
        near(got, expected)
    equal = cupy.ElementwiseKernel('T x, U y', 'bool a, bool b, bool c, bool d', 'a = x == y; b = x != y; c = x == x && !(x != x); d = real(x) == y', 'equal')
    here_equal = cupy.asarray([1, 1j, 1 + 1j, 0], 'F'), cupy.asarray([1, 1j, 1, 1j], 'D')
    assert [v.tolist() for v in equal(*here_equal)] == [[True, True, False, False], [False, False, True, True], [True] * 4, [True, False, True, False]]
    finite = cupy.ElementwiseKernel('T x', 'bool a, bool b, bool c', 'a = isnan(x); b = isinf(x); c = isfinite(x)', 'finite')
    inf, nan = numpy.inf, numpy.nan
    for dtype in DTYPES:
        v = numpy.array([complex(*parts) for parts in ((1, nan), (nan, 1), (inf, 0), (0, -inf), (-inf, 2), (3, inf), (nan, inf), (1, 2))], dtype)
        for got, expected in zip(finite(cupy.asarray(v)), (numpy.isnan(v), numpy.isinf(v), numpy.isfinite(v))):
            same(got, expected)
        v, w = numbers(6, dtype), numbers(6, dtype, 1)
        several = cupy.ElementwiseKernel('T x, T y', 'T a, T b, T c, R d, R e, R f, R g, R h',
                                         'a = pow(x, y); b = polar(abs(x), arg(x)); c = polar(R(2)); d = real(x); e = imag(x); f = norm(x); g = abs(x); h = arg(x)',
                                         'several')
        part = v.real.dtype
        outs = [cupy.empty(6, dtype) for _ in range(3)] + [cupy.empty(6, part) for _ in range(5)]
        several(cupy.asarray(v), cupy.asarray(w), *outs)
        for got, expected in zip(outs, (v ** w, v, numpy.full(6, 2, dtype), v.real, v.imag, abs(v) ** 2, abs(v), numpy.angle(v))):
            near(got, expected.astype(got.dtype))
    wide = cupy.ElementwiseKernel('complex64 x, complex128 y', 'complex128 a, complex128 b, complex64 c', 'a = pow(x, y); b = thrust::pow(y, x); c = x; c.real(7)', 'wide')
    for got, expected in zip(wide(*here), (x ** y, y ** x, 7 + 1j * x.imag)):
        near(got, expected.astype(got.dtype))


def near(got, expected):
    assert got.dtype == expected.dtype
    limit = 2e-5 if got.dtype.char in 'fF' else 1e-12
    numpy.testing.assert_allclose(got.get(), expected, rtol=limit, atol=limit)


# Complex numbers occur only in one of the kernel's texts, and its arrays are real.
def test_kernels_of_real_arrays(device):
    x = cupy.arange(6, dtype='f').reshape(2, 3)
    squares = x.get() ** 2
    for k, texts in enumerate((dict(operation='y = norm(complex<float>(x, 1))'),
                               dict(operation='y = square(x)', preamble='static __device__ float square(float x) { return norm(complex<float>(x, 1)); }'),
                               dict(operation='y = x * x + imag(z)', loop_prep='const complex<float> z(0, 1);'),
                               dict(operation='y = x * x + 1', after_loop='const complex<float> z(0, 1); (void)z;'))):
        close(cupy.ElementwiseKernel('float32 x', 'float32 y', name='real_%d' % k, **texts)(x), squares + 1)
    for k, texts in enumerate((('norm(complex<float>(x, 1))', 'a + b', 'y = a', '0'), ('x * x + 1', 'real(complex<float>(a + b))', 'y = a', '0'),
                               ('x * x + 1', 'a + b', 'y = real(complex<float>(a))', '0'), ('x * x + 1', 'a + b', 'y = a', 'imag(complex<float>(1))'))):
        close(cupy.ReductionKernel('float32 x', 'float32 y', *texts, 'real_sum_%d' % k)(x, axis=0), (squares + 1).sum(0))


def test_complex_numbers_that_are_stored_as_real_ones_warn():
    z, x = cupy.array([1 + 2j, 3 - 1j]), cupy.zeros(2)
    for f in (lambda: x.__setitem__(slice(None), z), lambda: cupy.copyto(x, z, casting='unsafe'),
              lambda: cupy.add(z, 1, out=x, casting='unsafe'), lambda: cupy.add(z, 1, out=x, where=cupy.array([True, False]), casting='unsafe'),
              lambda: cupy.add(z, z, dtype='d', casting='unsafe'), lambda: cupy.put(x, cupy.array([0]), z[:1])):
        with pytest.warns(numpy.exceptions.ComplexWarning, match='discards the imaginary part'):
            f()
        with warnings.catch_warnings(), pytest.raises(numpy.exceptions.ComplexWarning):
            warnings.simplefilter('error')
            f()
    truth = cupy.zeros(2, bool)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        truth[:] = z
        z[:] = z * 1j
        z.astype('F')
    assert truth.all()
    with pytest.raises(TypeError, match='cannot convert a complex number to float64'):
        x[0] = 1j


def test_whole_kernels(device):
    if _core.backend_of(device) == 'cpu':
        return
    kernel = cupy.RawKernel('''#include <cupy/complex.cuh>
extern "C" __global__ void f(const complex<double>* x, complex<float>* y, complex<double> s, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = thrust::complex<float>(x[i] * s);
}''', 'f')
    x, y = numbers(7, 'D'), cupy.zeros(7, 'F')
    kernel((2,), (4,), (cupy.asarray(x), y, numpy.complex128(2 - 1j), numpy.int32(7)))
    close(y, (x * (2 - 1j)).astype('F'))


SUMS = '''
sum(x, dtype=t); prod(x, dtype=t); mean(x, dtype=t); sum(x, 0, dtype=t); mean(x, 1, dtype=t); cumsum(x, dtype=t); cumprod(x, 1, dtype=t); nansum(x, dtype=t)
nanprod(x, dtype=t); nancumsum(x, dtype=t); nancumprod(x, dtype=t); add.reduce(x, dtype=t); multiply.reduce(x, dtype=t); add.accumulate(x, dtype=t)
maximum.reduce(x, dtype=t); trace(x, dtype=t); cumulative_sum(x, axis=0, dtype=t); x.sum(dtype=t); x.mean(dtype=t); x.cumsum(dtype=t); fmax.reduce(x, dtype=t)
'''


@pytest.mark.parametrize('t', 'ldf?FD')
@pytest.mark.parametrize('line', [line.strip() for line in SUMS.replace('\n', ';').split(';') if line.strip()])
def test_sums_in_a_dtype(device, line, t):
    """Sums of complex numbers in a real dtype take the real parts, with NumPy's warning."""
    a = numbers((3, 3), 'D').round() + 1
    a[0, 1] = complex(numpy.nan, 2) if line.startswith('nan') else a[0, 1]
    x = cupy.asarray(a)

    def outcome(xp, x):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter('always')
            try:
                result = eval(line if line.startswith('x') else f'xp.{line}', {'xp': xp, 'x': x, 't': t})
            except TypeError as error:
                return type(error).__mro__[-4:], None
        return any(w.category is numpy.exceptions.ComplexWarning for w in told), result
    (warned, mine), (theirs_warned, theirs) = outcome(cupy, x), outcome(numpy, a)
    assert warned == theirs_warned
    if theirs is not None:
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        numpy.testing.assert_allclose(mine.get(), theirs, rtol=1e-5)


@pytest.mark.parametrize('dtype', 'FD')
@pytest.mark.parametrize('name', ['maximum', 'minimum', 'fmax', 'fmin'])
def test_the_largest_by_methods_of_ufuncs(device, name, dtype):
    a = numbers((4, 3), dtype)
    a[1, 1], a[2, 0] = complex(numpy.nan, 1), complex(1, numpy.nan)
    f, g, x = getattr(cupy, name), getattr(numpy, name), cupy.asarray(a)
    for axis in (0, 1, None):
        numpy.testing.assert_array_equal(f.reduce(x, axis=axis).get(), g.reduce(a, axis=axis))
    numpy.testing.assert_array_equal(f.accumulate(x, 1).get(), g.accumulate(a, 1))
    for values in (1.5, 2 - 1j, numbers((3, 3), dtype, 5)):
        y, b = x.copy(), a.copy()
        f.at(y, [0, 2, 0], cupy.asarray(values) if isinstance(values, numpy.ndarray) else values)
        g.at(b, [0, 2, 0], values)
        numpy.testing.assert_array_equal(y.get(), b)


CU_COMPLEX = r'''
#include <cuComplex.h>
#define SCALE(z) make_{1}({0}real{2}(z) * 2, {0}imag{2}(z))
__device__ {1} turned({1} z) {{ return {0}conj{2}(z); }}
extern "C" __global__ void f(const {1}* x, {1}* y, {3}* sizes, {1} a, int n) {{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    {1} z = {0}add{2}({0}mul{2}(a, x[i]), turned(x[i]));
    z = {0}sub{2}({0}div{2}(z, x[i]), make_{1}(1, 2));
    z = {0}fma{2}(z, a, SCALE(x[i]));
    sizes[i] = {0}abs{2}(z) + x[i].x - z.y;
    z.x += 1;
    y[i] = z;
}}'''.replace('{0}real', 'cuCreal').replace('{0}imag', 'cuCimag').replace('{0}conj', 'cuConj').replace('{0}', 'cuC')


@pytest.mark.parametrize('dtype', DTYPES)
def test_words_of_cucomplex(device, dtype):
    code = CU_COMPLEX.format('', 'cuFloatComplex' if dtype == 'F' else 'cuDoubleComplex', 'f' if dtype == 'F' else '', 'float' if dtype == 'F' else 'double')
    a, factor = numbers((50,), dtype), numpy.dtype(dtype).type(1.5 - 0.5j)
    x, y, sizes = cupy.asarray(a), cupy.zeros(50, dtype), cupy.zeros(50, dtype.lower())
    cupy.RawKernel(code, 'f', translate_cucomplex=True)((2,), (32,), (x, y, sizes, factor, 50))
    z = ((factor * a + a.conj()) / a - (1 + 2j)) * factor + a.real * 2 + 1j * a.imag
    near(y, z + 1)
    numpy.testing.assert_allclose(sizes.get(), abs(z) + a.real - z.imag, rtol=1e-4 if dtype == 'F' else 1e-10)


def test_words_of_cucomplex_in_other_kernels(device):
    a = numbers((7,), 'F')
    x = cupy.asarray(a)
    near(cupy.ElementwiseKernel('complex64 x', 'complex64 y', 'y = cuCmulf(x, make_cuComplex(0, 1)); y.x = -y.x')(x), numpy.conj(a * 1j) * -1)
    near(cupy.ElementwiseKernel('T x', 'complex128 y', 'y = cuComplexFloatToDouble(twice(x))', preamble='__device__ cuComplex twice(cuComplex z) { return cuCaddf(z, z); }')(x),
         (a + a).astype('D'))
    module = cupy.RawModule(code='extern "C" __global__ void g(cuDoubleComplex* x) { x[threadIdx.x] = make_cuDoubleComplex(x[threadIdx.x].y, 1.0); }')
    z = cupy.asarray(numbers((4,), 'D'))
    expected = z.get().imag + 1j
    module.get_function('g')((1,), (4,), (z,))
    near(z, expected)
    with pytest.raises(cupy.cuda.compiler.CompileException, match='line 2|cuCfoo'):
        cupy.RawKernel('extern "C" __global__ void h(cuComplex* x) {\n x[0] = cuCfoo(x[0]); }', 'h')((1,), (1,), (x,))


STORED = '''
x[0] = c; x.fill(c); x.put(0, c); x[...] = c; xp.putmask(x, x > 1, c); xp.place(x, x > 1, c); xp.fill_diagonal(x, c); x[xp.array([0, 1])] = c
xp.copyto(x, c, casting='unsafe'); xp.copyto(x, 2 - 1j, casting='unsafe'); y = xp.full(3, c, dtype=x.dtype); y = xp.full(3, 2 - 1j, dtype=x.dtype)
y = xp.full_like(x, c); y = xp.full_like(x, 2 - 1j); xp.put_along_axis(x, xp.zeros_like(x, dtype='l'), c, -1); y = xp.insert(x, 0, c)
'''


@pytest.mark.parametrize('dtype', ['i', 'f', 'd', 'L'])
@pytest.mark.parametrize('line', [line.strip() for line in STORED.replace('\n', ';').split(';') if line.strip()])
def test_numpys_complex_numbers_stored_as_real_ones(device, line, dtype):
    found = []
    for xp in (numpy, cupy):
        env = {'xp': xp, 'c': numpy.complex64(2 - 1j), 'x': xp.arange(6, dtype=dtype).reshape(2, 3)}
        with pytest.warns(numpy.exceptions.ComplexWarning):
            exec(line, env)
        found.append([cupy.asnumpy(env[name]) for name in 'xy' if name in env])
    for theirs, mine in zip(*found, strict=True):
        assert mine.dtype == theirs.dtype
        numpy.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('name', ['var', 'std', 'nanvar', 'nanstd'])
@pytest.mark.parametrize('given', 'ldFD')
def test_variances_in_a_complex_dtype(device, name, given, dtype):
    a = (numbers((3, 4), 'D') * 4).round().astype(given) if given in 'FD' else (numbers((3, 4), 'D').real * 4).round().astype(given)
    for options in ({}, {'axis': 1}, {'axis': 0, 'ddof': 1}):
        mine, theirs = getattr(cupy, name)(cupy.asarray(a), dtype=dtype, **options), getattr(numpy, name)(a, dtype=dtype, **options)
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        numpy.testing.assert_allclose(mine.get(), theirs, rtol=1e-5 if 'F' in (given, dtype) else 1e-12)
