"""Integer functions from the library's operations: gcd, lcm, bitwise_count."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._ufuncs import made

_STEPS = 8  # steps of Euclid's algorithm between tests for convergence


def _integers(name, x1, x2):
    """Returns (common dtype, absolute values as unsigned integers of its size). Python numbers do not determine the dtype."""
    both = _core.ufuncs['multiply'](x1, x2)
    dtype = both.dtype
    if dtype.kind not in 'iu':
        raise TypeError(f'{name}: not defined for {dtype}; expected an integer dtype')
    unsigned = numpy.dtype(f'u{dtype.itemsize}')
    # + 0 converts a number to an array
    a, b = (_core.ufuncs['absolute'](_core.ufuncs['add'](x, _core.zeros((), dtype))).astype(unsigned) for x in (x1, x2))
    return dtype, *(_core.broadcast_to(x, both.shape) for x in (a, b))


def _greatest(a, b):
    while b.size:
        for _ in range(_STEPS):
            # the remainder of a division by 0 is defined as 0
            a, b = _core.where(b, b, a), _core.ufuncs['remainder'](a, b)
        b = _core._copy(b, 'C')
        a = _core._copy(a, 'C')
        if not bool(_core.any(b)):
            break
    return a


@made(2)
def gcd(x1, x2):
    """Returns the greatest common divisor of |x1| and |x2|. gcd(0, 0) is 0."""
    dtype, a, b = _integers('gcd', x1, x2)
    return _greatest(a, b).astype(dtype)


@made(2)
def lcm(x1, x2):
    """Returns the lowest common multiple of |x1| and |x2|. It is 0 if either is 0."""
    dtype, a, b = _integers('lcm', x1, x2)
    divisor = _greatest(a, b)
    return (_core.ufuncs['floor_divide'](a, divisor) * b).astype(dtype)


@made(1, 1, ' '.join(letter + '->B' for letter in 'bBhHiIlLqQ'))
def bitwise_count(x):
    """Counts the set bits of |x|, as uint8."""
    x = operand(x, 'bitwise_count')
    dtype, x, _ = _integers('bitwise_count', x.astype('b') if x.dtype == bool else x, 1)
    bits = 8 * dtype.itemsize
    fives, threes, ones = (int(mask * (bits // 8), 16) for mask in ('55', '33', '0f'))
    x = x - ((x >> 1) & fives)
    x = (x & threes) + ((x >> 2) & threes)
    x = (x + (x >> 4)) & ones
    shift = 8
    while shift < bits:
        x = x + (x >> shift)
        shift *= 2
    return (x & 127).astype('B')
