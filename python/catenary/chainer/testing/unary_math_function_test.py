"""Tests of functions that are applied to each element."""

import unittest

import numpy

from ..backends import cuda
from . import attr, parameterized, random


def _name(func):
    """Returns the function's name, which is NumPy's too."""
    return func.__name__


def is_available():
    """Returns whether pytest is installed."""
    return attr.is_available()


def check_available():
    """Raises RuntimeError if pytest is not installed."""
    attr.check_available()


def _make_data_default(shape, dtype):
    x = numpy.random.uniform(-1, 1, shape).astype(dtype, copy=False)
    return (x, *[numpy.random.uniform(-1, 1, shape).astype(dtype, copy=False) for _ in range(2)])


def unary_math_function_unittest(func, func_expected=None, label_expected=None, make_data=None, is_linear=None, forward_options=None,
                                 backward_options=None, double_backward_options=None):
    """Returns a class decorator that adds the tests of a function of each element, for three types and two shapes.

    `func_expected(x, dtype)` gives the expected values, NumPy's function of the same name by default. `label_expected` is the name of the function's
    node. `make_data(shape, dtype)` returns inputs, gradients of outputs and gradients of gradients. `is_linear` leaves out the gradients of gradients.
    """
    if func_expected is None:
        reference = getattr(numpy, _name(func), None)
        if reference is None:
            raise ValueError(f'NumPy has no function {_name(func)}: give func_expected')

        def func_expected(x, dtype):
            return reference(x).astype(dtype, copy=False)
    options = {'make_data': make_data or _make_data_default, 'label': label_expected or _name(func), 'forward': forward_options,
               'backward': backward_options, 'double_backward': double_backward_options}

    def decorate(klass):
        assert issubclass(klass, unittest.TestCase), 'the decorated class has to be a unittest.TestCase'
        for name, method in _methods(func, func_expected, options, is_linear).items():
            setattr(klass, name, method)
        random.fix_random()(klass)
        return parameterized.parameterize(*parameterized.product({
            'shape': [(3, 2), ()], 'dtype': [numpy.float16, numpy.float32, numpy.float64]}))(klass)
    return decorate


def _tolerances(case, options):
    """Returns the options of the three checks, which are wider for float16."""
    is_half = case.dtype == numpy.float16
    forward = options['forward'] or ({'atol': 1e-3, 'rtol': 1e-3} if is_half else {})
    backward = {'dtype': numpy.float64, **({'atol': 1e-2, 'rtol': 1e-2, 'eps': 2 ** -4} if is_half else {'atol': 1e-4, 'rtol': 1e-4})}
    backward.update(options['backward'] or {})
    double = {'dtype': numpy.float64, **({'atol': 1e-2, 'rtol': 1e-2, 'eps': 2 ** -4} if is_half else {'atol': 1e-4, 'rtol': 1e-4})}
    double.update(options['double_backward'] or {})
    return forward, backward, double


def _methods(func, func_expected, options, is_linear):
    """Returns the methods that the decorator adds."""
    def set_up(self):
        self.x, self.gy, self.ggx = options['make_data'](self.shape, self.dtype)
        self.forward_options, self.backward_options, self.double_backward_options = _tolerances(self, options)

    def check_forward(self, x_data):
        from .. import Variable
        from .array import assert_allclose
        y = func(Variable(x_data))
        self.assertEqual(y.array.dtype, x_data.dtype)
        assert_allclose(func_expected(self.x, self.dtype), y.array, **self.forward_options)

    def check_backward(self, x_data, y_grad):
        from .. import gradient_check
        gradient_check.check_backward(func, x_data, y_grad, **self.backward_options)

    def check_double_backward(self, x_data, y_grad, x_grad_grad):
        from .. import gradient_check

        def made_nonlinear(x):
            # gradients of gradients of a linear function are zero
            y = func(x)
            return y * y if is_linear else y
        gradient_check.check_double_backward(made_nonlinear, x_data, y_grad, x_grad_grad, **self.double_backward_options)

    def test_label(self):
        from .. import Variable
        y = func(Variable(self.x))
        self.assertEqual(y.creator.label.lower(), options['label'].lower())

    methods = {'setUp': set_up, 'check_forward': check_forward, 'check_backward': check_backward, 'check_double_backward': check_double_backward,
               'test_label': test_label}
    for check, names in (('forward', ('x',)), ('backward', ('x', 'gy')), ('double_backward', ('x', 'gy', 'ggx'))):
        methods[f'test_{check}_cpu'] = _test(check, names, 'cpu')
        methods[f'test_{check}_gpu'] = attr.gpu(_test(check, names, 'gpu'))
    return methods


def _test(check, names, place):
    """Returns the test method that calls a check with arrays on the host or on a GPU."""
    def test(self):
        arrays = [getattr(self, name) for name in names]
        getattr(self, 'check_' + check)(*[cuda.to_gpu(array) if place == 'gpu' else array for array in arrays])
    test.__name__ = f'test_{check}_{place}'
    return test
