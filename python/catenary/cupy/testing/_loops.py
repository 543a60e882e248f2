"""Decorators of tests: a test for each dtype or order, a test with NumPy and with cupy whose results must agree."""

import functools
import importlib
import inspect
import itertools
import sys
import unittest

import numpy
import pytest

from catenary import _core
from catenary._installed import installed
from catenary.cupy import _util, testing
from catenary.cupy._array import ndarray

_SKIPS = (unittest.SkipTest, pytest.skip.Exception)
_OTHERS = {'scipy_name', 'sp_name'}
slow = pytest.mark.slow
multi_gpu = lambda n: pytest.mark.skipif(_core.getDeviceCount() < n, reason=f'{n} devices')  # noqa: E731


def _wraps_partial_xp(wrapped, *names):
    """Decorates like functools.wraps, but hides the arguments `names`, which the function passes itself, from pytest's fixtures."""
    def decorate(wrapper):
        functools.update_wrapper(wrapper, wrapped)
        signature = inspect.signature(wrapped)
        wrapper.__signature__ = signature.replace(
            parameters=[p for p in signature.parameters.values() if p.name not in names])
        return wrapper
    return decorate


def _public(error):
    """Returns the nearest class of an exception that programs can name."""
    return next(c for c in error.__mro__ if c.__module__ in ('builtins', 'numpy.exceptions', 'numpy.linalg'))


def _outcomes(impl, args, kwargs, name, accept_error, others):
    """Returns the results of the test with cupy and NumPy, or nothing if both raise an accepted equal exception. `others` maps options to argument
    names of further modules."""
    from catenary import cupy
    outcomes = []
    for k, module in enumerate((cupy, numpy)):
        modules = {argument: importlib.import_module(_util.beside[option][k]) for option, argument in others.items()}
        try:
            outcomes.append((impl(*args, **kwargs, **{name: module}, **modules), None))
        except _SKIPS:
            raise
        except Exception as e:
            outcomes.append((None, e))
    results, errors = zip(*outcomes)
    if errors == (None, None):
        return results
    accepted = accept_error if not isinstance(accept_error, bool) else Exception if accept_error else ()
    if not isinstance(errors[0], _public(type(errors[1]))) or not all(isinstance(e, accepted) for e in errors):
        raise AssertionError(f'cupy raises {errors[0]!r}, numpy {errors[1]!r}, accepted is {accepted}') from (
            errors[0] or errors[1])
    return None


def _others(options):
    """Returns the options that name arguments for further modules. Raises TypeError for unknown options."""
    found = {option: argument for option, argument in options.items() if argument is not None}
    if unknown := found.keys() - _OTHERS:
        raise TypeError(f'unknown options {sorted(unknown)}')
    return found


def _compared(compare, name='xp', type_check=True, accept_error=False, contiguous_check=False, _check_sparse_format=True, **options):
    others = _others(options)

    def check(ours, theirs):
        is_sparse = hasattr(ours, 'toarray') and hasattr(theirs, 'toarray')
        if is_sparse and _check_sparse_format and ours.format != theirs.format:
            raise AssertionError(f'cupy gives a matrix in the format {ours.format}, SciPy {theirs.format}')
        ours, theirs = (x.toarray() if hasattr(x, 'toarray') else x for x in (ours, theirs))
        if isinstance(theirs, numpy.poly1d):
            ours, theirs = getattr(ours, 'coeffs', ours), theirs.coeffs
        if not isinstance(ours, ndarray) and not (numpy.isscalar(ours) and numpy.isscalar(theirs)):
            raise AssertionError(f'results of the types {type(ours)} and {type(theirs)} cannot be compared')
        ours, theirs = ours if isinstance(ours, ndarray) else numpy.asarray(ours), numpy.asarray(theirs)
        if ours.shape != theirs.shape or (type_check and ours.dtype != theirs.dtype):
            raise AssertionError(f'cupy gives {ours.dtype} {ours.shape}, numpy {theirs.dtype} {theirs.shape}')
        for order in ('c_contiguous', 'f_contiguous') if contiguous_check and not is_sparse else ():
            if getattr(theirs.flags, order) and not getattr(ours.flags, order):
                raise AssertionError(f"numpy's result is {order}, cupy's is not")
        compare(ours, theirs)

    def decorator(impl):
        @_wraps_partial_xp(impl, name, *others.values())
        def test(*args, **kwargs):
            both = _outcomes(impl, args, kwargs, name, accept_error, others)
            lists = [list(r) if isinstance(r, (tuple, list)) else [r] for r in both or ((), ())]
            for pair in zip(*lists, strict=True):
                check(*pair)
        return test
    return decorator


def numpy_cupy_allclose(rtol=1e-7, atol=0, err_msg='', verbose=True, contiguous_check=True, **options):
    """Compares the results with a tolerance, which may be a dict by dtype."""
    def compare(a, b):
        limits = [x.get(b.dtype.type, x.get('default', 0)) if isinstance(x, dict) else x for x in (rtol, atol)]
        testing.assert_allclose(a, b, *limits, err_msg=err_msg, verbose=verbose)
    return _compared(compare, contiguous_check=contiguous_check, **options)


def numpy_cupy_array_equal(err_msg='', verbose=True, strides_check=False, **options):
    """Asserts that the results are equal, and on request their strides."""
    return _compared(lambda a, b: testing.assert_array_equal(a, b, err_msg, verbose, strides_check), **options)


def numpy_cupy_array_almost_equal(decimal=6, err_msg='', verbose=True, **options):
    """Asserts that the results differ by less than 1.5 in this decimal."""
    return numpy_cupy_allclose(0, 1.5 * 10.0 ** -decimal, err_msg, verbose, contiguous_check=False, **options)


def _of_host(value):
    """Returns the results with numbers in place of 0-d arrays."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_of_host, value))
    return value.get()[()] if isinstance(value, ndarray) else value


def numpy_cupy_equal(name='xp', **options):
    """Asserts that results other than arrays are equal."""
    others = _others(options)

    def decorator(impl):
        return _wraps_partial_xp(impl, name, *others.values())(
            lambda *args, **kwargs: numpy.testing.assert_equal(*map(_of_host, _outcomes(impl, args, kwargs, name, False, others))))
    return decorator


def _each(names, combinations):
    def decorator(impl):
        @_wraps_partial_xp(impl, *names)
        def test(*args, **kwargs):
            for values in combinations:
                try:
                    impl(*args, **kwargs, **dict(zip(names, values)))
                except _SKIPS:
                    continue
        return test
    return decorator


def for_dtypes_combination(dtypes, names=('dtype',), full=None):
    """Makes a test for combinations of dtypes: all if `full`, else each one with itself and with two others."""
    dtypes = [numpy.dtype(d).type for d in dtypes]
    if full:
        return _each(names, list(itertools.product(dtypes, repeat=len(names))))
    n, columns = len(dtypes), range(len(names))
    return _each(names, list(dict.fromkeys(
        tuple(dtypes[(i + k * shift) % n] for k in columns) for shift in (0, 1, 5) for i in range(n))))


for_dtypes = lambda dtypes, name='dtype': for_dtypes_combination(dtypes, (name,))  # noqa: E731
for _kind, _letters in {'all': 'dfebhiqBHIQ?FD', 'float': 'dfe', 'int': 'bhiqBHIQ?', 'signed': 'bhiq', 'unsigned': 'BHIQ',
                        'complex': 'FD'}.items():
    def _chosen(no_float16=False, no_bool=False, no_complex=False, _letters=_letters):
        return [d for d in _letters if not (no_float16 and d == 'e' or no_bool and d == '?' or no_complex and d in 'FD')]
    globals()[f'for_{_kind}_dtypes'] = lambda name='dtype', _chosen=_chosen, **no: for_dtypes(_chosen(**no), name)
    globals()[f'for_{_kind}_dtypes_combination'] = lambda names=('dtype',), full=None, _chosen=_chosen, **no: (
        for_dtypes_combination(_chosen(**no), names, full))


for_orders = lambda orders, name='order': _each((name,), [(o,) for o in orders])  # noqa: E731
for_CF_orders = functools.partial(for_orders, 'CF')
assert_warns = pytest.warns
numpy_satisfies = lambda versions: installed('numpy' + versions)  # noqa: E731


def for_contiguous_axes(name='axis'):
    """Returns a test for the axes, of a class's `shape` and `order`, whose elements lie without gaps."""
    def decorator(impl):
        @_wraps_partial_xp(impl, name)
        def test(self, *args, **kwargs):
            shape, order = (kwargs[n] if n in kwargs else getattr(self, n) for n in ('shape', 'order'))
            axes = tuple(range(len(shape)))
            for i in axes:
                impl(self, *args, **kwargs, **{name: axes[i:] if order in 'cC' else axes[:i + 1]})
        return test
    return decorator


def product(parameter):
    """Returns dicts of all combinations of the values in a dict of lists."""
    return [dict(zip(parameter, values)) for values in itertools.product(*parameter.values())]


def product_dict(*parameters):
    """Returns the merged dicts of all combinations of one dict from each list."""
    return [{k: v for part in parts for k, v in part.items()} for parts in itertools.product(*parameters)]


def parameterize(*params, _ids=True):
    """Makes one test class per dict, with its items as attributes."""
    def decorate(cls):
        for i, param in enumerate(params):
            name = f'{cls.__name__}_param_{i}'
            own = {'_parameters': param, '__test__': True, '__module__': cls.__module__}
            setattr(sys.modules[cls.__module__], name, type(name, (cls,), {**param, **own}))
        cls.__test__ = False
        return cls
    return decorate


def with_requires(*requirements):
    """Skips a test whose requirements, such as 'numpy>=1.25', are not met."""
    met = installed(*requirements)
    return pytest.mark.skipif(False, reason='') if met else pytest.mark.skip(reason=f'needs {requirements}')
