"""Text that surrounds CuPy's kernels, shared by OpenCL C (`_translator`) and CUDA C++ (`_cuda`)."""

import re


def entry(name):
    """Returns the name of a kernel in its text, which must differ from functions of the compiler such as `dot` and `exp`. Names of template instances
    contain their arguments."""
    return 'ct_' + re.sub(r'\W', '_', name)


class Parameter:
    """A parameter of a kernel. `kind` is 'scalar', 'element' (an array accessed at index i) or 'raw'. Arrays have `ndim` axes, and `contiguous` means
    C order.

    The kernel receives for a scalar its value, and for an array its buffer and the offset of its first element (long). A raw array adds ndim sizes
    and ndim strides in elements (long), a non-contiguous element array ndim strides.
    """

    def __init__(self, name, dtype, kind='element', ndim=1, contiguous=True, out=False):
        self.name, self.dtype, self.kind, self.ndim, self.contiguous, self.out = name, dtype, kind, ndim, contiguous, out

    def takes(self, own, memory, long):
        """Returns the kernel's own parameters for it. Their names begin with `own`."""
        if self.kind == 'scalar':
            return ['%s %s_v' % (memory, own)]
        numbers = 'ns' if self.kind == 'raw' else '' if self.contiguous else 's'
        return ['%s* %s_p' % (memory, own), '%s %s_at' % (long, own)] + [
            '%s %s_%s%d' % (long, own, number, k) for number in numbers for k in range(self.ndim)]

    def at(self, own, place, index):
        """Returns the offset of the element with this linear index and these indices."""
        return own + '_at + ' + ('(%s)' % place if self.contiguous else ' + '.join(
            ['0'] + ['%s[%d] * %s_s%d' % (index, k, own, k) for k in range(self.ndim)]))


    def whole(self, own, extents, axes=None):
        """Returns (sizes, strides in elements) of the whole array of an element parameter. `extents` are the loop's sizes, `axes` the array's axes in
        their order if it differs."""
        places = range(self.ndim) if axes is None else [axes.index(k) for k in range(self.ndim)]
        shape = [extents[at] for at in places]
        if self.contiguous:
            return shape, [' * '.join(shape[k + 1:]) or '1' for k in range(self.ndim)]
        return shape, ['%s_s%d' % (own, at) for at in places]


def asked(parameters, texts):
    """Returns the parameters whose whole array a text names, as CuPy does."""
    text = ' '.join(filter(None, texts))
    return [p for p in parameters if p.kind != 'scalar' and re.search(r'\b_raw_%s\b' % p.name, text)] if '_raw_' in text else []


def numbers(long, ndim, *names):
    """Returns numeric parameters of a kernel, such as sizes."""
    return ['%s %s' % (long, name) for name in ['_n%d' % k for k in range(ndim)] + list(names)]


# Text of the stages. Partial results of numbers are an array of numbers.
OF_NUMBERS = {'sized': '', 'parts': '_partial_p[_partial_at + ', 'fixed': 'const ', 'begin': '_kind _mapped;\n{', 'set': '_mapped = ', 'end': '}'}
# For classes, whose size only the compiler knows: stage 3 reports it.
OF_CLASSES = {**OF_NUMBERS, 'sized': '%(global)s_kind* const _parts = (%(global)s_kind*)(_partial_p + _partial_at);\n'
                                     'if (_stage == 3) {\n_partial_p[_partial_at] = sizeof(_kind);\nreturn;\n}\n',
              'parts': '_parts[', 'fixed': ''}


# Stage 0 performs the whole reduction, stage 1 reduces chunks to partial results [chunk, output], stage 2 reduces these to outputs.
STAGES = '''%(first)s
typedef %(kind)s _kind;
%(sized)sconst %(long)s _size = _outs * _rows, _units = _stage == 1 ? _outs * _chunks : _outs;
%(loop)s {
const %(long)s _out = _unit %% _outs, _chunk = _unit / _outs;
_kind _total = %(cast)s(%(identity)s);
if (_stage == 2) {
for (%(long)s _k = 0; _k < _chunks; ++_k) {
%(fixed)s_kind a = _total, b = %(parts)s_k * _outs + _out];
_total = %(cast)s(%(reduce)s);
}
} else {
const %(long)s _from = _stage == 1 ? _rows * _chunk / _chunks : 0, _to = _stage == 1 ? _rows * (_chunk + 1) / _chunks : _rows;
for (%(long)s _row = _from; _row < _to; ++_row) {
const %(long)s i = _out * _rows + _row;
%(begin)s
%(loads)s
%(set)s%(cast)s(%(map)s);
%(end)s
{
%(fixed)s_kind a = _total, b = _mapped;
_total = %(cast)s(%(reduce)s);
}
}
}
if (_stage == 1) {
%(parts)s_chunk * _outs + _out] = _total;
} else {
%(read)s
{
%(fixed)s_kind a = _total;
%(post)s;
}
%(write)s
}
}
}
'''
