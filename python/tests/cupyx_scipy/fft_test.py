"""cupyx.scipy.fft and fftpack, compared with NumPy's transforms, and with the defining sums of transforms that NumPy lacks."""

import math

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import fft, fftpack
from compare import refused

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(3)
SHAPES = [((7,), -1), ((3, 5), 0), ((2, 3, 4), 1)]
NORMS = [None, 'backward', 'ortho', 'forward']


def numbers(shape, dtype):
    x = G.normal(size=shape) * 4
    return (x + 1j * G.normal(size=shape) if dtype in 'FD' else x).astype(dtype)


def near(ours, expected, dtype=None):
    assert isinstance(ours, cupy.ndarray) and ours.dtype == (dtype or expected.dtype) and ours.shape == expected.shape, (ours.dtype, expected.dtype)
    limit = 2e-5 if ours.dtype.char in 'fF' else 1e-11
    numpy.testing.assert_allclose(ours.get(), expected, rtol=limit, atol=limit * 10)


@pytest.mark.parametrize('dtype', 'dF' + 'ielfD')
@pytest.mark.parametrize('shape, axis', SHAPES)
@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.host
def test_transforms(dtype, shape, axis, norm):
    a = numbers(shape, dtype)
    x = cupy.asarray(a)
    a = a.astype('f') if dtype == 'e' else a
    for name in ('fft', 'ifft', 'irfft', 'hfft') + (() if dtype in 'FD' else ('rfft', 'ihfft')):
        for n in (None, 1, 4, 9):
            if n is None or name not in ('irfft', 'hfft') or n > 1:
                near(getattr(fft, name)(x, n, axis, norm), getattr(numpy.fft, name)(a, n, axis, norm))
    for name in ('fftn', 'ifftn', 'irfftn') + (() if dtype in 'FD' else ('rfftn',)):
        near(getattr(fft, name)(x, norm=norm), getattr(numpy.fft, name)(a, norm=norm))
        if a.shape[0] > 1:  # an axis that is named twice is transformed twice
            near(getattr(fft, name)(x, axes=(0, -1, 0), norm=norm), getattr(numpy.fft, name)(a, axes=(0, -1, 0), norm=norm))
        near(getattr(fft, name)(x, (4,), (0,), norm), getattr(numpy.fft, name)(a, (4,), (0,), norm))
        near(getattr(fft, name)(x, -1, 0, norm), getattr(numpy.fft, name)(a, a.shape[:1], (0,), norm))
        if a.ndim > 1:
            near(getattr(fft, name[:-1] + '2')(x, (2, -1), norm=norm), getattr(numpy.fft, name)(a, (2, a.shape[-1]), (-2, -1), norm))


def test_on_every_device():
    for dtype in 'fd':
        a = numbers((3, 6), dtype)
        x = cupy.asarray(a)
        near(fft.rfft(x), numpy.fft.rfft(a))
        near(fft.dct(x, 2), transformed(a, 'cos', 2), dtype)
        near(fft.dst(x, 3), transformed(a, 'sin', 3), dtype)


def test_hermitian_transforms_of_several_axes():
    whole = numpy.fft.fftn(numbers((4, 6), 'd'))
    half = cupy.asarray(whole[:, :4])
    for norm in NORMS:
        other = {'forward': 'backward', 'ortho': 'ortho'}.get(norm, 'forward')
        near(fft.hfftn(half, norm=norm), numpy.fft.ifftn(whole.conj(), norm=other).real)
        near(fft.hfft2(half, norm=norm), numpy.fft.ifftn(whole.conj(), norm=other).real)
        near(fft.ihfftn(fft.hfftn(half, norm=norm), norm=norm), whole[:, :4])
        near(fft.ihfft2(fft.hfft2(half, (4, 6), norm=norm), norm=norm), whole[:, :4])


def transformed(a, function, type, axis=-1, norm=None, orthogonal=None):
    """Returns the transform by the matrix of the defining sum."""
    n = a.shape[axis]
    k, j = numpy.arange(n)[:, None], numpy.arange(n)
    weights, before, after = numpy.full(n, 2.), numpy.ones(n), numpy.ones(n)
    if function == 'cos':
        angle = {1: k * j / max(n - 1, 1), 2: k * (2 * j + 1) / (2 * n), 3: (2 * k + 1) * j / (2 * n), 4: (2 * k + 1) * (2 * j + 1) / (4 * n)}[type]
        ends, length = {1: [0, -1], 3: [0]}.get(type, []), {1: 2 * (n - 1)}.get(type, 2 * n)
        out = {1: [0, -1], 2: [0]}.get(type, [])
    else:
        angle = {1: (k + 1) * (j + 1) / (n + 1), 2: (k + 1) * (2 * j + 1) / (2 * n), 3: (2 * k + 1) * (j + 1) / (2 * n), 4: (2 * k + 1) * (2 * j + 1) / (4 * n)}[type]
        ends, length = {3: [-1]}.get(type, []), {1: 2 * (n + 1)}.get(type, 2 * n)
        out = {2: [-1]}.get(type, [])
    weights[ends] = 1
    if orthogonal or orthogonal is None and norm == 'ortho':
        before[ends], after[out] = math.sqrt(2), math.sqrt(0.5)
    matrix = (numpy.cos if function == 'cos' else numpy.sin)(math.pi * angle) * weights * before * after[:, None]
    matrix *= {'ortho': length ** -0.5, 'forward': 1 / length}.get(norm, 1)
    return numpy.moveaxis(numpy.moveaxis(a.astype('D' if a.dtype.kind == 'c' else 'd'), axis, -1) @ matrix.T, -1, axis)


@pytest.mark.parametrize('type', [1, 2, 3, 4])
@pytest.mark.parametrize('function', ['cos', 'sin'])
@pytest.mark.host
def test_cosines_and_sines(function, type):
    name = {'cos': 'dct', 'sin': 'dst'}[function]
    forth, back, many, many_back = (getattr(fft, n) for n in (name, 'i' + name, name + 'n', 'i' + name + 'n'))
    for dtype, kept in zip('dfeilFD', 'dffddFD'):
        for shape, axis in (*SHAPES, ((8,), -1), ((2, 1), 0), *(() if (function, type) == ('cos', 1) else [((2, 1), 1)])):
            a = numbers(shape, dtype)
            x = cupy.asarray(a)
            for norm in NORMS:
                for orthogonal in (None, True, False):
                    made = forth(x, type, axis=axis, norm=norm, orthogonalize=orthogonal)
                    near(made, transformed(a, function, type, axis, norm, orthogonal), kept)
                    near(back(made, type, axis=axis, norm=norm, orthogonalize=orthogonal), a.astype(kept))
            if a.ndim > 1 and a.shape[-1] > 1:
                both = transformed(transformed(a, function, type, 0), function, type, a.ndim - 1)
                near(many(x, type, axes=(0, -1)), both, kept)
                near(many_back(many(x, type, norm='ortho'), type, norm='ortho'), a.astype(kept))
    a = numbers((3, 5), 'd')
    for n in (2, 9, 5):
        padded = numpy.pad(a, ((0, 0), (0, max(0, n - 5))))[:, :n]
        near(forth(cupy.asarray(a), type, n), transformed(padded, function, type))
        near(many(cupy.asarray(a), type, (n,)), transformed(padded, function, type))
    near(forth(cupy.zeros((0, 4)), type), numpy.zeros((0, 4)))


@pytest.mark.parametrize('type', [2, 3, 4])
@pytest.mark.parametrize('function', ['cos', 'sin'])
@pytest.mark.parametrize('n', [8197, 10000])
def test_long_cosines_and_sines(function, type, n):
    x = numbers((n,), 'd')
    k, j = numpy.array([0, 1, n // 2 - 1, n // 2, n // 2 + 1, n - 1])[:, None], numpy.arange(n)
    shift = function == 'sin'
    angle = {2: (k + shift) * (2 * j + 1) / (2 * n), 3: (2 * k + 1) * (j + shift) / (2 * n), 4: (2 * k + 1) * (2 * j + 1) / (4 * n)}[type]
    weights = numpy.full(n, 2.)
    if type == 3:
        weights[-1 if shift else 0] = 1
    expected = ((numpy.sin if shift else numpy.cos)(math.pi * angle) * weights * x).sum(-1)
    made = (fft.dst if shift else fft.dct)(cupy.asarray(x), type)
    numpy.testing.assert_allclose(made.get()[k[:, 0]], expected, rtol=1e-10, atol=1e-8)


def test_fftpack():
    for n in (None, 1, 2, 4, 5, 8):
        for a in (numbers((5,), 'd'), numbers((2, 6), 'f')):
            x, spectrum = cupy.asarray(a), numpy.fft.rfft(a, n)
            length = a.shape[-1] if n is None else n
            parts = numpy.stack([spectrum.real, spectrum.imag], -1).reshape(a.shape[:-1] + (-1,))
            expected = numpy.concatenate([parts[..., :1], parts[..., 2:length + 1]], -1)
            near(fftpack.rfft(x, n), expected)
            near(fftpack.rfft(x.T, n, 0), expected.T)
            near(fftpack.irfft(fftpack.rfft(x, n)), numpy.fft.irfft(spectrum, length))
            near(fftpack.irfft(fftpack.rfft(x, n).T, axis=0), numpy.fft.irfft(spectrum, length).T)
    a = numbers((3, 4), 'D')
    x = cupy.asarray(a)
    for name in ('fft', 'ifft', 'fft2', 'ifft2', 'fftn', 'ifftn'):
        near(getattr(fftpack, name)(x), getattr(numpy.fft, name)(a))
    near(fftpack.irfft(cupy.asarray([1., 2, 3]), 5), numpy.fft.irfft([1, 2 + 3j, 0], 5))


@pytest.mark.host
@pytest.mark.parametrize('bias', [0, 0.25, -0.3])
@pytest.mark.parametrize('mu', [0, 1.5])
def test_hankel(mu, bias):
    """r^(mu + 1) exp(-r^2 / 2) is its own transform."""
    dln = 0.1
    r = numpy.exp(dln * (numpy.arange(400) - 199.5))
    a = r ** (mu + 1) * numpy.exp(-r * r / 2)
    x = fft.fht(cupy.asarray(a), dln, mu, 0, bias)
    numpy.testing.assert_allclose(x.get()[160:-160], a[160:-160], rtol=1e-5, atol=1e-6)
    near(fft.ifht(x, dln, mu, 0, bias), a)
    near(fft.ifht(fft.fht(cupy.asarray(a[1:]), dln, mu, 0.4, bias), dln, mu, 0.4, bias), a[1:])


def test_lengths_and_settings(capsys):
    smooth = [n for n in range(1, 1025) if 210 ** 10 % n == 0]
    assert [fft.next_fast_len(n) for n in range(1, 1025)] == [min(m for m in smooth if m >= n) for n in range(1, 1025)]
    near(fft.fftfreq(5, 0.5), numpy.fft.fftfreq(5, 0.5))
    near(fft.fftshift(cupy.arange(5.)), numpy.fft.fftshift(numpy.arange(5.)))
    config = cupy.fft.config
    with pytest.warns(DeprecationWarning, match='enable_nd_planning'):
        assert config.enable_nd_planning
    assert config.get_plan_cache().get_curr_size() == 0
    cupy.fft._cache.clear_plan_cache()
    config.show_plan_cache_info()
    assert 'none' in capsys.readouterr().out


@pytest.mark.host
@pytest.mark.parametrize('shape, axes', [(None, None), (None, (1,)), ((4, 5), (0, 1)), ((6,), (0,)), ((2, 3), (0, 1))])
def test_plans(shape, axes):
    a = numbers((3, 4), 'D')
    x = cupy.asarray(a)
    plan = fft.get_fft_plan(x, shape, axes)
    near(fft.fftn(x, shape, axes, plan=plan), numpy.fft.fftn(a, shape, axes))
    near(fftpack.ifftn(x, shape, axes, plan=plan), fft.ifftn(x, shape, axes).get())
    with plan as entered:
        assert entered is plan
        near(cupy.fft.fftn(x, shape, axes), numpy.fft.fftn(a, shape, axes))
        for wrong in (lambda: cupy.fft.fftn(x[:2, :2], shape and tuple(2 * n for n in shape), axes), lambda: cupy.fft.fftn(x.astype('F'), shape, axes), lambda: cupy.fft.rfft(x.real)):
            with pytest.raises(ValueError, match='plan'):
                wrong()
        with fft.get_fft_plan(x[:2], axes=1):
            near(cupy.fft.fft(x[:2]), numpy.fft.fft(a[:2]))
        near(cupy.fft.hfft(x), numpy.fft.hfft(a))
    near(cupy.fft.fft(x[:2]), numpy.fft.fft(a[:2]))
    made = cupy.zeros(fft.fftn(x, shape, axes).shape, 'D')
    plan.fft(x, made, -1)
    near(made, fft.fftn(x, shape, axes).get())
    plan.fft(x, made, 1)
    near(made, fft.ifftn(x, shape, axes, 'forward').get())
    lengths = fft.get_fft_plan(x.real, shape, axes, 'R2C')
    near(fft.rfftn(x.real, shape, axes, plan=lengths), fft.rfftn(x.real, shape, axes).get())
    back = fft.get_fft_plan(x, shape, axes, 'C2R')
    near(fft.irfftn(x, shape, axes, plan=back), fft.irfftn(x, shape, axes).get())
    assert 'plan of C2R' in repr(back)
    near(fft.fft(x, n=numpy.int64(4), plan=fft.get_fft_plan(x, numpy.int64(4), numpy.int64(1))), numpy.fft.fft(a, 4))
    with pytest.raises(ValueError, match='at least one axis'):
        fft.get_fft_plan(cupy.array(1j), value_type='C2R')


@pytest.mark.parametrize('statement, error, says', [
    ('fft.fft(x, plan=1)', TypeError, 'plan must be None or a result of cupyx.scipy.fft.get_fft_plan, not 1'), ('fftpack.rfft(x, plan=1)', TypeError, 'rfft: plan must be None'),
    ('fft.hfft(x, plan=1)', NotImplementedError, 'hfft: plan=1: this transform has no plans'), ('fft.get_fft_plan(x, value_type="R2R")', ValueError, "not 'R2R'"),
    ('fft.get_fft_plan(x, axes=1)', ValueError, 'axis (1) exceeds the number of dimensions of a (1)'), ('fft.get_fft_plan(x, (2, 3), 0)', ValueError, 'different lengths'),
    ('fft.get_fft_plan(numpy.ones(3))', TypeError, 'use cupy.asarray'), ('fft.fft(x, plan=fft.get_fft_plan(x, 3))', ValueError, 'fft: lengths (4,) of axes (0,) in double precision'),
    ('fft.rfft(x, plan=fft.get_fft_plan(x))', ValueError, 'rfft: expected a plan of R2C, got <plan of C2C'),
    ('fft.fft(x.astype("f"), plan=fft.get_fft_plan(x))', ValueError, 'in single precision are to be transformed'),
    ('fft.rfft(x * 1j)', TypeError, 'real numbers are needed'), ('fft.fft(numpy.ones(3))', TypeError, 'use cupy.asarray'),
    ('fft.dct(x, 5)', ValueError, 'invalid type 5'), ('fft.dct(x, norm="x")', ValueError, "Invalid norm value 'x'"), ('fft.dct(x, 1, 1)', ValueError, 'at least 2 is needed'),
    ('fft.dst(x, 2, 0)', ValueError, 'invalid number of data points (0)'), ('fft.dct(x, axis=1)', ValueError, 'axis 1 is out of bounds'),
    ('fft.dctn(x, s=(2, 3), axes=0)', ValueError, 'same length, not 1 and 2'), ('fft.dctn(x, axes=(0, -1))', ValueError, 'all axes must be unique'),
    ('fft.dctn(cupy.array(1.), axes=0)', ValueError, 'axes exceeds dimensionality of input'), ('fft.rfftn(x, axes=())', ValueError, 'at least 1 axis must be'),
    ('fft.next_fast_len(0)', ValueError, 'must be positive, not 0'), ('fft.fft2(x, (-1, 2))', ValueError, 'axes exceeds dimensionality'),
    ('fft.fht(x * 1j, 0.1, 0)', TypeError, 'expected real numbers'), ('fft.fht(x, 0.1, 0, bias=-1)', ValueError, 'singular for mu=0 and bias=-1'),
    ('fftpack.irfft(x * 1j)', TypeError, 'expected real numbers'), ('cupy.fft.config.set_cufft_callbacks()', NotImplementedError, 'callbacks are not supported')])
def test_invalid_arguments_raise(statement, error, says):
    refused(statement, error, says, fft=fft, fftpack=fftpack, x=cupy.arange(4.))


class _Dispatchable:
    def __init__(self, value, type=numpy.ndarray, coercible=True):
        self.value, self.type, self.coercible = value, type, coercible


def test_as_a_backend_of_scipys():
    def dct():
        pass
    x = cupy.arange(4.)
    assert fft.__ua_domain__ == 'numpy.scipy.fft'
    near(fft.__ua_function__(dct, (x,), {'workers': 2}), transformed(numpy.arange(4.), 'cos', 2))
    assert fft.__ua_function__(near, (x,), {}) is NotImplemented
    assert fft.__ua_convert__([_Dispatchable(x), _Dispatchable(2, int)], False) == [x, 2]
    assert fft.__ua_convert__([_Dispatchable(numpy.ones(2))], False) is NotImplemented
    near(fft.__ua_convert__([_Dispatchable(numpy.ones(2))], True)[0], numpy.ones(2))
