"""Types of CUDA C++ as OpenCL C has them. Registers hold 16-bit floats as float, bool lies in memory as a byte."""

from catenary.cupy._translator.reader import MEMORY, RANK

INTEGERS = frozenset(RANK[:RANK.index('half')])
ORDER = {name: k for k, name in enumerate(RANK)}
SIZES = {'bool': 1, 'char': 1, 'uchar': 1, 'short': 2, 'ushort': 2, 'half': 2, 'int': 4, 'uint': 4, 'float': 4, 'long': 8,
         'ulong': 8, 'double': 8, 'c64': 8, 'c128': 16}
BITS = {name: 8 * SIZES[name] for name in INTEGERS}


# operators on integers, as C computes them, or None if the result is undefined
FOLDS = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b, '&': lambda a, b: a & b,
         '|': lambda a, b: a | b, '^': lambda a, b: a ^ b, '==': lambda a, b: a == b, '!=': lambda a, b: a != b,
         '<': lambda a, b: a < b, '>': lambda a, b: a > b, '<=': lambda a, b: a <= b, '>=': lambda a, b: a >= b,
         '&&': lambda a, b: bool(a and b), '||': lambda a, b: bool(a or b), '<<': lambda a, b: a << b if 0 <= b < 64 else None,
         '>>': lambda a, b: a >> b if 0 <= b < 64 else None,
         '/': lambda a, b: (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) if b else None,
         '%': lambda a, b: (abs(a) % abs(b) * (-1 if a < 0 else 1)) if b else None}


class Scalar:
    """A scalar type or void. There is one object per name."""
    __slots__ = ('name',)

    def __init__(self, name):
        self.name = name

    @property
    def register(self):
        return 'float' if self.name == 'half' else self.name

    def __str__(self):
        return self.name


class Pointer:
    """A pointer to `to` in an address space, '' for private memory. `space` is None until it is inferred."""
    __slots__ = ('to', 'space', 'const')

    def __init__(self, to, space, const=False):
        self.to, self.space, self.const = to, space, const

    def __str__(self):
        return '%s*' % self.to

    def __eq__(self, other):
        return isinstance(other, Pointer) and self.to == other.to and self.space == other.space

    def __hash__(self):
        return hash((self.to, self.space))


class Array:
    """An array of `count` elements of type `to`. A count of 0 is unknown."""
    __slots__ = ('to', 'count')

    def __init__(self, to, count):
        self.to, self.count = to, count

    def __str__(self):
        return '%s[%d]' % (self.to, self.count)

    def __eq__(self, other):
        return isinstance(other, Array) and self.to == other.to and self.count == other.count

    def __hash__(self):
        return hash((self.to, self.count))


class Struct:
    """A class: its name, field types and alignment. `node` is its syntax tree, `types` its template arguments."""
    __slots__ = ('name', 'own', 'fields', 'size', 'align', 'node', 'bindings')

    def __init__(self, name, own, fields, align, node=None, bindings=None):
        self.name, self.own, self.fields, self.node, self.bindings = name, own, fields, node, bindings
        self.align = align or max([align_of(type) for type in fields.values()], default=1)
        at = 0
        for type in fields.values():
            at = -(-at // align_of(type)) * align_of(type) + size_of(type)
        self.size = max(-(-at // self.align) * self.align, 1)

    def __str__(self):
        return self.name


SCALARS = {name: Scalar(name) for name in (*RANK, 'void', 'c64', 'c128')}
BOOL, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, HALF, VOID = (
    SCALARS[name] for name in ('bool', 'int', 'uint', 'long', 'ulong', 'float', 'double', 'half', 'void'))
COMPLEX = {'c64': FLOAT, 'c128': DOUBLE}  # type of the parts
CU_PARTS = {'x': 're', 'y': 'im'}  # their names in cuComplex.h


def size_of(type):
    """Returns sizeof in CUDA C++."""
    if isinstance(type, Array):
        return type.count * size_of(type.to)
    if isinstance(type, Struct):
        return type.size
    return SIZES.get(type.name, 1) if isinstance(type, Scalar) else 8


def align_of(type):
    if isinstance(type, Array):
        return align_of(type.to)
    if isinstance(type, Struct):
        return type.align
    return SIZES.get(type.name, 1) if isinstance(type, Scalar) else 8


def is_number(type):
    return isinstance(type, Scalar) and type.name in ORDER


def is_integer(type):
    return isinstance(type, Scalar) and type.name in INTEGERS


def is_complex(type):
    return isinstance(type, Scalar) and type.name in COMPLEX


def promoted(type):
    """Returns the type after promotion: narrow integers and 16-bit floats are widened in arithmetic."""
    order = ORDER[type.name]
    return INT if order < ORDER['int'] else FLOAT if type is HALF else type


def joined(a, b):
    """Returns the type of a sum of two numbers."""
    a, b = promoted(a), promoted(b)
    return a if ORDER[a.name] >= ORDER[b.name] else b


def decayed(type, space):
    """Returns the type of a value: an array in this space decays to a pointer."""
    return Pointer(type.to, space) if isinstance(type, Array) else type


def memory(type, space=''):
    """Returns the word for a type that lies in this space."""
    if isinstance(type, Scalar):
        return MEMORY.get(type.name, type.name) if space == '__global' else type.register
    if isinstance(type, Struct):
        return type.own
    return spelled(type, '')


def spelled(type, name, space='', const=''):
    """Returns a declaration of `name`, which lies in `space`."""
    if isinstance(type, Array):
        return spelled(type.to, '%s[%s]' % (name, type.count or ''), space, const)
    if isinstance(type, Pointer):
        inner = '(*%s)' % name if isinstance(type.to, Array) else '*' + name
        return spelled(type.to, inner, type.space or '', 'const ' if type.const else '')
    text = '%s%s' % (const, memory(type, space))
    if space:
        text = '%s %s' % (space, text)
    if not name or name[0] == '*':
        return text + name
    return '%s %s' % (text, name)


def wrapped(value, type):
    """Returns an integer as this type holds it."""
    if type is BOOL:
        return int(value != 0)
    bits = BITS[type.name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if type.name[0] != 'u' and value >> (bits - 1) else value
