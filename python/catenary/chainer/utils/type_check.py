"""Type checks of functions: expressions over shapes and dtypes that explain themselves.

A check such as ``expect(x_type.ndim == 2)`` builds an expression tree. ``expect`` evaluates it and raises
``InvalidType`` with the expression and the values that were found.
"""
import contextlib
import functools
import operator
import threading

import numpy

_state = threading.local()

_BOOLEAN, _OR, _XOR, _AND, _SHIFT, _ADD, _MULTIPLY, _UNARY, _POWER, _ATOM = range(-1, 9)


@contextlib.contextmanager
def get_function_check_context(f):
    """Names `f` in the messages of checks that fail inside the block."""
    before = getattr(_state, 'function', None)
    _state.function = f
    try:
        yield
    finally:
        _state.function = before


class TypeInfo:
    """Shape and dtype of one array."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)

    @property
    def size(self):
        return functools.reduce(operator.mul, self.shape, 1)


class TypeInfoTuple(tuple):
    """Expressions for several arrays. ``name`` is the name of the tuple in messages."""

    name = None

    def size(self):
        return Variable(len(self), '{}.size'.format(self.name))


class LightTypeInfoTuple(tuple):
    """Arrays themselves, in light mode, where a check costs no expression tree."""

    def size(self):
        return len(self)


def _shapes_of(data, shapes):
    return [None] * len(data) if shapes is None else shapes


def get_types(data, name, accept_none, *, shapes=None):
    """Returns a `TypeInfoTuple` with an expression for each array of the tuple `data`."""
    assert isinstance(data, tuple)
    entries = []
    for index, (array, shape) in enumerate(zip(data, _shapes_of(data, shapes))):
        label = '{}[{}]'.format(name, index)
        if array is None and accept_none:
            entries.append(Variable(None, label))
        else:
            assert array is not None
            entries.append(Variable(TypeInfo(array.shape if shape is None else shape, array.dtype), label))
    types = TypeInfoTuple(entries)
    types.name = name
    return types


def get_light_types(data, *, shapes=None):
    """Returns the arrays of `data`, or records of `shapes` where they are given, as a tuple."""
    assert isinstance(data, tuple)
    return LightTypeInfoTuple([array if shape is None else TypeInfo(shape, array.dtype)
                               for array, shape in zip(data, _shapes_of(data, shapes))])


class Expr:
    """A node of an expression tree. `priority` decides where the text needs parentheses."""

    __hash__ = object.__hash__

    def __init__(self, priority):
        self.priority = priority

    def eval(self):
        raise NotImplementedError(type(self).__name__ + ' has no eval()')

    def __getattr__(self, name):
        if name.startswith('__') and name.endswith('__'):
            raise AttributeError(name)
        return GetAttr(self, name)

    def __getitem__(self, key):
        return GetItem(self, key)

    def __call__(self, *args):
        return Call(self, args)

    def __bool__(self):
        raise RuntimeError('an expression of a type check has no truth value: give it to type_check.expect')

    __nonzero__ = __bool__


def _eval_expr(value):
    if isinstance(value, Expr):
        return value.eval()
    if isinstance(value, (list, tuple)):
        return type(value)([_eval_expr(entry) for entry in value])
    return value


def _repr(value):
    if isinstance(value, Expr):
        return str(value)
    if isinstance(value, list):
        return '[{}]'.format(', '.join(map(_repr, value)))
    if isinstance(value, tuple):
        if len(value) == 1:
            return '({},)'.format(_repr(value[0]))
        return '({})'.format(', '.join(map(_repr, value)))
    return str(value) if isinstance(value, numpy.dtype) else repr(value)


class Atom(Expr):
    """An expression that never needs parentheses."""

    def __init__(self):
        super().__init__(_ATOM)


class Constant(Atom):
    """A value that is its own name."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def eval(self):
        return self.value

    def __str__(self):
        return _repr(self.value)


class Variable(Atom):
    """A value with a name."""

    def __init__(self, value, name):
        super().__init__()
        self.value, self.name = value, name

    def eval(self):
        return self.value

    def __str__(self):
        return self.name


class GetAttr(Atom):
    """``obj.name``."""

    def __init__(self, obj, name):
        super().__init__()
        self.obj = obj
        self.name = name

    def _key(self):
        return self.name.value if isinstance(self.name, Constant) else self.name

    def __str__(self):
        key = self._key()
        return '{}.{}'.format(self.obj, key) if isinstance(key, str) else 'getattr({}, {})'.format(self.obj, _repr(key))

    def eval(self):
        return getattr(_eval_expr(self.obj), _eval_expr(self.name))


def _str_subscript(key):
    if key is Ellipsis:
        return '...'
    if not isinstance(key, slice):
        return _repr(key)
    ends = ['' if end is None else _repr(end) for end in (key.start, key.stop, key.step)]
    return ':'.join(ends if key.step is not None else ends[:2])


class GetItem(Atom):
    """``obj[key]``."""

    def __init__(self, obj, key):
        super().__init__()
        self.obj = obj
        self.key = key

    def __str__(self):
        keys = self.key if isinstance(self.key, tuple) else (self.key,)
        return '{}[{}]'.format(self.obj, ', '.join(map(_str_subscript, keys)))

    def eval(self):
        return _eval_expr(self.obj)[_eval_expr(self.key)]


class Call(Atom):
    """``obj(*args)``."""

    def __init__(self, obj, args):
        super().__init__()
        self.obj = obj
        self.args = args

    def __str__(self):
        return '{}({})'.format(self.obj, ', '.join(map(_repr, self.args)))

    def eval(self):
        return _eval_expr(self.obj)(*_eval_expr(tuple(self.args)))


def _parenthesized(term, wanted):
    text = _repr(term)
    return '({})'.format(text) if wanted else text


class UnaryOperator(Expr):
    """An operator in front of one term."""

    def __init__(self, priority, term, exp, func):
        super().__init__(priority)
        self.term, self.exp, self.func = term, exp, func

    def eval(self):
        return self.func(_eval_expr(self.term))

    def __str__(self):
        priority = getattr(self.term, 'priority', _ATOM)
        return self.exp + _parenthesized(self.term, priority < self.priority)


class BinaryOperator(Expr):
    """An operator between two terms."""

    def __init__(self, priority, lhs, rhs, exp, func, right_associative=False):
        super().__init__(priority)
        self.lhs, self.rhs = lhs, rhs
        self.exp, self.func = exp, func
        self.right_associative = right_associative

    def eval(self):
        return self.func(self._eval_left(), self._eval_right())

    def _eval_left(self):
        return _eval_expr(self.lhs)

    def _eval_right(self):
        return _eval_expr(self.rhs)

    def __str__(self):
        def weaker(term, or_equal):
            priority = term.priority if isinstance(term, Expr) else _ATOM
            return priority < self.priority or or_equal and priority == self.priority

        left = _parenthesized(self.lhs, weaker(self.lhs, self.right_associative))
        right = _parenthesized(self.rhs, weaker(self.rhs, not self.right_associative))
        return ' '.join((left, self.exp, right))


class Testable:
    """An expression that ``expect`` accepts."""

    def expect(self):
        raise NotImplementedError(type(self).__name__ + ' has no expect()')


class BoolBinaryOperator(BinaryOperator, Testable):
    """A comparison. `inv` is the opposite operator, for the message of a failed check."""

    def __init__(self, lhs, rhs, exp, inv, func):
        super().__init__(_BOOLEAN, lhs, rhs, exp, func)
        self.inv = inv

    def expect(self):
        left, right = self._eval_left(), self._eval_right()
        if not self.func(left, right):
            raise InvalidType('{} {} {}'.format(_repr(self.lhs), self.exp, _repr(self.rhs)),
                              '{} {} {}'.format(_repr(left), self.inv, _repr(right)))


def _add_operators():
    def binary(name, exp, priority, right_associative=False):
        func = getattr(operator, name)
        name = name.strip('_')
        setattr(Expr, '__{}__'.format(name),
                lambda x, y: BinaryOperator(priority, x, y, exp, func, right_associative))
        if name != 'pow':
            setattr(Expr, '__r{}__'.format(name), lambda x, y: BinaryOperator(priority, y, x, exp, func))

    for name, exp, priority in (
            ('or_', '|', _OR), ('xor', '^', _XOR), ('and_', '&', _AND), ('lshift', '<<', _SHIFT),
            ('rshift', '>>', _SHIFT), ('add', '+', _ADD), ('sub', '-', _ADD), ('mul', '*', _MULTIPLY),
            ('truediv', '/', _MULTIPLY), ('floordiv', '//', _MULTIPLY), ('mod', '%', _MULTIPLY)):
        binary(name, exp, priority)
    binary('pow', '**', _POWER, True)
    for name, exp in (('neg', '-'), ('pos', '+'), ('invert', '~')):
        setattr(Expr, '__{}__'.format(name),
                lambda x, exp=exp, func=getattr(operator, name): UnaryOperator(_UNARY, x, exp, func))
    for name, exp, inverse in (('eq', '==', '!='), ('ne', '!=', '=='), ('lt', '<', '>='), ('le', '<=', '>'),
                               ('gt', '>', '<='), ('ge', '>=', '<')):
        setattr(Expr, '__{}__'.format(name),
                lambda x, y, exp=exp, inverse=inverse, func=getattr(operator, name):
                BoolBinaryOperator(x, y, exp, inverse, func))


_add_operators()


class InvalidType(Exception):
    """Raised when the arguments of a function have a wrong shape, dtype or number."""

    def __init__(self, expect, actual, msg=None):
        if msg is None:
            msg = 'Expect: {}\nActual: {}'.format(expect, actual)
            function = getattr(_state, 'function', None)
            if function is not None:
                label = getattr(function, '_impl_name', None) or type(function).__name__
                msg = '\nInvalid operation is performed in: {} (Forward)\n\n{}'.format(label, msg)
        super().__init__(msg)
        self.expect = expect
        self.actual = actual

    def __reduce__(self):
        return InvalidType, (self.expect, self.actual, self.args[0])


def invalid(function, expected, actual):
    """Returns an InvalidType that names the function. `actual` is empty if `expected` is a sentence that says all."""
    words = 'Expect: {}\nActual: {}'.format(expected, actual) if actual else expected
    return InvalidType(expected, actual, '\nInvalid operation is performed in: {} (Forward)\n\n{}'.format(function, words))


def _argname(in_types, names):
    """Names the arguments of a function in messages."""
    if len(in_types) != len(names):
        raise InvalidType('{} argument(s)'.format(len(names)), '{} argument(s)'.format(len(in_types)),
                          'Invalid number of arguments: {} expected, {} given'.format(len(names), len(in_types)))
    if not in_light_mode():
        for entry, name in zip(in_types, names):
            if isinstance(entry, Variable):
                entry.name = name


def expect(*bool_exprs):
    """Raises `InvalidType` unless every expression holds."""
    if in_light_mode():
        for flag in bool_exprs:
            if not flag:
                raise InvalidType('', '')
        return
    for expr in bool_exprs:
        assert isinstance(expr, Testable)
        expr.expect()


def same_types(*arrays):
    """Returns whether all arrays are NumPy's, or all are of one other kind."""
    if not arrays or all(isinstance(array, numpy.ndarray) for array in arrays):
        return True
    kind = type(arrays[0])
    return all(type(array) is kind for array in arrays)


def eval(exp):
    """Returns the value of an expression. In light mode an expression is its value."""
    return exp.eval() if isinstance(exp, Expr) else exp


def make_variable(value, name):
    """Returns `value` with a name for messages."""
    return value if in_light_mode() else Variable(value, name)


def _make_variable_from_array(array, name):
    return array if in_light_mode() else Variable(TypeInfo(array.shape, array.dtype), name)


class LightMode:
    """A block whose checks compare values at once and have no text for their messages."""

    def __enter__(self):
        self.before = in_light_mode()
        _state.light = True

    def __exit__(self, exc_type, exc_value, traceback):
        _state.light = self.before


def in_light_mode():
    return getattr(_state, 'light', False)


light_mode = LightMode()


def _product(xs):
    return functools.reduce(operator.mul, map(_eval_expr, xs), 1) if isinstance(xs, (list, tuple)) else numpy.prod(xs)


_prod = Variable(_product, 'prod')


def prod(xs):
    """Returns the product of `xs` as an expression."""
    return _product(xs) if in_light_mode() else _prod(xs)


def expect_broadcast_shapes(*shape_types):
    """Raises `InvalidType` unless the shapes broadcast together."""
    shapes = [_eval_expr(shape) for shape in shape_types]
    longest = max(map(len, shapes))
    sizes = [set() for _ in range(longest)]
    for shape in shapes:
        for axis, size in enumerate(shape, longest - len(shape)):
            if size != 1:
                sizes[axis].add(size)
    if any(len(different) > 1 for different in sizes):
        names = ', '.join(map(_repr, shape_types))
        raise InvalidType('each axis of the shapes {} has equal sizes or 1'.format(names), ', '.join(map(str, shapes)))
