"""CuPy's kernels for CUDA and HIP: the user's text is taken as it is, after a header (_headers/carray.cuh).

The kernels take what those of `_translate` take. They are portable texts of the library: its prelude comes first."""

import functools
import os
import re

from catenary.cupy._reader import DTYPES, Reader, entry, tokens

_TYPES = {'bool': 'bool', 'float16': 'float16', 'float32': 'float', 'float64': 'double', 'int64': 'long long',
          'uint64': 'unsigned long long'}


def _type(dtype):
    return _TYPES.get(dtype, dtype + '_t')


@functools.lru_cache(None)
def header():
    """The text of carray.cuh."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '_headers', 'carray.cuh')) as file:
        return file.read()


def _without_headers(text, kernel):
    """The text without lines that include CuPy's headers, which are there already."""
    found = [t for t in tokens(text, kernel) if t.kind == 'directive' and re.match(
        r'#\s*include\s*[<"](cupy/(carray|atomics|float16)\.cuh|cuda_fp16\.h)', t.text)]
    for t in found:
        text = text.replace(t.text, '', 1)
    return text


def _bind(parameters):
    takes, first = [], []
    for p in parameters:
        type = _type(p.dtype)
        if p.kind == 'scalar':
            takes.append('%s %s' % ('unsigned char' if p.dtype == 'bool' else type if type != 'float16' else 'float',
                                    p.name + '_v'))
            first.append('const %s %s = static_cast<%s>(%s_v);' % (type, p.name, type, p.name))
            continue
        takes += ['%s* %s_p' % (type, p.name), 'long long %s_at' % p.name]
        if p.kind == 'raw':
            extents = ['%s_n%d' % (p.name, k) for k in range(p.ndim)]
            strides = ['%s_s%d' % (p.name, k) for k in range(p.ndim)]
            takes += ['long long ' + number for number in extents + strides]
            values = extents + ['%s * (long long)sizeof(%s)' % (stride, type) for stride in strides]
            first.append('CArray<%s, %d, %s> %s(%s);' % (type, p.ndim, 'true' if p.contiguous else 'false', p.name,
                                                         ', '.join(['%s_p + %s_at' % (p.name, p.name)] + values)))
        elif not p.contiguous:
            takes += ['long long %s_s%d' % (p.name, k) for k in range(p.ndim)]
    return takes, '\n'.join(first)


def _elements(parameters, place, index):
    loads = []
    for p in parameters:
        if p.kind != 'element':
            continue
        at = place if p.contiguous else ' + '.join(['0'] + ['%s[%d] * %s_s%d' % (index, k, p.name, k)
                                                            for k in range(p.ndim)])
        loads.append('%s%s& %s = %s_p[%s_at + (%s)];' % ('' if p.out else 'const ', _type(p.dtype), p.name, p.name,
                                                         p.name, at))
    return '\n'.join(loads)


def _head(name, types, preamble):
    return '%s%s%s\n' % (header(), ''.join('typedef %s %s;\n' % (_type(dtype), placeholder)
                                           for placeholder, dtype in types.items()), _without_headers(preamble, name))


def _count(parameters, count):
    """`n` is the number of elements, where no parameter has that name."""
    return '' if any(p.name == 'n' for p in parameters) else '\nconst ptrdiff_t n = %s;' % count


def _loop(index, size):
    return 'for (ptrdiff_t {0} = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; {0} < {1}; {0} += (ptrdiff_t)gridDim.x ' \
           '* blockDim.x)'.format(index, size)


def elementwise(name, parameters, operation, types, *, preamble='', loop_prep='', after_loop='', ndim=1, group=64, **_):
    """As _translate.elementwise. An operation that returns leaves its work-item: there must be one for each element."""
    takes, first = _bind(parameters)
    extents = ['_n%d' % k for k in range(ndim)]
    takes += ['long long ' + n for n in extents] + ['long long _size']
    return '%sextern "C" __global__ void __launch_bounds__(%d) %s(%s) {\n%s\n%s\n%s;\n%s {\n_ind.set(i);\n%s\n#line 1 "%s"\n' \
           '%s;\n}\n%s;\n}\n' % (
               _head(name, types, preamble), group, entry(name), ', '.join(takes), first,
               'CIndexer<%d> _ind(%s);%s' % (ndim, ', '.join(['_size'] + extents), _count(parameters, '_size')), loop_prep,
               _loop('i', '_size'), _elements(parameters, 'i', '_ind.get()'), name, operation, after_loop)


def reduction(name, parameters, map_expr, reduce_expr, post_map_expr, identity, types, *, preamble='', reduce_type=None,
              ndim=1, group=64, **_):
    """As _translate.reduction; partial results of float16 are floats here, too."""
    takes, first = _bind(parameters)
    kind = _type(reduce_type or parameters[-1].dtype)
    extents = ['_n%d' % k for k in range(ndim)]
    takes += ['%s* _partial_p' % ('float' if kind == 'float16' else kind), 'long long _partial_at']
    takes += ['long long ' + n for n in extents + ['_outs', '_rows', '_chunks', '_stage']]
    return '''%sextern "C" __global__ void __launch_bounds__(%d) %s(%s) {
typedef %s _kind;
%s
const ptrdiff_t _units = _stage == 1 ? _outs * _chunks : _outs;%s
CIndexer<%d> _ind(%s);
%s {
const ptrdiff_t _out = _unit %% _outs, _chunk = _unit / _outs, _i = _out;
_kind _total = _kind(%s);
if (_stage == 2) {
for (ptrdiff_t _k = 0; _k < _chunks; ++_k) {
const _kind a = _total, b = _partial_p[_partial_at + _k * _outs + _out];
_total = (_kind)(%s);
}
} else {
const ptrdiff_t _from = _stage == 1 ? _rows * _chunk / _chunks : 0, _to = _stage == 1 ? _rows * (_chunk + 1) / _chunks : _rows;
for (ptrdiff_t _row = _from; _row < _to; ++_row) {
const ptrdiff_t i = _out * _rows + _row, _j = i;
_ind.set(i);
_kind _mapped;
{
%s
_mapped = (_kind)(%s);
}
{
const _kind a = _total, b = _mapped;
_total = (_kind)(%s);
}
}
}
if (_stage == 1) {
_partial_p[_partial_at + _chunk * _outs + _out] = _total;
} else {
%s
const _kind a = _total;
%s;
}
}
}
''' % (_head(name, types, preamble), group, entry(name), ', '.join(takes), kind, first, _count(parameters, '_outs * _rows'), ndim,
       ', '.join(['_outs * _rows'] + extents), _loop('_unit', '_units'), identity or '', reduce_expr,
       _elements(parameters[:-1], 'i', '_ind.get()'), map_expr, reduce_expr,
       _elements(parameters[-1:], '_out', ''), post_map_expr)


def _numbered(block, grid):
    """What takes the one axis of a launch apart, where the kernel's block or grid has several."""
    text = ''
    for number, size, axes in (('threadIdx', 'blockDim', block), ('blockIdx', 'gridDim', grid)):
        if axes and axes[1:] != (1, 1):
            text += 'static __device__ __forceinline__ uint3 _ct_%s() {\n  const unsigned n = %s.x;\n' \
                    '  return make_uint3(n %% %du, n / %du %% %du, n / %du);\n}\n' % (
                        number, number, axes[0], axes[0], axes[1], axes[0] * axes[1])
            text += '#define %s _ct_%s()\n#define %s (make_uint3(%du, %du, %du))\n' % (number, number, size, *axes)
    return text


def _with_shared_memory(text, kernel, bytes):
    """Gives arrays that are declared `extern __shared__` the size that the launch says."""
    ts = tokens(text, kernel)
    for t, (word, after) in enumerate(zip(ts, ts[1:])):
        if (word.text, after.text) != ('extern', '__shared__'):
            continue
        opening = next(k for k in range(t, len(ts)) if ts[k].text == '[')
        type = ' '.join(x.text for x in ts[t + 2:opening - 1])
        ts[t].text, ts[opening].text = '', '[(%d + sizeof(%s) - 1) / sizeof(%s)' % (bytes, type, type)
    return ''.join(t.space + t.text for t in ts)


def _kinds(text, name):
    """For each parameter of the kernel 'pointer', the dtype in which it takes a number, or None for other types."""
    reader = Reader(name, {})
    ts = reader.read(text)
    for k in range(1, len(ts) - 1):
        if ts[k].text == name and ts[k + 1].text == '(' and any(x.text == '__global__' for x in ts[max(k - 9, 0):k]):
            parts = reader.split(ts[k + 2:reader.close(ts, k + 1)])
            types = [reader.type_at(part, 0)[0] for part in parts if [x.text for x in part] != ['void']]
            return ['pointer' if any(x.text == '*' for x in part) else DTYPES.get(type)
                    for part, type in zip(parts, types)]
    raise ValueError('RawKernel: the text has no kernel %r (a kernel begins with extern "C" __global__)' % name)


def raw(code, name, *, block, grid=None, shared_memory=0):
    """The text of a whole kernel: the user's, for a launch of one axis. Its pointers are addresses of first elements.
    Gives it with the kinds of its parameters, as _translate.raw does."""
    code = _without_headers(code, name)
    return header() + _numbered(block, grid) + '#line 1 "%s"\n' % name + _with_shared_memory(
        code, name, shared_memory), _kinds(code, name)
