"""Values in a Python kernel: numbers with dtypes, constants, arrays, and the C++ of NumPy's functions of these."""

import operator
from dataclasses import dataclass

import numpy

INT64, BOOL = numpy.dtype('int64'), numpy.dtype('bool')
_WORDS = {'?': 'bool', 'b': 'signed char', 'B': 'unsigned char', 'h': 'short', 'H': 'unsigned short', 'i': 'int', 'I': 'unsigned int',
          'l': 'long long', 'L': 'unsigned long long', 'q': 'long long', 'Q': 'unsigned long long', 'e': 'float16', 'f': 'float',
          'd': 'double', 'F': 'complex<float>', 'D': 'complex<double>'}
_RANK = '?bBhHiIlqLQefdFD'  # in C++'s order: an operation has the later type of its two operands
_OF_PYTHON = {'add': operator.add, 'subtract': operator.sub, 'multiply': operator.mul, 'true_divide': operator.truediv,
              'floor_divide': operator.floordiv, 'remainder': operator.mod, 'power': operator.pow, 'left_shift': operator.lshift,
              'right_shift': operator.rshift, 'bitwise_or': operator.or_, 'bitwise_and': operator.and_, 'bitwise_xor': operator.xor,
              'equal': operator.eq, 'not_equal': operator.ne, 'less': operator.lt, 'less_equal': operator.le, 'greater': operator.gt,
              'greater_equal': operator.ge, 'negative': operator.neg, 'positive': operator.pos, 'invert': operator.invert,
              'logical_not': operator.not_}
_INFIX = {'add': '+', 'subtract': '-', 'multiply': '*', 'true_divide': '/', 'left_shift': '<<', 'right_shift': '>>', 'bitwise_or': '|',
          'bitwise_and': '&', 'bitwise_xor': '^', 'equal': '==', 'not_equal': '!=', 'less': '<', 'less_equal': '<=', 'greater': '>',
          'greater_equal': '>=', 'logical_and': '&&', 'logical_or': '||'}
_OF_BOOL = {'add': '||', 'multiply': '&&', 'maximum': '||', 'minimum': '&&'}
_PREFIX = {'negative': '-', 'positive': '+', 'invert': '~', 'logical_not': '!'}
# NumPy's functions -> names in C where these differ
_CALLS = {name: name for name in (
    'sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt floor ceil trunc rint fabs hypot copysign nextafter fmod '
    'fmax fmin isnan isinf isfinite signbit').split()}
_CALLS.update(arcsin='asin', arccos='acos', arctan='atan', arcsinh='asinh', arccosh='acosh', arctanh='atanh', arctan2='atan2')
HELPERS = {
    'floor_divide': '''template <typename T> __device__ T jit_floor_divide(T a, T b) {
  if (b == 0) return 0;
  T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
''', 'remainder': '''template <typename T> __device__ T jit_remainder(T a, T b) {
  if (b == 0) return 0;
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
''', 'remainder_float': '''template <typename T> __device__ T jit_remainder_float(T a, T b) {
  T r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
''', 'minimum': '''template <typename T> __device__ T jit_minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
''', 'maximum': '''template <typename T> __device__ T jit_maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
''', 'power': '''template <typename T> __device__ T jit_power(T a, T b) {
  T result = 1;
  for (; b > 0; b = b / 2) {
    if (b % 2 != 0) result = result * a;
    a = a * a;
  }
  return result;
}
''', 'warps': '''#ifdef __HIP_PLATFORM_AMD__
#define __shfl_sync(mask, value, from, width) __shfl(value, from, width)
#define __shfl_up_sync(mask, value, by, width) __shfl_up(value, by, width)
#define __shfl_down_sync(mask, value, by, width) __shfl_down(value, by, width)
#define __shfl_xor_sync(mask, value, with, width) __shfl_xor(value, with, width)
#define __syncwarp(mask) __builtin_amdgcn_wave_barrier()
#endif
''', 'atomic_inc': '''__device__ unsigned int jit_atomic_inc(unsigned int* p, unsigned int most) {
  unsigned int old = *p, seen;
  do { seen = old; old = atomicCAS(p, seen, seen >= most ? 0u : seen + 1u); } while (old != seen);
  return old;
}
''', 'atomic_dec': '''__device__ unsigned int jit_atomic_dec(unsigned int* p, unsigned int most) {
  unsigned int old = *p, seen;
  do { seen = old; old = atomicCAS(p, seen, seen == 0u || seen > most ? most : seen - 1u); } while (old != seen);
  return old;
}
'''}
for _name, _test in (('atomic_max', 'old < value'), ('atomic_min', 'value < old')):
    HELPERS[_name] = '''__device__ long long jit_%s(long long* p, long long value) {
  long long old = *p, seen = old;
  while (%s) {
    seen = old;
    old = (long long)atomicCAS((unsigned long long*)p, (unsigned long long)seen, (unsigned long long)value);
    if (old == seen) break;
  }
  return old;
}
''' % (_name, _test)


@dataclass
class Data:
    text: str
    dtype: object  # None for void, as of a barrier


@dataclass
class Constant:
    obj: object


@dataclass(frozen=True)
class ArrayType:
    dtype: numpy.dtype
    ndim: int


@dataclass
class Array:
    name: str
    type: ArrayType

    def numbers(self, letter):
        return tuple(Data('%s_%s%d' % (self.name, letter, k), INT64) for k in range(self.type.ndim))


@dataclass
class Local:
    """An array in shared memory."""
    name: str
    dtype: numpy.dtype


@dataclass
class SharedMemory:
    """The type of a shared-memory array that a variable declares."""
    dtype: numpy.dtype
    size: object


@dataclass
class Loop:
    start: object
    stop: object
    step: object
    unroll: object


class Intrinsic:
    """A built-in value that a kernel reads by name, such as threadIdx.x."""

    def __init__(self, text, dtype):
        self.text, self.dtype = text, dtype


class Builtin:
    """A function that kernels call."""

    def __init__(self, name, call):
        self.name, self.call = name, call

    def __call__(self, *args, **kwargs):
        raise RuntimeError('jit.%s is called by kernels, not by the host' % self.name)


class Numbers:
    """Typing and arithmetic of numbers for one translated function. It has its own `mode` and `unit`."""

    def wrapped(self, obj):
        return Data(obj.text, obj.dtype) if isinstance(obj, Intrinsic) else Constant(obj)

    def need(self, helper):
        self.unit.needed.add(helper)

    def word(self, dtype):
        if dtype.char not in _WORDS:
            raise TypeError('%s cannot be in a kernel' % dtype)
        return _WORDS[dtype.char]

    def type_of(self, value):
        """Returns the dtype of a number."""
        if isinstance(value, Data) and value.dtype is not None:
            return value.dtype
        obj = value.obj if isinstance(value, Constant) else None
        if isinstance(obj, numpy.generic):
            return obj.dtype
        if isinstance(obj, bool):
            return BOOL
        if isinstance(obj, int):
            small = self.mode == 'cuda' and -2 ** 31 <= obj < 2 ** 31
            return numpy.dtype('int32' if small else 'int64' if obj < 2 ** 63 else 'uint64')
        if isinstance(obj, (float, complex)):
            wide = self.mode == 'numpy'
            return numpy.dtype(('float64' if wide else 'float32') if isinstance(obj, float) else 'complex128' if wide else 'complex64')
        what = 'nothing' if isinstance(value, Data) else repr(obj) if isinstance(value, Constant) else 'a tuple' if isinstance(
            value, tuple) else 'an array'
        raise TypeError('expected a number, got %s' % what)

    def check_whole(self, value, what):
        """Raises TypeError if the value is not an integer."""
        if not isinstance(value, (Data, Constant)) or self.type_of(value).kind not in 'iub':
            raise TypeError('%s: expected integers' % what)

    def common(self, values):
        """Returns the dtype for all of these."""
        types = [self.type_of(v) for v in values]
        if self.mode == 'cuda':
            return max(types, key=lambda t: _RANK.index(t.char))
        return numpy.result_type(*(v.obj if isinstance(v, Constant) else t for v, t in zip(values, types)))

    def data(self, value):
        return value if isinstance(value, Data) and value.dtype is not None else Data(self.literal(value, self.type_of(value)),
                                                                                     self.type_of(value))

    def truth(self, value):
        dtype = self.type_of(value)
        return self.cast(value, BOOL) if dtype != BOOL else self.data(value).text

    def cast(self, value, dtype):
        """Returns the text of a number as one of another dtype."""
        of = self.type_of(value)
        if of.kind == 'c' and dtype.kind not in 'cb':
            raise TypeError('cannot convert a complex number to %s; take its real part' % dtype)
        if isinstance(value, Constant):
            return self.literal(value, dtype)
        if of == dtype or _WORDS[of.char] == self.word(dtype):
            return value.text
        if dtype == BOOL:
            return '(%s != 0)' % value.text if of.char != 'e' else '((float)%s != 0)' % value.text
        if 'e' in (of.char, dtype.char) and 'f' not in (of.char, dtype.char):
            return '((%s)(float)%s)' % (self.word(dtype), value.text)
        if dtype.kind == 'c' and of.kind == 'c':
            return '%s(%s.real(), %s.imag())' % (self.word(dtype), value.text, value.text)
        return ('%s(%s)' if dtype.kind == 'c' else '((%s)%s)') % (self.word(dtype), value.text)

    def literal(self, constant, dtype):
        obj, word = constant.obj, self.word(dtype)
        if dtype.kind == 'b':
            return 'true' if obj else 'false'
        if dtype.kind in 'iu':
            number = int(obj)
            if not numpy.iinfo(dtype).min <= number <= numpy.iinfo(dtype).max:
                number = int(numpy.array(number % 2 ** 64, 'uint64').astype(dtype))
            end = {'long long': 'LL', 'unsigned long long': 'ULL', 'unsigned int': 'u'}.get(word, '')
            if number == -2 ** 63:
                return '(-9223372036854775807LL - 1)'
            text = '%d%s' % (number, end)
            text = '(-2147483647 - 1)' if number == -2 ** 31 and word == 'int' else text
            return '((%s)%s)' % (word, text) if dtype.itemsize < 4 else '(%s)' % text if number < 0 else text
        if dtype.kind == 'c':
            part = numpy.dtype('float32' if dtype.char == 'F' else 'float64')
            return '%s(%s, %s)' % (word, *(self.literal(Constant(float(x)), part) for x in (complex(obj).real, complex(obj).imag)))
        number = dtype.type(obj)
        if dtype.char == 'd':
            return '(%r)' % float(number) if numpy.isfinite(number) else '__longlong_as_double(%dLL)' % number.view('int64')
        wide = numpy.float32(number)
        text = '(%rf)' % float(wide) if numpy.isfinite(wide) else '__int_as_float(%d)' % wide.view('int32')
        return '((float16)%s)' % text if dtype.char == 'e' else text

    def element(self, base, index):
        """Returns the indexed element, as an lvalue."""
        if not isinstance(base, (Array, Local)):
            raise TypeError('%s cannot be indexed' % type(base).__name__.lower())
        if isinstance(index, Constant) and isinstance(index.obj, tuple):
            index = tuple(map(Constant, index.obj))
        index = index if isinstance(index, tuple) else (index,)
        ndim = base.type.ndim if isinstance(base, Array) else 1
        if len(index) != ndim:
            raise IndexError('an array of %d axes is indexed by %d numbers' % (ndim, len(index)))
        for i in index:
            self.check_whole(i, 'an index')
        if isinstance(base, Local):
            return Data('%s[%s]' % (base.name, self.data(index[0]).text), base.dtype)
        at = ' + '.join('%s * %s' % (self.cast(i, INT64), v.text) for i, v in zip(index, base.numbers('s')))
        return Data('%s[%s]' % (base.name, at or '0'), base.type.dtype)

    def operation(self, name, *values):
        """Returns the C++ of a NumPy function's result."""
        if all(isinstance(v, Constant) for v in values) and name in _OF_PYTHON:
            return Constant(_OF_PYTHON[name](*(v.obj for v in values)))
        ufunc = getattr(numpy, name, None)
        if not isinstance(ufunc, numpy.ufunc) or ufunc.nout != 1:
            raise NotImplementedError('%s cannot be in a kernel' % name)
        if len(values) != ufunc.nin:
            raise TypeError('%s takes %d arguments, given %d' % (name, ufunc.nin, len(values)))
        if self.mode == 'cuda':
            asked = [self.common(values)] * len(values)
        else:
            asked = [type(v.obj) if isinstance(v, Constant) and type(v.obj) in (int, float, complex) else self.type_of(v) for v in values]
        *types, result = ufunc.resolve_dtypes((*asked, None))
        if len({t.kind for t in types} | {'i', 'u'}) == 2 and len({t.kind for t in types}) == 2:
            raise TypeError('%s of %s and %s: no common dtype; convert one of them' % (name, *types))
        if 'O' in {t.char for t in types}:
            raise TypeError('%s is not defined for %s' % (name, ', '.join(str(self.type_of(v)) for v in values)))
        texts = [self.cast(v, t) for v, t in zip(values, types)]
        return Data(self.expressed(name, types[0], texts, result), result)

    def expressed(self, name, dtype, texts, result):
        """Returns the text of a function on values of one dtype, as `result`."""
        if dtype.char == 'e':  # computed in float
            single = numpy.dtype('float32')
            text = self.expressed(name, single, ['(float)' + t for t in texts], single)
            return text if result == BOOL else '((float16)%s)' % text
        narrow = dtype.kind in 'iu' and dtype.itemsize < 4 and result == dtype
        if dtype == BOOL and name in _OF_BOOL:
            text = '(%s)' % (' %s ' % _OF_BOOL[name]).join(texts)
        elif dtype == BOOL and name == 'invert':
            text = '(!%s)' % texts[0]
        elif name in _INFIX:
            text = '(%s)' % (' %s ' % _INFIX[name]).join(texts)
        elif name in _PREFIX:
            text = '(%s%s)' % (_PREFIX[name], texts[0])
        elif name in ('minimum', 'maximum'):
            self.need(name)
            text = 'jit_%s<%s>(%s)' % (name, self.word(dtype), ', '.join(texts))
        elif name == 'absolute':
            text = texts[0] if dtype.kind in 'ub' else '%s(%s)' % ('fabs' if dtype.kind == 'f' else 'abs', texts[0])
        elif name == 'floor_divide' and dtype.kind == 'f':
            text = 'floor(%s / %s)' % tuple(texts)
        elif name in ('floor_divide', 'remainder', 'power') and dtype.kind in 'iu':
            self.need(name)
            text = 'jit_%s<%s>(%s)' % (name, self.word(dtype), ', '.join(texts))
        elif name == 'remainder' and dtype.kind == 'f':
            self.need('remainder_float')
            text = 'jit_remainder_float<%s>(%s)' % (self.word(dtype), ', '.join(texts))
        elif name == 'power':
            text = 'pow(%s, %s)' % tuple(texts)
        elif name in _CALLS:
            text = '%s(%s)' % (_CALLS[name], ', '.join(texts))
            text = '(%s != 0)' % text if result == BOOL else text
        else:
            raise NotImplementedError('%s of %s cannot be in a kernel' % (name, dtype))
        return '((%s)%s)' % (self.word(dtype), text) if narrow else text
