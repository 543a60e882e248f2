"""The callables of the functions of the library, and the errors of arguments that no row takes."""

import inspect

import numpy

from catenary import _core

from .. import _old_arguments
from ..backends import cuda
from ..variable import Variable, as_variable
from . import _unchanged


def _signature(parameters):
    kinds, found = inspect.Parameter, []
    keyword_only = False
    for name in parameters:
        if name.startswith('*'):
            found.append(kinds(name[1:], kinds.VAR_POSITIONAL))
            continue
        keyword_only = keyword_only or name.startswith('=')
        found.append(kinds(name.lstrip('='), kinds.KEYWORD_ONLY if keyword_only else kinds.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(found)


def _refusal(path, name, parameters):
    """Returns the function that gets the arguments which the library does not take: it raises an error with the reason."""
    signature = _signature(parameters)

    def function(*args, **kwargs):
        old = _old_arguments.of_function(name, args, kwargs)
        if old is not None:
            with old[0]:
                return _callables[name](*old[1], **old[2])
        bound = signature.bind(*args, **kwargs)  # TypeError for arguments that do not fit
        unchanged = _unchanged.result(name, bound.arguments)
        if unchanged is not None:
            return unchanged
        again = _of_one_dtype(args, kwargs)
        if again is not None:
            return _callables[name](*again[0], **again[1])
        raise _error(name, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = 'chainer.functions'
    function.__signature__ = signature
    return function


def _floats(values):
    return [x for x in values if isinstance(x, (Variable, numpy.ndarray, cuda.ndarray)) and x.dtype is not None and x.dtype.kind == 'f']


def _of_one_dtype(args, kwargs):
    """Returns the arguments with all floating arrays cast to their common dtype, or None if they have one already."""
    floats = _floats([*args, *kwargs.values()])
    dtypes = {x.dtype for x in floats}
    if len(dtypes) < 2:
        return None
    dtype = numpy.result_type(*dtypes)

    def cast(x):
        if not _floats([x]) or x.dtype == dtype:
            return x
        return _callables['cast'](as_variable(x), dtype)
    return tuple([cast(x) for x in args]), {key: cast(x) for key, x in kwargs.items()}


def _described(value):
    if isinstance(value, (Variable, numpy.ndarray, cuda.ndarray)):
        return 'an array of shape %s and dtype %s' % (value.shape, value.dtype)
    if isinstance(value, (tuple, list)):
        return '%s of %s' % (type(value).__name__, ', '.join(map(_described, value[:4])))
    return repr(value)


def _error(name, args, kwargs):
    words = [_described(x) for x in args] + ['%s = %s' % (key, _described(x)) for key, x in kwargs.items()]
    return TypeError('%s does not take these arguments: %s' % (name, '; '.join(words)))


_callables = {}


def functions():
    """Returns the callables of all rows by name."""
    for path, parameters in _core._chainer_rows().items():
        name = path.rpartition('.')[2]
        _callables[name] = _core._Call(path, _refusal(path, name, parameters))
    return _callables
