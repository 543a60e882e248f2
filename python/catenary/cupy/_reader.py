"""Reads CUDA C++: tokens, brackets, names and what they stand for, types. `_body` and `_translate` build upon it."""

import dataclasses
import re

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
    'cooperative_groups': 'cooperative groups', 'typeid': 'a type at run time', 'goto': 'a jump', 'friend': 'a class',
    **dict.fromkeys(('and', 'or', 'not', 'xor', 'bitand', 'bitor', 'compl', 'not_eq'), 'an operator in letters')}
HEADERS = ('cupy/', 'cuda_fp16', 'cuda_runtime', 'stdint', 'cstdint', 'cmath', 'math', 'stddef', 'cstddef', 'limits.h',
           'float.h', 'math_constants')
RANK = ('bool', 'char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'half', 'float', 'double')
BRACKETS = {'(': ')', '[': ']', '{': '}'}
LONGEST = 256 * 1024  # characters of a kernel's texts together: compilers take minutes for more
DEEPEST = 64  # brackets inside each other

_TOKEN = re.compile(r'''(?P<id>[A-Za-z_]\w*)|(?P<num>(?:0[xX][\da-fA-F']+|0[bB][01']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    [fFuUlL]*)|(?P<str>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<op><<=|>>=|->\*|\.\.\.|\+\+|--|->|::|[-+*/%&|^<>=!]=|
    &&|\|\||<<|>>|[-+*/%&|^<>=!~?:;,.(){}\[\]])''', re.X)
_SPACE = re.compile(r'(?:[ \t\r\n\f]|\\\n|//[^\n]*|/\*.*?\*/)*', re.S)
_DIRECTIVE = re.compile(r'#(?:[^\n\\/]|\\\n|\\.|//[^\n]*|/\*.*?\*/|/)*', re.S)


class Untranslatable(ValueError):
    """What a kernel says cannot be said in OpenCL C 1.2, or is not known here."""


class Token:
    """A word of a text. A bracket is one token: it holds those that stand `inside`, and the space before its `end`."""
    __slots__ = ('kind', 'text', 'line', 'space', 'inside', 'end')

    def __init__(self, kind, text, line=0, space=''):
        self.kind, self.text, self.line, self.space, self.inside, self.end = kind, text, line, space, None, ''


@dataclasses.dataclass
class Value:
    """What an expression or a name stands for. `text` says it in OpenCL C, after `space`. `type` is that of a number, or of
    the numbers to which one gets along `points`: the address spaces of what is pointed to, one for each level. A place in
    memory has a `home`, its space; where memory holds its value in another form than registers do, `packed` is its pointer
    and its index. `array` is the Parameter of an array argument, `members` what x.NAME is, `extent` how many numbers an
    array of the text has (0: unknown), `name` the first variable's token. A `ref` is a pointer that is always followed."""
    text: str
    type: str = None
    points: tuple = ()
    home: str = None
    packed: tuple = None
    array: object = None
    members: dict = None
    extent: int = None
    ref: bool = False
    name: Token = None
    space: str = ''

    def __str__(self):
        return self.space + self.text

    def target(self):
        """The address space of what it points to, where it is a pointer."""
        return self.points[0] if self.points else '__global'


class Cursor:
    """A place in a list of tokens."""
    END = Token('end', '')

    def __init__(self, ts):
        self.ts, self.i = ts, 0

    @property
    def more(self):
        return self.i < len(self.ts)

    def peek(self, ahead=0):
        return self.ts[self.i + ahead] if self.i + ahead < len(self.ts) else self.END

    def at(self, *texts):
        return self.peek().text in texts

    def take(self):
        self.i += 1
        return self.peek(-1)

    def accept(self, *texts):
        return self.take() if self.at(*texts) else None


@dataclasses.dataclass(eq=False)
class Function:
    """A function of a text, in tokens; `lines` are its text's."""
    name: str
    template: list
    result: list
    parameters: list
    body: Token
    is_kernel: bool
    lines: list
    numbers: dict  # of the template's parameters those that are numbers, and their types


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


def split(ts):
    """What stands between commas."""
    parts = [[]]
    for t in ts:
        if t.text == ',':
            parts.append([])
        else:
            parts[-1].append(t)
    return [] if parts == [[]] else parts


class Reader:
    """What is known while a kernel is translated for one set of dtypes. `types` are names that stand for dtypes."""

    def __init__(self, kernel, types, float64=True):
        self.kernel, self.float64, self.takes_memory = kernel, float64, False
        self.types = {name: REGISTER[dtype] for name, dtype in types.items()}
        self.scopes, self.functions, self.needs, self.wanted = [{}], {}, set(), {}
        self.lines, self.in_operation, self.in_kernel, self.returns = [], False, False, False
        self.uses_index, self.classes = False, set()

    def refuse(self, token, why):
        line = self.lines[token.line - 1].strip() if 0 < token.line <= len(self.lines) else ''
        raise Untranslatable("kernel %s, line %d: %r: %s cannot be translated to OpenCL C\n    %s" % (
            self.kernel, token.line, token.text.split('\n')[0], why, line))

    def read(self, text):
        """A token without a text, inside which are all of the text's."""
        self.lines = text.split('\n')
        return self.nest(tokens(text, self.kernel))

    def nest(self, found, macro=False):
        """Puts into brackets what stands inside them. A macro may open or close a block without its other end."""
        opened = [Token('', '')]
        opened[0].inside = []
        for t in found:
            if t.text == BRACKETS.get(opened[-1].text, ' '):
                opened.pop().end = t.space
            elif t.text in BRACKETS.values() and not macro:
                self.refuse(t, 'a bracket that nothing opens')
            elif t.text:
                opened[-1].inside.append(t)
                if t.text in BRACKETS:
                    t.inside = []
                    if len(opened) > DEEPEST:
                        self.refuse(t, 'more than %d brackets inside each other' % DEEPEST)
                    opened.append(t)
            else:
                opened[0].end = t.space
        while len(opened) > 1:
            t = opened.pop()
            if not macro or t.text != '{':
                self.refuse(t, 'a bracket that nothing closes')
            opened[-1].inside += t.inside
            t.inside = None
        return opened[0]

    def angle(self, c):
        """What stands in <>, to which c has come."""
        opened, inside, depth = c.take(), [], 1
        while c.more:
            t = c.take()
            depth += (t.text == '<') - (t.text == '>') - 2 * (t.text == '>>')
            if depth <= 0:
                return inside
            inside.append(t)
        self.refuse(opened, 'a bracket that nothing closes')

    def find(self, name):
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def declare(self, name, value, own=None):
        """Makes a name stand for a value; what it is called in OpenCL C."""
        value.text = own or ('u_' + name if name in RESERVED or name in self.functions else name)
        self.scopes[-1][name] = value
        return value.text

    # ------------------------------------------------------------------ types
    def type(self, c):
        """The type to which c has come, which goes on behind it; None, and c stays, where there is none."""
        start, words, found = c.i, [], None
        while c.peek().kind == 'id':
            word = c.peek().text
            if word in WORDS:
                words.append(word)
            elif word not in QUALIFIERS and word not in ('struct', 'typename'):
                if words or found or self.find(word) or not (word in self.types or word in ALIASES):
                    break
                found = self.types.get(word) or ALIASES[word]
            c.take()
        if words:
            kind = next((k for k in ('double', 'float', 'bool', 'char', 'short', 'long') if k in words), 'int')
            found = 'u' + kind if 'unsigned' in words else kind
        if found == 'double' and not self.float64:
            self.refuse(c.ts[start], 'double, which the device lacks,')
        if found is None:
            c.i = start
        return found

    def stars(self, c):
        """Goes on behind the signs of a pointer or a reference: how many pointers, and whether a reference."""
        signs = ''
        while c.at('*', '&', 'const', '__restrict__', 'volatile'):
            t = c.take()
            signs += t.text if t.kind == 'op' else ''
        return signs.count('*'), '&' in signs

    def whole_type(self, ts):
        """The type that is all of these tokens, and the number of its stars; None where they are something else."""
        c = Cursor(ts)
        type = self.type(c)
        stars = self.stars(c)[0]
        return (type, stars) if type and not c.more else None

    def register(self, type):
        return 'float' if type == 'half' else type

    def memory(self, type, space):
        return ('%s %s' % (space, MEMORY.get(type, type) if space == '__global' else self.register(type))).strip()

    def join(self, types):
        """The type of a sum."""
        if not types or any(type not in RANK for type in types):
            return None
        if len(types) == 1:
            return types[0]
        joined = max('int', *types, key=RANK.index)
        return 'float' if joined == 'half' else joined
