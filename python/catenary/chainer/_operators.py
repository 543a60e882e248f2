"""Operators of variables where the compiled graph does not compute them: integers, other types and mixed dtypes."""

import numpy

from catenary import _core

from .backends import cuda
from .variable import Variable, as_variable

_ARRAYS = (numpy.ndarray, cuda.ndarray)


def _operand(value, beside):
    """Returns the other operand as a Variable or a number, or None for a type that is no operand."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, numpy.ndarray) and value.ndim == 0 and isinstance(beside.array, cuda.ndarray):
        return value.item()
    if isinstance(value, _ARRAYS):
        return as_variable(value)
    if numpy.isscalar(value) and not isinstance(value, (str, bytes)):
        return value
    return None


def _binary(symbol, function):
    def method(self, other):
        a, b = self, _operand(other, self)
        if b is None:
            return NotImplemented
        return _computed(symbol, function, a, b)
    return method


def _reflected(symbol, function):
    def method(self, other):
        b = _operand(other, self)
        if b is None:
            return NotImplemented
        return _computed(symbol, function, b, self)
    return method


def _computed(symbol, function, a, b):
    from . import functions
    arrays = [x for x in (a, b) if isinstance(x, Variable)]
    if any(x.array is None for x in arrays):
        raise ValueError('%s: an operand is a Variable without values' % symbol)
    dtypes = {x.dtype for x in arrays}
    if all(dtype.kind == 'f' for dtype in dtypes) and len(dtypes) > 1:
        dtype = numpy.result_type(*dtypes)
        return function(*[functions.cast(x, dtype) if isinstance(x, Variable) and x.dtype != dtype else x for x in (a, b)])
    if all(dtype.kind == 'f' for dtype in dtypes):
        shapes = [x.shape for x in arrays]
        try:
            numpy.broadcast_shapes(*shapes)
        except ValueError:
            from .utils import type_check
            raise type_check.InvalidType('%s: shapes that broadcast' % symbol, ' and '.join(map(str, shapes))) from None
    # without gradients: integers and bools
    values = [x.array if isinstance(x, Variable) else x for x in (a, b)]
    return Variable(arrays[0].xp.asarray(function(*values)), requires_grad=False)


def _negative(self):
    return Variable(-self.array, requires_grad=False)


def _get_item(self, key):
    return Variable(self.xp.asarray(self.array[key]), requires_grad=False)


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


def _positive(self):
    from . import functions
    return functions.identity(self)


def _absolute(self):
    from . import functions
    return functions.absolute(self)


def _reflected_floor_divide(self, other):
    from . import functions
    return functions.floor(other / self)


Variable.__floordiv__ = _floor_divide
Variable.__rfloordiv__ = _reflected_floor_divide
Variable.__abs__ = _absolute
Variable.__pos__ = _positive
_install()
