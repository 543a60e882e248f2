"""Translates expressions of a kernel to OpenCL C, with their types and address spaces."""

from catenary.cupy._translator import opencl, tree
from catenary.cupy._translator.reader import ALIASES, OF_CUDA, REFUSED, VECTORS, WORDS, refuse
from catenary.cupy._translator.types import BOOL, COMPLEX, CU_PARTS, DOUBLE, FLOAT, FOLDS, HALF, INT, LONG, SCALARS, UINT, ULONG, VOID, Array, Pointer, Scalar, \
    Struct, decayed, is_complex, is_integer, is_number, joined, memory, promoted, size_of, spelled, wrapped
from catenary.cupy._translator.values import LOST, Classes, Constant, Value, field_name

TESTS = frozenset(('==', '!=', '<', '>', '<=', '>='))
LOGICAL = frozenset(('&&', '||'))
SHIFTS = frozenset(('<<', '>>'))
OF_INTEGERS = SHIFTS | frozenset('%&|^')
IDS = {'threadIdx': 'get_local_id', 'blockIdx': 'get_group_id', 'blockDim': 'get_local_size', 'gridDim': 'get_num_groups'}
STEPS = ('++', '--')


class Expressions:
    """Translates expressions. `scopes` map names to values, from the global scope to the innermost block."""

    def value(self, x):
        return _WAYS[x.__class__](self, x)

    def rvalue(self, x):
        """Returns a number, a pointer or a class: an array has become a pointer."""
        v = self.value(x)
        if v.type.__class__ is Array:
            v = v.named(v.at)
            v.type = decayed(v.type, v.home)
        return v

    def find(self, name):
        scopes = self.scopes
        for k in range(len(scopes) - 1, 0, -1):
            if name in scopes[k]:
                return scopes[k][name]
        found = self.this and self.member_of_this(name)
        return found or scopes[0].get(name)

    # ------------------------------------------------------------------ types
    def spec(self, spec):
        """Returns the type that a name means."""
        base = spec.base
        if base.startswith('std::'):
            return self.trait_type(spec)
        found = self.find(base)
        if found is None and base == 'complex':
            found = self.complex_type(spec)
        if found is None:
            found = self.unit.vector(base) if base in VECTORS and base not in ALIASES else SCALARS[ALIASES.get(base, base)] if (
                base in ALIASES or base in WORDS or base in SCALARS) else None
        if found.__class__ is tree.Typedef:
            found = self.type(found.type)
        elif found.__class__ is Classes:
            found = self.made(found, spec.at, [self.argument(x) for x in spec.args or ()])
        elif found.__class__ is Scalar and found is DOUBLE and not self.unit.float64:
            refuse(spec.at, 'double, which the device lacks,')
        if spec.member:
            found = self.type_in(found, spec.member)
        if found is None or isinstance(found, (Value, list)):
            refuse(spec.at, 'this type')
        return found

    def type(self, t):
        """Returns the type of a TypeId, without its reference."""
        if t.__class__ is tree.Spec:
            return self.spec(t)
        type, const = self.type(t.spec), getattr(t.spec, 'const', False)
        for _ in range(t.stars):
            type, const = Pointer(type, None, const), False
        for size in reversed(t.sizes):
            count = 0
            if size is not None:
                count = self.value(size).const
                if count is None or count < 1:
                    refuse(t.at, 'an array whose size is not a compile-time constant')
            type = Array(type, count)
        return type

    def argument(self, x):
        """Returns an argument of a template: a type, or the Value of a number."""
        if x.__class__ is tree.TypeId:
            return self.type(x)
        v = self.value(x)
        if v.const is None:
            refuse(v.at or x.at, 'a number that is not a compile-time constant')
        return v

    # ------------------------------------------------------------------ words
    def name(self, x):
        t = x.at
        if len(x.parts) > 1:
            return self.qualified(x)
        found = self.find(t.text)
        if found.__class__ is Value:
            v = found.named(t)
            if v.ref:
                return self.element(v, '0', '(*%s)' % v.text)
            if t.line > self.line:
                v.text = self.lined(t, v.text)
            return v
        if found.__class__ is Constant:
            return self.constant(found).named(t)
        if found is None and t.text in opencl.CONSTANTS:
            text, kind = opencl.CONSTANTS[t.text]
            type = SCALARS[kind]
            if type is DOUBLE and not self.unit.float64:
                if not text.startswith('M_'):
                    refuse(t, 'double, which the device lacks,')
                text, type = text + '_F', FLOAT
            const = {'true': 1, 'false': 0}.get(t.text)
            if const is None and type.name in ('int', 'uint', 'long', 'ulong') and text in opencl.LIMITS:
                const = opencl.LIMITS[text]
            return Value(text, type, const=const, null=text == '0', at=t)
        if isinstance(found, (list, Classes)):
            refuse(t, 'a function that is not called' if isinstance(found, list) else 'a class')
        refuse(t, self.why(t.text))

    def lined(self, t, text):
        """Returns a text that begins with this token: the device's compiler is to name its line."""
        return '\x01%d\x02%s' % (t.line, text) if t.line > self.line else text

    def why(self, name):
        if name in REFUSED:
            return REFUSED[name]
        if name in opencl.MATH or name in opencl.ATOMICS:
            return 'a function that is not called'
        return 'this word' if name.startswith('__') or name.startswith(OF_CUDA) else 'a name that is not known'

    def number(self, x):
        text = x.at.text.replace("'", '').lower()
        if text.startswith('0x') and 'p' in text or not text.startswith(('0x', '0b')) and ('.' in text or 'e' in text or text.endswith('f')):
            text = text.rstrip('l')
            text += '' if text.endswith('f') or self.unit.float64 else 'f'
            return Value(text, FLOAT if text.endswith('f') else DOUBLE)
        digits = text.rstrip('lu')
        octal = digits[0] == '0' and digits.isdigit() and len(digits) > 1
        value, suffix = int(digits, 8 if octal else 0), text[len(digits):]
        decimal = digits[0] != '0'
        for kind in ('int', 'uint', 'long', 'ulong'):
            if kind in ('int', 'uint') and 'l' in suffix or kind in ('int', 'long') and 'u' in suffix or (
                    kind == 'uint' and decimal and 'u' not in suffix):
                continue
            if value < 1 << (8 * size_of(SCALARS[kind]) - (kind[0] != 'u')):
                break
        text = (hex(value) if digits.startswith('0b') else digits) + {'int': '', 'uint': 'U', 'long': 'L', 'ulong': 'UL'}[kind]
        return Value(text, SCALARS[kind], const=value, null=text == '0')

    def string(self, x):
        if x.at.text[0] == "'":
            return Value(x.at.text, SCALARS['char'], const=ord(x.at.text[1]) if len(x.at.text) == 3 else None)
        refuse(x.at, 'a string')

    # ------------------------------------------------------------------ operators
    def paren(self, x):
        v = self.value(x.x)
        text = '(%s)' % v.text
        v = v.named(v.at)
        v.text = text
        return v

    def comma(self, x):
        left, right = self.value(x.left), self.rvalue(x.right)
        return Value('%s, %s' % (left.text, right.text), right.type, at=left.at or right.at)

    def unary(self, x):
        op = x.op
        if op == '&':
            return self.address(x.at, self.value(x.x))
        v = self.rvalue(x.x)
        if op == '*':
            if v.type.__class__ is not Pointer:
                refuse(x.at, 'the dereference of something other than a pointer')
            return self.element(v, '0', self.lined(x.at, '*' + v.text))
        if is_complex(v.type):
            return self.complex_unary(x, v)
        type = v.type
        if op == '!':
            if type.__class__ is not Pointer and not is_number(type):
                refuse(x.at, 'this operator on %s' % type)
            return Value('!' + v.text, BOOL, at=v.at, const=None if v.const is None else int(not v.const))
        if not is_number(type) or op == '~' and not is_integer(type):
            refuse(x.at, 'this operator on %s' % type)
        type, const = promoted(type), v.const
        if const is not None:
            const = wrapped(-const if op == '-' else ~const if op == '~' else const, type)
        return Value('%s%s%s' % (op, ' ' * (v.text[:1] == op), v.text), type, at=v.at, const=const)

    def binary(self, x):
        spine = []
        while x.__class__ is tree.Binary:  # iterates, as long sums would exceed the recursion limit
            spine.append(x)
            x = x.left
        v = self.rvalue(x)
        for x in reversed(spine):
            v = self.joined(x, v, self.rvalue(x.right))
        return v

    def joined(self, x, a, b):
        op, at = x.op, a.at or b.at
        text = '%s %s %s' % (a.text, op, b.text)
        left, right = a.type, b.type
        if is_number(left) and is_number(right):
            if op in OF_INTEGERS and not (is_integer(left) and is_integer(right)):
                refuse(x.at, 'this operator on floats')
            type = BOOL if op in TESTS or op in LOGICAL else promoted(left) if op in SHIFTS else joined(left, right)
            const = None
            if a.const is not None and b.const is not None and is_integer(type):
                common = joined(left, right)
                if op in SHIFTS or op in LOGICAL:
                    const = FOLDS[op](a.const, b.const)
                else:
                    const = FOLDS[op](wrapped(a.const, common), wrapped(b.const, common))
                const = None if const is None else wrapped(int(const), type)
            return Value(text, type, at=at, const=const)
        for v in (a, b):
            if v.array and not v.array.contiguous:
                refuse(v.at, 'a pointer to a non-contiguous array')
        pointers = (left.__class__ is Pointer) + (right.__class__ is Pointer)
        if pointers:
            if op in LOGICAL:
                return Value(text, BOOL, at=at)
            if op in '+-' and pointers == 1 and is_integer(right):
                return Value(text, left, at=at)
            if op == '+' and pointers == 1 and is_integer(left):
                return Value(text, right, at=at)
            if pointers == 2 and (op == '-' or op in TESTS):
                self.settle(left, right)
                self.settle(right, left)
                return Value(text, LONG if op == '-' else BOOL, at=at)
            if op in ('==', '!=') and (a.null or b.null):
                return Value(text, BOOL, at=at)
        elif is_complex(left) or is_complex(right):
            return self.complex_binary(x, a, b)
        refuse(x.at, 'this operator between %s and %s' % (left, right))

    def choice(self, x):
        """Converts the condition before '?' to an integer, which OpenCL requires."""
        test, yes, no = self.rvalue(x.test), self.rvalue(x.yes), self.rvalue(x.no)
        condition = test.text if is_integer(test.type) else '((%s) != 0)' % test.text
        at, type = yes.at or no.at, yes.type
        if is_number(yes.type) and is_number(no.type):
            type = type if type is no.type else joined(type, no.type)
        elif yes.type.__class__ is Pointer or no.type.__class__ is Pointer:
            type = no.type if yes.null else type
            if not yes.null and not no.null:
                self.same(x.at, yes.type, no.type)
        elif is_complex(yes.type) or is_complex(no.type):
            type = SCALARS['c128' if SCALARS['c128'] in (yes.type, no.type) else 'c64']
            yes, no = (Value(self.converted(v, type, x.at), type) for v in (yes, no))
        elif yes.type is not no.type:
            refuse(x.at, 'a choice between %s and %s' % (yes.type, no.type))
        const = None
        if test.const is not None and yes.const is not None and no.const is not None:
            const = wrapped(yes.const if test.const else no.const, type)
        return Value('%s ? %s : %s' % (condition, yes.text, no.text), type, at=at, const=const)

    # ------------------------------------------------------------------ places in memory
    def element(self, v, index, text=None):
        """Returns the element of a pointer or array at an index. `text` is its text if memory and registers represent it alike."""
        to, home = v.type.to, v.home if v.type.__class__ is Array else v.type.space
        if home is None:
            refuse(v.at, LOST)
        if to is VOID:
            refuse(v.at, 'the dereference of a pointer to void')
        packed = None
        if home == '__global' and (to is HALF or to is BOOL):
            self.unit.needs.add('memory_' + to.name)
            text, packed = 'ct_load_%s(%s, %s)' % (to.name, v.text, index), (v.text, index)
        elif text is None:
            text = '%s[%s]' % (v.text if v.text.isidentifier() or v.text[-1] in ')]' else '(%s)' % v.text, index)
        return Value(text, to, home, packed, v.at)

    def index(self, x):
        v, index = self.value(x.x), self.value(x.index)
        if v.table is not None:
            return self.entry(x, v, index)
        text, array = index.text, v.array
        if array and (index.type.__class__ is Array or index.counted is not None):
            count = index.type.count if index.counted is None else index.counted
            if count != array.ndim:
                refuse(v.at, '%d indices of an array of %d axes' % (count, array.ndim))
            text = ' + '.join('(long)%s[%d] * %s_s%d' % (text, k, v.text, k) for k in range(array.ndim)) or '0'
        elif not is_integer(index.type):
            refuse(x.at, 'an index of type %s' % index.type)
        elif array and not array.contiguous:
            self.unit.needs.add('at%d' % array.ndim)
            text = 'ct_at%d(%s)' % (array.ndim, ', '.join([text] + [
                '%s_%s%d' % (v.text, kind, k) for k in range(array.ndim) for kind in 'ns']))
        if v.type.__class__ not in (Pointer, Array):
            refuse(x.at, 'an index of something other than an array')
        return self.element(v, text)

    def address(self, at, v):
        if v.home is None:
            refuse(v.at or at, 'the address of an rvalue')
        if v.array:
            refuse(v.at, 'the address of an array argument')
        return Value('(%s + (%s))' % v.packed if v.packed else '&(%s)' % v.text, Pointer(v.type, v.home), at=v.at)

    def settle(self, type, given):
        """Infers the unknown address space of a pointer from that of `given`."""
        while type.__class__ is Pointer and given.__class__ is Pointer:
            if type.space is None:
                type.space = given.space
            type, given = type.to, given.to

    def same(self, at, type, given):
        """Rejects the conversion of a pointer to one with another target type or address space."""
        self.settle(type, given)
        if type.space != given.space and given.space is not None:
            refuse(at, 'a pointer into another memory')
        if type.to != given.to and type.to is not VOID:
            refuse(at, 'a pointer to %s for one to %s' % (given.to, type.to))

    def assign(self, x):
        v = self.value(x.left)
        if v.home is None:
            refuse(v.at or x.at, 'an assignment to an rvalue')
        if x.op and x.right.__class__ is not tree.Braces:
            right = self.rvalue(x.right)
            if is_complex(v.type):
                if any(step in v.text for step in STEPS):
                    refuse(v.at or x.at, 'an index that changes where its element is read and written')
                return self.stored(v, '', self.complex_binary(tree.Binary(x.at, x.op, None, None), v, right), x.at)
            if v.type.__class__ is Pointer and x.op in '+-' and is_integer(right.type):
                return Value('%s %s= %s' % (v.text, x.op, right.text), v.type, v.home, at=v.at)
            self.joined(tree.Binary(x.at, x.op, None, None), v, right)
        else:
            right = self.value(x.right) if x.right.__class__ is not tree.Braces else x.right
        return self.stored(v, x.op, right, x.at)

    def stored(self, v, op, right, at):
        """Translates v op= right."""
        text = right.text if op else self.literal(right, v.type) if right.__class__ is tree.Braces else self.converted(right, v.type, at)
        if not v.packed:
            if v.type is BOOL and op:
                if any(step in v.text for step in STEPS):
                    refuse(v.at or at, 'an index that changes where its element is read and written')
                op, text = '', '(%s %s (%s)) != 0' % (v.text, op, text)
            return Value('%s %s= %s' % (v.text, op, text), v.type, v.home, at=v.at)
        if op and any(step in part for part in v.packed for step in STEPS):
            refuse(v.at, 'an index that changes where its element is read and written')
        text = '%s %s (%s)' % (v.text, op, text) if op else text
        return Value('ct_store_%s(%s, %s, %s)' % (v.type, *v.packed, text), v.type, None, at=v.at)

    def step(self, x):
        v = self.value(x.x)
        if v.home is None:
            refuse(v.at or x.at, 'an increment of an rvalue')
        if not is_number(v.type) and v.type.__class__ is not Pointer:
            refuse(x.at, 'this operator on %s' % v.type)
        if v.packed:
            made = self.stored(v, x.op[0], Value('1', INT), x.at)
            return made if x.before else Value('(%s %s 1)' % (made.text, '+' if x.op == '--' else '-'), v.type, at=v.at)
        if x.before:
            return Value(self.lined(x.at, x.op + v.text), v.type, v.home, at=v.at)
        return Value(v.text + x.op, v.type, at=v.at)

    # ------------------------------------------------------------------ conversions
    def converted(self, v, type, at):
        """Returns the text of a value, or of a braced list, converted to `type`."""
        if v.__class__ is tree.Braces:
            return self.aggregate(v, type)
        given = v.type
        if is_number(type) and is_number(given):
            return '((%s) != 0)' % v.text if type is BOOL and given is not BOOL else v.text  # a bool field of a class is a byte
        if given.__class__ is Array:
            given = decayed(given, v.home)
        if type.__class__ is Pointer:
            if v.null:
                return v.text
            if v.array and not v.array.contiguous:
                refuse(v.at, 'a pointer to a non-contiguous array')
            if given.__class__ is Pointer:
                self.same(v.at or at, type, given)
                return v.text
        elif type is given and type is not VOID:
            return v.text
        elif is_complex(type):
            return self.to_complex(v, type, at)
        elif type is BOOL and given.__class__ is Pointer:
            return '(%s != 0)' % v.text
        elif self.constructors(type):
            return self.constructed(v.at or at, type, [v])
        refuse(v.at or at, '%s where %s is expected' % (given, type))

    def aggregate(self, braces, type):
        """Returns a braced list as the initialiser of a variable of this type."""
        if type.__class__ is Array:
            if len(braces.items) > (type.count or len(braces.items)):
                refuse(braces.at, 'more initialisers than the array has elements')
            parts = [self.converted(x if x.__class__ is tree.Braces else self.value(x), type.to, braces.at) for x in braces.items]
        elif self.constructors(type):
            return self.constructed(braces.at, type, braces.items)
        elif type.__class__ is Struct:
            types = list(type.fields.values())
            if len(braces.items) > len(types):
                refuse(braces.at, 'more values than %s has' % type)
            parts = [self.converted(x if x.__class__ is tree.Braces else self.value(x), t, braces.at)
                     for x, t in zip(braces.items, types)]
        elif is_complex(type):
            return self.make_complex(braces.at, type, [self.rvalue(x) for x in braces.items]).text
        else:
            if len(braces.items) > 1:
                refuse(braces.at, 'several values of one number')
            return self.converted(self.value(braces.items[0]), type, braces.at) if braces.items else '0'
        return '{%s}' % (', '.join(parts) or '0')

    def literal(self, braces, type):
        """Returns a braced list as an expression (a compound literal)."""
        text = self.aggregate(braces, type)
        return '((%s)%s)' % (memory(type), text) if text[:1] == '{' else text

    def cast(self, x):
        if x.type.reference:
            refuse(x.at, 'a cast to a reference')
        return self.cast_to(x.at, self.type(x.type), self.rvalue(x.x))

    def cast_to(self, at, type, v):
        given = v.type
        if type.__class__ is Pointer:
            if given.__class__ is not Pointer:
                if not v.null:
                    refuse(v.at or at, 'an address in memory, which kernels of OpenCL cannot follow,')
                return Value('0', type, at=v.at, null=True)
            if v.array and not v.array.contiguous:
                refuse(v.at, 'a pointer to a non-contiguous array')
            if type.to.__class__ is Pointer and type.to != given.to:
                refuse(v.at or at, 'a pointer to pointers')
            type.space = given.space
            if given.space is None:
                refuse(v.at or at, LOST)
            if HALF in (type.to, given.to) and type.to is not given.to and type.space != '__global' and VOID not in (
                    type.to, given.to):
                refuse(v.at or at, 'the bytes of 16-bit floats, which are wider within a kernel,')
            return Value('((%s)%s)' % (spelled(type, ''), v.text), type, at=v.at)
        if type is VOID:
            return Value('((void)(%s))' % v.text, VOID, at=v.at)
        if is_number(type) and (is_number(given) or given.__class__ is Pointer and size_of(type) == 8 and is_integer(type)):
            const = wrapped(v.const, type) if v.const is not None and is_integer(type) else None
            return Value('((%s)%s)' % (type.register, v.text), type, at=v.at, const=const)
        return Value(self.converted(v, type, at), type, at=v.at)

    def make(self, x):
        type = self.type(x.type)
        if x.braces and not (is_number(type) and len(x.args) == 1):
            return Value(self.literal(tree.Braces(x.at, x.args), type), type)
        if is_complex(type):
            return self.make_complex(x.at, type, [self.rvalue(a) for a in x.args])
        if not x.args and is_number(type):
            return Value('((%s)0)' % type.register, type, const=0 if is_integer(type) else None)
        if not x.args and type.__class__ is Struct:
            return Value(self.literal(tree.Braces(x.at, ()), type), type)
        if len(x.args) != 1:
            return Value(self.constructed(x.at, type, x.args) if self.constructors(type) else refuse(x.at, 'a constructor'), type)
        v = self.rvalue(x.args[0])
        v = v.named(v.at)
        v.text = '(%s)' % v.text
        return self.cast_to(x.at, type, v)

    def size(self, x):
        """Translates sizeof of a type or value. The size is that in memory, as a 16-bit float is wider in a register."""
        if x.type:
            size = size_of(self.type(x.type))
        else:
            v = self.value(x.x)
            if v.type is HALF:
                refuse(x.at, 'the size of 16-bit floats, which are wider within a kernel,')
            size = size_of(v.type)
        return Value('%dUL' % size, ULONG, const=size)

    # ------------------------------------------------------------------ members
    def member(self, x):
        t = x.name
        if x.x.__class__ is tree.Name and x.x.at.text in IDS and self.find(x.x.at.text) is None:
            if t.text not in ('x', 'y', 'z'):
                refuse(t, 'this member')
            return Value('((uint)%s(%d))' % (IDS[x.x.at.text], 'xyz'.index(t.text)), UINT)
        v = self.value(x.x)
        if v.members is not None:
            found = v.members.get(t.text)
            if not found or t.text != 'ndim':
                refuse(t if v.array else v.at, 'this member')
            return found
        return self.field(v, t, x.arrow, x.at)

    def field(self, v, t, arrow, at):
        type = v.type
        if arrow:
            if type.__class__ is not Pointer:
                refuse(at, 'the dereference of something other than a pointer')
            v = self.element(v, '0', '(*%s)' % v.text)
            type = v.type
        if is_complex(type) and t.text in CU_PARTS:
            return Value('%s.%s' % (v.text, CU_PARTS[t.text]), COMPLEX[type.name], v.home, at=v.at or t)
        if type.__class__ is not Struct:
            refuse(t, 'this member')
        found = type.fields.get(t.text)
        if found is None:
            constant = self.static(type, t)
            if constant is None:
                refuse(t, 'a missing member of %s' % type)
            return constant
        return Value('%s.%s' % (v.text, field_name(t.text)), found, v.home, at=v.at or t)

    def entry(self, x, v, index):
        """Translates x.shape()[k] and x.strides()[k] of an array argument."""
        found = v.table
        if index.const is None:
            return Value('(%s0L)' % ''.join('(%s) == %d ? %s : ' % (index.text, k, text) for k, text in enumerate(found)), LONG)
        if not 0 <= index.const < len(found):
            refuse(x.index.at, 'an axis out of range for an array of %d axes' % len(found))
        return Value(found[index.const], LONG)


_WAYS = {tree.Number: Expressions.number, tree.String: Expressions.string, tree.Name: Expressions.name,
         tree.Unary: Expressions.unary, tree.Step: Expressions.step, tree.Binary: Expressions.binary,
         tree.Assign: Expressions.assign, tree.Choice: Expressions.choice, tree.Cast: Expressions.cast,
         tree.Make: Expressions.make, tree.Index: Expressions.index, tree.Member: Expressions.member,
         tree.Paren: Expressions.paren, tree.Comma: Expressions.comma, tree.SizeOf: Expressions.size,
         tree.Call: lambda self, x: self.call(x)}
