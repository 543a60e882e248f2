"""What stands around the texts of CuPy's kernels, alike in OpenCL C (`_translator`) and in CUDA C++ (`_cuda`)."""

import re

from catenary.cupy._translator.reader import Untranslatable
from catenary.cupy._translator.texts import read_name


def entry(name):
    """What a kernel is called in its text: compilers have functions of many names that kernels have, as `dot` and `exp`. What
    a template makes is named by its arguments, too."""
    return 'ct_' + re.sub(r'\W', '_', name)


def instance_of(name):
    """`f<float, 4>` as ('f', ['float', '4']); no arguments where the name has none."""
    base, _, rest = name.strip().partition('<')
    found, depth = [''] if rest else [], 0
    for c in rest.rstrip()[:-1] if rest.rstrip().endswith('>') else rest:
        depth += (c in '<(') - (c in '>)')
        if c == ',' and not depth:
            found.append('')
        else:
            found[-1] += c
    return base.strip(), [text.strip() for text in found]


def number_of(kernel, parameter, text):
    """The whole number that a template's parameter becomes. Throws ValueError."""
    if text in ('true', 'false'):
        return int(text == 'true')
    if not re.fullmatch(r'-?\d\w*', text):
        raise ValueError('RawKernel: %s: %r is no number for the parameter %s' % (kernel, text, parameter))
    return int(text.rstrip('uUlL'), 0)


def type_of(kernel, parameter, text, resolve):
    """The type that a template's parameter becomes: what `resolve` makes of the tree of `text`. Throws ValueError."""
    try:
        base, found = read_name(kernel, text)
        found = resolve(found) if base is None and found is not None and not found.stars else None
    except Untranslatable:
        found = None
    if found is None:
        raise ValueError('RawKernel: %s: %r is no type for the parameter %s' % (kernel, text, parameter))
    return found


class Parameter:
    """A parameter of a kernel. `kind`: 'scalar', 'element' (an array of which the element i is meant) or 'raw'; arrays
    have `ndim` axes, and `contiguous` says whether they are in C order. What the kernel takes for it, in order: a scalar
    its value; an array its buffer and the offset of its first element (long), then, where it is raw, ndim extents and
    ndim strides in elements (long), where it is an element and not contiguous, ndim strides."""

    def __init__(self, name, dtype, kind='element', ndim=1, contiguous=True, out=False):
        self.name, self.dtype, self.kind, self.ndim, self.contiguous, self.out = name, dtype, kind, ndim, contiguous, out

    def takes(self, own, memory, long):
        """The kernel's own parameters for it, whose names begin with `own`."""
        if self.kind == 'scalar':
            return ['%s %s_v' % (memory, own)]
        numbers = 'ns' if self.kind == 'raw' else '' if self.contiguous else 's'
        return ['%s* %s_p' % (memory, own), '%s %s_at' % (long, own)] + [
            '%s %s_%s%d' % (long, own, number, k) for number in numbers for k in range(self.ndim)]

    def at(self, own, place, index):
        """Where the element lies that has this number and this index."""
        return own + '_at + ' + ('(%s)' % place if self.contiguous else ' + '.join(
            ['0'] + ['%s[%d] * %s_s%d' % (index, k, own, k) for k in range(self.ndim)]))


def numbers(long, ndim, *names):
    """Parameters of a kernel: extents and others."""
    return ['%s %s' % (long, name) for name in ['_n%d' % k for k in range(ndim)] + list(names)]


# Stage 0 does all of it, 1 reduces chunks into partial results [chunk, output], 2 those into outputs.
STAGES = '''%(first)s
typedef %(kind)s _kind;
const %(long)s _size = _outs * _rows, _units = _stage == 1 ? _outs * _chunks : _outs;
%(loop)s {
const %(long)s _out = _unit %% _outs, _chunk = _unit / _outs;
_kind _total = %(cast)s(%(identity)s);
if (_stage == 2) {
for (%(long)s _k = 0; _k < _chunks; ++_k) {
const _kind a = _total, b = _partial_p[_partial_at + _k * _outs + _out];
_total = %(cast)s(%(reduce)s);
}
} else {
const %(long)s _from = _stage == 1 ? _rows * _chunk / _chunks : 0, _to = _stage == 1 ? _rows * (_chunk + 1) / _chunks : _rows;
for (%(long)s _row = _from; _row < _to; ++_row) {
const %(long)s i = _out * _rows + _row;
_kind _mapped;
{
%(loads)s
_mapped = %(cast)s(%(map)s);
}
{
const _kind a = _total, b = _mapped;
_total = %(cast)s(%(reduce)s);
}
}
}
if (_stage == 1) {
_partial_p[_partial_at + _chunk * _outs + _out] = _total;
} else {
%(read)s
{
const _kind a = _total;
%(post)s;
}
%(write)s
}
}
}
'''
