"""Statements and functions of a kernel in OpenCL C. Line breaks and `#line` keep the lines where they were, so that a compiler's
line is the user's."""

import re

from catenary.cupy._translator import tree
from catenary.cupy._translator.calls import Calls
from catenary.cupy._translator.complex import Complex
from catenary.cupy._translator.reader import RESERVED, refuse
from catenary.cupy._translator.traits import Traits
from catenary.cupy._translator.types import HALF, INT, VOID, Array, Pointer, Scalar, Struct, decayed, is_complex, is_integer, is_number, memory, \
    size_of, spelled, wrapped
from catenary.cupy._translator.values import VARIABLES, Later, Value, names_of, settled
from catenary.cupy._translator.write import Expressions

_MARK = re.compile('\x01(\\d+)\x02')
DYNAMIC = 'ct_dynamic'  # a kernel's last parameter: dynamic shared memory
_NATURAL = 4  # smaller elements are aligned to 4 bytes, as texts use such arrays for larger elements


class Writer(Expressions, Calls, Complex, Traits):
    """Writes one function, or an operation's code. `names` is the text's scope and `returned` a list of the result type. In an operation of
    ElementwiseKernel, `operation` lists what its code uses."""

    def __init__(self, unit, scopes, this=None, operation=None, in_kernel=False, returned=None):
        self.unit, self.scopes, self.this = unit, scopes, this
        self.operation, self.in_kernel, self.returned = operation, in_kernel, returned
        self.out, self.pragmas, self.following, self.line, self.depth = [], [], [], 1, 0
        self.ends_constructor = ''

    def fresh(self, scopes, this):
        return Writer(self.unit, scopes, this)

    def uses_index(self, found):
        if self.operation is not None and found.__class__ is Value and found.counted is not None:
            self.operation.append('index')

    # ------------------------------------------------------------------ names
    def declare(self, name, value, own=None):
        """Binds a name to a value and returns its name in OpenCL C."""
        value.text = own or ('u_' + name if name in RESERVED or name.startswith(('ct_', 'u_')) or
                             name in self.scopes[0] else name)
        self.scopes[-1][name] = value
        return value.text

    def member_of_this(self, name):
        struct = self.this
        if name in struct.fields and self.find_this():
            this = self.find_this()
            return Value('%s->%s' % (this.text, 'u_' + name if name in RESERVED else name), struct.fields[name], this.type.space)
        return self.members(struct).get(name) if struct in self.unit.classes else None

    def find_this(self):
        return next((scope['this'] for scope in self.scopes[1:] if 'this' in scope), None)

    def this_value(self, t):
        this = self.find_this()
        if this is None:
            refuse(t, 'a method of a temporary value')
        return self.element(this, '0', '(*%s)' % this.text)

    def constant(self, found):
        """Returns the Value of a global constant, which is written at its first use."""
        if found.value is not None:
            return found.value
        d = found.declarator
        inner = self.fresh([self.scopes[0]] if self.scopes[0].get(d.at.text) is found else self.scopes[:2], None)
        type = inner.type(d.type)
        if d.value.__class__ is tuple or d.value is None or d.type.reference or type.__class__ is Pointer:
            refuse(d.at, 'a global variable without a value')
        if is_number(type):
            v = inner.rvalue(d.value.items[0] if d.value.__class__ is tree.Braces else d.value)
            if not is_number(v.type):
                refuse(d.at, '%s where %s is expected' % (v.type, type))
            const = None if v.const is None or not is_integer(type) else wrapped(v.const, type)
            text = '((%s)%s)' % (type.register, v.text if const is None else number_text(const, type))
            if const is not None and type is INT and const >= 0:
                text = str(const)
            found.value = Value(text if const is not None or v.text.replace('.', '').isalnum() else '((%s)(%s))' % (
                type.register, v.text), type, const=const)
            return found.value
        own = self.unit.own(d.at.text)
        if type.__class__ is Array and type.count == 0 and d.value.__class__ is tree.Braces:
            type = Array(type.to, len(d.value.items))
        text = inner.aggregate(d.value, type) if d.value.__class__ is tree.Braces else refuse(d.at, 'this value')
        self.unit.functions.append('%s = %s;\n' % (settled(type, own, d.at, '__constant'), text))
        found.value = Value(own, type, '__constant')
        return found.value

    def enumerate(self, enum, scope):
        at = -1
        for t, x in enum.items:
            v = self.rvalue(x) if x is not None else Value('', INT, const=at + 1)
            if v.const is None:
                refuse(t, 'a number that is not a compile-time constant')
            at = v.const
            scope[t.text] = Value(number_text(at, INT), INT, const=at)
        if enum.name:
            scope[enum.name] = INT

    # ------------------------------------------------------------------ text
    def emit(self, at, text):
        """Appends a text on the line of its token."""
        line = at.line
        if line > self.line and line - self.line < 30:
            self.out.append('\n' * (line - self.line))
        elif line != self.line and line > 0:
            self.out.append('\n#line %d\n' % line)
        else:
            self.out.append(' ')
        self.line = line or self.line
        if text.__class__ is str and '\x01' in text:
            text = _MARK.sub(self.marked, text)
        self.out.append(text)

    def marked(self, match):
        line = int(match.group(1))
        breaks = max(line - self.line, 0)
        self.line += breaks
        return '\n' * breaks

    def marked_text(self, text):
        """Returns a text of an expression, whose lines count from 1."""
        return _MARK.sub(self.marked, text)

    def text(self):
        return ''.join(map(str, self.out))

    # ------------------------------------------------------------------ statements
    def statements(self, nodes):
        self.following.append(nodes)
        for node in nodes:
            self.line_of(node)
            _WAYS[node.__class__](self, node)
        self.following.pop()

    def line_of(self, node):
        at = node.at
        if at.line < self.line or at.line - self.line >= 30:
            self.emit(at, '')
        elif at.line > self.line:
            self.out.append('\n' * (at.line - self.line))
            self.line = at.line

    def body(self, node):
        """Returns a statement of another one, in braces."""
        self.out.append(' {')
        self.scopes.append({})
        self.depth += 1
        self.statements(node.body if node.__class__ is tree.Block else (node,))
        self.depth -= 1
        self.scopes.pop()
        self.out.append(' }')

    def block(self, node):
        self.body(node)

    def tested(self, at, x):
        v = self.rvalue(x)
        if v.type.__class__ is not Pointer and not is_number(v.type):
            refuse(at, '%s as a condition' % v.type)
        return v

    def evaluate(self, node):
        if node.x.__class__ is tree.String:
            refuse(node.at, 'a string')
        self.emit(node.at, self.value(node.x).text + ';')

    def branch(self, node):
        test = self.tested(node.at, node.test)
        if node.constant:
            if test.const is None:
                refuse(node.at, 'a condition that is not a compile-time constant')
            chosen = node.yes if test.const else node.no
            if chosen:
                self.body(chosen)
            return
        self.emit(node.at, 'if (%s)' % test.text)
        self.body(node.yes)
        if node.no:
            self.out.append(' else')
            if node.no.__class__ is tree.If and not node.no.constant:
                self.branch(node.no)
            else:
                self.body(node.no)

    def loop_while(self, node):
        self.loop(node.at, 'while (%s)' % self.tested(node.at, node.test).text)
        self.body(node.body)

    def loop_do(self, node):
        self.loop(node.at, 'do')
        self.body(node.body)
        self.out.append(' while (%s);' % _MARK.sub('', self.tested(node.at, node.test).text))

    def loop_for(self, node):
        self.scopes.append({})
        self.depth += 1
        first, ended = self.for_first(node.first)
        if not ended:
            self.out.append(' { ' + first)
            first = ''
        test = self.tested(node.at, node.test).text if node.test else ''
        self.loop(node.at, 'for (%s; %s; %s)' % (first, test, self.value(node.step).text if node.step else ''))
        self.body(node.body)
        self.depth -= 1
        self.scopes.pop()
        if not ended:
            self.out.append(' }')

    def for_first(self, node):
        """Returns (initialisation of a loop, whether it fits into the loop's brackets). It fits if all variables have one type."""
        if node is None:
            return '', True
        before, self.out = self.out, []
        self.statements((node,))
        made, self.out = [x for x in self.out if x.__class__ is not str or x.strip()], before
        parts = [x[:-1] for x in made if x.__class__ is str]
        head = parts[0].split(' ')[0] + ' ' if parts else ''
        if len(parts) == len(made) and (len(parts) == 1 or all(x.startswith(head) and '*' not in x.split('=')[0] for x in parts)):
            return ', '.join([parts[0]] + [x[len(head):] for x in parts[1:]]), True
        return ' '.join(map(str, made)), False

    def loop(self, at, text):
        """Writes the head of a loop, after a pragma that applies to it."""
        if self.pragmas:
            self.out.append('\n%s\n' % '\n'.join(self.pragmas))
            self.pragmas, self.line = [], -100
        self.emit(at, text)

    def choose(self, node):
        v = self.rvalue(node.x)
        if not is_integer(v.type):
            refuse(node.at, '%s as a condition' % v.type)
        self.emit(node.at, 'switch (%s)' % v.text)
        self.body(node.body)

    def case(self, node):
        if node.value is None:
            self.emit(node.at, 'default:;')
            return
        v = self.value(node.value)
        if v.const is None:
            refuse(node.at, 'a case that is not a compile-time constant')
        self.emit(node.at, 'case %d:;' % v.const)

    def jump(self, node):
        self.emit(node.at, node.at.text + ';')

    def leave(self, node):
        if self.operation is not None:
            if node.x is not None:
                refuse(node.at, 'a value that an operation returns')
            self.operation.append('return')
            self.emit(node.at, 'goto ct_next;')
            return
        if node.x is None:
            self.emit(node.at, self.ends_constructor or 'return;')
            return
        if self.returned is None:
            refuse(node.at, 'a value that a kernel returns')
        type = self.returned[0]
        if node.x.__class__ is tree.Braces:
            v = node.x
        else:
            v = self.rvalue(node.x)
            if type is None:
                type = self.returned[0] = v.type
        if type is VOID:
            refuse(node.at, 'a value that this function returns')
        text = self.literal(v, type) if v.__class__ is tree.Braces else self.converted(v, type, node.at)
        self.emit(node.at, 'return %s;' % text)

    def pragma(self, node):
        self.pragmas.append(node.at.text.replace('\\\n', ' '))

    def check(self, node):
        v = self.rvalue(node.test)
        if not v.const:
            refuse(node.at, 'what does not hold here' if v.const == 0 else 'a condition that is not a compile-time constant')

    def local_type(self, node):
        if node.__class__ is tree.Enum:
            self.enumerate(node, self.scopes[-1])
        elif node.__class__ is tree.Typedef:
            self.scopes[-1][node.name] = self.type(node.type)
        else:
            if node.methods or node.constants:
                refuse(node.at, 'a class with functions inside a function')
            names_of([node], self.scopes[-1])

    # ------------------------------------------------------------------ declarations
    def declaration(self, node):
        words = node.words
        shared = '__shared__' in words
        if shared and (not self.in_kernel or self.depth):
            refuse(node.at, '__shared__ memory of an inner block or a helper')
        fixed = node.spec.const or 'constexpr' in words
        if 'static' in words and not fixed and not shared or '__constant__' in words or 'extern' in words and not shared:
            refuse(node.at, 'a static variable of a function')
        for d in node.names:
            self.variable(node, d, shared, fixed)

    def variable(self, node, d, shared, fixed):
        at = d.at
        if node.spec.base == 'auto':
            self.deduced_variable(node, d, fixed)
            return
        type = self.type(d.type)
        value = d.value
        if value.__class__ is tuple:  # T x(value)
            if is_complex(type):
                self.plain_value(at, type, self.make_complex(at, type, [self.rvalue(x) for x in value]).text, fixed)
                return
            if len(value) != 1:
                self.plain_value(at, type, self.constructed(at, type, value) if self.constructors(type) else refuse(at, 'a constructor'), fixed)
                return
            value = value[0]
        if type is VOID:
            refuse(at, 'a variable of type void')
        if shared:
            self.shared(node, d, type)
        elif d.type.reference:
            self.reference(at, type, self.value(value) if value is not None else refuse(at, 'a reference to nothing'), const_of(node))
        elif type.__class__ is Pointer:
            self.pointer(at, type, value)
        else:
            self.plain(at, type, value, fixed)

    def plain(self, at, type, value, fixed):
        const, text = None, ''
        if value is not None:
            if value.__class__ is tree.Braces:
                if type.__class__ is Array and not type.count:
                    type = Array(type.to, len(value.items))
                text = ' = ' + self.aggregate(value, type)
            else:
                v = self.value(value)
                if type.__class__ is Array:
                    refuse(at, 'this value')
                text = ' = ' + self.converted(v, type, at)
                if fixed and v.const is not None and is_integer(type):
                    const = wrapped(v.const, type)
        elif self.constructors(type):
            text = ' = ' + self.constructed(at, type, ())
        elif self.begins_itself(type):
            refuse(at, 'a constructor of an array element or a member')
        if type.__class__ is Array:
            inner = type
            while inner.__class__ is Array:
                if not inner.count:
                    refuse(at, 'an array whose size is not a compile-time constant')
                inner = inner.to
            if inner.__class__ is Scalar and size_of(inner) < _NATURAL:
                text = ' __attribute__((aligned(8)))' + text
            if inner.__class__ is Pointer:
                self.finish(at, type, Value('', type, ''), text, True)
                return
        self.finish(at, type, Value('', type, '', const=const), text, False, 'const ' * fixed)

    def finish(self, at, type, v, text, later=False, const=''):
        """Writes a declaration. Its initialiser still sees the outer meaning of the name."""
        own = self.declare(at.text, v)
        if later:
            self.emit(at, '')
            self.out.append(Later(type, own, at, '', const, text + ';'))
        else:
            self.emit(at, spelled(type, own, '', const) + text + ';')

    def shared(self, node, d, type):
        if d.value is not None or d.type.reference:
            refuse(d.at, '__shared__ memory with a value')
        if 'extern' in node.words:
            if type.__class__ is not Array or type.count:
                refuse(d.at, '__shared__ memory of this form')
            if HALF in (type.to, getattr(type.to, 'to', None)):
                refuse(d.at, 'memory that a launch gives to 16-bit floats, which are wider within a kernel,')
            self.unit.takes_memory = True
            self.finish(d.at, Pointer(type.to, '__local'), Value('', type, '__local'), ' = (%s)%s' % (
                spelled(Pointer(type.to, '__local'), ''), DYNAMIC))
            return
        own = self.declare(d.at.text, Value('', type, '__local'))
        inner = type
        while inner.__class__ is Array:
            inner = inner.to
        if inner.__class__ is Pointer:
            refuse(d.at, 'pointers in __shared__ memory')
        self.emit(d.at, spelled(type, own, '__local') + ';')

    def pointer(self, at, type, value):
        text = ''
        if value is not None:
            v = self.value(value) if value.__class__ is not tree.Braces else refuse(at, 'this value')
            if v.null:
                text = ' = 0'
            else:
                text = ' = ' + self.converted(v, type, at)
        if type.space is None:
            type.space = self.assigned(at)
        self.finish(at, type, Value('', type, ''), text, type.space is None or type.to.__class__ is Pointer)

    def assigned(self, at):
        """Returns the address space of a pointer that is assigned later, or None if it is not known yet."""
        for x in walked(tuple(reversed(self.following))):
            if x.__class__ is tree.Assign and not x.op and x.left.__class__ is tree.Name and x.left.at.text == at.text:
                found = self.space_of(x.right)
                if found is not None:
                    return found
        return None

    def space_of(self, x):
        """Returns the address space into which an expression points, from the names in it that are known."""
        kind = x.__class__
        if kind is tree.Name:
            v = self.find(x.at.text)
            if v.__class__ is not Value:
                return None
            return v.type.space if v.type.__class__ is Pointer else v.home
        if kind is tree.Unary and x.op == '&' or kind in (tree.Index, tree.Paren, tree.Cast):
            return self.space_of(x.x)
        if kind is tree.Binary:
            return self.space_of(x.left)
        return self.space_of(x.yes) if kind is tree.Choice else None

    def reference(self, at, type, v, const):
        if const and (v.home is None or type is not v.type):
            self.plain_value(at, type, self.converted(v, type, at), True)
            return
        pointer = self.address(at, v)
        self.same(at, Pointer(type, v.home), pointer.type)
        self.finish(at, pointer.type, Value('', pointer.type, '', ref=True), ' = ' + pointer.text)

    def plain_value(self, at, type, text, fixed):
        self.finish(at, type, Value('', type, ''), ' = ' + text, False, 'const ' * fixed)

    def deduced_variable(self, node, d, fixed):
        """Declares a variable of type auto."""
        at = d.at
        if d.value is None or d.value.__class__ in (tuple, tree.Braces):
            refuse(node.spec.at, 'auto in this form')
        v = self.value(d.value)
        if d.type.reference and v.home is not None:
            self.reference(at, v.type, v, False)
            return
        type = decayed(v.type, v.home)
        if d.type.stars and type.__class__ is not Pointer or v.null and d.type.stars or type is VOID or v.members is not None:
            refuse(node.spec.at, 'auto in this form')
        value = Value('', type, '', const=v.const if fixed else None)
        self.finish(at, type, value, ' = ' + v.text, False, 'const ' * (fixed and type.__class__ is not Pointer))

    # ------------------------------------------------------------------ functions
    def parameter(self, p, type, own=None):
        """Declares a parameter and returns its text."""
        name = p.name or '_unused%d' % len(self.scopes[-1])
        reference = type.__class__ is Pointer and p.type.reference and own == 'reference'
        if type.__class__ not in (Scalar, Struct, Pointer) or type is VOID:
            refuse(p.at, 'a parameter of this type')
        own = self.declare(name, Value('', type, '', ref=reference))
        return spelled(type, own)

    def function(self, function, types, this, this_space):
        """Writes a function for these parameter types. Returns (name, result type)."""
        file = function.at.source.file
        own = self.unit.own(function.name if function.result else 'new_' + function.owner.text)
        self.scopes.append({})
        texts = []
        begin = ''
        if this is not None and this_space is not None:
            pointer = Pointer(this, this_space)
            declared = spelled(pointer, self.declare('this', Value('', pointer, ''), 'ct_this'))
            if function.result is None:  # the class that it constructs
                begin = ' %s ct_made; %s = &ct_made;' % (this.own, declared)
            else:
                texts.append(declared)
        self.this = this
        for p, type in zip(function.parameters, types):
            reference = p.type.reference and type.__class__ is Pointer and not (const_type(p.type) and not isinstance(
                type.to, Array)) and p.type.stars == 0
            texts.append(self.parameter(p, type, 'reference' if reference else None))
        if function.result is None:
            result, self.ends_constructor = this, 'return ct_made;'
            self.begin_members(function, this)
        else:
            result = None if function.result.spec.base == 'auto' else self.type(function.result)
            if function.result.reference:
                refuse(function.result.at, 'this result')
        self.returned = [result]
        self.scopes.append({})
        self.line = function.body.at.line
        self.statements(function.body.body)
        if self.ends_constructor:
            self.out.append(' ' + self.ends_constructor)
        result = self.returned[0] or VOID
        inner = result
        while inner.__class__ is Pointer:
            if inner.space is None:
                refuse(function.result.at, 'this result')
            inner = inner.to
        if self.unit.variables:
            texts.append('__global uchar* ' + VARIABLES)
        head = '%s(%s)' % (own, ', '.join(texts))
        self.unit.functions.append('#line %d "%s"\nstatic inline %s {%s%s }\n' % (
            function.body.at.line, file, spelled(result, head) if result.__class__ is Pointer else '%s %s' % (memory(result), head),
            begin, self.text()))
        return own, result


    def begin_members(self, function, this):
        """Rejects a constructor that leaves a member uninitialised which needs initialisation."""
        given = {x.x.left.name.text for x in function.body.body if x.__class__ is tree.Evaluate and x.x.__class__ is tree.Assign and
                 x.x.left.__class__ is tree.Member}
        for name, type in this.fields.items():
            if name not in given and self.begins_itself(type):
                refuse(function.at, 'a constructor that leaves the member %s to its own' % name)


def walked(x):
    """Yields all nodes of a tree."""
    if x.__class__ is tuple:
        for part in x:
            yield from walked(part)
    elif hasattr(x, '__slots__') and x.__class__.__module__ == tree.__name__:
        yield x
        for name in x.__slots__:
            if name != 'at':
                yield from walked(getattr(x, name))


def number_text(value, type):
    """Returns an integer literal in OpenCL C."""
    end = {'uint': 'U', 'long': 'L', 'ulong': 'UL'}.get(type.name, '')
    if value == -2 ** 31 and type.name == 'int':
        return '(-2147483647 - 1)'
    if value == -2 ** 63:
        return '(-9223372036854775807L - 1)'
    return '(%d%s)' % (value, end) if value < 0 else '%d%s' % (value, end)


def const_of(node):
    return node.spec.const


def const_type(type):
    return getattr(type.spec, 'const', False) and not type.stars


_WAYS = {tree.Block: Writer.block, tree.Declaration: Writer.declaration, tree.Evaluate: Writer.evaluate, tree.If: Writer.branch,
         tree.While: Writer.loop_while, tree.Do: Writer.loop_do, tree.For: Writer.loop_for, tree.Switch: Writer.choose,
         tree.Case: Writer.case, tree.Jump: Writer.jump, tree.Return: Writer.leave, tree.Pragma: Writer.pragma,
         tree.Check: Writer.check, tree.Typedef: Writer.local_type, tree.Enum: Writer.local_type, tree.Struct: Writer.local_type}
