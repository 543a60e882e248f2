"""Values of expressions in OpenCL C (`Value`), and the state of a whole text (`Unit`)."""

from catenary.cupy._translator import tree
from catenary.cupy._translator.reader import RESERVED, VECTORS, refuse
from catenary.cupy._translator.types import SCALARS, Pointer, Scalar, Struct, align_of, size_of, spelled

VARIABLES = 'ct_variables'  # the buffer with a module's variables
LOST = 'a pointer whose address space is unknown'


class Value:
    """An expression. `text` is its OpenCL C.

    `home` is the address space of an lvalue, and `packed` its (pointer, index) if memory and registers represent it differently. `array` is the
    Parameter of an array argument, `members` maps NAME to x.NAME, `table` maps NAME to x.NAME()[k], `const` is the value of a known integer, `at`
    the first variable's token. A `ref` is a pointer that stands for its target. A `null` converts to every pointer. `counted` is the number of
    indices.
    """
    __slots__ = ('text', 'type', 'home', 'packed', 'array', 'members', 'table', 'const', 'at', 'ref', 'null', 'counted')

    def __init__(self, text, type, home=None, packed=None, at=None, const=None, array=None, members=None, table=None, ref=False,
                 null=False, counted=None):
        self.text, self.type, self.home, self.packed, self.at, self.const = text, type, home, packed, at, const
        self.array, self.members, self.table, self.ref, self.null, self.counted = array, members, table, ref, null, counted

    def named(self, at):
        v = Value(self.text, self.type, self.home, self.packed, at, self.const)
        v.array, v.members, v.table, v.ref, v.null, v.counted = (
            self.array, self.members, self.table, self.ref, self.null, self.counted)
        return v


class Later:
    """A piece of text that is completed at the end: a declaration of a pointer whose address space is inferred later."""
    __slots__ = ('type', 'name', 'at', 'space', 'const', 'more')

    def __init__(self, type, name, at, space='', const='', more=''):
        self.type, self.name, self.at, self.space, self.const, self.more = type, name, at, space, const, more

    def __str__(self):
        return settled(self.type, self.name, self.at, self.space, self.const) + self.more


def settled(type, name, at, space='', const=''):
    """Returns spelled() for a type, and rejects it if the address space of a pointer is unknown."""
    inner = type
    while not isinstance(inner, (Scalar, Struct)):
        if isinstance(inner, Pointer) and inner.space is None:
            refuse(at, LOST)
        inner = inner.to
    return spelled(type, name, space, const)


class Constant:
    """A global constant, which is written at its first use."""
    __slots__ = ('node', 'declarator', 'value')

    def __init__(self, node, declarator):
        self.node, self.declarator, self.value = node, declarator, None


class Classes:
    """A class, or a class template with its specialisations. `made` maps arguments to types."""
    __slots__ = ('nodes', 'made')

    def __init__(self, node):
        self.nodes, self.made = [node], {}


class Unit:
    """The state of a kernel's text in progress: required helpers, and instances made so far."""

    def __init__(self, kernel, float64):
        self.kernel, self.float64, self.takes_memory = kernel, float64, False
        self.needs, self.instances, self.taken, self.names = set(), {}, {}, {}
        self.structs, self.functions = [], []  # texts in order
        self.variables = {}  # a module's variables, in the memory that its kernels receive
        self.classes = {}  # per class: its instances and scopes

    def own(self, name):
        """Returns a name of OpenCL's for one of the text's that no other has."""
        count = self.taken[name] = self.taken.get(name, 0) + 1
        return 'u_%s' % name if count == 1 else 'u_%s_%d' % (name, count)

    def vector(self, name):
        """Returns a vector of CUDA's, which has no operators and lies in memory as CUDA says."""
        if name not in self.instances:
            kind, n = VECTORS[name]
            type = SCALARS[kind]
            size = size_of(type)
            made = Struct(name, 'ct_' + name, dict.fromkeys('xyzw'[:n], type), size if n in (1, 3) else min(n * size, 16))
            self.instances[name] = made
            self.add_struct(made, None)
        return self.instances[name]

    def add_struct(self, made, at):
        self.structs.append((made, at))

    def struct_texts(self):
        text = ''
        for made, at in self.structs:
            fields = ''.join(' %s;' % settled(type, field_name(name), at, '__global' if type.__class__ is Scalar else '')
                             .replace('__global ', '') for name, type in made.fields.items())
            natural = max([align_of(type) for type in made.fields.values()], default=1)
            aligned = ' __attribute__((aligned(%d)))' % made.align if made.align != natural else ''
            text += 'typedef struct {%s }%s %s;\n' % (fields or ' uchar ct_nothing;', aligned, made.own)
        return text


def field_name(name):
    return 'u_' + name if name in RESERVED else name


def names_of(nodes, names=None):
    """Returns the global scope."""
    names = {} if names is None else names
    for node in nodes:
        if isinstance(node, tree.Function):
            found = names.setdefault(node.name, [])
            if not isinstance(found, list):
                refuse(node.at, 'a second meaning of the name')
            found.append(node)
        elif isinstance(node, tree.Struct):
            found = names.get(node.name)
            if isinstance(found, Classes) and node.special is not None:
                found.nodes.append(node)
            else:
                names[node.name] = Classes(node)
        elif isinstance(node, tree.Declaration):
            for declarator in node.names:
                names[declarator.at.text] = Constant(node, declarator)
        elif isinstance(node, tree.Typedef):
            names[node.name] = node
    return names
