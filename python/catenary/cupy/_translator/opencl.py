"""OpenCL C text for CUDA C++ features that OpenCL C 1.2 lacks or defines differently.

These are overloads of mathematical functions, intrinsics, atomic operations on every type, 16-bit floats, and bool in memory. A kernel gets only
the functions that it uses.
"""

import re

from catenary.cupy._translator import intrinsics

SIZES = {'bool': 1, 'int8': 1, 'uint8': 1, 'int16': 2, 'uint16': 2, 'float16': 2, 'int32': 4, 'uint32': 4, 'float32': 4,
         'int64': 8, 'uint64': 8, 'float64': 8, 'complex64': 8, 'complex128': 16}

_KINDS = ('int', 'uint', 'long', 'ulong', 'float', 'double')

# Functions of one float or double. An integer counts as double. The value is OpenCL's name, or an expression in x.
_UNARY = {name: '%s(x)' % name for name in (
    'exp log sqrt sin cos tan tanh sinh cosh floor ceil round rint log1p expm1 erf erfc lgamma tgamma fabs asin acos atan '
    'asinh acosh atanh exp2 exp10 log2 log10 trunc cbrt rsqrt sinpi cospi logb').split()}
_UNARY.update({'nearbyint': 'rint(x)', 'rcbrt': '1 / cbrt(x)', 'abs': 'fabs(x)', 'cyl_bessel_i0': 'ct__bessel(x, 1, 0)',
               'cyl_bessel_i1': 'ct__bessel(x, 0.5f, 1)'})
# Functions that OpenCL lacks and the library's prelude has (math.inc, special.inc), with their name there.
_LIBRARY = {'erfinv': 'erfinv', 'erfcinv': 'erfcinv', 'erfcx': 'erfcx', 'normcdf': 'ndtr', 'normcdfinv': 'ndtri'}
_TESTS = {'isnan': 'isnan(x)', 'isinf': 'isinf(x)', 'isfinite': 'isfinite(x)', 'signbit': 'signbit(x)'}
_BINARY = {name: '%s(x, y)' % name for name in (
    'pow fmax fmin fmod atan2 hypot copysign nextafter remainder fdim').split()}
_BINARY.update({'max': 'fmax(x, y)', 'min': 'fmin(x, y)', 'rhypot': '1 / hypot(x, y)'})
_FLOATS = {name + 'f': name for name in list(_UNARY) + list(_BINARY) + list(_LIBRARY) if name not in ('abs', 'max', 'min')}
_FAST = {'__expf': 'exp', '__logf': 'log', '__sinf': 'sin', '__cosf': 'cos', '__tanf': 'tan', '__log2f': 'log2',
         '__log10f': 'log10', '__exp10f': 'exp10'}
_FAST_BINARY = {'__powf': 'pow(x, y)', '__fdividef': 'x / y', 'fdividef': 'x / y'}
_PLAIN = {  # name: result, parameters, expression
    'fmaf': ('float', 'float x, float y, float z', 'fma(x, y, z)'),
    '__saturatef': ('float', 'float x', 'clamp(x, 0.0f, 1.0f)'),
    '__float_as_int': ('int', 'float x', 'as_int(x)'), '__int_as_float': ('float', 'int x', 'as_float(x)'),
    '__float_as_uint': ('uint', 'float x', 'as_uint(x)'), '__uint_as_float': ('float', 'uint x', 'as_float(x)'),
    '__half2float': ('float', 'float x', 'x'),
    '__float2half': ('float', 'float x', 'x'), '__float2half_rn': ('float', 'float x', 'x'),
    '__popc': ('int', 'uint x', 'popcount(x)'), '__popcll': ('int', 'ulong x', 'popcount(x)'),
    '__clz': ('int', 'uint x', 'clz(x)'), '__clzll': ('int', 'ulong x', 'clz(x)'),
    '__ffs': ('int', 'uint x', 'x ? 32 - clz(x & (~x + 1)) : 0'), '__ffsll': ('int', 'ulong x', 'x ? 64 - clz(x & (~x + 1)) : 0'),
    '__mul24': ('int', 'int x, int y', '(int)((uint)((int)((uint)x << 8) >> 8) * (uint)((int)((uint)y << 8) >> 8))'), '__umul24': ('uint', 'uint x, uint y', '(x & 0xffffffu) * (y & 0xffffffu)'),
    '__mulhi': ('int', 'int x, int y', 'mul_hi(x, y)'), '__umulhi': ('uint', 'uint x, uint y', 'mul_hi(x, y)'),
    '__umul64hi': ('ulong', 'ulong x, ulong y', 'mul_hi(x, y)'),
    '__double_as_longlong': ('long', 'double x', 'as_long(x)'), '__longlong_as_double': ('double', 'long x', 'as_double(x)'),
    **intrinsics.PLAIN, 'log_ndtr': None,
    **{name + end: (result, '%s x' % kind, '(%s)%s(x)' % (result, way)) for name, result, way in (
        ('lrint', 'long', 'rint'), ('llrint', 'long', 'rint'), ('lround', 'long', 'round'), ('llround', 'long', 'round'))
       for end, kind in (('', 'double'), ('f', 'float'))}}
# Functions that store two results in variables: their type, and both expressions.
_PAIRS = {name + end: (kind, 'sin%s(x)' % of, 'cos%s(x)' % of) for name, of in (('sincos', ''), ('sincospi', 'pi'))
          for end, kind in (('', 'double'), ('f', 'float'))}
_PAIRS['__sincosf'] = _PAIRS['sincosf']
# Functions of a number and an integer: the integer's type, and an expression
_SCALED = {'ldexp': ('int', 'ldexp(x, y)'), 'scalbn': ('int', 'ldexp(x, y)'), 'scalbln': ('long', 'ldexp(x, (int)clamp(y, -5000L, 5000L))')}
_OUTS = {name + end: (*of, end) for name, of in intrinsics.OUTS.items() for end in ('', 'f')}
MATH = frozenset(_UNARY) | frozenset(_LIBRARY) | frozenset(_TESTS) | frozenset(_BINARY) | frozenset(_FLOATS) | frozenset(
    _FAST) | frozenset(_FAST_BINARY) | frozenset(_PLAIN) | frozenset(_PAIRS) | frozenset(_SCALED) | frozenset(_OUTS) | frozenset(
    intrinsics.SEVERAL) | frozenset(intrinsics.DOTS) | {'ilogb'}

# Words for constants, with their OpenCL C text and type.
CONSTANTS = {'NULL': ('0', 'int'), 'nullptr': ('0', 'int'), 'true': ('1', 'bool'), 'false': ('0', 'bool'),
             'INFINITY': ('INFINITY', 'float'), 'NAN': ('NAN', 'float'), 'HUGE_VALF': ('INFINITY', 'float'),
             'HUGE_VAL': ('((double)INFINITY)', 'double'), 'CUDART_INF_F': ('INFINITY', 'float'), 'CUDART_NAN_F': ('NAN', 'float'),
             'CUDART_INF': ('((double)INFINITY)', 'double'), 'CUDART_NAN': ('((double)NAN)', 'double'),
             'CUDART_PI_F': ('M_PI_F', 'float'), 'CUDART_PI': ('M_PI', 'double'),
             'LLONG_MAX': ('LONG_MAX', 'long'), 'LLONG_MIN': ('LONG_MIN', 'long'), 'ULLONG_MAX': ('ULONG_MAX', 'ulong'),
             'INT64_MAX': ('LONG_MAX', 'long'), 'INT64_MIN': ('LONG_MIN', 'long'), 'UINT64_MAX': ('ULONG_MAX', 'ulong'),
             'SIZE_MAX': ('ULONG_MAX', 'ulong'), 'INT32_MAX': ('INT_MAX', 'int'), 'INT32_MIN': ('INT_MIN', 'int'),
             'UINT32_MAX': ('UINT_MAX', 'uint'), 'LONG_MAX': ('LONG_MAX', 'long'), 'LONG_MIN': ('LONG_MIN', 'long'),
             'ULONG_MAX': ('ULONG_MAX', 'ulong'), 'UINT_MAX': ('UINT_MAX', 'uint'), 'CHAR_BIT': ('CHAR_BIT', 'int')}
CONSTANTS.update({name: (name, 'int') for name in ('INT_MAX', 'INT_MIN', 'SHRT_MAX', 'SHRT_MIN', 'USHRT_MAX', 'SCHAR_MAX',
                                                   'SCHAR_MIN', 'UCHAR_MAX', 'CHAR_MAX', 'CHAR_MIN')})
CONSTANTS.update({'FLT_' + name: ('FLT_' + name, 'float') for name in ('MAX', 'MIN', 'EPSILON')})
CONSTANTS.update({'DBL_' + name: ('DBL_' + name, 'double') for name in ('MAX', 'MIN', 'EPSILON')})
CONSTANTS.update({'M_' + name: ('M_' + name, 'double') for name in (
    'E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2 SQRT1_2').split()})
LIMITS = {'LONG_MAX': 2**63 - 1, 'LONG_MIN': -2**63, 'ULONG_MAX': 2**64 - 1, 'INT_MAX': 2**31 - 1, 'INT_MIN': -2**31,
          'UINT_MAX': 2**32 - 1, 'SHRT_MAX': 2**15 - 1, 'SHRT_MIN': -2**15, 'USHRT_MAX': 2**16 - 1, 'SCHAR_MAX': 127,
          'SCHAR_MIN': -128, 'UCHAR_MAX': 255, 'CHAR_MAX': 127, 'CHAR_MIN': -128, 'CHAR_BIT': 8, '0': 0}
_WORDS = {'char': 'SCHAR', 'short': 'SHRT', 'int': 'INT', 'long': 'LONG'}
# std::numeric_limits by function and type
NUMERIC = {'max': {'float': 'FLT_MAX', 'double': 'DBL_MAX', 'half': '65504.0f'},
           'lowest': {'float': '-FLT_MAX', 'double': '-DBL_MAX', 'half': '-65504.0f'},
           'min': {'float': 'FLT_MIN', 'double': 'DBL_MIN', 'half': '6.103515625e-05f'},
           'epsilon': {'float': 'FLT_EPSILON', 'double': 'DBL_EPSILON', 'half': '0.0009765625f'},
           'infinity': dict.fromkeys(('float', 'double', 'half'), 'INFINITY'),
           'quiet_NaN': dict.fromkeys(('float', 'double', 'half'), 'NAN')}
for _kind, _word in _WORDS.items():
    NUMERIC['max'][_kind] = _word + '_MAX'
    NUMERIC['min'][_kind] = NUMERIC['lowest'][_kind] = _word + '_MIN'
    NUMERIC['max']['u' + _kind] = 'U' + _word.replace('SCHAR', 'CHAR') + '_MAX'
    NUMERIC['min']['u' + _kind] = NUMERIC['lowest']['u' + _kind] = '0'


def signature(name):
    """Returns (number of arguments, result type, argument pointees) of a function in MATH. The result type is None if it is the arguments' type. A
    pointee is None for an argument that is not a pointer."""
    if name in _PAIRS:
        kind = _PAIRS[name][0]
        return 3, 'void', (None, kind, kind)
    if name in _TESTS or name == 'ilogb':
        return 1, 'bool' if name in _TESTS else 'int', (None,)
    if name in _OUTS:
        count, kind, end = _OUTS[name]
        return count + 1, end and 'float', (None,) * count + (kind or ('float' if end else '='),)
    if name in intrinsics.SEVERAL or name in intrinsics.DOTS:
        count = len(intrinsics.SEVERAL[name][0]) if name in intrinsics.SEVERAL else 3
        return count, None, (None,) * count
    if name in _UNARY or name in _LIBRARY or name == 'log_ndtr':
        return 1, None, (None,)
    if name in _BINARY or name in _SCALED:
        return 2, None, (None, None)
    if name in _FLOATS:
        count = 2 if _FLOATS[name] in _BINARY else 1
        return count, 'float', (None,) * count
    if name in _FAST or name in _FAST_BINARY:
        count = 1 if name in _FAST else 2
        return count, 'float', (None,) * count
    count = _PLAIN[name][1].count(',') + bool(_PLAIN[name][1])
    return count, _PLAIN[name][0], (None,) * count

# name: element types
ATOMICS = {'atomicAdd': ('int', 'uint', 'long', 'ulong', 'half', 'float', 'double')}
ATOMICS.update({name: ('int', 'uint', 'long', 'ulong') for name in ('atomicMax', 'atomicMin', 'atomicAnd', 'atomicOr',
                                                                   'atomicXor')})
ATOMICS['atomicCAS'] = ('int', 'uint', 'long', 'ulong')
ATOMICS['atomicExch'] = ('int', 'uint', 'long', 'ulong', 'float')
ATOMICS['atomicInc'] = ATOMICS['atomicDec'] = ('uint',)
ATOMICS['atomicSub'] = ('int', 'uint')

_OVERLOAD = 'static inline __attribute__((overloadable)) '


def _define(result, name, parameters, expression):
    return '%s%s ct_%s(%s) { return %s; }\n' % (_OVERLOAD, result, name, parameters, expression)


def _unary(name, expression, floats, result=None, library=None):
    text, real = '', floats[-1]
    for kind in floats:
        inner = 'ct_%s_%s(x)' % (library, {'float': 'f32', 'double': 'f64'}[kind]) if library else expression
        text += _define(result or kind, name, kind + ' x', inner)
    for kind in _KINDS[:4]:
        if name == 'abs':
            text += _define(kind, name, kind + ' x', 'x' if kind[0] == 'u' else 'x < 0 ? -x : x')
        else:
            text += _define(result or real, name, kind + ' x', 'ct_%s((%s)x)' % (name, real))
    return text


def _binary(name, expression, floats):
    text, kinds = '', _KINDS[:4] + floats
    for a in kinds:
        for b in kinds:
            joined = kinds[max(kinds.index(a), kinds.index(b))]
            if joined in floats:
                body = expression
            elif name in ('min', 'max'):
                body = 'x %s y ? x : y' % ('<' if name == 'min' else '>')
            else:
                joined, body = floats[-1], expression
            text += '%s%s ct_%s(%s a, %s b) { const %s x = (%s)a, y = (%s)b; return %s; }\n' % (
                _OVERLOAD, joined, name, a, b, joined, joined, joined, body)
    return text


def _swap(kind, space):
    """Returns a loop of compare-and-swap on the bits of a float or double."""
    bits, load, keep, swap = {'float': ('uint', 'as_float', 'as_uint', 'atomic_cmpxchg'),
                              'double': ('ulong', 'as_double', 'as_ulong', 'atom_cmpxchg')}[kind]
    return ('%s%s ct_atomicAdd(volatile %s %s* p, %s v) {\n  volatile %s %s* at = (volatile %s %s*)p;\n  %s old = *at, seen;\n'
            '  do { seen = old; old = %s(at, seen, %s(%s(seen) + v)); } while (old != seen);\n  return %s(old);\n}\n' % (
                _OVERLOAD, kind, space, kind, kind, space, bits, space, bits, bits, swap, keep, load, load))


_HALF_ADD = '''{over}float ct_atomicAdd(volatile {space} ushort* p, float v) {{
  volatile {space} uint* at = (volatile {space} uint*)((size_t)p & ~(size_t)3);
  const uint shift = ((size_t)p & 2) * 8;
  uint old = *at, seen;
  float before;
  do {{
    seen = old;
    before = ct_to_float((ushort)(seen >> shift));
    old = atomic_cmpxchg(at, seen, (seen & ~(0xffffu << shift)) | ((uint)ct_to_half(before + v) << shift));
  }} while (old != seen);
  return before;
}}
'''


# Counters that wrap around
_COUNTS = {'atomicInc': 'seen >= v ? 0 : seen + 1', 'atomicDec': 'seen == 0 || seen > v ? v : seen - 1'}
_COUNT = '''{over}uint ct_{name}(volatile {space} uint* p, uint v) {{
  uint old = *p, seen;
  do {{
    seen = old;
    old = atomic_cmpxchg(p, seen, {next});
  }} while (old != seen);
  return old;
}}
'''


def _atomic(name, floats):
    text = ''
    word = {'atomicAdd': 'add', 'atomicMax': 'max', 'atomicMin': 'min', 'atomicAnd': 'and', 'atomicOr': 'or',
            'atomicXor': 'xor', 'atomicExch': 'xchg', 'atomicCAS': 'cmpxchg', 'atomicSub': 'sub'}.get(name)
    for space in ('__global', '__local'):
        if name in _COUNTS:
            text += _COUNT.format(over=_OVERLOAD, name=name, space=space, next=_COUNTS[name])
            continue
        if name == 'atomicExch':
            text += _define('float', name, 'volatile %s float* p, float v' % space, 'atomic_xchg(p, v)')
        for kind in _KINDS[:4]:
            if kind not in ATOMICS[name]:
                continue
            wide = kind in ('long', 'ulong')
            extension = 'base' if word in ('add', 'sub', 'xchg', 'cmpxchg') else 'extended'
            extra = ('%s c, ' % kind, 'c, ') if name == 'atomicCAS' else ('', '')
            line = _define(kind, name, 'volatile %s %s* p, %s%s v' % (space, kind, extra[0], kind),
                           '%s_%s(p, %sv)' % ('atom' if wide else 'atomic', word, extra[1]))
            text += '#ifdef cl_khr_int64_%s_atomics\n%s#endif\n' % (extension, line) if wide else line
        if name == 'atomicAdd':
            text += _swap('float', space) + _HALF_ADD.format(over=_OVERLOAD, space=space)
            if 'double' in floats:
                text += '#ifdef cl_khr_int64_base_atomics\n%s#endif\n' % _swap('double', space)
    return text


_HALF = '''static inline float ct_to_float(ushort h) { return vload_half(0, (const __private half*)&h); }
static inline ushort ct_to_half(float x) { ushort h; vstore_half_rte(x, 0, (__private half*)&h); return h; }
'''
_MEMORY = {
    'half': '''static inline float ct_load_half(const __global ushort* p, long i) {
  return vload_half(i, (const __global half*)p);
}
static inline float ct_store_half(__global ushort* p, long i, float x) {
  vstore_half_rte(x, i, (__global half*)p);
  return x;
}
''',
    'bool': '''static inline bool ct_load_bool(const __global uchar* p, long i) { return p[i] != 0; }
#define ct_store_bool(p, i, x) ((p)[i] = ((x) != 0))
''',
}

# Complex functions that the library's prelude lacks, for c64 and float. c128 uses the same text with other types.
_COMPLEX = {
    'to': 'static inline c64 ct_to_c64(c128 z) { return ct_complex_c64(z.re, z.im); }\n',
    'of': '''static inline float ct_real_c64(c64 z) { return z.re; }
static inline float ct_imag_c64(c64 z) { return z.im; }
static inline float ct_norm_c64(c64 z) { return z.re * z.re + z.im * z.im; }
static inline float ct_arg_c64(c64 z) { return ct_atan2_f32(z.im, z.re); }
static inline c64 ct_polar_c64(float size, float angle) { return ct_complex_c64(size * cos(angle), size * sin(angle)); }
''',
    'add': '''static inline void ct_add_to_c64(volatile __global c64* p, c64 z) {
  volatile __global float* parts = (volatile __global float*)p;
  ct_atomicAdd(parts, z.re);
  ct_atomicAdd(parts + 1, z.im);
}
'''}


def _complex(name):
    way, kind = name.split('_')
    text = _COMPLEX[way]
    if kind == 'c128':
        for a, b in (('c128', 'CT'), ('c64', 'c128'), ('f32', 'f64'), ('float', 'double'), ('CT', 'c64')):
            text = text.replace(a, b)
    return text


def _at(ndim):
    """Returns the offset of element i, counted in C order, in an array with this shape and these strides."""
    parameters = ''.join(', long n%d, long s%d' % (k, k) for k in range(ndim))
    steps = ''.join(' at += i %% n%d * s%d; i /= n%d;' % (k, k, k) for k in reversed(range(1, ndim)))
    return 'static inline long ct_at%d(long i%s) { long at = 0;%s return at%s; }\n' % (
        ndim, parameters, steps, ' + i * s0' if ndim else '')


def _outs(name, floats):
    """Returns a function that puts a result into a variable."""
    count, to, end = _OUTS[name]
    letters = 'xy'[:count]
    return ''.join(_define(kind, name, ', '.join('%s %s' % (kind, x) for x in letters) + ', %s* p' % (to or kind), '%s(%s, p)' % (
        name[:-1] if end else name, ', '.join(letters))) for kind in (('float',) if end else floats))


def _helper(name):
    """Returns the helper text for a function, by its name in intrinsics."""
    if _FLOATS.get(name, name).startswith('cyl_bessel'):
        return 'bessel'
    return _PLAIN[name][3] if len(_PLAIN.get(name) or ()) > 3 else None


def _function(name, floats):
    real = floats[-1]
    if name in _UNARY:
        return _unary(name, _UNARY[name], floats)
    if name in _LIBRARY:
        return _unary(name, None, floats, library=_LIBRARY[name])
    if name in _TESTS:
        return _unary(name, _TESTS[name], floats, result='int')
    if name in _BINARY:
        return _binary(name, _BINARY[name], floats)
    if name in _FLOATS:
        plain = _FLOATS[name]
        if plain in _LIBRARY:
            return _define('float', name, 'float x', 'ct_%s_f32(x)' % _LIBRARY[plain])
        return _define('float', name, 'float x' if plain in _UNARY else 'float x, float y',
                       _UNARY.get(plain) or _BINARY[plain])
    if name in _FAST:
        return _define('float', name, 'float x', '%s(x)' % _FAST[name])
    if name in _FAST_BINARY:
        return _define('float', name, 'float x, float y', _FAST_BINARY[name])
    if name in _PAIRS:
        kind, first, second = _PAIRS[name]
        return '%svoid ct_%s(%s x, %s* s, %s* c) { *s = %s; *c = %s; }\n' % (_OVERLOAD, name, kind, kind, kind, first, second)
    if name in intrinsics.SEVERAL:
        letters, expression = intrinsics.SEVERAL[name]
        return ''.join(_define(kind, name, ', '.join('%s %s' % (kind, x) for x in letters), expression) for kind in floats)
    if name in intrinsics.DOTS:
        return intrinsics.dots(name, _define)
    if name in _SCALED:
        return ''.join(_define(kind, name, '%s x, %s y' % (kind, _SCALED[name][0]), _SCALED[name][1]) for kind in floats)
    if name in _OUTS:
        return _outs(name, floats)
    if name == 'ilogb':
        return _unary(name, 'ilogb(x)', floats, result='int')
    if name == 'log_ndtr':
        return _unary(name, None, floats, library='log_ndtr')
    result, parameters, expression = _PLAIN[name][:3]
    if real == 'float' and 'double' in result + parameters:
        return ''
    return _define(result, name, parameters, expression)


def of_library(text):
    """Does a text use names of the library's prelude?"""
    return re.search(r'_f32\(|_f64\(|\bc64\b|\bc128\b', text) is not None


def header(needs, float64):
    """Returns the text of all that is asked for: names of MATH and ATOMICS, 'memory_half', 'memory_bool' and 'at2', say."""
    floats = ('float', 'double') if float64 else ('float',)
    text = ''
    if float64:
        text += '#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n'
    if any(name in ATOMICS for name in needs):
        text += ('#ifdef cl_khr_int64_base_atomics\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n#endif\n'
                 '#ifdef cl_khr_int64_extended_atomics\n#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n'
                 '#endif\n')
    if 'atomicAdd' in needs:
        text += _HALF
    for name in sorted(filter(None, set(map(_helper, needs)))):
        text += intrinsics.helper(name, floats)
    for name in sorted(needs, key=lambda name: (name.startswith('add_c'), name)):
        if name.startswith('memory_'):
            text += _MEMORY[name[7:]]
        elif name.endswith(('_c64', '_c128')):
            text += _complex(name)
        elif name.startswith('at') and name[2:].isdigit():
            text += _at(int(name[2:]))
        elif name in ATOMICS:
            text += _atomic(name, floats)
        else:
            text += _function(name, floats)
    return text
