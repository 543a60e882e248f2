"""cupyx.scipy.fftpack: SciPy's older transforms. Spectra of real arrays are real arrays."""

from catenary import _core, _wheel
from catenary.cupy import fft as _transforms
from catenary.cupyx.scipy._complex import of_parts as _of_parts
from catenary.cupyx.scipy._fft_plan import check_plan as _check_plan, get_fft_plan  # noqa: F401
from catenary.cupyx.scipy.fft import _operand


def fft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """Calls cupy.fft.fft."""
    _check_plan(plan, 'fft', _operand(x), n, axis)
    return _transforms.fft(_operand(x), n, axis)


def ifft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """Returns the inverse of fft."""
    _check_plan(plan, 'ifft', _operand(x), n, axis)
    return _transforms.ifft(_operand(x), n, axis)


def fft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None):
    """Calls cupy.fft.fft2."""
    _check_plan(plan, 'fft2', _operand(x), shape, axes)
    return _transforms.fft2(_operand(x), shape, axes)


def ifft2(x, shape=None, axes=(-2, -1), overwrite_x=False, plan=None):
    """Returns the inverse of fft2."""
    _check_plan(plan, 'ifft2', _operand(x), shape, axes)
    return _transforms.ifft2(_operand(x), shape, axes)


def fftn(x, shape=None, axes=None, overwrite_x=False, plan=None):
    """Calls cupy.fft.fftn."""
    _check_plan(plan, 'fftn', _operand(x), shape, axes)
    return _transforms.fftn(_operand(x), shape, axes)


def ifftn(x, shape=None, axes=None, overwrite_x=False, plan=None):
    """Returns the inverse of fftn."""
    _check_plan(plan, 'ifftn', _operand(x), shape, axes)
    return _transforms.ifftn(_operand(x), shape, axes)


def rfft(x, n=None, axis=-1, overwrite_x=False, plan=None):
    """Returns the transform of n real numbers as n real numbers: element 0, then real and imaginary parts of 1, 2, … For an even n the last element
    has no imaginary part."""
    _check_plan(plan, 'rfft', _operand(x), n, axis)
    made = _core.moveaxis(_transforms.rfft(_operand(x), n, axis), (axis,), (-1,))
    n = _operand(x).shape[axis] if n is None else n
    parts = _core._stack([made.real, made.imag], -1).reshape(made.shape[:-1] + (2 * made.shape[-1],))
    return _core._copy(_core.moveaxis(_core._concatenate([parts[..., :1], parts[..., 2:n + 1]], -1), (-1,), (axis,)), 'C')


def irfft(x, n=None, axis=-1, overwrite_x=False):
    """Returns the inverse of rfft."""
    x = _operand(x)
    if x.dtype.kind == 'c':
        raise TypeError(f'irfft: expected real numbers, got {x.dtype}')
    x = _core.moveaxis(x if x.dtype.char in 'fd' else x.astype('d'), (axis,), (-1,))
    n = x.shape[-1] if n is None else n
    missing = max(0, n - x.shape[-1])
    x = _core._concatenate([x[..., :n], _core.zeros(x.shape[:-1] + (missing + 1,), x.dtype)], -1)  # one more zero: the last imaginary part for an even n
    zero = _core.zeros_like(x[..., :1])
    real, imaginary = _core._concatenate([x[..., :1], x[..., 1:-1:2]], -1), _core._concatenate([zero, x[..., 2::2]], -1)
    half = n // 2 + 1
    made = _transforms.irfft(_of_parts(real[..., :half], imaginary[..., :half]), n)
    return _core._copy(_core.moveaxis(made, (-1,), (axis,)), 'C')


__getattr__ = _wheel.getter('cupyx.scipy.fftpack')
