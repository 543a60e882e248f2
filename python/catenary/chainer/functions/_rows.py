"""The callables of the functions of the library, and the errors of arguments that no row takes."""

import functools
import inspect
import warnings

import numpy

from catenary import _core

from .. import _old_arguments, backend
from ..variable import Variable, as_variable
from . import _unusual

# functions that compute arrays of several floating dtypes in the widest of them. The result has the dtype of the first array
_MIXED = frozenset((
    'batch_normalization', 'convolution_1d', 'convolution_2d', 'convolution_3d', 'convolution_nd', 'deconvolution_1d', 'deconvolution_2d',
    'deconvolution_3d', 'deconvolution_nd', 'deformable_convolution_2d_sampler', 'depthwise_convolution_2d', 'dilated_convolution_2d',
    'decorrelated_batch_normalization', 'fixed_batch_normalization', 'fixed_decorrelated_batch_normalization', 'group_normalization', 'layer_normalization', 'linear', 'local_convolution_2d', 'batch_renormalization',
    'fixed_batch_renormalization'))
# functions whose results have the widest dtype
_PROMOTING = frozenset(('bias', 'einsum', 'matmul', 'scale', 'tensordot'))

# the words that options take
_WORDS = {'reduce': ('mean', 'sum', 'no', 'half_squared_sum', 'sum_along_second_axis'), 'norm': ('L1', 'L2'), 'pooling': ('max',),
          'soft_target_loss': ('cross-entropy', 'kl-divergence'), 'multioutput': ('uniform_average', 'raw_values'),
          'activation': ('tanh', 'relu')}
_SUMS = frozenset(('bernoulli_nll', 'gaussian_kl_divergence', 'gaussian_nll', 'negative_sampling'))


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


def _refusal(name, parameters, unusual):
    """Returns the function that gets the arguments which the library does not take. It computes them or raises an error with the reason."""
    signature = _signature(parameters) if unusual is None else inspect.signature(unusual)

    def function(*args, **kwargs):
        old = _old_arguments.of_function(name, args, kwargs)
        if old is not None:
            with old[0]:
                return _callables[name](*old[1], **old[2])
        bound = signature.bind(*args, **kwargs)  # TypeError for arguments that do not fit
        again = _of_one_dtype(name, args, kwargs)
        if again is not None:
            return again
        _refuse_dtypes(name, bound.arguments)
        if unusual is not None:
            return unusual(*args, **kwargs)
        raise _error(name, bound.arguments, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = 'chainer.functions'
    function.__signature__ = signature
    return function


def _is_array(x):
    return (isinstance(x, Variable) or backend.is_array(x)) and x.shape is not None


def _floats(values):
    return [x for x in values if _is_array(x) and x.dtype.kind == 'f']


def _of_one_dtype(name, args, kwargs):
    """Returns the result for arrays of several floating dtypes, or None if they have one or the function does not mix them."""
    floats = _floats([*args, *kwargs.values()])
    dtypes = {x.dtype for x in floats}
    if name not in _MIXED and name not in _PROMOTING or len(dtypes) < 2:
        return None
    dtype = numpy.result_type(*dtypes)
    writable = ('running_mean', 'running_var')

    def cast(x):
        return x if not _floats([x]) or x.dtype == dtype else _callables['cast'](as_variable(x), dtype)
    given = {key: x.astype(dtype) if key in writable and x is not None else x for key, x in kwargs.items()}
    y = _callables[name](*map(cast, args), **{key: x if key in writable else cast(x) for key, x in given.items()})
    for key in writable:
        if _floats([kwargs.get(key)]) and given[key] is not kwargs[key]:
            kwargs[key][...] = given[key]
    return y if name in _PROMOTING or y.dtype == floats[0].dtype else _callables['cast'](y, floats[0].dtype)


def _refuse_dtypes(name, arguments):
    """Raises InvalidType for arrays of several floating dtypes."""
    arrays = []
    for key, value in arguments.items():
        arrays += [(key, x) for x in (value if isinstance(value, (tuple, list)) else (value,)) if _floats([x])]
    if not arrays or name in _unusual.ANY_DTYPE or name in _MIXED:
        return
    from ..utils import type_check
    first, x = arrays[0]
    for key, other in arrays[1:]:
        if other.dtype != x.dtype:
            raise type_check.invalid(name, '%s.dtype == %s.dtype' % (first, key), '%s != %s' % (x.dtype, other.dtype))


def _described(value):
    if _is_array(value):
        return 'an array of shape %s and dtype %s' % (value.shape, value.dtype)
    if isinstance(value, (tuple, list)):
        return '%s of %s' % (type(value).__name__, ', '.join(map(_described, value[:4])))
    return repr(value)


def _error(name, arguments, args, kwargs):
    from ..utils import type_check
    for key, value in arguments.items():
        if key in _WORDS and isinstance(value, str) and (value not in _WORDS[key] or value == 'sum' and name not in _SUMS):
            return (NotImplementedError if key == 'norm' else ValueError)('%s: %s must be one of %s, not %r' % (name, key, ', '.join(_WORDS[key]), value))
    for key, x in arguments.items():
        for one in x if isinstance(x, (tuple, list)) else (x,):
            if _is_array(one) and one.dtype.kind not in 'fb':
                return type_check.invalid(name, '%s.dtype.kind == f' % key, '%s != f' % one.dtype.kind)
    words = '; '.join([_described(x) for x in args] + ['%s = %s' % (key, _described(x)) for key, x in kwargs.items()])
    is_list = name in _OF_LISTS and isinstance(args[0], (tuple, list)) and all(map(_is_array, args[0]))
    if is_list and not any(isinstance(x, str) for x in args) or name in _LABELS and all(map(_is_array, args[:2])):
        return type_check.invalid(name, 'arrays whose shapes and dtypes fit together', words)
    return TypeError('%s does not take these arguments: %s' % (name, words))


_LABELS, _OF_LISTS = _core._chainer_takers()
_LABELS.add('softmax_cross_entropy')  # a row of Python's own
# deprecated functions, and those to use instead
_DEPRECATED = {'batch_matmul': 'matmul', 'fixed_batch_renormalization': 'fixed_batch_normalization'}
_callables = {}


def _warning(name, function):
    """Returns a deprecated function that warns."""
    @functools.wraps(function)
    def warning(*args, **kwargs):
        warnings.warn('%s is deprecated. Use %s instead.' % (name, _DEPRECATED[name]), DeprecationWarning, stacklevel=2)
        return function(*args, **kwargs)
    return warning


def functions():
    """Returns the callables of all rows by name."""
    for path, parameters in _core._chainer_rows().items():
        name = path.rpartition('.')[2]
        unusual = _unusual.of(name)
        _callables[name] = _core._Call(path, _refusal(name, parameters, unusual))
        _unusual._rows[name] = _callables[name] if unusual is None else _core._Call(path, _refusal(name, parameters, None))
    return {**_callables, **{name: _warning(name, _callables[name]) for name in _DEPRECATED}}
