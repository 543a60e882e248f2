"""Filters by ranks, and linear ones with feedback."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy import ndimage
from catenary.cupyx.scipy._sliding_windows import combined
from catenary.cupyx.scipy.signal._from_scipy import checked_sections, host, sent


_BLOCK = 64  # samples that one product with matrices filters


def order_filter(a, domain, rank):
    """Returns the element of the given rank among those under the mask `domain`, whose size is odd along each axis. Zeros lie beyond the borders."""
    a = operand(a, 'order_filter')
    window = numpy.asarray(domain.get() if isinstance(domain, ndarray) else domain)
    if any(n % 2 == 0 for n in window.shape):
        raise ValueError('Each dimension of domain argument should have an odd number of elements, given shape %s' % (window.shape,))
    return ndimage.rank_filter(a, int(rank), footprint=window, mode='constant')


def medfilt(volume, kernel_size=None):
    """Returns the median of each window. Window sizes are odd, and zeros lie beyond the borders."""
    volume = operand(volume, 'medfilt')
    sizes = [3] * volume.ndim if kernel_size is None else [int(n) for n in numpy.broadcast_to(numpy.asarray(
        kernel_size.get() if isinstance(kernel_size, ndarray) else kernel_size), (volume.ndim,))]
    if any(n % 2 == 0 for n in sizes):
        raise ValueError('Each element of kernel_size should be odd, given %s' % (sizes,))
    return ndimage.median_filter(volume, size=sizes, mode='constant')


def medfilt2d(input, kernel_size=3):
    """Applies medfilt to a matrix."""
    input = operand(input, 'medfilt2d')
    if input.ndim != 2:
        raise ValueError('medfilt2d: expected a matrix, given %d axes' % input.ndim)
    return medfilt(input, kernel_size)


def _without_feedback(b, x, state):
    """Returns the sum of delayed copies of x, each times a coefficient."""
    order, n = b.size - 1, x.shape[-1]
    wide = _core._concatenate([_core.zeros((*x.shape[:-1], order), x.dtype), x], -1)
    terms = (wide[..., order - k:order - k + n] * sent(c, x.dtype) for k, c in enumerate(b) if c)
    made = combined(terms, lambda p, q: p + q)
    made = _core.zeros_like(x) if made is None else made
    if state is None:
        return made
    m = min(order, n)
    return _core._concatenate([made[..., :m] + state[..., :m], made[..., m:]], -1)


def _filtered(b, a, x, state):
    """Applies a filter with a[0] = 1 along the last axis from a state [..., order]. Returns (output, final state or None).

    The states are sums of A^(n - i) u[i] and are computed by doubling: the sum over 2^j steps follows from two sums over half as many.
    """
    order = max(a.size, b.size) - 1
    b, a = (numpy.concatenate([c, numpy.zeros(order + 1 - c.size)]) for c in (b, a))
    if order == 0:
        return x * sent(b[0], x.dtype), state
    if not a[1:].any():
        return _without_feedback(b, x, state), None
    made = _core._filtered(b.tolist(), a.tolist(), _core._contiguous(x, False), None if state is None else _core._contiguous(state, False))
    if made is not None:
        return made, None
    step = numpy.eye(order, k=1, dtype=a.dtype)
    step[:, 0] -= a[1:]
    if x.shape[-1] >= 4 * _BLOCK and bool(_core.all(_core.ufuncs['isfinite'](x))):
        return _by_blocks(b, a, step, x, state), None
    states = _states(step, x[..., None] * sent(b[1:] - a[1:] * b[0], x.dtype), state)
    before = _core.zeros_like(states[..., :1, 0]) if state is None else state[..., :1]
    return x * sent(b[0], x.dtype) + _core._concatenate([before, states[..., :-1, 0]], -1), states[..., -1, :]


def _by_blocks(b, a, step, x, state):
    """Applies a filter to blocks of samples as products with matrices, of which the states of the blocks are a part. A sample that is not finite would
    reach the whole block."""
    order, n = len(step), x.shape[-1]
    powers = [numpy.eye(order, dtype=a.dtype)]
    with numpy.errstate(all='ignore'):
        for _ in range(_BLOCK):
            powers.append(powers[-1] @ step)
        gain = b[1:] - a[1:] * b[0]
        response = numpy.array([b[0], *(p[0] @ gain for p in powers[:_BLOCK - 1])])
    late = numpy.arange(_BLOCK) - numpy.arange(_BLOCK)[:, None]
    own = numpy.where(late >= 0, response[late], 0)  # [sample, output of the same block]
    into = numpy.array([p @ gain for p in powers[_BLOCK - 1::-1]])  # [sample, state behind the block]
    out_of = numpy.array([p[0] for p in powers[:_BLOCK]]).T  # [state before the block, output]
    blocks = -(-n // _BLOCK)
    wide = _core._concatenate([x, _core.zeros((*x.shape[:-1], blocks * _BLOCK - n), x.dtype)], -1).reshape(*x.shape[:-1], blocks, _BLOCK)
    states = _states(powers[_BLOCK], _core.matmul(wide, sent(into, x.dtype)), state)
    first = _core.zeros_like(states[..., :1, :]) if state is None else state[..., None, :]
    before = _core._concatenate([first, states[..., :-1, :]], -2)
    made = _core.matmul(wide, sent(own, x.dtype)) + _core.matmul(before, sent(out_of, x.dtype))
    return made.reshape(*x.shape[:-1], blocks * _BLOCK)[..., :n]


def _states(step, states, state):
    """Returns the states of the recursion s = step s + given[..., n, :] from `state`, or from 0."""
    if state is not None:
        states[..., 0, :] += _core.matmul(state, sent(step.T, states.dtype))
    reach, power = 1, step
    while reach < states.shape[-2]:
        if numpy.abs(power).max() < 1e-30:
            break  # earlier terms are below rounding
        more = _core.matmul(states[..., :-reach, :], sent(power.T, states.dtype))
        states = _core._concatenate([states[..., :reach, :], states[..., reach:, :] + more], -2)
        with numpy.errstate(all='ignore'):
            reach, power = 2 * reach, power @ power
    return states


def _operands(x, *filters):
    """Converts the array to the common dtype of array and coefficients."""
    dtype = numpy.result_type(x.dtype, *(f.dtype if isinstance(f, ndarray) else numpy.asarray(f).dtype for f in filters))
    return x.astype(dtype if dtype.char in 'fdFD' else 'f' if dtype == 'e' else 'd')


def _checked(b, a):
    """Returns the coefficients divided by a[0], on the host."""
    b, a = host(b), host(a)
    if b.ndim != 1 or a.ndim != 1 or not a.size or not a[0]:
        raise ValueError('lfilter: b and a must have one axis, and a[0] must not be 0')
    return b / a[0], a / a[0]


def passed(b, a, x, state=None):
    """Filters along the last axis from a state [..., order]: one number per delay, as in SciPy."""
    rows = _operands(x, b, a, *(() if state is None else (state,)))
    b, a = _checked(b, a)
    if rows.size == 0:
        return rows
    state = None if state is None else _core.broadcast_to(state, (*rows.shape[:-1], max(a.size, b.size) - 1)).astype(rows.dtype, copy=False)
    return _filtered(b, a, rows, state)[0]


def _of_last(b, a):
    """Returns the matrix that makes a state of the last inputs and outputs, oldest first."""
    made = []
    for c in (b, -a):
        n = c.size - 1
        matrix = numpy.zeros((n, max(a.size, b.size) - 1), c.dtype)
        for j in range(n):
            for m in range(j + 1):
                matrix[j, m] = c[m + n - j]
        made.append(matrix)
    return made


def lfilter(b, a, x, axis=-1, zi=None):
    """Filters along an axis with numerator coefficients b and denominator coefficients a. With an initial state zi it returns (output, final state).

    As in CuPy, a state holds the last len(b) - 1 inputs and the last len(a) - 1 outputs, oldest first. States are computed by doubling, in
    log2(length) steps. Raises ValueError if a[0] is 0.
    """
    x = operand(x, 'lfilter')
    wide = _operands(x, b, a, *(() if zi is None else (zi,)))
    b, a = _checked(b, a)
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    rows, taps, state = _core.moveaxis(wide, (axis,), (x.ndim - 1,)), b.size - 1, None
    if zi is not None:
        given = operand(zi, 'lfilter')
        given = given.reshape([-1 if k == axis % x.ndim else 1 for k in range(x.ndim)]) if given.ndim == 1 else given
        expected = list(x.shape)
        expected[axis] = taps + a.size - 1
        if given.ndim != x.ndim or given.shape[axis] != expected[axis] or any(m not in (n, 1) for m, n in zip(given.shape, expected)):
            raise ValueError(f'lfilter: unexpected shape for zi: expected {tuple(expected)}, found {operand(zi, "lfilter").shape}')
        given = _core.moveaxis(_core.broadcast_to(given, tuple(expected)).astype(rows.dtype), (axis,), (x.ndim - 1,))
        came, went = given[..., :taps], given[..., taps:]
        state = sum(_core.matmul(last, sent(matrix, rows.dtype)) for last, matrix in zip((came, went), _of_last(b, a)) if last.shape[-1])
        state = state if isinstance(state, ndarray) else None
    made = rows if rows.size == 0 else _filtered(b, a, rows, state)[0]
    end = None
    if zi is not None:
        came, went = (_core._concatenate([before, after], -1) for before, after in ((came, rows), (went, made)))
        end = _core._concatenate([came[..., came.shape[-1] - taps:], went[..., went.shape[-1] - (a.size - 1):]], -1)
    made = _core._copy(_core.moveaxis(made, (-1,), (axis,)), 'C')
    return made if zi is None else (made, _core._copy(_core.moveaxis(end, (-1,), (axis,)), 'C'))


def sosfilt(sos, x, axis=-1, zi=None):
    """Applies second-order sections one after another along an axis, as lfilter. zi has the shape [sections, ..., 4, ...]: the last two inputs and
    the last two outputs of each section."""
    x = operand(x, 'sosfilt')
    wide = _operands(x, sos, *(() if zi is None else (zi,)))
    sos = checked_sections(sos)
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    axis %= x.ndim
    if zi is not None:
        zi = operand(zi, 'sosfilt')
        expected = (len(sos),) + x.shape[:axis] + (4,) + x.shape[axis + 1:]
        if zi.shape != expected:
            raise ValueError(f'Invalid zi shape. With axis={axis!r}, an input with shape {x.shape!r}, and an sos array with {len(sos)} sections, '
                             f'zi must have shape {expected!r}, got {zi.shape!r}.')
    ends = []
    if zi is None and wide.size:
        made = _by_sections(sos, _core.moveaxis(wide, (axis,), (x.ndim - 1,)), None)
        if made is not None:
            return _core._copy(_core.moveaxis(made, (-1,), (axis,)), 'C')
    for k, section in enumerate(sos):
        if zi is None:
            wide = lfilter(section[:3], section[3:], wide, axis)
        else:
            wide, end = lfilter(section[:3], section[3:], wide, axis, zi[k])
            ends.append(end)
    return wide if zi is None else (wide, _core._stack(ends, 0))


def _by_sections(sos, rows, states):
    """Applies checked sections along the last axis in one loop on the processor, or returns None."""
    if sos.dtype.kind == 'c':
        return None
    states = None if states is None else _core._contiguous(states.astype(rows.dtype, copy=False), False)
    return _core._sections_filtered(sos.astype(float).tolist(), _core._contiguous(rows, False), states)


def passed_sections(sos, x, states=None):
    """Applies sections along the last axis, from states [sections, ..., 2] in the layout of passed()."""
    rows = _operands(x, sos, *(() if states is None else (states,)))
    made = _by_sections(checked_sections(sos), rows, states)
    if made is not None:
        return made
    for k, section in enumerate(checked_sections(sos)):
        x = passed(section[:3], section[3:], x, None if states is None else states[k])
    return x


def _coefficients(b, a):
    """Returns both on the host, a without leading zeros. Raises ValueError for an empty or multi-dimensional array."""
    b, a = host(b), host(a)
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError('Numerator b must be 1-D.' if b.ndim != 1 else 'Denominator a must be 1-D.')
    a = numpy.trim_zeros(a, 'f')
    if a.size < 1:
        raise ValueError('There must be at least one nonzero `a` coefficient.')
    return b, a


def steady(b, a):
    """Returns the state of passed() in the steady state of a unit step."""
    b, a = _coefficients(b, a)
    b, a = b / a[0], a / a[0]
    order = max(a.size, b.size) - 1
    b, a = (numpy.concatenate([c, numpy.zeros(order + 1 - c.size)]) for c in (b, a))
    step = numpy.eye(order, k=1, dtype=a.dtype)
    step[:, :1] -= a[1:, None]
    return sent(numpy.linalg.solve(numpy.eye(order) - step, b[1:] - a[1:] * b[0]))


def steady_sections(sos):
    """Returns the states of passed_sections() in the steady state of a unit step."""
    sos = checked_sections(sos).astype(float)
    made, scale = [], 1.0
    for section in sos:
        made.append(scale * steady(section[:3], section[3:]))
        scale *= section[:3].sum() / section[3:].sum()
    return _core._stack(made, 0)


def _gain(b, a):
    """Returns the step response's final value. Raises LinAlgError if it grows without bound."""
    if a.sum() == 0:
        raise numpy.linalg.LinAlgError('lfilter_zi: the coefficients a have the sum 0, so the step response has no limit')
    return b.sum() / a.sum()


def lfilter_zi(b, a):
    """Returns the state of lfilter in the steady state of a unit step: past inputs (ones) and past outputs."""
    b, a = _coefficients(b, a)
    gain = _gain(b, a)
    return sent(numpy.concatenate([numpy.ones(b.size - 1), numpy.full(a.size - 1, gain)]))


def sosfilt_zi(sos):
    """Returns the states of sosfilt in the steady state of a unit step."""
    made, came = [], 1.0
    for section in checked_sections(sos).astype(float):
        went = came * _gain(section[:3], section[3:])
        made.append([came, came, went, went])
        came = went
    return sent(numpy.asarray(made))
