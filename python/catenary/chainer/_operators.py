"""Operators of variables where the compiled graph does not compute them: integers, other types and mixed dtypes."""

import numpy

from catenary import _core

from . import backend
from .backends import cuda
from .function_node import FunctionNode
from .variable import Variable, as_variable


def _operand(value, beside):
    """Returns the other operand as a Variable or a number, or None for a type that is no operand."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, numpy.ndarray) and value.ndim == 0 and isinstance(beside.array, cuda.ndarray):
        return value.item()
    if backend.is_array(value):
        return as_variable(value)
    if numpy.isscalar(value) and not isinstance(value, (str, bytes)):
        return value
    return None


def _of_dtype(value, beside):
    """Returns an array as an operand of the variable's dtype, as arrays are constants."""
    if backend.is_array(value) and beside.array is not None and value.dtype != beside.dtype:
        return value.astype(beside.dtype)
    return value


def _binary(symbol, function):
    def method(self, other):
        a, b = self, _operand(_of_dtype(other, self), self)
        if b is None:
            return NotImplemented
        return _computed(symbol, function, a, b, b is other)
    return method


def _reflected(symbol, function):
    def method(self, other):
        b = _operand(_of_dtype(other, self), self)
        if b is None:
            return NotImplemented
        return _computed(symbol, function, b, self, b is other)
    return method


def _computed(symbol, function, a, b, unchanged):
    """Returns the result for operands that the compiled graph does not take. `unchanged` tells whether they are those that it saw."""
    arrays = [x for x in (a, b) if isinstance(x, Variable)]
    if any(x.array is None for x in arrays):
        raise ValueError('%s: an operand is a Variable without values' % symbol)
    if symbol == '@':
        from . import functions
        return functions.matmul(a, b)
    dtypes, shapes = [x.dtype for x in arrays], [x.shape for x in arrays]
    if len(set(dtypes)) > 1:
        raise _invalid(symbol, 'lhs.dtype == rhs.dtype', '%s != %s' % tuple(dtypes))
    try:
        numpy.broadcast_shapes(*shapes)
    except ValueError:
        raise _invalid(symbol, 'shapes that broadcast', ' and '.join(map(str, shapes))) from None
    if dtypes[0].kind != 'f' and (symbol == '**' or len(arrays) == 2 and symbol not in _OF_INTEGERS):
        raise _invalid(symbol, 'x.dtype.kind == f', '%s != f' % dtypes[0].kind)
    if dtypes[0].kind == 'f':
        return _again(symbol, function, a, b, unchanged)
    if len(arrays) == 2 and shapes[0] == shapes[1]:
        return _Integers(symbol, function).apply(arrays)[0]
    # without gradients: integers and bools
    values = [x.array if isinstance(x, Variable) else x for x in (a, b)]
    return Variable(arrays[0].xp.asarray(function(*values)).astype(arrays[0].dtype), requires_grad=False)


def _again(symbol, function, a, b, unchanged):
    """Computes with an array that has become a variable, or a number that has become Python's."""
    if unchanged and not any(isinstance(x, numpy.generic) for x in (a, b)):
        kinds = [type(getattr(x, 'array', x)) for x in (a, b)]
        raise TypeError('%s: these operands are of different devices or not supported: %s and %s' % (symbol, *kinds))
    return function(*[x.item() if isinstance(x, numpy.generic) else x for x in (a, b)])


_OF_INTEGERS = frozenset('+-')


def _invalid(symbol, expected, actual):
    from .utils import type_check
    return type_check.invalid('_ %s _' % symbol, expected, actual)


class _Integers(FunctionNode):
    """A sum or difference of two arrays of integers of one shape."""

    def __init__(self, symbol, function):
        self._symbol, self._function = symbol, function

    @property
    def label(self):
        return '_ %s _' % self._symbol

    def forward(self, inputs):
        return self._function(*inputs),

    def backward(self, indexes, grad_outputs):
        gradient, = grad_outputs
        return gradient, gradient if self._symbol == '+' else -gradient


def _negative(self):
    return Variable(-self.array, requires_grad=False)


def _get_item(self, key):
    from . import functions
    return functions.get_item(self, key)


def _install():
    import operator
    pairs = [('+', operator.add), ('-', operator.sub), ('*', operator.mul), ('/', operator.truediv), ('**', operator.pow)]
    matmul = ('@', operator.matmul)
    own = [_binary(*pair) for pair in pairs] + [_negative, _get_item, _binary(*matmul)]
    other = [_reflected(*pair) for pair in pairs] + [None, None, _reflected(*matmul)]
    _core._chainer_operators(own, other)


def _floor_divide(self, other):
    from . import functions
    return functions.floor(self / other)


def _absolute(self):
    from . import functions
    return functions.absolute(self)


def _reflected_floor_divide(self, other):
    from . import functions
    return functions.floor(other / self)


Variable.__floordiv__ = _floor_divide
Variable.__rfloordiv__ = _reflected_floor_divide
Variable.__abs__ = _absolute
_install()
