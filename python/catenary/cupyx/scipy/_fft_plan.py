"""Plans for Fourier transforms. The library caches its own tables by length, so a plan only records for which transforms it was made and rejects
others."""

import operator

from catenary.cupy import fft as _transforms

_WHICH = {'fft': 'C2C', 'ifft': 'C2C', 'rfft': 'R2C', 'irfft': 'C2R'}


def _tuple(given):
    if given is None:
        return None
    try:
        return (operator.index(given),)
    except TypeError:
        return tuple(operator.index(n) for n in given)


def _described(x, lengths, axes, which):
    """Returns the lengths of the axes, these from the front, and the bytes of a number's part."""
    lengths, axes = _tuple(lengths), _tuple(axes)
    if axes is None:
        axes = range(0 if lengths is None else x.ndim - len(lengths), x.ndim)
    if lengths is not None and len(lengths) != len(axes):
        raise ValueError(f'Shape and axes have different lengths: {lengths} and {tuple(axes)}')
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f'The chosen axis ({axis}) exceeds the number of dimensions of a ({x.ndim})')
    axes = tuple(axis % x.ndim for axis in axes)
    if not axes and which != 'C2C':
        raise ValueError(f'A plan of {which} needs at least one axis')
    if lengths is None:
        lengths = [x.shape[axis] for axis in axes]
        if which == 'C2R':
            lengths[-1] = 2 * (lengths[-1] - 1)
    return tuple(lengths), axes, 'single' if x.dtype.char in 'efF' else 'double'


class Plan:
    """The result of get_fft_plan. Pass it as `plan=` of a transform, or use it in a `with` block, in which cupy.fft accepts only the transforms it
    was made for."""

    def __init__(self, x, shape, axes, value_type):
        self.value_type = value_type
        self.shape, self.axes, self.precision = _described(x, shape, axes, value_type)

    def _check(self, function, x, lengths, axes):
        if _WHICH.get(function.rstrip('2n')):
            check_plan(self, function, x, lengths, axes)

    def __enter__(self):
        _transforms._entered.checks = [*getattr(_transforms._entered, 'checks', ()), self._check]
        return self

    def __exit__(self, *error):
        _transforms._entered.checks.pop()

    def __repr__(self):
        return f'<plan of {self.value_type}, lengths {self.shape} of axes {self.axes}, {self.precision} precision>'

    def fft(self, a, out, direction):
        """Writes the transform of `a` along the plan's axes into `out`, without a factor: direction is -1 for the forward one, 1 for the
        inverse one."""
        name = {'C2C': 'fftn' if direction == -1 else 'ifftn', 'R2C': 'rfftn', 'C2R': 'irfftn'}[self.value_type]
        check_plan(self, name, a, self.shape, self.axes)
        out[...] = getattr(_transforms, name)(a, self.shape, self.axes, 'forward' if name.startswith('i') else 'backward')


def get_fft_plan(a, shape=None, axes=None, value_type='C2C'):
    """Returns a plan for transforms of arrays like `a` along the given axes with the given lengths.

    value_type is 'C2C' for fft and ifft, 'R2C' for rfft, 'C2R' for irfft, and likewise for several axes. Raises ValueError for axes out of range.
    """
    if value_type not in _WHICH.values():
        raise ValueError(f"get_fft_plan: value_type must be 'C2C', 'R2C' or 'C2R', not {value_type!r}")
    return Plan(_transforms._operand(a), shape, axes, value_type)


def check_plan(plan, function, x=None, lengths=None, axes=None):
    """Checks that a plan was made for this transform. Raises NotImplementedError if the transform takes no plan, TypeError if the object is not a
    plan, ValueError for another array."""
    if plan is None:
        return
    which = _WHICH.get(function.rstrip('2n'))
    if which is None:
        raise NotImplementedError(f'{function}: plan={plan!r}: this transform has no plans, as in CuPy; pass None')
    if not isinstance(plan, Plan):
        raise TypeError(f'{function}: plan must be None or a result of cupyx.scipy.fft.get_fft_plan, not {plan!r}')
    if plan.value_type != which:
        raise ValueError(f'{function}: expected a plan of {which}, got {plan!r}')
    wanted = _described(x, lengths, axes, which)
    if wanted != (plan.shape, plan.axes, plan.precision):
        raise ValueError('{}: lengths {} of axes {} in {} precision are to be transformed, given {!r}: The cuFFT plan and a.shape do not match'.format(function, *wanted, plan))
