"""Translates the syntax tree of a Python function to CUDA C++ for the types of its arguments.

An expression is a `Data` (C++ text and its dtype), a `Constant` (a Python object known at translation, so Python evaluates expressions of
constants), an array, or a tuple of these. A variable has the type of its first value. Unsupported Python raises an error with its line.
"""

import ast
import inspect
import textwrap

import numpy

from catenary.cupy._array import ndarray
from catenary.cupyx.jit._numbers import BOOL, HELPERS, INT64, Array, ArrayType, Builtin, Constant, Data, Local, Loop, Numbers, SharedMemory

_OPERATORS = {ast.Add: 'add', ast.Sub: 'subtract', ast.Mult: 'multiply', ast.Div: 'true_divide', ast.FloorDiv: 'floor_divide',
              ast.Mod: 'remainder', ast.Pow: 'power', ast.LShift: 'left_shift', ast.RShift: 'right_shift', ast.BitOr: 'bitwise_or',
              ast.BitAnd: 'bitwise_and', ast.BitXor: 'bitwise_xor', ast.Eq: 'equal', ast.NotEq: 'not_equal', ast.Lt: 'less',
              ast.LtE: 'less_equal', ast.Gt: 'greater', ast.GtE: 'greater_equal', ast.USub: 'negative', ast.UAdd: 'positive',
              ast.Invert: 'invert', ast.Not: 'logical_not'}


def kernel(made, types):
    """Returns (text of a kernel for these types (ArrayType, dtype), its name in the text)."""
    unit = _Unit()
    name = unit.function(made, types, 'extern "C" __global__')[0]
    return ''.join(HELPERS[helper] for helper in sorted(unit.needed)) + ''.join(unit.texts), name


class _Unit:
    """The text of a kernel under construction: finished functions, and those in progress."""

    def __init__(self):
        self.texts, self.needed, self.made, self.under_way, self.count = [], set(), {}, [], 0

    def function(self, made, types, specifier):
        """Returns (name, result dtype) of a function for these types."""
        key = id(made), tuple(types)
        if key in self.under_way:
            raise ValueError('%s: a function that calls itself is not supported' % made.__name__)
        if key not in self.made:
            self.under_way.append(key)
            plain = made.__name__ if made.__name__.isascii() and made.__name__.isidentifier() else 'kernel'
            self.count += 1
            name = 'jit_%s' % plain if specifier != '__device__' else 'jit_%s_%d' % (plain, self.count)
            text, result = _Function(self, made, types).translated(name, specifier)
            self.under_way.pop()
            self.texts.append(text)
            self.made[key] = name, result, made  # keeps the function alive, so that its id stays unique
        return self.made[key][:2]


class _Function(Numbers):
    def __init__(self, unit, made, types):
        self.unit, self.made, self.mode = unit, made, made._mode
        func = made._func
        try:
            lines, self.first = inspect.getsourcelines(func)
        except OSError:
            raise ValueError('%s: the source cannot be read; define the kernel in a file, not in an interactive session' % made.__name__) from None
        self.lines = textwrap.dedent(''.join(lines)).split('\n')
        self.tree = next((n for n in ast.parse('\n'.join(self.lines)).body if isinstance(n, ast.FunctionDef)), None)
        if self.tree is None:
            raise ValueError('%s: expected a function defined by def' % made.__name__)
        given = self.tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            raise ValueError('%s: parameters of a kernel cannot have defaults, * or **' % made.__name__)
        self.names = [a.arg for a in given.posonlyargs + given.args]
        if len(self.names) != len(types):
            raise TypeError('%s takes %d arguments, given %d' % (made.__name__, len(self.names), len(types)))
        found = inspect.getclosurevars(func)
        self.known = {**found.builtins, **found.globals, **found.nonlocals}
        self.variables, self.declared, self.body, self.depth, self.temporaries = {}, [], [], 1, 0
        self.result, self.is_device = None, made._device
        self.types = types

    # ------------------------------------------------------------------ the function
    def translated(self, name, specifier):
        parameters = []
        for given, type in zip(self.names, self.types):
            own = 'v_' + given
            if isinstance(type, ArrayType):
                array = self.variables[given] = Array(own, type)
                parameters += ['%s* %s' % (self.word(type.dtype), own)]
                parameters += ['long long %s' % v.text for v in array.numbers('n') + array.numbers('s')]
            else:
                self.variables[given] = Data(own, type)
                parameters.append('%s %s' % (self.word(type), own))
        self.block(self.tree.body)
        result = 'void' if self.result is None else self.word(self.result)
        return '%s %s %s(%s) {\n%s%s}\n' % (specifier, result, name, ', '.join(parameters), ''.join(self.declared),
                                            ''.join(self.body)), self.result

    def block(self, statements):
        for node in statements:
            try:
                getattr(self, 'do_' + type(node).__name__, self.refuse)(node)
            except Exception as error:
                if getattr(error, 'is_told', False) or not isinstance(error, (TypeError, ValueError, NameError, NotImplementedError,
                                                                             AttributeError, IndexError, ZeroDivisionError)):
                    raise
                told = type(error)('%s\n  in %s, line %d: %s' % (error, self.made.__name__, self.first + node.lineno - 1,
                                                                 self.lines[node.lineno - 1].strip()))
                told.is_told = True
                raise told from None

    def refuse(self, node):
        raise NotImplementedError('%s cannot be in a kernel' % type(node).__name__)

    def emit(self, text):
        self.body.append('  ' * self.depth + text + '\n')

    def inside(self, statements, head):
        self.emit(head + ' {')
        self.depth += 1
        self.block(statements)
        self.depth -= 1
        self.emit('}')

    # ------------------------------------------------------------------ statements
    def do_Pass(self, node):
        pass

    def do_Break(self, node):
        self.emit('break;')

    def do_Continue(self, node):
        self.emit('continue;')

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        value = self.expression(node.value)
        if isinstance(value, Data):
            self.emit(value.text + ';')

    def do_Return(self, node):
        value = Constant(None) if node.value is None else self.expression(node.value)
        if isinstance(value, Constant) and value.obj is None:
            return self.emit('return;')
        if not self.is_device:
            raise TypeError('a kernel cannot return a value; store it in an argument')
        value = self.data(value)
        if self.result not in (None, value.dtype):
            raise TypeError('the function returns %s here and %s before' % (value.dtype, self.result))
        self.result = value.dtype
        self.emit('return %s;' % value.text)

    def do_If(self, node):
        test = self.expression(node.test)
        if isinstance(test, Constant):
            return self.block(node.body if test.obj else node.orelse)
        self.inside(node.body, 'if (%s)' % self.truth(test))
        if node.orelse:
            self.inside(node.orelse, 'else')

    def do_While(self, node):
        if node.orelse:
            raise NotImplementedError('a while loop with else cannot be in a kernel')
        self.inside(node.body, 'while (%s)' % self.truth(self.expression(node.test)))

    def do_For(self, node):
        if node.orelse:
            raise NotImplementedError('a for loop with else cannot be in a kernel')
        if not isinstance(node.target, ast.Name):
            raise NotImplementedError('a for loop in a kernel needs exactly one variable')
        loop = self.expression(node.iter)
        if not isinstance(loop, Loop):
            raise TypeError('for loops in a kernel need range(), not %s' % type(node.iter).__name__)
        dtype = self.common((loop.start, loop.stop, loop.step))
        variable = self.variables.get(node.target.id)
        if variable is None:
            variable = self.declare(node.target.id, dtype)
        if not isinstance(variable, Data):
            raise TypeError('the variable %s is not a number' % node.target.id)
        count, stop = self.temporary(dtype, None), self.temporary(dtype, loop.stop)
        word, start = self.word(dtype), self.cast(loop.start, dtype)
        if isinstance(loop.step, Constant):
            step, test = self.cast(loop.step, dtype), '%s %s %s' % (count, '<' if loop.step.obj > 0 else '>', stop)
        else:
            step = self.temporary(dtype, loop.step)
            test = '%s < %s' % (count, stop) if dtype.kind == 'u' else '(%s > 0 ? %s < %s : %s > %s)' % (step, count, stop, count, stop)
        if loop.unroll is not None:
            self.body.append('#pragma unroll%s\n' % ('' if loop.unroll is True else '(%d)' % (loop.unroll or 1)))
        self.emit('for (%s = %s; %s; %s += (%s)%s) {' % (count, start, test, count, word, step))
        self.depth += 1
        self.emit('%s = %s;' % (variable.text, self.cast(Data(count, dtype), variable.dtype)))
        self.block(node.body)
        self.depth -= 1
        self.emit('}')

    def do_Assign(self, node):
        if len(node.targets) != 1:
            raise NotImplementedError('a kernel can assign to only one target at a time')
        self.assign(node.targets[0], self.expression(node.value))

    def do_AnnAssign(self, node):
        if node.value is None:
            raise NotImplementedError('a variable without a value cannot be in a kernel')
        self.assign(node.target, self.expression(node.value))

    def do_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):
            base, index = self.expression(node.target.value), self.expression(node.target.slice)
            index = tuple(i if isinstance(i, Constant) else Data(self.temporary(self.type_of(i), i), self.type_of(i))
                          for i in (index if isinstance(index, tuple) else (index,)))  # evaluated once
            place = self.element(base, index)
        else:
            place = self.expression(node.target)
            if not isinstance(place, Data):
                raise TypeError('a variable has no value yet')
        value = self.operation(_OPERATORS[type(node.op)], place, self.expression(node.value))
        self.emit('%s = %s;' % (place.text, self.cast(value, place.dtype)))

    def assign(self, target, value):
        if isinstance(target, ast.Subscript):
            place = self.element(self.expression(target.value), self.expression(target.slice))
            return self.emit('%s = %s;' % (place.text, self.cast(value, place.dtype)))
        if isinstance(value, Constant) and isinstance(value.obj, tuple):
            value = tuple(map(Constant, value.obj))
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple):
                raise ValueError('only a tuple can be unpacked into %d variables' % len(target.elts))
            if len(value) != len(target.elts):
                raise ValueError('cannot unpack %d values into %d variables' % (len(value), len(target.elts)))
            if len(value) > 1:  # all values are evaluated before the first assignment
                value = [v if isinstance(v, Constant) else Data(self.temporary(self.type_of(v), v), self.type_of(v)) for v in value]
            for each, part in zip(target.elts, value):
                self.assign(each, part)
            return
        if not isinstance(target, ast.Name):
            self.refuse(target)
        name = target.id
        if isinstance(value, SharedMemory):
            if name in self.variables:
                raise TypeError('the variable %s has a value already' % name)
            size = '' if value.size is None else str(value.size)
            self.declared.append('  %s__shared__ %s v_%s[%s];\n' % ('' if size else 'extern ', self.word(value.dtype), name, size))
            self.variables[name] = Local('v_' + name, value.dtype)
        elif isinstance(value, (tuple, Array, Local)):
            if name in self.variables:
                raise TypeError('the variable %s has a value already' % name)
            self.variables[name] = value if not isinstance(value, tuple) else tuple(
                v if isinstance(v, Constant) else Data(self.temporary(self.type_of(v), v), self.type_of(v)) for v in value)
        else:
            value = self.data(value)
            variable = self.variables.get(name)
            if variable is None:
                variable = self.declare(name, value.dtype)
            if not isinstance(variable, Data) or variable.dtype != value.dtype:
                raise TypeError('Data type mismatch of variable: `%s`: it is %s, the value is %s' % (
                    name, variable.dtype if isinstance(variable, Data) else 'no number', value.dtype))
            self.emit('%s = %s;' % (variable.text, value.text))

    def declare(self, name, dtype):
        self.declared.append('  %s v_%s;\n' % (self.word(dtype), name))
        variable = self.variables[name] = Data('v_' + name, dtype)
        return variable

    def temporary(self, dtype, value):
        name = 't_%d' % self.temporaries
        self.temporaries += 1
        self.declared.append('  %s %s;\n' % (self.word(dtype), name))
        if value is not None:
            self.emit('%s = %s;' % (name, self.cast(value, dtype)))
        return name

    # ------------------------------------------------------------------ expressions
    def expression(self, node):
        return getattr(self, 'of_' + type(node).__name__, self.refuse)(node)

    def of_Constant(self, node):
        return Constant(node.value)

    def of_Name(self, node):
        if node.id in self.variables:
            return self.variables[node.id]
        if node.id not in self.known:
            raise NameError('Unbound name: ' + node.id)
        return self.wrapped(self.known[node.id])

    def of_Attribute(self, node):
        value = self.expression(node.value)
        if isinstance(value, Constant):
            return self.wrapped(getattr(value.obj, node.attr))
        if isinstance(value, Array):
            if node.attr == 'ndim':
                return Constant(value.type.ndim)
            if node.attr == 'shape':
                return value.numbers('n')
            if node.attr == 'strides':
                return tuple(Data('(%s * %d)' % (v.text, value.type.dtype.itemsize), INT64) for v in value.numbers('s'))
            if node.attr == 'size':
                return Data('(%s)' % (' * '.join(v.text for v in value.numbers('n')) or '1LL'), INT64)
            if node.attr == 'dtype':
                return Constant(value.type.dtype)
        raise AttributeError('%s has no attribute %s in a kernel' % (type(value).__name__.lower(), node.attr))

    def of_Tuple(self, node):
        values = tuple(map(self.expression, node.elts))
        return Constant(tuple(v.obj for v in values)) if all(isinstance(v, Constant) for v in values) and values else values

    def of_Subscript(self, node):
        base, index = self.expression(node.value), self.expression(node.slice)
        if isinstance(base, (Constant, tuple)):
            if not isinstance(index, Constant):
                raise TypeError('a compile-time constant needs a compile-time index')
            return self.wrapped(base.obj[index.obj]) if isinstance(base, Constant) else base[index.obj]
        return self.element(base, index)

    def of_BinOp(self, node):
        return self.operation(_OPERATORS.get(type(node.op), type(node.op).__name__), self.expression(node.left), self.expression(node.right))

    def of_UnaryOp(self, node):
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not) and not isinstance(value, Constant):
            return Data('(!%s)' % self.truth(value), BOOL)
        return self.operation(_OPERATORS[type(node.op)], value)

    def of_Compare(self, node):
        if len(node.ops) != 1:
            raise NotImplementedError('chained comparisons are not supported in a kernel; write `a < b and b < c`')
        if type(node.ops[0]) not in _OPERATORS:
            raise NotImplementedError('the comparison %s cannot be in a kernel' % type(node.ops[0]).__name__)
        return self.operation(_OPERATORS[type(node.ops[0])], self.expression(node.left), self.expression(node.comparators[0]))

    def of_BoolOp(self, node):
        is_and, texts = isinstance(node.op, ast.And), []
        for value in map(self.expression, node.values):
            if isinstance(value, Constant):
                if bool(value.obj) != is_and:
                    return Constant(not is_and) if not texts else Data('(%s)' % (' && ' if is_and else ' || ').join(
                        texts + [str(not is_and).lower()]), BOOL)
                continue
            texts.append(self.truth(value))
        return Data('(%s)' % (' && ' if is_and else ' || ').join(texts), BOOL) if texts else Constant(is_and)

    def of_IfExp(self, node):
        test = self.expression(node.test)
        if isinstance(test, Constant):
            return self.expression(node.body if test.obj else node.orelse)
        values = self.expression(node.body), self.expression(node.orelse)
        dtype = self.common(values)
        return Data('(%s ? %s : %s)' % (self.truth(test), *(self.cast(v, dtype) for v in values)), dtype)

    def of_Call(self, node):
        function = self.expression(node.func)
        args = [self.expression(a) for a in node.args]
        kwargs = {k.arg: self.expression(k.value) for k in node.keywords}
        if not isinstance(function, Constant):
            raise TypeError('the called object is not a function')
        callee = function.obj
        if callee is range:
            return self.loop(*args, **kwargs)
        if isinstance(callee, Builtin):
            return callee.call(self, *args, **kwargs)
        if getattr(callee, '_device', None) is not None and hasattr(callee, '_func'):
            return self.called(callee, args, kwargs)
        if all(isinstance(a, Constant) for a in [*args, *kwargs.values()]) and callable(callee):
            made = callee(*(a.obj for a in args), **{k: a.obj for k, a in kwargs.items()})
            return self.wrapped(made.get()[()] if isinstance(made, ndarray) and made.ndim == 0 else made)
        if kwargs:
            raise TypeError('%s takes no keywords in a kernel' % getattr(callee, '__name__', callee))
        return self.function(callee, args)

    def loop(self, *args, unroll=Constant(None)):
        """Returns the result of range()."""
        if not 1 <= len(args) <= 3:
            raise TypeError('range takes one to three arguments, given %d' % len(args))
        if not isinstance(unroll, Constant) or not (unroll.obj is None or isinstance(unroll.obj, int)):
            raise TypeError('jit.range: unroll must be True or an int that is known when the kernel is compiled')
        for a in args:
            self.check_whole(a, 'range')
        start, stop, step = (Constant(0), args[0], Constant(1)) if len(args) == 1 else (args + (Constant(1),))[:3]
        if isinstance(step, Constant) and step.obj == 0:
            raise ValueError('range: the step must not be zero')
        return Loop(start, stop, step, unroll.obj)

    def called(self, callee, args, kwargs):
        if kwargs or not callee._device:
            raise TypeError('%s: a kernel calls device functions (rawkernel(device=True)), by position' % callee.__name__)
        types, texts = [], []
        for a in args:
            if isinstance(a, Array):
                types.append(a.type)
                texts += [a.name] + [v.text for v in a.numbers('n') + a.numbers('s')]
            elif isinstance(a, (Data, Constant)):
                a = self.data(a)
                types.append(a.dtype)
                texts.append(a.text)
            else:
                raise TypeError('%s: a device function takes arrays and numbers' % callee.__name__)
        name, result = self.unit.function(callee, types, '__device__')
        return Data('%s(%s)' % (name, ', '.join(texts)), result)

    def function(self, callee, args):
        if callee is len:
            if len(args) != 1 or not isinstance(args[0], Array) or args[0].type.ndim == 0:
                raise TypeError('len() in a kernel needs an array with at least one axis')
            return args[0].numbers('n')[0]
        if callee in (min, max):
            result = args[0]
            for a in args[1:]:
                result = self.operation('minimum' if callee is min else 'maximum', result, a)
            return result
        if callee is abs:
            return self.operation('absolute', *args)
        if isinstance(callee, type) and (callee in (int, float, bool, complex) or issubclass(callee, numpy.generic)):
            if len(args) != 1:
                raise TypeError('%s() takes one argument' % callee.__name__)
            dtype = numpy.dtype(callee)
            return Data(self.cast(args[0], dtype), dtype)
        name = getattr(callee, '__name__', '')
        if not isinstance(getattr(numpy, name, None), numpy.ufunc) or not hasattr(callee, 'nin'):
            raise TypeError('a kernel cannot call %r' % (callee,))
        return self.operation(name, *args)
