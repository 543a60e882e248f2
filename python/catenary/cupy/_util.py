"""Memoization, settings, submodules, and fuse, which returns its function unchanged."""

import functools
import importlib

import numpy

from catenary import _core
from catenary.cupy._errors import PerformanceWarning  # noqa: F401

ENABLE_SLICE_COPY = False  # a[key] = values accepts NumPy arrays regardless
CUDA_ARRAY_INTERFACE_EXPORT_VERSION = 3
_memos = []
# The modules that cupy.testing passes to tests by parameter name, for cupy and for numpy. Packages above this one add theirs.
beside = {}
of_ufuncs = []  # modules above this package whose functions accept arrays from NumPy ufuncs of their names


def memoize(for_each_device=False):
    """Decorates a function to cache its results by arguments, and by device if requested."""
    def decorate(function):
        memo = {}
        _memos.append(memo)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            key = (_core.getDevice() if for_each_device else -1, args, frozenset(kwargs.items()))
            try:
                return memo[key]
            except KeyError:
                memo[key] = result = function(*args, **kwargs)
                return result
        return remembered
    return decorate


def clear_memo():
    """Clears all memoized results."""
    for memo in _memos:
        memo.clear()


def setting(default):
    """Returns a getter and a setter of a setting, or one per dtype, that has no effect."""
    chosen = {}
    return lambda *dtypes: chosen.get((*map(numpy.dtype, dtypes),), default), lambda *values: chosen.update(
        {(*map(numpy.dtype, values[:-1]),): values[-1]})


def submodule(name):
    """Returns a submodule as an attribute. If it cannot be imported, raises AttributeError with the message of the import."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise AttributeError(str(error)) from error


def fuse(*args, kernel_name=None):
    """Returns the function unchanged, as elementwise operations are fused automatically."""
    if args and callable(args[0]):
        return args[0]
    return lambda function: function
