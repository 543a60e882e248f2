"""Arguments that the rows of the library do not take: noise that a script gives, keywords, integers and more than one array."""

import operator
import string

import numpy

from .. import backend
from ..configuration import config
from ..function_node import FunctionNode
from ..variable import Variable, as_array, as_variable
from ._strides import as_strided

_rows = {}  # the rows by name, which raise errors for arguments that neither they nor this module take


class Identity(FunctionNode):
    """Returns its inputs, of any dtype."""

    def forward(self, inputs):
        return tuple(inputs)

    def backward(self, indexes, grad_outputs):
        return tuple([grad_outputs[i] for i in indexes])


class Dropout(FunctionNode):
    """Multiplies by a mask, which is drawn unless it is given."""

    def __init__(self, dropout_ratio, mask=None, return_mask=False):
        if not 0.0 <= dropout_ratio < 1.0:
            raise ValueError('dropout: the ratio must be at least 0 and below 1, not %s' % dropout_ratio)
        self.dropout_ratio, self.mask, self.return_mask = dropout_ratio, mask, return_mask

    def forward(self, inputs):
        x, = inputs
        if self.mask is None:
            xp = backend.get_array_module(x)
            kept = xp.random.rand(*x.shape) >= self.dropout_ratio
            self.mask = xp.asarray(kept, x.dtype) * x.dtype.type(1 / (1 - self.dropout_ratio))
        elif self.mask.shape != x.shape:
            raise _invalid('the shape of the mask is %s' % (x.shape,), '%s' % (self.mask.shape,))
        return x * self.mask,

    def backward(self, indexes, grad_outputs):
        return Dropout(self.dropout_ratio, self.mask).apply(grad_outputs)


def _invalid(expected, actual):
    from ..utils import type_check
    return type_check.InvalidType(expected, actual)


def dropout(x, ratio=.5, *, mask=None, return_mask=False):
    x = as_variable(x)
    if not config.train:
        return (x, None) if return_mask else x
    function = Dropout(ratio, mask)
    y, = function.apply((x,))
    return (y, function.mask) if return_mask else y


def _noise(like, draw):
    """Returns noise of an array's shape and dtype: draw(random module, shape)."""
    array = as_array(like)
    return draw(backend.get_array_module(array).random, array.shape).astype(array.dtype)


def gaussian(mean, ln_var, *, eps=None, return_eps=False):
    mean, ln_var = as_variable(mean), as_variable(ln_var)
    if eps is None:
        eps = _noise(ln_var, lambda random, shape: random.standard_normal(shape))
    y = mean + _rows['exp'](ln_var * 0.5) * eps
    return (y, eps) if return_eps else y


def gumbel_softmax(log_pi, tau=0.1, axis=1):
    noise = _noise(log_pi, lambda random, shape: random.gumbel(size=shape))
    z = (as_variable(log_pi) + noise) / float(tau)
    return _rows['softmax'](z, axis) if z.ndim > 0 else _rows['exp'](z - z)


def rrelu(x, l=1. / 8, u=1. / 3, *, r=None, return_r=False):  # noqa: E741
    if not 0.0 <= l < u < 1.0:
        raise ValueError('rrelu: 0 <= l < u < 1 must hold, not l = %s and u = %s' % (l, u))
    if r is None:
        r = _noise(x, lambda random, shape: random.uniform(l, u, shape)) if config.train else None
    y = _rows['rrelu'](x, l, u, r=r)
    return (y, r) if return_r else y


def zoneout(h, x, ratio=.5):
    if not config.train:
        return as_variable(x)
    taken = _noise(x, lambda random, shape: random.uniform(0, 1, shape)) >= ratio
    return _rows['where'](taken, x, h)


def split_axis(x, indices_or_sections, axis, force_tuple=True):
    if _is_plain(indices_or_sections):
        indices_or_sections = [int(i) for i in indices_or_sections]
    parts = (as_variable(x),) if indices_or_sections == [] else _rows['split_axis'](x, indices_or_sections, axis)
    return parts if force_tuple or len(parts) > 1 else parts[0]


def transpose_sequence(xs):
    """Returns an empty tuple for sequences without steps."""
    return () if all([len(x) == 0 for x in xs]) else _rows['transpose_sequence'](xs)


def connectionist_temporal_classification(x, t, blank_symbol, input_length=None, label_length=None, reduce='mean'):
    if not isinstance(x, (tuple, list)):
        raise TypeError('connectionist_temporal_classification: x must be a list of arrays, not %s' % type(x))
    return _rows['connectionist_temporal_classification'](x, t, blank_symbol, input_length, label_length, reduce)


def identity(*inputs):
    results = Identity().apply(inputs)
    return results[0] if len(results) == 1 else results


def add(*xs):
    if len(xs) == 1:
        return as_variable(xs[0])
    total = as_variable(xs[0])
    for x in xs[1:]:
        total = total + x
    return total


def _axis_list(axes, ndim):
    found = [a + ndim if a < 0 else a for a in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    if not all([0 <= a < ndim for a in found]):
        raise ValueError('tensordot: axes must be in [%d, %d), not %s' % (-ndim, ndim, axes))
    return found


def tensordot(a, b, axes=2):
    if not isinstance(axes, (tuple, list)):
        return _rows['tensordot'](a, b, axes)
    if len(axes) != 2:
        raise ValueError('tensordot: axes must be an integer or a pair, not %s' % (axes,))
    a, b = as_variable(a), as_variable(b)
    of_a, of_b = _axis_list(axes[0], a.ndim), _axis_list(axes[1], b.ndim)
    if len(of_a) != len(of_b) or [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError('tensordot: axes %s of %s do not fit axes %s of %s' % (of_a, a.shape, of_b, b.shape))
    left = [i for i in range(a.ndim) if i not in of_a]
    right = [i for i in range(b.ndim) if i not in of_b]
    return _rows['tensordot'](_rows['transpose'](a, tuple(left + of_a)), _rows['transpose'](b, tuple(of_b + right)), len(of_a))


def einsum(*operands):
    """Takes pairs of operands and lists of labels, which become letters."""
    if not operands or isinstance(operands[0], str):
        return _rows['einsum'](*operands)
    if any(not isinstance(names, (tuple, list)) for names in operands[1::2]):
        raise TypeError('einsum: each operand needs a list of labels')
    arrays, labels = operands[0:len(operands) // 2 * 2:2], list(operands[1::2])
    output = operands[-1] if len(operands) % 2 else None

    def letters(names):
        return ''.join(['...' if name is Ellipsis else string.ascii_letters[name] for name in names])
    subscripts = ','.join(map(letters, labels))
    return _rows['einsum'](subscripts if output is None else '%s->%s' % (subscripts, letters(output)), *arrays)


def _is_plain(value):
    return isinstance(value, numpy.ndarray) and value.ndim == 1


def _index(key, xp):
    """Returns a key in which lists are arrays of integers, of the kind of the indexed array."""
    def entry(value):
        return xp.asarray(value, numpy.int64 if numpy.size(value) == 0 else None) if isinstance(value, list) else value
    if isinstance(key, list) and not all(isinstance(value, int) for value in key):  # as in Chainer, but not in NumPy
        key = tuple(key)
    key = tuple(map(entry, key)) if isinstance(key, tuple) else entry(key)
    for value in key if isinstance(key, tuple) else (key,):
        if isinstance(value, (float, str, dict)):
            raise TypeError('an index is an integer, a slice, None, Ellipsis or an array, not %s' % type(value))
    return key


def _of_shape(name):
    def function(x, shape):
        return _rows[name](x, tuple(shape) if isinstance(shape, list) else shape)
    function.__name__ = name
    return function


broadcast_to, reshape = map(_of_shape, ('broadcast_to', 'reshape'))


def get_item(x, slices):
    return _rows['get_item'](x, _index(slices, backend.get_array_module(x)))


def scatter_add(a, slices, b):
    return _rows['scatter_add'](a, _index(slices, backend.get_array_module(a)), b)


def repeat(x, repeats, axis=None):
    many = isinstance(repeats, (tuple, list, numpy.ndarray))
    return _rows['repeat'](x, tuple(map(operator.index, repeats)) if many else operator.index(repeats), axis)


def broadcast(*args):
    if not args:
        raise _invalid('at least one array', '0')
    return as_variable(args[0]) if len(args) == 1 else _rows['broadcast'](*args)


class _Copy(FunctionNode):
    """Copies between NumPy's arrays and cupy's where both are on the processor."""

    def __init__(self, source, target):
        self._source, self._target = source, target

    def forward(self, inputs):
        return self._target.send(inputs[0]),

    def backward(self, indexes, grad_outputs):
        return _Copy(self._target, self._source).apply(grad_outputs)


def copy(x, dst):
    if isinstance(dst, backend.cuda.DummyDeviceType):
        dst = backend.CpuDevice()
    source, target = backend.get_device_from_array(x), backend.get_device(dst)
    if isinstance(source, backend.CpuDevice) == isinstance(target, backend.CpuDevice):
        return _rows['copy'](x, dst)
    return _Copy(source, target).apply((x,))[0]


def softmax_cross_entropy(x, t, normalize=True, cache_score=True, class_weight=None, ignore_label=-1, reduce='mean', enable_double_backprop=False,
                          soft_target_loss='cross-entropy'):
    """Raises errors: the row takes all other arguments."""
    if class_weight is not None:
        if isinstance(class_weight, Variable):
            raise ValueError('softmax_cross_entropy: class_weight must be an array, not a Variable')
        if class_weight.dtype.kind != 'f' or class_weight.ndim != 1:
            raise ValueError('softmax_cross_entropy: class_weight must be a vector of floats, not of the shape %s and dtype %s'
                             % (class_weight.shape, class_weight.dtype))
        if class_weight.dtype != x.dtype:
            class_weight = class_weight.astype(x.dtype)
    return _rows['softmax_cross_entropy'](x, t, normalize, cache_score, class_weight, ignore_label, reduce, enable_double_backprop, soft_target_loss)


def sparse_matmul(a, b, transa=False, transb=False):
    """Multiplies matrices of several dtypes in the widest."""
    from ..utils import CooMatrix
    if isinstance(a, CooMatrix) == isinstance(b, CooMatrix):
        raise ValueError('sparse_matmul: one matrix must be sparse and the other dense')
    dtypes = {(x.data if isinstance(x, CooMatrix) else x).dtype for x in (a, b)}
    if len(dtypes) < 2:
        return _rows['sparse_matmul'](a, b, transa, transb)
    dtype = numpy.result_type(*dtypes)

    def cast(x):
        if isinstance(x, CooMatrix):
            matrix = CooMatrix(x.data.array, x.row, x.col, x.shape, x.order)
            matrix.data = _rows['cast'](x.data, dtype)
            return matrix
        return _rows['cast'](x, dtype)
    return _rows['sparse_matmul'](cast(a), cast(b), transa, transb)


def _roi_align(name):
    def align(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio=None):
        if isinstance(sampling_ratio, (tuple, list)):  # None: the library chooses the number of samples
            sampling_ratio = tuple([0 if count is None else int(count) for count in sampling_ratio])
        return _rows[name](x, rois, roi_indices, outsize, spatial_scale, sampling_ratio)
    align.__name__ = name
    return align


roi_average_align_2d, roi_max_align_2d = map(_roi_align, ('roi_average_align_2d', 'roi_max_align_2d'))


def bilinear(e1, e2, W, V1=None, V2=None, b=None):
    given = [x is not None for x in (V1, V2, b)]
    if any(given) and not all(given):
        raise ValueError('bilinear: V1, V2 and b must be given together')
    return _rows['bilinear'](e1, e2, W, *([V1, V2, b] if all(given) else []))


class _Zeta(FunctionNode):
    """Hurwitz's zeta function of an array of exponents, which gets no gradient."""

    def __init__(self, x):
        self._x = x

    def forward(self, inputs):
        q, = inputs
        self.retain_inputs((0,))
        if isinstance(q, numpy.ndarray):
            from scipy import special
        else:
            from catenary.cupyx.scipy import special
        return special.zeta(self._x, q).astype(q.dtype),

    def backward(self, indexes, grad_outputs):
        q, = self.get_retained_inputs()
        return grad_outputs[0] * -self._x * _Zeta(self._x + 1).apply((q,))[0],


def zeta(x, q):
    x = as_array(x)
    return _Zeta(x).apply((q,))[0] if backend.is_array(x) else _rows['zeta'](x, q)


def _flip(array, axis):
    return backend.get_array_module(array).flip(array, axis)


class _Pad(FunctionNode):
    """numpy.pad, whose gradient goes to the elements that are copied once."""

    def __init__(self, width, mode, options):
        self._width, self._mode, self._options = width, mode, options

    def forward(self, inputs):
        x, = inputs
        self._shape = x.shape
        return backend.get_array_module(x).pad(x, self._width, mode=self._mode, **self._options),

    def backward(self, indexes, grad_outputs):
        pairs = numpy.broadcast_to(numpy.asarray(self._width), (len(self._shape), 2))
        return grad_outputs[0][tuple([slice(int(low), int(low) + size) for (low, _), size in zip(pairs, self._shape)])],


def pad(x, pad_width, mode, **keywords):
    return _Pad(pad_width, mode, keywords).apply((x,))[0]


ANY_DTYPE = frozenset(('broadcast', 'copy', 'get_item', 'identity', 'pad', 'repeat', 'scatter_add', 'softmax_cross_entropy', 'split_axis'))
_TAKEN = {function.__name__: function for function in (
    add, as_strided, bilinear, broadcast, broadcast_to, connectionist_temporal_classification, copy, dropout, einsum, gaussian, get_item,
    gumbel_softmax, identity, pad, repeat, reshape, roi_average_align_2d, roi_max_align_2d, rrelu, scatter_add, softmax_cross_entropy,
    sparse_matmul, split_axis, tensordot, transpose_sequence, zeta, zoneout)}


def of(name):
    """Returns the function for the arguments that a row does not take, or None."""
    return _TAKEN.get(name)
