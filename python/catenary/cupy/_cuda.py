"""CuPy's kernels for CUDA, HIP and the processor: the user's text behind a header (_headers/carray.cuh), otherwise unchanged.

The kernels have the parameters of those of `_translator`. They are portable texts for the library, so its prelude comes first, or `_host`'s on the
processor.
"""

import functools
import os
import re

from catenary.cupy._kernel_templates import OF_CLASSES, OF_NUMBERS, STAGES, asked, entry, numbers
from catenary.cupy._translator import opencl
from catenary.cupy._translator.reader import DTYPES, HEADERS, REGISTER, balanced, split, tokens
from catenary.cupy._translator.texts import instance_of, number_of, parameter_kinds, scalar_of, type_of

_TYPES = {'bool': 'bool', 'float16': 'float16', 'float32': 'float', 'float64': 'double', 'int64': 'long long',
          'uint64': 'unsigned long long', 'complex64': 'complex<float>', 'complex128': 'complex<double>'}
_HALF = re.compile(r'\b(?:__)?half\b|\b__(?:half2float|float2half|float2half_rn|habs|hmin|hmax)\b')
_INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"]*)')
# names of the standard headers, and names in std that std.cuh defines
_STANDARD = re.compile(r'\b((?:FLT|DBL|M)_[A-Z0-9_]+|(?:S|U)?(?:CHAR|SHRT|INT|LONG|LLONG)(?:8|16|32|64)?_(?:MAX|MIN)|CHAR_BIT|SIZE_MAX|type_traits|ct_std)\b')
# headers of names that HIP lacks
_HIP_LACKS = {
    'cuda_only.h': re.compile(r'\b(?:__(?:[fd](?:add|sub|mul|div|rcp|sqrt)|fmaf?)_r[zud]|__fmaf_ieee_r[nzud]|(?:u|ll|ull)(?:min|max)|__dp(?:4a|2a_lo|2a_hi)'
                              r'|__nv_bswap(?:16|32|64)|__fns|__nanosleep|__trap|__ld(?:c[agsv]|lu)|__st(?:c[gs]|w[bt])|assert)\b'),
    'atomic_scopes.h': re.compile(r'\batomic\w+_(?:block|system)\b')}
OWN_NUMBERS = re.compile(r'\b(?:double|float)\s+(M_[A-Z0-9_]+)\s*=')  # constants that a text defines itself
_OF_STD = re.compile(r'\bstd\s*::\s*(?=(?:numeric_limits|integral_constant|bool_constant|true_type|false_type|swap|min|max|void_t|%s)\b)' % '|'.join(
    '%s(?:_t|_v)?' % name for name in '''is_same is_integral is_floating_point is_arithmetic is_signed is_unsigned is_pointer is_void is_const conditional
    enable_if remove_const remove_volatile remove_cv remove_reference remove_pointer decay make_signed make_unsigned'''.split()))
_STD_MATH = re.compile(r'\bstd\s*::\s*(?=(?:%s)\s*\()' % '|'.join(sorted(opencl.MATH - {'min', 'max'})))
# text that defines this name itself
_NAMED_HALF = re.compile(r'\b(?:struct|class|union|enum|namespace|using)\s+half\b|\btypedef\b[^;]*\bhalf\s*;|\b(?:void|bool|int|unsigned|float|double|float16|auto|T)\s+half\s*\(')


def _type(dtype):
    return _TYPES.get(dtype, dtype + '_t')


@functools.lru_cache(None)
def _text(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '_headers', name)) as file:
        return file.read()


def header(*texts):
    """Returns the text of carray.cuh, with complex.cuh and half.cuh if a text uses such numbers, the constants of CUDA, the files of
    _HIP_LACKS whose names it uses, and std.cuh if it uses names of standard headers."""
    standard = _text('std.cuh') if any(map(_STANDARD.search, texts)) else ''
    standard += ''.join('#undef %s\n' % name for name in OWN_NUMBERS.findall(' '.join(texts))) if standard else ''
    constants = _text('constants.cuh') if any('CUDART_' in text for text in texts) else ''
    complexes = _text('complex.cuh') if any(re.search(r'\bcomplex\b', text) for text in texts) else ''
    halves = _text('half.cuh') if any(map(_HALF.search, texts)) and not any(map(_NAMED_HALF.search, texts)) else ''
    lacking = ''.join(_text(name) for name, words in _HIP_LACKS.items() if any(map(words.search, texts)))
    return constants + _text('carray.cuh') + standard + complexes + halves + (lacking and '#ifdef CT_HIP\n%s#endif\n' % lacking)


def _without_headers(text, kernel):
    """Returns the text without #include lines of headers that are built in, and with names of std replaced by std.cuh's."""
    if _INCLUDE.search(text):
        for t in tokens(text, kernel):
            found = t.kind == 'directive' and _INCLUDE.match(t.text)
            if found and found[1] in HEADERS:
                text = text.replace(t.text, '', 1)
    return _OF_STD.sub('ct_std::', _STD_MATH.sub('', text))


def _bind(parameters):
    takes, first = [], []
    for p in parameters:
        type = memory = _type(p.dtype)
        if p.kind == 'scalar':
            memory = {'bool': 'unsigned char', 'float16': 'float'}.get(p.dtype, type)
            first.append('const %s %s = static_cast<%s>(%s_v);' % (type, p.name, type, p.name))
        elif p.kind == 'raw':
            values = ['%s_n%d' % (p.name, k) for k in range(p.ndim)]
            values += ['%s_s%d * (long long)sizeof(%s)' % (p.name, k, type) for k in range(p.ndim)]
            first.append('CArray<%s, %d, %s> %s(%s);' % (type, p.ndim, 'true' if p.contiguous else 'false', p.name,
                                                         ', '.join(['%s_p + %s_at' % (p.name, p.name)] + values)))
        takes += p.takes(p.name, memory, 'long long')
    return takes, '\n'.join(first)


def _whole(parameters, texts, extents, axes=None):
    """Declares _raw_NAME, the whole array, of parameters whose array a text names."""
    text = ''
    for p in asked(parameters, texts):
        type = _type(p.dtype)
        if p.kind == 'raw':
            text += 'auto& _raw_%s = %s;\n' % (p.name, p.name)
            continue
        shape, strides = p.whole(p.name, extents, axes)
        text += 'CArray<%s, %d, %s> _raw_%s(%s);\n' % (type, p.ndim, 'true' if p.contiguous else 'false', p.name, ', '.join(
            ['%s_p + %s_at' % (p.name, p.name), *shape, *('%s * (long long)sizeof(%s)' % (stride, type) for stride in strides)]))
    return text and '\n' + text


def _elements(parameters, place, index):
    return '\n'.join('%s%s& %s = %s_p[%s];' % ('' if p.out else 'const ', _type(p.dtype), p.name, p.name,
                                               p.at(p.name, place, index)) for p in parameters if p.kind == 'element')


def _head(name, types, preamble, group, takes, *others):
    typedefs = ''.join('typedef %s %s;\n' % (_type(dtype), placeholder) for placeholder, dtype in types.items())
    return '%s%s%s\nextern "C" __global__ void __launch_bounds__(%d) %s(%s) {\n' % (
        header(typedefs, preamble, *takes, *others), typedefs, preamble, group, entry(name), ', '.join(takes))


def _counts(parameters, ndim, size):
    """Returns the text that computes the index. `n` is the number of elements, unless a parameter has that name."""
    text = '\nCIndexer<%d> _ind(%s);' % (ndim, ', '.join([size] + ['_n%d' % k for k in range(ndim)]))
    return text if any(p.name == 'n' for p in parameters) else text + '\nconst ptrdiff_t n = %s;' % size


def _loop(index, size, group):
    """Returns a loop over `size` units: a grid-stride loop, or with groups of one work-item a loop over a contiguous range."""
    if group == 1:
        return ('for (ptrdiff_t {0} = {1} * blockIdx.x / gridDim.x, _end = {1} * (blockIdx.x + 1) / gridDim.x; {0} < _end; '
                '++{0})').format(index, size)
    return 'for (ptrdiff_t {0} = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; {0} < {1}; {0} += (ptrdiff_t)gridDim.x ' \
           '* blockDim.x)'.format(index, size)


def elementwise(name, parameters, operation, types, *, preamble='', loop_prep='', after_loop='', ndim=1, group=64, **_):
    """Returns the text of an elementwise kernel, as translate.elementwise.

    An operation with `return` ends its work-item: either there is one work-item per element, or the operation becomes a function called in the
    loop.
    """
    preamble, operation, loop_prep, after_loop = (_without_headers(text, name) for text in (preamble, operation, loop_prep, after_loop))
    takes, first = _bind(parameters)
    takes += numbers('long long', ndim, '_size')
    done = '[&] { do {\n#line 1 "%s"\n%s;\n} while (0); }();' if group == 1 else '#line 1 "%s"\n%s;'
    head = _head(name, types, preamble, group, takes, operation, loop_prep, after_loop)
    first += _counts(parameters, ndim, '_size') + _whole(parameters, (operation, loop_prep, after_loop), ['_n%d' % k for k in range(ndim)])
    # operations may change i, so the loop counts with another variable
    return head + '%s\n%s;\n%s {\nptrdiff_t i = _at;\n_ind.set(i);\n%s\n%s\n}\n%s;\n}\n' % (
        first, loop_prep, _loop('_at', '_size', group),
        _elements(parameters, 'i', '_ind.get()'), done % (name, operation), after_loop)


# A class may lack a default constructor.
_OF_CLASSES = {**OF_CLASSES, 'sized': OF_CLASSES['sized'] % {'global': ''}, 'begin': '_kind _mapped = [&]() -> _kind {', 'set': 'return ', 'end': '}();'}


def reduction(name, parameters, map_expr, reduce_expr, post_map_expr, identity, types, *, preamble='', reduce_type=None,
              ndim=1, group=64, axes=None, **_):
    """Returns the text of a reduction, as translate.reduction. float16 partial results are floats here, too."""
    preamble, map_expr, reduce_expr, post_map_expr, identity = (_without_headers(str(text or ''), name) for text in (
        preamble, map_expr, reduce_expr, post_map_expr, identity))
    takes, first = _bind(parameters)
    reduce_type = reduce_type or parameters[-1].dtype
    of_class = reduce_type not in REGISTER
    kind = reduce_type if of_class else _type(reduce_type)
    takes += ['%s* _partial_p' % ('long long' if of_class else 'float' if kind == 'float16' else kind), 'long long _partial_at']
    takes += numbers('long long', ndim, '_outs', '_rows', '_chunks', '_stage')
    texts = kind, map_expr, reduce_expr, post_map_expr, str(identity or '')
    first += _counts(parameters, ndim, '_outs * _rows') + _whole(parameters[:-1], texts, ['_n%d' % k for k in range(ndim)], axes)
    first += _whole(parameters[-1:], texts, ['_outs'])
    return _head(name, types, preamble, group, takes, *texts) + STAGES % dict(
        _OF_CLASSES if of_class else OF_NUMBERS, long='ptrdiff_t', kind=kind, cast='(_kind)', first=first, loop=_loop('_unit', '_units', group),
        identity=identity or ('_kind()' if of_class else '0'), reduce=reduce_expr, map=map_expr, post=post_map_expr, write='',
        loads='const ptrdiff_t _i = _out, _j = i;\n_ind.set(i);\n' + _elements(parameters[:-1], 'i', '_ind.get()'),
        read='const ptrdiff_t _i = _out;\n' + _elements(parameters[-1:], '_out', ''))


def _templates(ts):
    """Returns for each template kernel the indices of `template`, of its `>`, of __global__ and of the name."""
    start = 0
    for k, t in enumerate(ts):
        if t.text in (';', '}') or t.kind == 'directive' or not t.text and k == start:
            start = k + 1
        elif t.text == '__global__' and ts[start].text == 'template':
            at = k + 1
            while ts[at + 1].text != '(':
                at += 1
            if ts[at].text == '__launch_bounds__':
                at = next(m for m in range(at, len(ts)) if ts[m].text == ')')
                while ts[at + 1].text != '(':
                    at += 1
            yield start, next(m for m in range(start, k) if ts[m].text == '>'), k, at


def _blank(ts):
    for x in ts:
        x.text, x.space = '', '\n' * x.space.count('\n')


def _specialized(ts, base, arguments, made):
    """Keeps only the explicit specialisation `template<> __global__ void f<half>(...) {...}` for the arguments of `made`, and removes other
    specialisations and the template of this name. Was there one?"""
    found = False
    for start, end, kernel, at in list(_templates(ts)):
        if end != start + 2 or ts[at].text != '>':
            continue
        name = next(k for k in range(at, start, -1) if ts[k].text == '<') - 1
        if ts[name].text == base and ''.join(x.text for x in ts[name + 2:at]) == ''.join(''.join(arguments or ()).split()) and len(arguments or ()) == 1:
            ts[start].text, ts[name].text, found = 'extern "C"', made, True
            _blank(ts[start + 1:end + 1] + ts[name + 1:at + 1])
        else:
            _blank(ts[start:_end_of_body(ts, at) + 1])
    if found:
        for start, _, _, at in list(_templates(ts)):
            if ts[at].text == base:
                _blank(ts[start:_end_of_body(ts, at) + 1])
    return found


def _end_of_body(ts, at):
    """Returns the index of the bracket that ends the function whose name is before."""
    depth = 0
    for k in range(at, len(ts)):
        depth += (ts[k].text == '{') - (ts[k].text == '}')
        if ts[k].text == '}' and depth == 0:
            return k
    return len(ts) - 1


def _declared(ts):
    """Returns (the classes that a text declares, the enumerators of its enumerations)."""
    classes, numbers = set(), set()
    for k, t in enumerate(ts):
        if t.text in ('struct', 'class', 'union') and k + 1 < len(ts):
            classes.add(ts[k + 1].text)
        if t.text == 'enum':
            opened = next((m for m in range(k, len(ts)) if ts[m].text in '{;'), len(ts))
            closed = next((m for m in range(opened, len(ts)) if ts[m].text == '}'), opened)
            numbers.update(x.text for m, x in enumerate(ts[opened:closed], opened) if ts[m - 1].text in ('{', ','))
    return classes, numbers


def _bound(name, parameters, arguments, text, own=''):
    """Binds template parameters to their arguments. Returns (declarations with names that begin with `own`, the type parameters)."""
    classes, named = text
    types, first = {}, ''
    for part, given in zip(parameters, arguments):
        number = None if part[0].text in ('typename', 'class') else ' '.join(x.text for x in part[:-1])
        parameter = own + part[-1].text
        if number is None:
            types[parameter] = None if given in classes else type_of(name, part[-1].text, given, scalar_of)
            first += 'typedef %s %s; ' % (given, parameter)
        else:
            if given not in named:
                number_of(name, part[-1].text, given)
            first += 'static constexpr %s %s = %s; ' % (number, parameter, given)
    return first, types


def _instantiated(text, name):
    """Instantiates a template kernel. Returns (text, kernel name, type parameters). Other templates become functions that the compiler drops if
    unused."""
    ts = tokens(text, name)
    base, arguments = instance_of(name)
    made, types = None if arguments else name, {}
    declared = _declared(ts) if arguments else ((), ())
    if _specialized(ts, base, arguments, entry(name)):
        made = entry(name)
    for start, end, kernel, at in list(_templates(ts)):
        parameters = split(ts[start + 2:end])
        if not arguments and ts[at].text == base:
            raise ValueError('RawKernel: %s is a template; name an instance such as %s<float> in name_expressions of RawModule' % (
                base, base))
        if not arguments or ts[at].text != base or len(parameters) != len(arguments):
            ts[kernel].text = '__device__'
            continue
        made = entry(name)
        first, types = _bound(name, parameters, arguments, declared)
        for x in ts[start:end + 1]:
            x.text, x.space = '', '\n' * x.space.count('\n')
        ts[start].text, ts[at].text = first + 'extern "C"', made
    if made is None:
        raise ValueError('RawKernel: the text has no template %s with %d parameters that makes a kernel' % (base, len(arguments)))
    return ''.join(x.space + x.text for x in ts), made, types


def _kinds(text, name, types):
    """Returns for each parameter 'pointer', the dtype for a number, or None for other types."""
    ts = balanced([t for t in tokens(text, name) if t.text and t.kind != 'directive'])
    for k, t in enumerate(ts):
        if t.text == '(' and ts[k - 1].text == name and any(x.text == '__global__' for x in ts[max(k - 10, 0):k]):
            return [kind if kind == 'pointer' else DTYPES.get(kind) for kind in parameter_kinds(ts[k:], types)]
    raise ValueError('RawKernel: the text has no kernel %r (a kernel begins with extern "C" __global__)' % name)


def raw(code, name):
    """Returns the text of a user's whole kernel, with the kinds of its parameters as in translate.raw, and the kernel's name in the text. Pointers
    are addresses of first elements."""
    code, made, types = _instantiated(_without_headers(code, name), name)
    return header(code) + '#line 1 "%s"\n' % name + code, _kinds(code, made, types), made


_MARKS = frozenset(('__device__', '__constant__', '__managed__'))
_MARKING = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t][^\n]*\b__(?:device|constant|managed)__', re.M)  # macros that stand for such a qualifier
_ATTRIBUTES = frozenset(('__launch_bounds__', '__align__', 'alignas', '__attribute__', '__declspec'))


def _opens_names(words):
    """Do the words before an opening bracket start a namespace or linkage block, whose contents are outside functions?"""
    return '(' not in words and ('"C"' in words or 'namespace' in words)


def _is_kept(ts, k):
    """Does `static` at token k, in a function or class, declare a mutable variable that persists between launches?"""
    end = next((m for m in range(k, len(ts)) if ts[m].text in ('(', ';', '=', '{', '[')), k)
    words = [t.text for t in ts[k:end]]
    return end > k and ts[end].text != '(' and not {'constexpr', '__shared__'}.intersection(words) and ('const' not in words or '*' in words)


def has_variables(code, name, constants=True):
    """Does a text have variables that persist between launches: global device variables, or `static` ones in functions?

    Without `constants`, initialised `__constant__` variables do not count. Raises Untranslatable if the text cannot be read.
    """
    if not re.search(r'\b(__(device|constant|managed)__|static)\b', code):
        return False
    marks = _MARKS.union(_MARKING.findall(code))
    opened, words, skipped, sizes = [], [], 0, 0  # brackets (are names in it outside functions?), and the words of the current declaration
    ts = [t for t in tokens(code, name) if t.text and t.kind != 'directive']
    for k, t in enumerate(ts):
        if skipped or t.text == '(' and ts[k - 1].text in _ATTRIBUTES:
            skipped += (t.text == '(') - (t.text == ')')
        elif sizes or t.text == '[':
            sizes += (t.text == '[') - (t.text == ']')
        elif t.text == '(' and all(opened) and marks.intersection(words) and ts[k + 1].text[:1].isdigit():
            return True  # a value in brackets
        elif t.text == '{' and all(opened) and '(' not in words and marks.intersection(words):
            return True  # a variable, as constants reach their `=` first
        elif t.text == '{':
            opened.append(all(opened) and _opens_names(words))
            words = [] if opened[-1] else words
        elif t.text == '}':
            opened.pop()
            words = [] if all(opened) else words
        elif not all(opened):
            if t.text == 'static' and _is_kept(ts, k):
                return True
        elif t.text in (';', '=') and '(' not in words and marks.intersection(words):
            fixed = 'constexpr' in words or 'const' in words and '*' not in words or not constants and (
                '__constant__' in words and t.text == '=')
            if not fixed:
                return True
            words = words if t.text == '=' else []
            words += ['('] * (t.text == '=')  # an initialiser follows
        else:
            words = [] if t.text == ';' else words + [t.text]
    return False


def _kernels(ts):
    """Returns (names of non-template kernels with a body, token index of each name)."""
    templates = {kernel for _, _, kernel, _ in _templates(ts)}
    for k, t in enumerate(ts):
        if t.text != '__global__' or k in templates:
            continue
        at = k + 1
        while at + 1 < len(ts) and (ts[at + 1].text != '(' or ts[at].text in _ATTRIBUTES):
            at += 1
        end = next((m for m in range(at, len(ts)) if ts[m].text in ('{', ';')), len(ts) - 1)
        if ts[end].text == '{':
            yield ts[at].text


def _export(ts):
    """Removes `static` from global variables, so that they are visible outside the text, which is a module of its own."""
    opened, begin = [], 0  # brackets (are names in it outside functions? does a declaration end with it?), and the start of the declaration
    for k, t in enumerate(ts):
        outside = all(names for names, _ in opened)
        if t.text == '{':
            words = [x.text for x in ts[begin:k]] if outside else ()
            names = outside and _opens_names(words)
            opened.append((names, outside and (names or '(' in words)))
            begin = k + 1 if names else begin
        elif t.text == '}' and opened:
            begin = k + 1 if opened.pop()[1] else begin
        elif outside and t.text == ';':
            words = [x.text for x in ts[begin:k]]
            words = words[:words.index('=')] if '=' in words else words
            if _MARKS.intersection(words) and not {'(', 'const', 'constexpr'}.intersection(words):
                for x in ts[begin:begin + len(words)]:
                    x.text = '' if x.text == 'static' else x.text
            begin = k + 1


def symbol(name):
    """Returns the compiler's name of a variable, which includes its namespaces."""
    names = [part for part in name.split('::') if part]
    return names[0] if len(names) == 1 else '_ZN%sE' % ''.join('%d%s' % (len(part.encode()), part) for part in names)


def module(code, names):
    """Returns the text of a module whose kernels share its global variables, with templates instantiated for each of `names`.

    Also returns, by kernel name, the name in the text with the type parameters, or the reason why the kernel cannot be made. Raises ValueError.
    """
    ts = tokens(_without_headers(code, 'RawModule'), 'RawModule')
    _export(ts)
    found, added, declared = {name: (name, {}) for name in _kernels(ts)}, '', _declared(ts)
    for start, end, kernel, at in list(_templates(ts)):
        if end == start + 2 or ts[at].text == '>':
            raise ValueError('RawModule: a text with global variables has an explicitly specialised kernel template (line %d), which is not '
                             'supported: give the specialisation its own name' % ts[at].line)
        parameters, stop = split(ts[start + 2:end]), _end_of_body(ts, at)
        for name in names:
            base, arguments = instance_of(name)
            if base != ts[at].text or len(arguments) != len(parameters):
                continue
            made, own = entry(name), entry(name) + '_'
            try:
                first, types = _bound(name, parameters, arguments, declared, own)
            except ValueError as error:
                found[name] = error
                continue
            renamed = {part[-1].text: own + part[-1].text for part in parameters}
            added += '\n%s\nextern "C"\n#line %d "RawModule"\n' % (first, ts[end + 1].line) + ''.join(
                x.space + (made if k == at else x.text if ts[k - 1].text in ('.', '->', '::') else renamed.get(x.text, x.text))
                for k, x in enumerate(ts[end + 1:stop + 1], end + 1))
            found[name] = made, types
        ts[kernel].text = '__device__'
    code = ''.join(x.space + x.text for x in ts)
    return header(code, added) + '#line 1 "RawModule"\n' + code + added + '\n', found


def of_module(text, found, name):
    """Returns the parameter kinds (as raw) and the name of a kernel in such a module."""
    made = found.get(name)
    if made is None:
        raise ValueError('RawModule: the text has no kernel %r; it has %s' % (name, ', '.join(sorted(found)) or 'none'))
    if isinstance(made, ValueError):
        raise made
    return _kinds(text, *made), made[0]
