"""Patches of images of any number of dimensions as columns, and back."""
import itertools

from .. import backend
from .conv import get_conv_outsize


def as_tuple(x, n):
    """Returns `x` as a tuple of n entries; a single number stands for all."""
    if hasattr(x, '__getitem__'):
        assert len(x) == n
        return tuple(x)
    return (x,) * n


def _windows(ksize, stride, dilate, outs):
    """Yields each offset in the kernel with the slices that its elements have in the padded image."""
    for offset in itertools.product(*map(range, ksize)):
        starts = [k * d for k, d in zip(offset, dilate)]
        yield offset, tuple(slice(start, start + step * size, step)
                            for start, step, size in zip(starts, stride, outs))


def gather(img, ksize, stride, pad, outs, dilate, pval=0):
    """Returns columns (n, c, *ksize, *outs) of the image batch (n, c, *size)."""
    xp = backend.get_array_module(img)
    n, c = img.shape[:2]
    needed = [(k - 1) * d + (o - 1) * s + 1 for k, d, o, s in zip(ksize, dilate, outs, stride)]
    margins = [(p, max(0, need - size - p)) for p, need, size in zip(pad, needed, img.shape[2:])]
    img = xp.pad(img, [(0, 0), (0, 0)] + margins, mode='constant', constant_values=pval)
    col = xp.empty((n, c) + tuple(ksize) + tuple(outs), dtype=img.dtype)
    for offset, window in _windows(ksize, stride, dilate, outs):
        col[(slice(None), slice(None)) + offset] = img[(slice(None), slice(None)) + window]
    return col


def scatter(col, stride, pad, dims, dilate):
    """Adds columns (n, c, *ksize, *outs) into images (n, c, *dims)."""
    xp = backend.get_array_module(col)
    nd = len(dims)
    ksize, outs = col.shape[2:2 + nd], col.shape[2 + nd:]
    room = [max(size + 2 * p, (k - 1) * d + (o - 1) * s + 1)
            for size, p, k, d, o, s in zip(dims, pad, ksize, dilate, outs, stride)]
    img = xp.zeros(col.shape[:2] + tuple(room), dtype=col.dtype)
    for offset, window in _windows(ksize, stride, dilate, outs):
        img[(slice(None), slice(None)) + window] += col[(slice(None), slice(None)) + offset]
    return img[(slice(None), slice(None)) + tuple(slice(p, p + size) for p, size in zip(pad, dims))]


def im2col_nd_cpu(img, ksize, stride, pad, pval=0, cover_all=False, dilate=1):
    """Returns the columns (n, c, k1, …, kN, out1, …, outN) of `img` (n, c, d1, …, dN)."""
    nd = img.ndim - 2
    assert nd == len(ksize) == len(stride) == len(pad), 'ksize, stride and pad need one entry for each axis of the images'
    dilate = as_tuple(dilate, nd)
    outs = [get_conv_outsize(size, k, s, p, cover_all, d)
            for size, k, s, p, d in zip(img.shape[2:], ksize, stride, pad, dilate)]
    assert all(out > 0 for out in outs), 'the output would be empty'
    return gather(img, ksize, stride, pad, outs, dilate, pval)


def im2col_nd_gpu(img, ksize, stride, pad, cover_all=False, dilate=1):
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


im2col_nd = im2col_nd_gpu


def col2im_nd_cpu(col, stride, pad, dims, dilate=1):
    """Adds columns (n, c, k1, …, kN, out1, …, outN) into images (n, c, d1, …, dN)."""
    nd = len(dims)
    assert (col.ndim - 2) == 2 * nd == 2 * len(stride) == 2 * len(pad), 'stride, pad and dims need one entry for each axis'
    return scatter(col, stride, pad, dims, as_tuple(dilate, nd))


col2im_nd = col2im_nd_gpu = col2im_nd_cpu
