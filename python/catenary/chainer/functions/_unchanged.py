"""Arguments that need no graph: calls that change nothing, and arrays of integers or booleans, which have no gradient."""

import numpy

from .. import backend
from ..backends import cuda
from ..variable import Variable, as_array, as_variable


def _is_unchanged(name, x, args):
    if name in ('reshape', 'broadcast_to'):
        return tuple(args['shape']) == x.shape
    if name == 'cast':
        return x.dtype == args['typ']
    if name == 'copy':
        return backend.get_device(args['dst']) == backend.get_device_from_array(x)
    return name == 'broadcast'


# the same functions of arrays
_OF_ARRAYS = {
    'broadcast_to': lambda xp, x, shape: xp.broadcast_to(x, shape),
    'cast': lambda xp, x, typ: x.astype(typ),
    'concat': lambda xp, xs, axis=1: xp.concatenate([as_array(x) for x in xs], axis=axis),
    'expand_dims': lambda xp, x, axis: xp.expand_dims(x, axis),
    'get_item': lambda xp, x, slices: x[slices],
    'reshape': lambda xp, x, shape: x.reshape(shape),
    'squeeze': lambda xp, x, axis=None: x.squeeze(axis),
    'stack': lambda xp, xs, axis=0: xp.stack([as_array(x) for x in xs], axis=axis),
    'transpose': lambda xp, x, axes=None: x.transpose(axes),
}


def result(name, args):
    """Returns the variable for a call of a function with the arguments by name, or None if the call needs the graph."""
    first = next(iter(args.values()), None)
    if isinstance(first, (tuple, list)) and len(first) == 1 and name == 'broadcast':
        first = first[0]
    sample = first[0] if isinstance(first, (tuple, list)) and first else first
    x = as_array(sample)
    if not isinstance(x, (numpy.ndarray, cuda.ndarray)):
        return None
    if isinstance(args.get('shape'), list):
        from .. import functions
        return getattr(functions, name)(first, tuple(args['shape']))
    if sample is first and _is_unchanged(name, x, args):
        return as_variable(first)
    if name not in _OF_ARRAYS or (x.dtype.kind == 'f' and name != 'cast'):
        return None
    device = backend.get_device_from_array(x)
    with backend.using_device(device):
        values = _OF_ARRAYS[name](device.xp, *[x if value is sample else value for value in args.values()])
    return Variable(device.xp.asarray(values), requires_grad=False)
