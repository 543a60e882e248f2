"""Reads CUDA C++ as tokens and reports unsupported text. `macros`, `parse` and `translate` build upon it."""

import re

# dtype -> type in registers, and in memory where it differs
REGISTER = {'bool': 'bool', 'int8': 'char', 'uint8': 'uchar', 'int16': 'short', 'uint16': 'ushort', 'int32': 'int',
            'uint32': 'uint', 'int64': 'long', 'uint64': 'ulong', 'float16': 'half', 'float32': 'float',
            'float64': 'double', 'complex64': 'c64', 'complex128': 'c128'}
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
    'thrust': 'Thrust', 'warpSize': 'warps', 'dynamic_cast': 'a cast by class',
    'cooperative_groups': 'cooperative groups', 'typeid': 'a type at run time', 'goto': 'a jump', 'friend': 'a class',
    **dict.fromkeys(('and', 'or', 'not', 'xor', 'bitand', 'bitor', 'compl', 'not_eq'), 'an operator in letters')}
# Functions of complex numbers, also in the namespace thrust
COMPLEX_FUNCTIONS = frozenset(('exp expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh '
                               'conj abs arg norm real imag polar pow isnan isinf isfinite').split())
OF_CUDA = ('atomic', 'tex', 'surf', 'curand', 'cuC', 'wmma')  # prefixes of CUDA's names
VECTORS = {kind + str(n): (REGISTER.get(own) or own, n) for kind, own in (
    ('char', 'int8'), ('uchar', 'uint8'), ('short', 'int16'), ('ushort', 'uint16'), ('int', 'int32'), ('uint', 'uint32'),
    ('long', 'int64'), ('ulong', 'uint64'), ('longlong', 'int64'), ('ulonglong', 'uint64'), ('float', 'float32'),
    ('double', 'float64')) for n in (1, 2, 3, 4)}
# Type traits in std and cupy::type_traits: those that are types (also with suffix _t), and those that are values (also with suffix _v).
TYPE_TRAITS = frozenset('''conditional enable_if remove_const remove_volatile remove_cv remove_reference remove_pointer decay make_signed
    make_unsigned'''.split())
VALUE_TRAITS = frozenset('''is_same is_integral is_floating_point is_arithmetic is_signed is_unsigned is_pointer is_void'''.split())
# Headers whose names kernels have without #include, on every device
HEADERS = frozenset('''assert.h cassert float.h cfloat inttypes.h cinttypes limits limits.h climits math.h cmath stdbool.h stddef.h cstddef stdint.h
    cstdint stdio.h cstdio stdlib.h cstdlib string.h cstring type_traits utility
    builtin_types.h common_functions.h cuda.h cuda_device_runtime_api.h cuda_fp16.h cuda_runtime.h cuda_runtime_api.h device_atomic_functions.h
    device_double_functions.h device_functions.h device_launch_parameters.h device_types.h driver_types.h host_config.h host_defines.h
    math_constants.h math_functions.h sm_20_atomic_functions.h sm_20_intrinsics.h sm_30_intrinsics.h sm_32_atomic_functions.h
    sm_32_intrinsics.h sm_35_atomic_functions.h sm_35_intrinsics.h sm_60_atomic_functions.h sm_61_intrinsics.h vector_functions.h
    vector_types.h hip/hip_runtime.h hip/hip_fp16.h cupy/atomics.cuh cupy/carray.cuh cupy/complex.cuh cupy/cuda_workaround.h
    cupy/float16.cuh cupy/hip_workaround.cuh cupy/math_constants.h'''.split())
RANK = ('bool', 'char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'half', 'float', 'double')
BRACKETS = {'(': ')', '[': ']', '{': '}'}
CLOSING = frozenset(BRACKETS.values())
LONGEST = 256 * 1024  # maximum number of characters of a kernel's texts, as compilers take minutes for more
DEEPEST = 64  # maximum nesting of brackets

_TOKEN = re.compile(r'''(?P<id>[A-Za-z_]\w*)|(?P<num>(?:0[xX][\da-fA-F']*\.?[\da-fA-F]*[pP][+-]?\d+|0[xX][\da-fA-F']+|0[bB][01']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    [fFuUlL]*)|(?P<str>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<op><<=|>>=|->\*|\.\.\.|\+\+|--|->|::|[-+*/%&|^<>=!]=|
    &&|\|\||<<|>>|\#\#|[-+*/%&|^<>=!~?:;,.(){}\[\]\#])''', re.X)
_SPACE = re.compile(r'(?:[ \t\r\n\f]|\\\n|//[^\n]*|/\*.*?\*/)*', re.S)
_DIRECTIVE = re.compile(r'#(?:[^\n\\/]|\\\n|\\.|//[^\n]*|/\*.*?\*/|/)*', re.S)


class Untranslatable(ValueError):
    """Raised for CUDA C++ that cannot be expressed in OpenCL C 1.2 or is not supported."""


class Source:
    """A text and its kernel, for messages. `file` is the file name in the device compiler's messages."""
    __slots__ = ('kernel', 'lines', 'file')

    def __init__(self, kernel, text, file=None):
        self.kernel, self.lines, self.file = kernel, text.split('\n'), file or kernel


class Token:
    """A token: its text, line and preceding space. `hidden` are the macros from whose expansion it comes."""
    __slots__ = ('kind', 'text', 'line', 'space', 'source', 'hidden')

    def __init__(self, kind, text, line=0, space='', source=None, hidden=frozenset()):
        self.kind, self.text, self.line, self.space, self.source, self.hidden = kind, text, line, space, source, hidden


def refuse(token, why):
    """Raises Untranslatable for a token. `why` names the unsupported feature."""
    source = token.source or Source('', '')
    line = source.lines[token.line - 1].strip() if 0 < token.line <= len(source.lines) else ''
    raise Untranslatable("kernel %s, line %d: %r: %s cannot be translated to OpenCL C\n    %s" % (
        source.kernel, token.line, token.text.split('\n')[0], why, line))


def tokens(text, kernel='kernel', line=1, source=None):
    """Splits a text into tokens, each with its line and the preceding space. A directive is one token. The last token may be empty, with the trailing
    space."""
    source = source or Source(kernel, text)
    found, at, fresh = [], 0, True
    space_of, token_of = _SPACE.match, _TOKEN.match
    while True:
        end = space_of(text, at).end()
        keep = ''
        if end != at:
            breaks = text.count('\n', at, end)
            fresh = fresh or breaks > 0
            line += breaks
            keep = '\n' * breaks + ' ' * (text[end - 1] != '\n')
            at = end
        if at == len(text):
            if keep:
                found.append(Token('op', '', line, keep, source))
            return found
        match = _DIRECTIVE.match(text, at) if fresh and text[at] == '#' else token_of(text, at)
        if match is None:
            raise Untranslatable('kernel %s, line %d: %r is not CUDA C++' % (kernel, line, text[at]))
        word = match.group()
        found.append(Token(match.lastgroup or 'directive', word, line, keep, source))
        if '\n' in word:
            line += word.count('\n')
        at, fresh = match.end(), False


def split(ts):
    """Splits tokens at commas."""
    parts = [[]]
    for t in ts:
        if t.text == ',':
            parts.append([])
        else:
            parts[-1].append(t)
    return [] if parts == [[]] else parts


def balanced(ts):
    """Returns the tokens if all brackets match and are nested at most DEEPEST levels deep, else raises Untranslatable."""
    opened = []
    for t in ts:
        if t.text in BRACKETS:
            if len(opened) >= DEEPEST:
                refuse(t, 'more than %d brackets inside each other' % DEEPEST)
            opened.append(t)
        elif t.text in CLOSING:
            if not opened or BRACKETS[opened[-1].text] != t.text:
                refuse(t, 'an unmatched closing bracket') if not opened else refuse(opened[-1], 'an unclosed bracket')
            opened.pop()
    if opened:
        refuse(opened[-1], 'an unclosed bracket')
    return ts
