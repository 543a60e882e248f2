"""OpenCL C for CUDA's intrinsics: directed rounding, conversions, integer functions. `opencl` emits those that a kernel uses."""

MODES = {'n': 'rte', 'z': 'rtz', 'u': 'rtp', 'd': 'rtn'}  # rounding modes and their names in OpenCL
_WAYS = {'n': 'ct__even_%s', 'z': 'trunc', 'u': 'ceil', 'd': 'floor'}  # PoCL's compiler aborts on convert_int_sat(rint(1e30f))
_INTEGERS = {'int': 'int', 'uint': 'uint', 'll': 'long', 'ull': 'ulong'}

# The sign of the rounding error shows whether rounding to nearest went the wrong way, as in _headers/intrinsics.h. double uses the same text.
_ROUNDING = '''static inline float ct__step_float(float x, int up) { return nextafter(x, up ? (float)INFINITY : -(float)INFINITY); }
static inline float ct__rounded_float(float x, float error, int mode) {
  if (mode == 0 || error == 0 || error != error) return x;
  if (mode == 2) return error > 0 ? ct__step_float(x, 1) : x;
  if (mode == 3) return error < 0 ? ct__step_float(x, 0) : x;
  return x > 0 && error < 0 ? ct__step_float(x, 0) : x < 0 && error > 0 ? ct__step_float(x, 1) : x;
}
static inline float ct__beyond_float(float x, int mode) {
  return mode == 1 || mode == (x > 0 ? 3 : 2) ? ct__step_float(x, x < 0) : x;
}
static inline float ct__rest_float(float x, float y, float sum) {
  const float other = sum - x;
  return (x - (sum - other)) + (y - other);
}
static inline float ct__left_float(float x, float y, float product) {
  if (product == 0) return x == 0 || y == 0 ? 0 : (x < 0) == (y < 0) ? 1 : -1;
  if (fabs(product) >= 1 / LARGE) return fma(x, y, -product);
  const int first = fabs(x) < fabs(y);
  return fma((first ? x : y) * LARGE, first ? y : x, -product * LARGE);
}
static inline float ct__mode_add_float(float x, float y, int mode) {
  const float sum = x + y;
  if (isinf(sum) && isfinite(x) && isfinite(y)) return ct__beyond_float(sum, mode);
  if (sum == 0 && x != 0) return mode == 3 ? -(float)0.0f : sum;
  return ct__rounded_float(sum, ct__rest_float(x, y, sum), mode);
}
static inline float ct__mode_mul_float(float x, float y, int mode) {
  const float product = x * y;
  if (isinf(product)) return isfinite(x) && isfinite(y) ? ct__beyond_float(product, mode) : product;
  return ct__rounded_float(product, ct__left_float(x, y, product), mode);
}
static inline float ct__mode_div_float(float x, float y, int mode) {
  const float quotient = x / y;
  if (isinf(quotient)) return y != 0 && isfinite(x) ? ct__beyond_float(quotient, mode) : quotient;
  if (x == 0 || !isfinite(x) || !isfinite(y)) return quotient;
  const float scale = fabs(x) < 1 / LARGE ? LARGE : (float)1, rest = fma(-quotient, y * scale, x * scale);
  return ct__rounded_float(quotient, y < 0 ? -rest : rest, mode);
}
static inline float ct__mode_sqrt_float(float x, int mode) {
  const float root = sqrt(x);
  return !(x > 0) || isinf(root) ? root : ct__rounded_float(root, -ct__left_float(root, root, x), mode);
}
static inline float ct__fused_rest_float(float x, float y, float z, float sum) {
  const float high = x * y, low = fma(x, y, -high), a = z + low, b = high + a;
  return ((b - sum) + ct__rest_float(high, a, b)) + ct__rest_float(z, low, a);
}
static inline float ct__mode_fma_float(float x, float y, float z, int mode) {
  const float sum = fma(x, y, z);
  if (isinf(sum)) return isfinite(x) && isfinite(y) && isfinite(z) ? ct__beyond_float(sum, mode) : sum;
  if (fabs(x * y) >= 1 / LARGE) return ct__rounded_float(sum, ct__fused_rest_float(x, y, z, sum), mode);
  const int first = fabs(x) < fabs(y);
  const float one = (first ? x : y) * LARGE, other = first ? y : x;
  if (fabs(z) > 1 || one * other == 0) return ct__rounded_float(sum, ct__left_float(x, y, 0), mode);
  return ct__rounded_float(sum, ct__fused_rest_float(one, other, z * LARGE, sum * LARGE), mode);
}
'''
_EVEN = '''static inline float ct__even_float(float x) {
  const float whole = trunc(x), rest = fabs(x - whole);
  return rest > 0.5f || rest == 0.5f && fmod(whole, 2) != 0 ? whole + copysign((float)1, x) : whole;
}
'''
_HELPERS = {
    'brev': '''static inline uint ct__reversed(uint x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return as_uint(as_uchar4(x).s3210);
}
''',
    'byte': '''static inline uint ct__chosen_bytes(uint x, uint y, uint chosen) {
  const ulong both = (ulong)y << 32 | x;
  uint result = 0;
  for (int k = 0; k < 4; ++k) {
    const uint digit = chosen >> 4 * k & 15u, byte = (uint)(both >> 8 * (digit & 7u)) & 255u;
    result |= (digit & 8u ? (byte & 128u ? 255u : 0u) : byte) << 8 * k;
  }
  return result;
}
''',
    'bit': '''static inline uint ct__place_of_bit(uint mask, uint base, int offset) {
  if (offset == 0) return mask >> (base & 31u) & 1u ? base : 0xffffffffu;
  int left = offset > 0 ? offset : -offset;
  for (int k = (int)base; k >= 0 && k < 32; k += offset > 0 ? 1 : -1)
    if ((mask >> k & 1u) && --left == 0) return (uint)k;
  return 0xffffffffu;
}
''',
    'clock': '''#if defined(cl_khr_kernel_clock)
static inline long ct__time(void) { return (long)clock_read_device(); }
#elif defined(__has_builtin) && !defined(__SPIR__) && !defined(__SPIRV__)
#  if __has_builtin(__builtin_readcyclecounter)
static inline long ct__time(void) { return (long)__builtin_readcyclecounter(); }
#  endif
#endif
''',
    'bessel': '''static inline REAL ct__bessel(REAL x, REAL term, int order) {
  const REAL square = x * x / 4;
  REAL sum = term;
  for (int k = 1; term > sum * 1e-17f && !isinf(sum); ++k) sum += term *= square / ((REAL)k * (k + order));
  return order ? x * sum : sum;
}
'''}

# name: result, parameters, expression, required helper
PLAIN = {}
for _code, (_mode, _word) in enumerate(MODES.items()):
    for _kind, _first in (('float', '__f'), ('double', '__d')):
        for _name, _sign in (('add', ''), ('sub', '-'), ('mul', ''), ('div', '')):
            _way = 'add' if _name == 'sub' else _name
            PLAIN['%s%s_r%s' % (_first, _name, _mode)] = (
                _kind, '%s x, %s y' % (_kind, _kind), 'ct__mode_%s_%s(x, %sy, %d)' % (_way, _kind, _sign, _code), _kind)
        PLAIN['%srcp_r%s' % (_first, _mode)] = _kind, _kind + ' x', 'ct__mode_div_%s(1, x, %d)' % (_kind, _code), _kind
        PLAIN['%ssqrt_r%s' % (_first, _mode)] = _kind, _kind + ' x', 'ct__mode_sqrt_%s(x, %d)' % (_kind, _code), _kind
        for _name in ('__fmaf_r', '__fmaf_ieee_r') if _kind == 'float' else ('__fma_r',):
            PLAIN[_name + _mode] = (_kind, '{0} x, {0} y, {0} z'.format(_kind), 'ct__mode_fma_%s(x, y, z, %d)' % (_kind, _code), _kind)
        for _short, _to in _INTEGERS.items():
            PLAIN['__%s2%s_r%s' % (_kind, _short, _mode)] = _to, _kind + ' x', 'convert_%s_sat(%s(x))' % (_to, _WAYS[_mode].replace('%s', _kind)), 'even_' + _kind if _mode == 'n' else None
            PLAIN['__%s2%s_r%s' % (_short, _kind, _mode)] = _kind, _to + ' x', 'convert_%s_%s(x)' % (_kind, _word), None
    PLAIN['__double2float_r' + _mode] = 'float', 'double x', 'convert_float_%s(x)' % _word, None
for _name in ('__int2double_r', '__uint2double_r'):
    for _mode in 'zud':
        del PLAIN[_name + _mode]
for _name, (_result, _parameters, _expression, *_helper) in {
        '__frsqrt_rn': ('float', 'float x', 'rsqrt(x)'),
        '__double2hiint': ('int', 'double x', '(int)(as_long(x) >> 32)'), '__double2loint': ('int', 'double x', '(int)as_long(x)'),
        '__hiloint2double': ('double', 'int x, int y', 'as_double((long)((ulong)(uint)x << 32 | (uint)y))'),
        '__brev': ('uint', 'uint x', 'ct__reversed(x)', 'brev'),
        '__brevll': ('ulong', 'ulong x', '(ulong)ct__reversed((uint)x) << 32 | ct__reversed((uint)(x >> 32))', 'brev'),
        '__nv_bswap16': ('ushort', 'ushort x', 'as_ushort(as_uchar2(x).s10)'), '__nv_bswap32': ('uint', 'uint x', 'as_uint(as_uchar4(x).s3210)'),
        '__nv_bswap64': ('ulong', 'ulong x', 'as_ulong(as_uchar8(x).s76543210)'),
        '__byte_perm': ('uint', 'uint x, uint y, uint z', 'ct__chosen_bytes(x, y, z)', 'byte'),
        '__funnelshift_l': ('uint', 'uint x, uint y, uint z', '(uint)((((ulong)y << 32 | x) << (z & 31u)) >> 32)'),
        '__funnelshift_lc': ('uint', 'uint x, uint y, uint z', 'z < 32u ? (uint)((((ulong)y << 32 | x) << z) >> 32) : x'),
        '__funnelshift_r': ('uint', 'uint x, uint y, uint z', '(uint)(((ulong)y << 32 | x) >> (z & 31u))'),
        '__funnelshift_rc': ('uint', 'uint x, uint y, uint z', 'z < 32u ? (uint)(((ulong)y << 32 | x) >> z) : y'),
        '__fns': ('uint', 'uint x, uint y, int z', 'ct__place_of_bit(x, y, z)', 'bit'),
        '__mul64hi': ('long', 'long x, long y', 'mul_hi(x, y)'),
        '__hadd': ('int', 'int x, int y', 'hadd(x, y)'), '__rhadd': ('int', 'int x, int y', 'rhadd(x, y)'),
        '__uhadd': ('uint', 'uint x, uint y', 'hadd(x, y)'), '__urhadd': ('uint', 'uint x, uint y', 'rhadd(x, y)'),
        '__sad': ('uint', 'int x, int y, uint z', '(uint)(x < y ? (long)y - x : (long)x - y) + z'), '__usad': ('uint', 'uint x, uint y, uint z', '(x < y ? y - x : x - y) + z'),
        'umin': ('uint', 'uint x, uint y', 'min(x, y)'), 'umax': ('uint', 'uint x, uint y', 'max(x, y)'),
        'llmin': ('long', 'long x, long y', 'min(x, y)'), 'llmax': ('long', 'long x, long y', 'max(x, y)'),
        'ullmin': ('ulong', 'ulong x, ulong y', 'min(x, y)'), 'ullmax': ('ulong', 'ulong x, ulong y', 'max(x, y)'),
        'labs': ('long', 'long x', 'x < 0 ? -x : x'), 'llabs': ('long', 'long x', 'x < 0 ? -x : x'),
        'clock64': ('long', '', 'ct__time()', 'clock'), 'clock': ('long', '', 'ct__time()', 'clock'),
        'ilogbf': ('int', 'float x', 'ilogb(x)'), 'ldexpf': ('float', 'float x, int y', 'ldexp(x, y)'),
        'scalbnf': ('float', 'float x, int y', 'ldexp(x, y)'), 'scalblnf': ('float', 'float x, long y', 'ldexp(x, (int)clamp(y, -5000L, 5000L))'),
        'norm3df': ('float', 'float x, float y, float z', 'hypot(hypot(x, y), z)'),
        'rnorm3df': ('float', 'float x, float y, float z', '1 / hypot(hypot(x, y), z)'),
        'norm4df': ('float', 'float x, float y, float z, float w', 'hypot(hypot(x, y), hypot(z, w))'),
        'rnorm4df': ('float', 'float x, float y, float z, float w', '1 / hypot(hypot(x, y), hypot(z, w))')}.items():
    PLAIN[_name] = _result, _parameters, _expression, _helper[0] if _helper else None

# Arguments are converted to a common type first: parameters by name, and an expression
SEVERAL = {'fma': ('xyz', 'fma(x, y, z)'), 'norm3d': ('xyz', 'hypot(hypot(x, y), z)'), 'rnorm3d': ('xyz', '1 / hypot(hypot(x, y), z)'),
           'norm4d': ('xyzw', 'hypot(hypot(x, y), hypot(z, w))'), 'rnorm4d': ('xyzw', '1 / hypot(hypot(x, y), hypot(z, w))')}
# Functions with a result argument: the number of other arguments, and the result argument's type, or None for theirs
OUTS = {'frexp': (1, 'int'), 'modf': (1, None), 'remquo': (2, 'int')}
# Dot products of parts of words, signed and unsigned
DOTS = {'__dp4a': '{0}4(x).s0 * {0}4(y).s0 + {0}4(x).s1 * {0}4(y).s1 + {0}4(x).s2 * {0}4(y).s2 + {0}4(x).s3 * {0}4(y).s3 + z',
        '__dp2a_lo': '{1}2(x).s0 * {0}4(y).s0 + {1}2(x).s1 * {0}4(y).s1 + z', '__dp2a_hi': '{1}2(x).s0 * {0}4(y).s2 + {1}2(x).s1 * {0}4(y).s3 + z'}


def helper(name, floats):
    """Returns the text that functions of this helper require."""
    if name.startswith('even_'):
        return _EVEN.replace('float', name[5:]) if name[5:] in floats else ''
    if name == 'double':
        return _ROUNDING.replace('float', 'double').replace('LARGE', '0x1p700') if 'double' in floats else ''
    return _ROUNDING.replace('LARGE', '0x1p100f') if name == 'float' else _HELPERS[name].replace('REAL', floats[-1])


def dots(name, define):
    """Returns the text of a sum of products."""
    return ''.join(define(kind, name, '{0} x, {0} y, {0} z'.format(kind), DOTS[name].format('as_%schar' % u, 'as_%sshort' % u))
                   for kind, u in (('int', ''), ('uint', 'u')))
