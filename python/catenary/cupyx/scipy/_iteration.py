"""What functions of elements share that are computed step by step: how they take their arguments, and when they end."""

from catenary import _core
from catenary.cupy._arguments import delivered
from catenary.cupy._array import refuse_complex
from catenary.cupy._functions.shapes import broadcast_arrays
from catenary.cupyx.scipy._gamma import prepared, stored, wide

_TOGETHER, _MOST = 8, 20000  # steps before it is asked whether all are done, and at most where no other number is given


def function(name, description, compute):
    """A function of real numbers, computed in float64 where the device has it: in float32 three digits would be left of some. `compute` has all arguments in
    one dtype and one shape, and gives an array or a tuple of them."""
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


def until_all_are_done(step, state, k=1, most=None):
    """step(k, state) for k and on, until step's last entry, a mask of what is not done, has nothing."""
    while k < (most or _MOST) and state[0].size:
        for _ in range(_TOGETHER):
            state = tuple(stored(x) for x in step(k, state))  # one small text is compiled, and not one for all steps
            k += 1
        if not bool(_core.any(state[-1])):
            break
    return state


def largest(x, name=None, most=100000):
    """The largest of whole numbers, on the host; 0 of none. With a function's name ValueError for one above `most`, as it would take as many steps."""
    value = int(_core.max(x)) if x.size else 0
    if name and value > most:
        raise ValueError(f'{name}: degrees and orders are at most {most} here, and one is {value}')
    return value
