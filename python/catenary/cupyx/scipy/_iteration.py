"""Helpers of elementwise functions: rows of the library, conversion of arguments, and the test for convergence."""

from catenary import _core
from catenary.cupy._arguments import delivered
from catenary.cupy._array import refuse_complex
from catenary.cupy._functions.shapes import broadcast_arrays
from catenary.cupyx.scipy._gamma import prepared, stored, wide

_TOGETHER, _MOST = 8, 20000  # steps between tests for convergence, and the maximum unless another is given


def function(name, description, compute):
    """Makes a function of real numbers, computed in float64 if the device has it, as float32 would lose about three digits.

    `compute` receives all arguments in one dtype and one shape, and returns an array or a tuple of arrays.
    """
    def function(*args, out=None):
        refuse_complex(name, *args)
        *values, dtype = prepared(name, *args)
        made = compute(*broadcast_arrays(*wide(*values)))
        if not isinstance(made, tuple):
            return delivered(made.astype(dtype), out, name)
        return tuple(delivered(x.astype(dtype), place, name) for x, place in zip(made, out or (None,) * len(made)))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = description
    return function


def of_row(name, row=None):
    """Makes a function of real numbers from a row of the library, computed in float64 if the device has it."""
    ufunc = _core.ufuncs[row or name]

    def function(*args, out=None):
        refuse_complex(name, *args)
        *values, dtype = prepared(name, *args)
        return delivered(ufunc(*wide(*values)).astype(dtype), out, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'Returns scipy.special.{name} of each element: {ufunc.__doc__}.'
    return function


def until_all_are_done(step, state, k=1, most=None):
    """Calls step(k, state) for increasing k until the mask in its last entry, which marks unfinished elements, is false everywhere."""
    while k < (most or _MOST) and state[0].size:
        for _ in range(_TOGETHER):
            state = tuple(stored(x) for x in step(k, state))  # so that one short kernel serves all steps
            k += 1
        if not bool(_core.any(state[-1])):
            break
    return state


def largest(x, name=None, most=100000):
    """Returns the largest of integers, on the host, or 0 for an empty array. Given a function's name it raises ValueError above `most`, since the
    steps grow with the value."""
    value = int(_core.max(x)) if x.size else 0
    if name and value > most:
        raise ValueError(f'{name}: degrees and orders must be at most {most}, got {value}')
    return value
