"""Variables of a module outside functions, which OpenCL C 1.2 lacks: they lie in a buffer, which each kernel takes and hands on to each
function."""

from catenary.cupy._translator import tree
from catenary.cupy._translator.reader import Token, refuse
from catenary.cupy._translator.types import VOID, Array, Pointer, Scalar, Struct, align_of, is_complex, size_of, spelled
from catenary.cupy._translator.values import VARIABLES, Value

_LEAST = 16  # minimum alignment of variables in bytes, as in CUDA


class Variable:
    """A variable's declaration, type and offset."""
    __slots__ = ('node', 'declarator', 'type', 'at')

    def __init__(self, node, declarator, type, at):
        self.node, self.declarator, self.type, self.at = node, declarator, type, at


def add(kernel, node):
    """Binds global variables in a declaration to offsets in the buffer. Returns False if it declares no device variable."""
    if not {'__device__', '__constant__'} & node.words or 'constexpr' in node.words:
        return False
    if node.spec.const and not any(d.type.stars for d in node.names):
        return False
    if 'extern' in node.words:
        refuse(node.at, 'an extern variable')
    writer = kernel.writer({})
    for d in node.names:
        type = writer.type(d.type)
        inner = type
        while inner.__class__ is Array:
            inner = inner.to
        if inner.__class__ is Pointer:
            refuse(d.at, 'a pointer that persists between launches')
        if inner is VOID or not isinstance(inner, (Scalar, Struct)) or d.type.reference:
            refuse(d.at, 'a variable of this type')
        if type.__class__ is Array and not type.count:
            if d.value.__class__ is not tree.Braces or not d.value.items:
                refuse(d.at, 'an array whose size is not a compile-time constant')
            type = Array(type.to, len(d.value.items))
        known = kernel.unit.variables
        last = next(reversed(known.values())) if known else None
        end = 0 if last is None else last.at + size_of(last.type)
        step = max(align_of(type), _LEAST)
        place = known[d.at.text] = Variable(node, d, type, -(-end // step) * step)
        kernel.names[d.at.text] = _value(writer, place)
    return True


def _value(writer, variable):
    """Returns the Value of a variable, an lvalue in global memory."""
    pointer = Pointer(variable.type, '__global')
    text = '((%s)(%s + %d))' % (_pointer_text(variable.type), VARIABLES, variable.at)
    if variable.type.__class__ is Array:
        return Value('(*%s)' % text, variable.type, '__global')
    return writer.element(Value(text, pointer), '0', '(*%s)' % text)


def _pointer_text(type):
    if type.__class__ is not Array:
        return '%s*' % spelled(type, '', '__global')
    sizes, inner = '', type
    while inner.__class__ is Array:
        sizes, inner = sizes + '[%d]' % inner.count, inner.to
    return '%s(*)%s' % (spelled(inner, '', '__global'), sizes)


def take(takes, first):
    """Adds a kernel's parameters for the buffer, and the code that runs first."""
    takes += ['__global uchar* %s_p' % VARIABLES, 'long %s_at' % VARIABLES]
    first.append('__global uchar* const %s = %s_p + %s_at;' % (VARIABLES, VARIABLES, VARIABLES))


def layout(kernel):
    """Returns (offset and size of each variable, total size, statements that initialise them)."""
    places, nodes, end = {}, [], 0
    for name, v in kernel.unit.variables.items():
        places[name] = v.at, size_of(v.type)
        end = v.at + size_of(v.type)
        value = v.declarator.value
        if value.__class__ is tuple:
            if len(value) != 1:
                refuse(v.declarator.at, 'a constructor')
            value = value[0]
        if value is not None:
            nodes += _given(tree.Name(v.declarator.at, ((v.declarator.at, None),)), v.type, value)
    return places, max(-(-end // _LEAST) * _LEAST, _LEAST), nodes


def _given(x, type, value):
    """Returns statements that initialise the variable at `x`."""
    at = x.at
    if value.__class__ is not tree.Braces:
        if type.__class__ is Array:
            refuse(at, 'this value')
        return [tree.Evaluate(at, tree.Assign(at, '', x, value))]
    if type.__class__ is Array:
        if len(value.items) > type.count:
            refuse(at, 'more values than there are elements')
        parts = [(tree.Index(at, x, tree.Number(Token('num', str(k), at.line, '', at.source))), type.to) for k in range(len(value.items))]
    elif type.__class__ is Struct:
        if len(value.items) > len(type.fields):
            refuse(at, 'more values than there are elements')
        parts = [(tree.Member(at, x, False, Token('id', name, at.line, '', at.source)), field) for name, field in type.fields.items()]
    elif len(value.items) > 1 or is_complex(type):
        refuse(at, 'this value')
    else:
        parts = [(x, type)]
    return [node for (part, inner), item in zip(parts, value.items) for node in _given(part, inner, item)]
