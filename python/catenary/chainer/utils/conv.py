"""Sizes and columns of convolutions."""


def get_conv_outsize(size, k, s, p, cover_all=False, d=1):
    """Returns the output size of a convolution along one axis.

    Args: input size, kernel size `k`, stride `s`, padding `p`, whether every input element is covered, dilation `d`.
    """
    covered = size + 2 * p - ((k - 1) * d + 1)
    if cover_all:
        covered += s - 1
    return covered // s + 1


def get_deconv_outsize(size, k, s, p, cover_all=False, d=1):
    """Returns the output size of a transposed convolution along one axis."""
    covered = s * (size - 1) + (k - 1) * d + 1 - 2 * p
    return covered - s + 1 if cover_all else covered


def im2col_cpu(img, kh: int, kw: int, sy: int, sx: int, ph: int, pw: int, pval=0, cover_all: bool = False, dy: int = 1, dx: int = 1,
               out_h=None, out_w=None):
    """Returns the columns (n, c, kh, kw, out_h, out_w) of the images `img` (n, c, h, w)."""
    from .conv_nd import gather
    axes = zip((out_h, out_w), img.shape[2:], (kh, kw), (sy, sx), (ph, pw), (dy, dx))
    outs = tuple(get_conv_outsize(size, k, step, p, cover_all, d) if out is None else out
                 for out, size, k, step, p, d in axes)
    assert min(outs) > 0, 'the output would be empty: its size is {}'.format(outs)
    return gather(img, (kh, kw), (sy, sx), (ph, pw), outs, (dy, dx), pval)


def im2col_gpu(img, kh, kw, sy, sx, ph, pw, cover_all=False, dy=1, dx=1, out_h=None, out_w=None):
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


im2col = im2col_gpu


def col2im_cpu(col, sy, sx, ph, pw, h, w, dy=1, dx=1):
    """Adds columns (n, c, kh, kw, out_h, out_w) into images (n, c, h, w)."""
    from .conv_nd import scatter
    return scatter(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


col2im = col2im_gpu = col2im_cpu
