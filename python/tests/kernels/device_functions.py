"""Calls of CUDA's device functions with their values from Python, NumPy or the definition."""

from fractions import Fraction
import math

import numpy

_MODES = 'nzud'
TINY = {'f4': 2.0 ** -149, 'f8': 5e-324}


def rounded(exact, kind, mode):
    """Rounds a Fraction to a float of this kind by a rounding mode of CUDA's."""
    dtype = numpy.dtype(kind).type
    most = Fraction(float(numpy.finfo(dtype).max))
    if abs(exact) > most:
        up = exact > 0
        inside = dtype(most) if up else dtype(-most)
        beyond = abs(exact) >= most + Fraction(2) ** (103 if kind == 'f4' else 970)
        outside = dtype(math.inf if up else -math.inf)
        return {'n': outside if beyond else inside, 'z': inside, 'u': outside if up else inside, 'd': inside if up else outside}[mode]
    near = dtype(numpy.float64(exact.numerator / exact.denominator)) if kind == 'f8' else _nearest_f4(exact)
    value = Fraction(float(near))
    if mode == 'n' or value == exact:
        return near
    with numpy.errstate(all='ignore'):
        below = near if value < exact else numpy.nextafter(near, dtype(-math.inf))
        above = near if value > exact else numpy.nextafter(near, dtype(math.inf))
    return {'d': below, 'u': above, 'z': below if exact > 0 else above}[mode]


def _nearest_f4(exact):
    with numpy.errstate(all='ignore'):
        near = numpy.float32(exact.numerator / exact.denominator)
        candidates = [near, numpy.nextafter(near, numpy.float32(-math.inf)), numpy.nextafter(near, numpy.float32(math.inf))]
    finite = [c for c in candidates if numpy.isfinite(c)]
    return min(finite, key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view('u4')) & 1))


def _root(x, kind, mode):
    dtype = numpy.dtype(kind).type
    near = numpy.sqrt(dtype(x))
    square = Fraction(float(near)) ** 2
    if mode == 'n' or square == x:
        return near
    below = near if square < x else numpy.nextafter(near, dtype(0))
    return below if mode in 'zd' else numpy.nextafter(below, dtype(math.inf))


def _literal(x, kind):
    return float(x).hex() + ('f' if kind == 'f4' else '')


def roundings():
    """Yields (C text, value) of arithmetic with directed rounding."""
    found = []
    for kind, first in (('f4', '__f'), ('f8', '__d')):
        dtype = numpy.dtype(kind).type
        most, small, tiny = float(numpy.finfo(dtype).max), float(numpy.finfo(dtype).tiny), TINY[kind]
        pairs = [(1, 3), (-1, 3), (1, 2 ** -60), (1, -2 ** -60), (-1, 2 ** -60), (0.1, 0.7), (most, most), (-most, most), (small, 0.3), (tiny, 0.5),
                 (-tiny, tiny), (most, 1), (5, 5), (3 * small, 7), (1e-20, 1e-25), (2, 0.1)]
        for mode in _MODES:
            for a, b in pairs:
                a, b = float(dtype(a)), float(dtype(b))
                x, y = Fraction(a), Fraction(b)
                texts = _literal(a, kind), _literal(b, kind)
                for name, exact in (('add', x + y), ('sub', x - y), ('mul', x * y), ('div', x / y)):
                    if exact == 0:
                        continue
                    found.append(('%s%s_r%s(%s, %s)' % (first, name, mode, *texts), rounded(exact, kind, mode)))
                name = '__fmaf_r' if kind == 'f4' else '__fma_r'
                z = float(dtype(0.3)) if abs(x * y) > Fraction(small) else 3 * small
                if abs(x * y + Fraction(z)) > Fraction(small):
                    found.append(('%s%s(%s, %s, %s)' % (name, mode, *texts, _literal(z, kind)), rounded(x * y + Fraction(z), kind, mode)))
                if a > 0:
                    found.append(('%ssqrt_r%s(%s)' % (first, mode, texts[0]), _root(x, kind, mode)))
                if abs(a) > small:
                    found.append(('%srcp_r%s(%s)' % (first, mode, texts[0]), rounded(1 / x, kind, mode)))
    return found


def conversions():
    """Returns (C text, value) of conversions between types, with directed rounding and saturation."""
    found = []
    way = {'n': lambda x: round(x), 'z': math.trunc, 'u': math.ceil, 'd': math.floor}
    for mode in _MODES:
        for kind, name in (('f4', 'float'), ('f8', 'double')):
            for to, least, most in (('int', -2 ** 31, 2 ** 31 - 1), ('uint', 0, 2 ** 32 - 1), ('ll', -2 ** 63, 2 ** 63 - 1), ('ull', 0, 2 ** 64 - 1)):
                for x in (2.5, 3.5, -2.5, 0.4, -0.6, 1e9 + 0.5, 3e9, -3e9, 1e30, -1e30):
                    x = float(numpy.dtype(kind).type(x))
                    value = min(max(way[mode](x), least), most)
                    found.append(('__%s2%s_r%s(%s)' % (name, to, mode, _literal(x, kind)), value))
                if (name, to) in (('double', 'int'), ('double', 'uint')):
                    continue
                for n in (0, 1, 16777217, 16777219, 2 ** 31 - 1, -16777217, 2 ** 53 + 1, 2 ** 62 + 2 ** 38 + 1, -2 ** 62 - 1, 2 ** 63 - 1, 2 ** 64 - 1):
                    if least <= n <= most:
                        found.append(('__%s2%s_r%s(%s)' % (to, name, mode, '%d%s' % (n, {'int': '', 'uint': 'u', 'll': 'LL', 'ull': 'ULL'}[to])),
                                      rounded(Fraction(n), kind, mode)))
        for x in (0.1, -0.1, 1e300, -1e300, 1e-300, 1 + 2.0 ** -24, 1.5):
            found.append(('__double2float_r%s(%s)' % (mode, _literal(x, 'f8')), rounded(Fraction(x), 'f4', mode)))
    found += [('__int2double_rn(-7)', -7), ('__uint2double_rn(4294967295u)', 2 ** 32 - 1), ('__double2hiint(1.5)', 0x3ff80000), ('__double2loint(0.1)', -1717986918),
              ('__hiloint2double(0x3ff80000, 0)', 1.5), ('__float_as_int(-1.5f)', -1077936128), ('__float_as_uint(-1.5f)', 3217031168),
              ('__int_as_float(0x3fc00000)', 1.5), ('__uint_as_float(0xbfc00000u)', -1.5), ('__double_as_longlong(1.5)', 0x3ff8 << 48),
              ('__longlong_as_double(0x3ff8000000000000LL)', 1.5), ('__float2int_rz(nanf(""))', 0), ('__double2uint_rn(nan(""))', 0)]
    return found


def _permuted(x, y, chosen):
    data = [*x.to_bytes(4, 'little'), *y.to_bytes(4, 'little')]
    picked = [(data[d & 7] if d < 8 else 255 * (data[d & 7] >> 7)) for d in (chosen >> 4 * k & 15 for k in range(4))]
    return int.from_bytes(bytes(picked), 'little')


def whole_numbers():
    """Yields (C text, value) of integer functions."""
    found = []
    words = [0, 1, 0x80000000, 0xffffffff, 0x9234567b]

    def signed(x, bits=32):
        return x - (1 << bits) if x >> (bits - 1) else x
    for x in words:
        found += [('__brev(%du)' % x, int('{:032b}'.format(x)[::-1], 2)), ('__popc(%du)' % x, bin(x).count('1')), ('__clz(%du)' % x, 32 - x.bit_length()),
                  ('__ffs(%du)' % x, (x & -x).bit_length()), ('__nv_bswap32(%du)' % x, int.from_bytes(x.to_bytes(4, 'little'), 'big')),
                  ('__nv_bswap16((unsigned short)%du)' % x, int.from_bytes((x & 0xffff).to_bytes(2, 'little'), 'big'))]
        wide = x << 32 | 0x9abcdef0 if x > 1 else x
        found += [('__brevll(%dULL)' % wide, int('{:064b}'.format(wide)[::-1], 2)), ('__popcll(%dULL)' % wide, bin(wide).count('1')),
                  ('__clzll(%dULL)' % wide, 64 - wide.bit_length()), ('__ffsll(%dULL)' % wide, (wide & -wide).bit_length()),
                  ('__nv_bswap64(%dULL)' % wide, int.from_bytes(wide.to_bytes(8, 'little'), 'big'))]
        for y in words:
            i, j = signed(x), signed(y)
            both = y << 32 | x
            pair = '(%du, %du' % (x, y)
            ints = '((int)%du, (int)%du' % (x, y)
            for by in (0, 5, 31, 32, 37):
                found += [('__funnelshift_l%s, %du)' % (pair, by), (both << by % 32) >> 32 & 0xffffffff), ('__funnelshift_r%s, %du)' % (pair, by), both >> by % 32 & 0xffffffff),
                          ('__funnelshift_lc%s, %du)' % (pair, by), (both << min(by, 32)) >> 32 & 0xffffffff),
                          ('__funnelshift_rc%s, %du)' % (pair, by), both >> min(by, 32) & 0xffffffff)]
            found += [('__byte_perm%s, %du)' % (pair, chosen), _permuted(x, y, chosen)) for chosen in (0x3210, 0x7654, 0x0123, 0x5140, 0xba98, 0xf0e1)]
            found += [('umin%s)' % pair, min(x, y)), ('umax%s)' % pair, max(x, y)), ('llmin(%dLL, %dLL)' % (i, j), min(i, j)), ('llmax(%dLL, %dLL)' % (i, j), max(i, j)),
                      ('ullmin(%dULL, %dULL)' % (x << 32, y), min(x << 32, y)), ('ullmax(%dULL, %dULL)' % (x << 32, y), max(x << 32, y)),
                      ('__mulhi%s)' % ints, i * j >> 32), ('__umulhi%s)' % pair, x * y >> 32), ('__mul64hi(%dLL, %dLL)' % (i * 2 ** 31, j * 2 ** 30), (i * 2 ** 31) * (j * 2 ** 30) >> 64),
                      ('__umul64hi(%dULL, %dULL)' % (x << 32, y << 31), (x << 32) * (y << 31) >> 64),
                      ('__umul24%s)' % pair, (x & 0xffffff) * (y & 0xffffff) & 0xffffffff),
                      ('__mul24%s)' % ints, signed(signed(x & 0xffffff, 24) * signed(y & 0xffffff, 24) & 0xffffffff)),
                      ('__hadd%s)' % ints, (i + j) >> 1), ('__rhadd%s)' % ints, (i + j + 1) >> 1), ('__uhadd%s)' % pair, (x + y) >> 1), ('__urhadd%s)' % pair, (x + y + 1) >> 1),
                      ('__sad%s, 7u)' % ints, abs(i - j) + 7 & 0xffffffff), ('__usad%s, 7u)' % pair, abs(x - y) + 7 & 0xffffffff)]
            bx, by_ = (numpy.array([v], 'u4') for v in (x, y))
            dots = {'': ('i1', 'i2', ints, ', -9)', -9), 'u': ('u1', 'u2', pair, ', 9u)', 9)}
            for byte, half, given, end, start in dots.values():
                p, q, h = (v.astype('i8') for v in (bx.view(byte), by_.view(byte), bx.view(half)))
                wrap = (lambda v: signed(v & 0xffffffff)) if start < 0 else (lambda v: v & 0xffffffff)
                found += [('__dp4a%s%s' % (given, end), wrap(int((p * q).sum()) + start)), ('__dp2a_lo%s%s' % (given, end), wrap(int((h * q[:2]).sum()) + start)),
                          ('__dp2a_hi%s%s' % (given, end), wrap(int((h * q[2:]).sum()) + start))]
    found += [('__fns(0xb5u, 0, 3)', 4), ('__fns(0xb5u, 7, -2)', 5), ('__fns(0xb5u, 2, 0)', 2), ('__fns(0xb5u, 1, 0)', 2 ** 32 - 1), ('__fns(0u, 0, 1)', 2 ** 32 - 1),
              ('labs(-3L)', 3), ('llabs(-5LL)', 5), ('abs(-4)', 4), ('ilogb(10.0)', 3), ('ilogbf(0.25f)', -2), ('max(3, 4)', 4), ('min(3u, 4u)', 3),
              ('lrint(2.5)', 2), ('llrintf(3.5f)', 4), ('lround(2.5)', 3), ('llroundf(-2.5f)', -3)]
    return found


def _erfcx(x):
    return math.exp(x * x) * math.erfc(x)


def _bessel_i(order, x):
    return math.fsum((x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order)) for k in range(60))


def real_functions():
    """Yields (C text with X, Python function, points). Each is tested as double, and with suffix f as float."""
    from statistics import NormalDist
    normal = NormalDist()
    some, inner, above = (0.3, 1.7, -2.2), (0.3, -0.7, 0.05), (0.3, 1.7, 12.5)
    one = {'acos': (math.acos, inner), 'acosh': (math.acosh, (1.2, 3.5)), 'asin': (math.asin, inner), 'asinh': (math.asinh, some), 'atan': (math.atan, some),
           'atanh': (math.atanh, inner), 'cbrt': (lambda x: math.copysign(abs(x) ** (1 / 3), x), some), 'ceil': (math.ceil, some), 'cos': (math.cos, some), 'cosh': (math.cosh, some),
           'cospi': (lambda x: math.cos(math.pi * x), some), 'cyl_bessel_i0': (lambda x: _bessel_i(0, x), above), 'cyl_bessel_i1': (lambda x: _bessel_i(1, x), above),
           'erf': (math.erf, some), 'erfc': (math.erfc, some), 'erfcx': (_erfcx, (0.3, 1.7)), 'exp': (math.exp, some), 'exp10': (lambda x: 10 ** x, some), 'exp2': (lambda x: 2 ** x, some),
           'expm1': (math.expm1, some), 'fabs': (abs, some), 'floor': (math.floor, some), 'lgamma': (math.lgamma, above), 'log': (math.log, above), 'log10': (math.log10, above),
           'log1p': (math.log1p, above), 'log2': (math.log2, above), 'logb': (lambda x: math.floor(math.log2(abs(x))), some), 'nearbyint': (round, some),
           'normcdf': (normal.cdf, some), 'normcdfinv': (normal.inv_cdf, (0.3, 0.9)), 'erfinv': (lambda y: normal.inv_cdf((y + 1) / 2) / math.sqrt(2), inner),
           'erfcinv': (lambda y: normal.inv_cdf(1 - y / 2) / math.sqrt(2), (0.3, 1.2)), 'rcbrt': (lambda x: x ** (-1 / 3), above), 'rint': (round, some), 'round': (lambda x: math.floor(x + 0.5), some),
           'rsqrt': (lambda x: 1 / math.sqrt(x), above), 'sin': (math.sin, some), 'sinh': (math.sinh, some), 'sinpi': (lambda x: math.sin(math.pi * x), some), 'sqrt': (math.sqrt, above),
           'tan': (math.tan, some), 'tanh': (math.tanh, some), 'tgamma': (math.gamma, (0.3, 1.7, -2.2)), 'trunc': (math.trunc, some)}
    found = [(name + '{f}(%s{f})' % x, way(x)) for name, (way, points) in one.items() for x in points]
    found += [('atan2{f}(0.3{f}, -0.7{f})', math.atan2(0.3, -0.7)), ('copysign{f}(0.3{f}, -1.0{f})', -0.3), ('fdim{f}(1.5{f}, 0.25{f})', 1.25), ('fmax{f}(1.5{f}, 0.25{f})', 1.5),
              ('fmin{f}(1.5{f}, 0.25{f})', 0.25), ('fmod{f}(-7.5{f}, 2.0{f})', -1.5), ('hypot{f}(3.0{f}, 4.0{f})', 5), ('rhypot{f}(3.0{f}, 4.0{f})', 0.2), ('pow{f}(2.5{f}, 1.5{f})', 2.5 ** 1.5),
              ('remainder{f}(7.5{f}, 2.0{f})', -0.5), ('fma{f}(2.5{f}, 3.0{f}, 0.5{f})', 8), ('norm3d{f}(1.0{f}, 2.0{f}, 2.0{f})', 3), ('rnorm3d{f}(1.0{f}, 2.0{f}, 2.0{f})', 1 / 3),
              ('norm4d{f}(1.0{f}, 3.0{f}, 5.0{f}, 1.0{f})', 6), ('rnorm4d{f}(1.0{f}, 3.0{f}, 5.0{f}, 1.0{f})', 1 / 6), ('ldexp{f}(1.5{f}, 4)', 24), ('scalbn{f}(1.5{f}, -1)', 0.75),
              ('scalbln{f}(1.5{f}, 3L)', 12), ('nextafter{f}(1.0{f}, 1.0{f})', 1)]
    fast = [('__expf(0.5f)', math.exp(0.5)), ('__exp10f(0.5f)', 10 ** 0.5), ('__logf(2.5f)', math.log(2.5)), ('__log2f(2.5f)', math.log2(2.5)), ('__log10f(2.5f)', math.log10(2.5)),
            ('__sinf(0.5f)', math.sin(0.5)), ('__cosf(0.5f)', math.cos(0.5)), ('__tanf(0.5f)', math.tan(0.5)), ('__powf(2.5f, 1.5f)', 2.5 ** 1.5), ('__fdividef(1.5f, 4.0f)', 0.375),
            ('fdividef(1.5f, 4.0f)', 0.375), ('__saturatef(1.5f)', 1), ('__saturatef(-0.5f)', 0), ('__frsqrt_rn(4.0f)', 0.5), ('fma(2.0f, 3.0f, 1.0f)', 7)]
    return [(text.format(f=f), value, f or 'd') for text, value in found for f in ('', 'f')] + [(text, value, 'f') for text, value in fast]
