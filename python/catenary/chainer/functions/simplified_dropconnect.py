"""A linear function that drops elements of its weight at random."""
import numpy

from .. import backend
from ..function_node import FunctionNode
from ..utils import size_of_shape, type_check
from ..variable import as_variable


class SimplifiedDropconnect(FunctionNode):
    """Computes ``x (mask W)^T / (1 - ratio) + b``, with a mask for each sample or for the whole batch."""

    def __init__(self, ratio, mask=None, use_batchwise_mask=True):
        if not 0.0 <= ratio < 1.0:
            raise ValueError('ratio must be at least 0 and below 1, but it is {}'.format(ratio))
        self.ratio = ratio
        self.mask = mask
        self.use_batchwise_mask = use_batchwise_mask

    def _mask_shape(self, x, w):
        return (x.shape[0],) + w.shape if self.use_batchwise_mask else w.shape

    def check_type_forward(self, in_types):
        type_check.expect(2 <= in_types.size(), in_types.size() <= 3)
        x, w = in_types[:2]
        type_check.expect(x.dtype.kind == 'f', w.dtype.kind == 'f', x.ndim >= 2, w.ndim == 2,
                          type_check.prod(x.shape[1:]) == w.shape[1])
        if type_check.eval(in_types.size()) == 3:
            b = in_types[2]
            type_check.expect(b.dtype == x.dtype, b.ndim == 1, b.shape[0] == w.shape[0])
        if self.mask is not None:
            mask = type_check.make_variable(self.mask, 'mask')
            shape = self._mask_shape(*map(type_check.eval, (x, w)))
            type_check.expect(mask.ndim == len(shape))
            for axis, size in enumerate(shape):
                type_check.expect(mask.shape[axis] == size)

    def forward(self, inputs):
        xp = backend.get_array_module(*inputs)
        x, w = inputs[:2]
        if self.mask is None:
            self.mask = xp.random.rand(*self._mask_shape(x, w)) >= self.ratio
        self.retain_inputs((0, 1))
        kept = self._scaled(x.dtype) * w
        flat = x.reshape(len(x), -1)
        y = xp.matmul(kept, flat[:, :, None])[:, :, 0] if kept.ndim == 3 else flat.dot(kept.T)
        y = y.astype(x.dtype, copy=False)
        return (y + inputs[2] if len(inputs) == 3 else y),

    def _scaled(self, dtype):
        return self.mask.astype(dtype) * dtype.type(1. / (1 - self.ratio))

    def backward(self, indexes, grads):
        from .. import functions
        x, w = self.get_retained_inputs()
        gy, = grads
        shape, (batch, out) = x.shape, gy.shape
        mask = self._scaled(w.dtype)
        full = (batch,) + w.shape
        if mask.ndim == 2:
            mask = mask[None]
        flat = functions.reshape(x, (batch, size_of_shape(shape[1:])))
        wide_gy = _as_dtype(functions.broadcast_to(functions.reshape(gy, (batch, out, 1)), full), w.dtype)
        masked_gy = wide_gy * as_variable(backend.get_array_module(mask).broadcast_to(mask, full).copy())
        results = []
        if 0 in indexes:
            gx = functions.sum(masked_gy * functions.broadcast_to(functions.reshape(w, (1,) + w.shape), full), axis=1)
            results.append(functions.reshape(_as_dtype(gx, x.dtype), shape))
        if 1 in indexes:
            rows = functions.broadcast_to(functions.reshape(flat, (batch, 1, flat.shape[1])), full)
            results.append(functions.sum(masked_gy * _as_dtype(rows, w.dtype), axis=0))
        if 2 in indexes:
            results.append(functions.sum(gy, axis=0))
        return results


def _as_dtype(x, dtype):
    from .. import functions
    return x if x.dtype == dtype else functions.cast(x, numpy.dtype(dtype))


def simplified_dropconnect(x, W, b=None, ratio=0.5, train=True, mask=None, use_batchwise_mask=True):
    """Returns a linear function of x whose weight loses each element with probability `ratio`.

    Args:
        x, W, b: input (n, in), weight (out, in) and bias (out).
        train: whether elements are dropped.
        mask: elements to keep; None draws them.
        use_batchwise_mask: whether each sample has its own mask.
    """
    inputs = (x, W) if b is None else (x, W, b)
    if not train:
        ratio = 0.
        xp = backend.get_array_module(*(getattr(entry, 'array', entry) for entry in inputs))
        mask = xp.ones((x.shape[0],) + W.shape if use_batchwise_mask else W.shape, dtype=bool)
    mask = getattr(mask, 'array', mask)
    return SimplifiedDropconnect(ratio, mask, use_batchwise_mask).apply(inputs)[0]
