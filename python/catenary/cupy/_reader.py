"""Reads CUDA C++: tokens, names and what they stand for, types of expressions. `_translate` builds upon it."""

import re

from catenary.cupy import _opencl

# dtype -> type of a register, and of memory where that is another one
REGISTER = {'bool': 'bool', 'int8': 'char', 'uint8': 'uchar', 'int16': 'short', 'uint16': 'ushort', 'int32': 'int',
            'uint32': 'uint', 'int64': 'long', 'uint64': 'ulong', 'float16': 'half', 'float32': 'float',
            'float64': 'double'}
DTYPES = {type: 'uint8' if dtype == 'bool' else dtype for dtype, type in REGISTER.items()}
MEMORY = {'half': 'ushort', 'bool': 'uchar'}
ALIASES = {'float16': 'half', '__half': 'half', 'float32': 'float', 'float64': 'double', 'size_t': 'ulong',
           'uintptr_t': 'ulong', 'ptrdiff_t': 'long', 'ssize_t': 'long', 'intptr_t': 'long', 'uint': 'uint',
           'ushort': 'ushort', 'uchar': 'uchar', 'ulong': 'ulong', 'void': 'void', 'half': 'half'}
ALIASES.update({name + end: REGISTER[name] for name in REGISTER if 'int' in name for end in ('', '_t')})
WORDS = frozenset(('unsigned', 'signed', 'char', 'short', 'int', 'long', 'float', 'double', 'bool'))
QUALIFIERS = frozenset(('const', 'volatile', 'constexpr', 'static', 'register', '__restrict__', '__restrict', 'restrict'))
SPECIFIERS = frozenset(('__device__', '__host__', '__forceinline__', '__noinline__', 'inline', 'static', 'extern', '"C"',
                        'constexpr', '__global__'))
RESERVED = frozenset((
    'half', 'global', 'local', 'constant', 'private', 'kernel', 'generic', 'pipe', 'read_only', 'write_only', 'read_write',
    'uchar', 'ushort', 'uint', 'ulong', 'event_t', 'image1d_t', 'image2d_t', 'image3d_t', 'sampler_t', 'restrict', 'quad',
    'complex', 'imaginary', 'vec_step', 'as_int', 'as_float', 'barrier', 'bool2', 'complex_t')).union(
        kind + n for kind in ('char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'float', 'double', 'half')
        for n in ('2', '3', '4', '8', '16'))
REFUSED = {
    'asm': 'inline assembly', '__asm__': 'inline assembly', 'new': 'memory of a kernel', 'delete': 'memory of a kernel',
    'malloc': 'memory of a kernel', 'free': 'memory of a kernel', 'class': 'a class', 'namespace': 'a namespace',
    'using': 'a using declaration', 'operator': 'an operator of its own', 'decltype': 'decltype', 'try': 'an exception',
    'throw': 'an exception', 'virtual': 'a virtual function', 'this': 'a class', 'union': 'a union',
    'complex': 'complex numbers', 'thrust': 'Thrust', 'warpSize': 'warps', 'dynamic_cast': 'a cast by class',
    'cooperative_groups': 'cooperative groups', 'typeid': 'a type at run time', 'goto': 'a jump', 'friend': 'a class'}
HEADERS = ('cupy/', 'cuda_fp16', 'cuda_runtime', 'stdint', 'cstdint', 'cmath', 'math', 'stddef', 'cstddef', 'limits.h',
           'float.h', 'math_constants')
ASSIGNMENTS = frozenset(('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='))
RANK = ('bool', 'char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'half', 'float', 'double')
IDS = {'threadIdx': 'get_local_id', 'blockIdx': 'get_group_id', 'blockDim': 'get_local_size', 'gridDim': 'get_num_groups'}

_TOKEN = re.compile(r'''(?P<id>[A-Za-z_]\w*)|(?P<num>(?:0[xX][\da-fA-F']+|0[bB][01']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    [fFuUlL]*)|(?P<str>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<op><<=|>>=|->\*|\.\.\.|\+\+|--|->|::|[-+*/%&|^<>=!]=|
    &&|\|\||<<|>>|[-+*/%&|^<>=!~?:;,.(){}\[\]])''', re.X)
_SPACE = re.compile(r'(?:[ \t\r\n\f]|\\\n|//[^\n]*|/\*.*?\*/)*', re.S)
_DIRECTIVE = re.compile(r'#(?:[^\n\\/]|\\\n|\\.|//[^\n]*|/\*.*?\*/|/)*', re.S)


def entry(name):
    """What a kernel is called in its text: compilers have functions of many names that kernels have, as `dot` and `exp`."""
    return 'ct_' + name


class Untranslatable(ValueError):
    """What a kernel says cannot be said in OpenCL C 1.2, or is not known here."""


class Token:
    __slots__ = ('kind', 'text', 'line', 'space')

    def __init__(self, kind, text, line, space=''):
        self.kind, self.text, self.line, self.space = kind, text, line, space

    def __repr__(self):
        return self.text


class Var:
    """What a name stands for: a value, an array, a pointer, a reference (a pointer that is always followed) or an array
    argument (`raw`). `space` is where it points to."""

    def __init__(self, type, kind='value', space='', extent=None, array=None, name=None):
        self.type, self.kind, self.space, self.extent, self.array, self.name = type, kind, space, extent, array, name

    @property
    def packed(self):
        return self.space == '__global' and self.type in MEMORY


class Function:
    def __init__(self, name, template, result, parameters, body):
        self.name, self.template, self.result, self.parameters, self.body = name, template, result, parameters, body


class Parameter:
    """A parameter of a kernel. `kind`: 'scalar', 'element' (an array of which the element i is meant) or 'raw'; arrays
    have `ndim` axes, and `contiguous` says whether they are in C order. What the kernel takes for it, in order: a scalar
    its value; an array its buffer and the offset of its first element (long), then, where it is raw, ndim extents and
    ndim strides in elements (long), where it is an element and not contiguous, ndim strides."""

    def __init__(self, name, dtype, kind='element', ndim=1, contiguous=True, out=False):
        self.name, self.dtype, self.kind, self.ndim, self.contiguous, self.out = name, dtype, kind, ndim, contiguous, out


def tokens(text, kernel='kernel', line=1):
    """The tokens of a text, each with its line and the space before it; a directive is one token."""
    found, at, fresh = [], 0, True
    while True:
        space = _SPACE.match(text, at)
        gap = space.group()
        at = space.end()
        fresh = fresh or '\n' in gap
        line += gap.count('\n')
        keep = '\n' * gap.count('\n') + ' ' * (gap != '' and not gap.endswith('\n'))
        if at == len(text):
            if keep:
                found.append(Token('op', '', line, keep))
            return found
        match = _DIRECTIVE.match(text, at) if fresh and text[at] == '#' else _TOKEN.match(text, at)
        if match is None:
            raise Untranslatable('kernel %s, line %d: %r is no token of CUDA C++' % (kernel, line, text[at]))
        found.append(Token(match.lastgroup or 'directive', match.group(), line, keep))
        line += match.group().count('\n')
        at, fresh = match.end(), False


class Reader:
    """What is known while a kernel is translated for one set of dtypes. `types` are names that stand for dtypes."""

    def __init__(self, kernel, types, float64=True, shared_memory=0):
        self.kernel, self.float64, self.shared_memory = kernel, float64, shared_memory
        self.types = {name: REGISTER[dtype] for name, dtype in types.items()}
        self.scopes, self.functions, self.needs, self.wanted = [{}], {}, set(), {}
        self.lines, self.in_operation, self.in_kernel, self.returns, self.ndim = [], False, False, False, None
        self.uses_index, self.block, self.grid = False, None, None

    # ------------------------------------------------------------------ small things
    def refuse(self, token, why):
        line = self.lines[token.line - 1].strip() if 0 < token.line <= len(self.lines) else ''
        raise Untranslatable("kernel %s, line %d: %r: %s cannot be translated to OpenCL C\n    %s" % (
            self.kernel, token.line, token.text.split('\n')[0], why, line))

    def read(self, text):
        self.lines = text.split('\n')
        found, opened = tokens(text, self.kernel), []
        for t in found:
            if t.kind == 'op' and t.text in ('(', '[', '{'):
                opened.append(t)
            elif t.kind == 'op' and t.text in (')', ']', '}'):
                if not opened or opened.pop().text + t.text not in ('()', '[]', '{}'):
                    self.refuse(t, 'a bracket that nothing opens')
        if opened:
            self.refuse(opened[-1], 'a bracket that nothing closes')
        return found

    def close(self, ts, i):
        pairs = {'(': ')', '[': ']', '{': '}', '<': '>'}
        opened, closed, depth = ts[i].text, pairs[ts[i].text], 0
        for j in range(i, len(ts)):
            depth += (ts[j].text == opened) - (ts[j].text == closed)
            if opened == '<' and ts[j].text == '>>':
                depth -= 2
            if depth <= 0:
                return j
        self.refuse(ts[i], 'a bracket that nothing closes')

    def split(self, ts):
        parts, depth = [[]], 0
        for t in ts:
            depth += (t.text in ('(', '[', '{')) - (t.text in (')', ']', '}'))
            if t.text == ',' and depth == 0:
                parts.append([])
            else:
                parts[-1].append(t)
        return [] if parts == [[]] else parts

    def is_op(self, ts, i, *texts):
        return 0 <= i < len(ts) and ts[i].text in texts

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def declare(self, name, var):
        var.name = var.name or ('u_' + name if name in RESERVED or name in self.functions else name)
        self.scopes[-1][name] = var
        return var.name

    def type_at(self, ts, i):
        """The type that begins at i and where it ends; None if there is none."""
        words, j, found = [], i, None
        while j < len(ts) and ts[j].kind == 'id':
            word = ts[j].text
            if word in WORDS:
                words.append(word)
            elif word in QUALIFIERS or word in ('struct', 'typename'):
                pass
            elif not words and found is None and self.find(word) is None and (word in self.types or word in ALIASES):
                found = self.types.get(word) or ALIASES[word]
            else:
                break
            j += 1
        if words:
            found = ('double' if 'double' in words else 'float' if 'float' in words else 'bool' if 'bool' in words else
                     ('u' if 'unsigned' in words else '') + ('char' if 'char' in words else 'short' if 'short' in words
                                                             else 'long' if 'long' in words else 'int'))
        if found == 'double' and not self.float64:
            self.refuse(ts[i], 'double, which the device lacks,')
        return found, j if found else i

    def register(self, type):
        return 'float' if type == 'half' else type

    def pointer(self, type, space):
        return ('%s %s*' % (space, MEMORY.get(type, type) if space == '__global' else self.register(type))).strip()

    # ------------------------------------------------------------------ types of expressions, for templates
    def join(self, kinds):
        if None in kinds or not kinds or any(kind not in RANK for kind in kinds):
            return None
        if len(kinds) == 1:
            return kinds[0]
        joined = RANK[max(RANK.index('int'), *(RANK.index(kind) for kind in kinds))]
        return 'float' if joined == 'half' else joined

    def type_of(self, ts):
        """The type of an expression, None where that is not plain."""
        ts = [t for t in ts if t.text]
        kinds, i = [], 0
        while i < len(ts):
            t = ts[i]
            if t.text in ('==', '!=', '<', '>', '<=', '>=', '&&', '||', '!') and '?' not in [x.text for x in ts]:
                return 'bool'
            if t.text == '?':
                return self.type_of(ts[i + 1:])
            kind, i = self.operand_type(ts, i)
            if kind != '':
                kinds.append(kind)
        return self.join(kinds)

    def operand_type(self, ts, i):
        t = ts[i]
        if t.kind == 'num':
            end = t.text.lower()
            if not end.startswith('0x') and ('.' in end or 'e' in end or end.endswith('f')):
                return ('float' if end.endswith('f') or not self.float64 else 'double'), i + 1
            return ('u' if 'u' in end else '') + ('long' if 'l' in end else 'int'), i + 1
        if t.text == '(':
            end = self.close(ts, i)
            kind, j = self.type_at(ts, i + 1)
            if kind and j == end and end + 1 < len(ts):
                return kind, self.operand_type(ts, end + 1)[1]
            return self.type_of(ts[i + 1:end]), end + 1
        if t.text == 'static_cast':
            end = self.close(ts, i + 1)
            return self.type_at(ts, i + 2)[0], self.close(ts, end + 1) + 1
        if t.kind != 'id':
            return '', i + 1
        var, j = self.find(t.text), i + 1
        while self.is_op(ts, j, '[', '('):
            j = self.close(ts, j) + 1
        if self.is_op(ts, j, '.', '->'):
            return None, j + 2
        if var is not None:
            return var.type, j
        kind = self.type_at(ts, i)[0]
        if kind and j > i + 1:
            return kind, j
        inside = [self.type_of(part) for part in self.split(ts[i + 2:j - 1])] if self.is_op(ts, i + 1, '(') else []
        if t.text in self.functions:
            function = self.functions[t.text][0]
            if not function.template:
                return self.type_at(function.result, 0)[0], j
            return self.join(inside), j
        if t.text in _opencl.MATH:
            joined = self.join(inside)
            if t.text in ('min', 'max', 'abs') or joined in ('float', 'double', 'half', None):
                return joined, j
            return ('double' if self.float64 else 'float'), j
        return None, j

    def points(self, ts):
        """Where the pointer points to that an expression gives, and where there is none the first number in it."""
        number = None
        for i, t in enumerate(ts):
            var = self.find(t.text) if t.kind == 'id' else None
            if var is None or (i and ts[i - 1].text in ('.', '->')):
                continue
            taken = any(x.text == '&' for x in ts[:i])
            if var.kind == 'value' and self.is_op(ts, i - 1, '&'):
                return '', None
            # a reference to a number, and an element of an array of numbers, are numbers unless their place is taken
            a_number = var.type in ('ulong', 'long') and (var.kind == 'ref' or self.is_op(ts, i + 1, '['))
            if var.kind != 'value' and (taken or not a_number):
                return var.space, None
            number = number or t
        return '__global', number

    def space_of(self, ts):
        return self.points(ts)[0]
