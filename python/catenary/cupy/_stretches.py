"""ufunc.reduceat: reductions of stretches of an axis."""

import numpy

from catenary import _core


_SHORT = 24  # elements of a stretch up to which halving is faster than a reduction of its own


def reduced(function, rows, starts, ends):
    """Reduces each stretch rows[starts[k]:ends[k]]. No stretch may be empty. The rows have the dtype of the results."""
    if rows.dtype == 'e' and function.__name__ in ('add', 'multiply'):
        return reduced(function, rows.astype('f'), starts, ends).astype('e')
    found = _core._stretches_reduced(_core._contiguous(rows, False), *(_core.from_numpy(x, None) for x in (starts, ends)), function.__name__)
    if found is not None:
        return found
    long = ends - starts > _SHORT
    made = _core.empty((len(starts), *rows.shape[1:]), rows.dtype)
    for k in numpy.flatnonzero(long):
        made[int(k)] = function.reduce(rows[int(starts[k]):int(ends[k])], 0)
    if not long.all():
        short = _by_halves(function, rows, *(_core.from_numpy(x[~long], None) for x in (starts, ends)))
        if not long.any():
            return short
        made[_core.from_numpy(numpy.flatnonzero(~long), None)] = short
    return made


def _by_halves(function, rows, starts, ends):
    """Joins pairs of neighbours in all stretches at once, until each has one element."""
    lengths = ends - starts
    owner = _core.repeat(_core.arange(lengths.size), lengths)
    values = rows[_core.arange(owner.size) - (_core.cumsum(lengths) - lengths - starts)[owner]]
    longest = int(lengths.max())
    while longest > 1:
        halves = (lengths + 1) // 2
        owner = _core.repeat(_core.arange(halves.size), halves)
        own = _core.arange(owner.size) - (_core.cumsum(halves) - halves)[owner]  # the index in the stretch
        left = (_core.cumsum(lengths) - lengths)[owner] + 2 * own
        pairs = 2 * own + 1 < lengths[owner]
        made = values[left]
        made[pairs] = function(made[pairs], values[left[pairs] + 1])
        values, lengths, longest = made, halves, (longest + 1) // 2
    return values
