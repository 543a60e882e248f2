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


def im2col_cpu(img, kh, kw, sy, sx, ph, pw, pval=0, cover_all=False, dy=1, dx=1, out_h=None, out_w=None):
    """Returns the columns (n, c, kh, kw, out_h, out_w) of the images `img` (n, c, h, w)."""
    from .conv_nd import gather
    h, w = img.shape[2:]
    if out_h is None:
        out_h = get_conv_outsize(h, kh, sy, ph, cover_all, dy)
    assert out_h > 0, 'Height in the output should be positive.'
    if out_w is None:
        out_w = get_conv_outsize(w, kw, sx, pw, cover_all, dx)
    assert out_w > 0, 'Width in the output should be positive.'
    return gather(img, (kh, kw), (sy, sx), (ph, pw), (out_h, out_w), (dy, dx), pval)


def im2col_gpu(img, kh, kw, sy, sx, ph, pw, cover_all=False, dy=1, dx=1, out_h=None, out_w=None):
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


im2col = im2col_gpu


def col2im_cpu(col, sy, sx, ph, pw, h, w, dy=1, dx=1):
    """Adds columns (n, c, kh, kw, out_h, out_w) into images (n, c, h, w)."""
    from .conv_nd import scatter
    return scatter(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


col2im = col2im_gpu = col2im_cpu
