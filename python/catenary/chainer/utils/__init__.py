"""Helpers for functions and links."""
from collections import abc as collections_abc  # noqa: F401
import contextlib
import importlib
import shutil
import tempfile

import numpy

from . import argument, array, type_check  # noqa: F401
from .array import size_of_shape, sum_to  # noqa: F401
from .conv import get_conv_outsize, get_deconv_outsize  # noqa: F401
from .error import _format_array_props
from .experimental import experimental  # noqa: F401
from .meta import enable_final, final  # noqa: F401

_LATER = {'WalkerAlias': 'walker_alias', 'CooMatrix': 'sparse', 'get_order': 'sparse', 'to_coo': 'sparse'}
_MODULES = ('cache', 'conv', 'conv_nd', 'error', 'imgproc', 'meta', 'nondeterministic', 'precision', 'sparse', 'walker_alias')


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module('.' + name, __name__)
    if name in _LATER:
        value = getattr(importlib.import_module('.' + _LATER[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError("module '{}' has no attribute '{}'".format(__name__, name))


def force_array(x, dtype=None):
    """Returns a scalar as a 0-d array, an array as it is, and both with `dtype` if it is given."""
    if numpy.isscalar(x):
        return numpy.array(x) if dtype is None else numpy.array(x, dtype)
    return x if dtype is None else x.astype(dtype, copy=False)


def force_type(dtype, value):
    """Returns a scalar or an array converted to `dtype`, where it has another."""
    if numpy.isscalar(value):
        return dtype.type(value)
    return value if value.dtype == dtype else value.astype(dtype, copy=False)


@contextlib.contextmanager
def tempdir(**kwargs):
    """A temporary folder that is removed after the block."""
    ignore_errors = kwargs.pop('ignore_errors', False)
    folder = tempfile.mkdtemp(**kwargs)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=ignore_errors)


def _repr_with_named_data(inst, **kwargs):
    pairs = ', '.join('{}={}'.format(name, value) for name, value in kwargs.items())
    return '<{}.{} {}>'.format(type(inst).__module__, type(inst).__name__, pairs)


def _check_arrays_forward_compatible(arrays, label=None):
    """Raises TypeError if the arrays lie on different kinds of devices."""
    given = tuple(entry for entry in arrays if entry is not None)
    if not type_check.same_types(*given):
        raise TypeError('incompatible array types are mixed in the forward input{}.\nActual: {}'.format(
            '' if label is None else ' ({})'.format(label), _format_array_props(arrays)))


def _raise_from(exc_type, message, orig_exc):
    raise exc_type(message) from orig_exc
