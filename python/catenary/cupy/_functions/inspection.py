"""Functions of an array's dtype, shape and memory that do not read its values."""

import functools

import numpy

from catenary import _core
from catenary.cupy._array import ndarray


def _described(name, described):
    """Makes a function that calls NumPy's with a description of the array."""
    host = getattr(numpy, name)

    @functools.wraps(host)
    def function(*args, **kwargs):
        return host(*(described(x) if isinstance(x, ndarray) else x for x in args), **kwargs)
    function.__module__ = __name__
    return function


globals().update({_name: _described(_name, lambda a: a.dtype) for _name in ('can_cast', 'result_type')})
globals().update({_name: _described(_name, lambda a: numpy.broadcast_to(numpy.empty((), a.dtype), a.shape))
                  for _name in ('common_type', 'iscomplexobj', 'isrealobj', 'ndim', 'shape', 'size')})


def min_scalar_type(a):
    """Returns numpy.min_scalar_type, for an array its dtype."""
    return a.dtype if isinstance(a, ndarray) else numpy.min_scalar_type(a)


def may_share_memory(a, b, max_work=None):
    """Returns whether the bytes from the first to the last element of each array overlap."""
    return _core._may_share_memory(a, b)


def shares_memory(a, b, max_work=None):
    """Returns whether an element of one array shares a byte with the other array."""
    apart = _core._bytes_between(a, b)
    if apart is None:
        return False

    def stand_in(x, at):  # a dummy with its address and strides, which NumPy compares but does not read
        about = {'shape': x.shape, 'strides': x.strides, 'typestr': x.dtype.str if x.dtype.kind in 'biufc' else f'|V{x.dtype.itemsize}', 'data': (at, False), 'version': 3}
        return numpy.asarray(type('Memory', (), {'__array_interface__': about})())
    base = 1 << 40
    return numpy.shares_memory(stand_in(a, base), stand_in(b, base + apart), max_work)


def isfortran(a):
    """Returns whether the elements are in Fortran order, and not in C order."""
    return a.flags.fnc


def get_array_module(*args):
    """Returns this module if an argument is an ndarray, or a sparse matrix or array of cupyx, else numpy."""
    from catenary import cupy
    for arg in args:
        if isinstance(arg, ndarray) or getattr(arg, '_is_of_device', False) is True:
            return cupy
    return numpy
