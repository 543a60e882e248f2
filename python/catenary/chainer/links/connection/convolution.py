"""Links of convolutions.

All have filters W and an optional bias b. The number of input channels may be None; then the first input decides it.
"""
from ... import functions
from ...link import Chain, ChainList, Link
from ...utils import argument, conv_nd, get_conv_outsize
from .._weights import constant, pair, weight

_OLD = {
    'use_cudnn': 'use_cudnn is not an argument any more: use chainer.using_config("use_cudnn", ...)',
    'deterministic': 'deterministic is not an argument any more: use chainer.using_config("cudnn_deterministic", ...)',
}


class _Convolution(Link):
    """Gives W and b to links whose method ``_weight_shape(in_channels)`` says the shape of W."""

    def _shift_arguments(self, in_channels, out_channels, ksize):
        """Reads arguments of which the first, in_channels, may be missing."""
        return (in_channels, out_channels, ksize) if ksize is not None else (None, in_channels, out_channels)

    def _add_params(self, in_channels, bias_size, nobias, initialW, initial_bias):
        with self.init_scope():
            self.W = weight(initialW)
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = None if nobias else constant(initial_bias, 0, bias_size)

    def _initialize_params(self, in_channels):
        self.W.initialize(self._weight_shape(in_channels))

    def _check_groups(self, in_channels):
        if self.out_channels % self.groups or in_channels % self.groups:
            raise ValueError('in_channels {} and out_channels {} must be multiples of groups {}'.format(
                in_channels, self.out_channels, self.groups))

    def forward(self, x):
        if self.W.array is None:
            self._initialize_params(x.shape[1])
        return self._convolve(x)


def _params(cls, W, b, nobias, ksize, channels, args, **kwargs):
    """Returns a link of `cls` with given arrays."""
    bias = None if nobias or b is None else getattr(b, 'array', b)
    return cls(*channels, ksize, *args, bias is None, initialW=getattr(W, 'array', W), initial_bias=bias, **kwargs)


class Convolution2D(_Convolution):
    """Convolves images (n, channels, height, width)."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None, **kwargs):
        super().__init__()
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1), **_OLD)
        in_channels, out_channels, ksize = self._shift_arguments(in_channels, out_channels, ksize)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.ksize = ksize
        self.stride = pair(stride)
        self.pad = pair(pad)
        self.dilate = pair(dilate)
        self.groups = int(groups)
        self._add_params(in_channels, out_channels, nobias, initialW, initial_bias)

    @property
    def printable_specs(self):
        for name in ('in_channels', 'out_channels', 'ksize', 'stride', 'pad'):
            yield name, getattr(self, name)
        yield 'nobias', self.b is None
        yield 'dilate', self.dilate
        yield 'groups', self.groups

    def _initialize_params(self, in_channels):
        self.in_channels = in_channels
        super()._initialize_params(in_channels)

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return (self.out_channels, in_channels // self.groups) + tuple(pair(self.ksize))

    @classmethod
    def from_params(cls, W, b=None, stride=1, pad=0, nobias=False, **kwargs):
        """Returns a link with given arrays or variables."""
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1))
        channels = (W.shape[1] * groups, W.shape[0])
        return _params(cls, W, b, nobias, W.shape[2:], channels, (stride, pad), dilate=dilate, groups=groups)

    def _convolve(self, x):
        return functions.convolution_2d(x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups)


class Deconvolution2D(_Convolution):
    """Transposed convolution of images (n, channels, height, width)."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, **kwargs):
        super().__init__()
        dilate, groups = argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1), **_OLD)
        in_channels, out_channels, ksize = self._shift_arguments(in_channels, out_channels, ksize)
        self.out_channels = out_channels
        self.ksize = ksize
        self.stride = pair(stride)
        self.pad = pair(pad)
        self.dilate = pair(dilate)
        self.outsize = (None, None) if outsize is None else outsize
        self.groups = int(groups)
        self._add_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return (in_channels, self.out_channels // self.groups) + tuple(pair(self.ksize))

    def _convolve(self, x):
        return functions.deconvolution_2d(x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate,
                                          groups=self.groups)


class ConvolutionND(_Convolution):
    """Convolves arrays (n, channels, d1, …, dN)."""

    def __init__(self, ndim, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None, cover_all=False, dilate=1, groups=1):
        super().__init__()
        in_channels, out_channels, ksize = self._shift_arguments(in_channels, out_channels, ksize)
        self.out_channels = out_channels
        self.ksize = conv_nd.as_tuple(ksize, ndim)
        self.stride = stride
        self.pad = pad
        self.cover_all = cover_all
        self.dilate = conv_nd.as_tuple(dilate, ndim)
        self.groups = int(groups)
        self._add_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return (self.out_channels, in_channels // self.groups) + self.ksize

    @classmethod
    def from_params(cls, W, b=None, stride=1, pad=0, nobias=False, **kwargs):
        """Returns a link with given arrays or variables."""
        cover_all, dilate, groups = argument.parse_kwargs(kwargs, ('cover_all', False), ('dilate', 1), ('groups', 1))
        head = () if issubclass(cls, (Convolution1D, Convolution3D)) else (W.ndim - 2,)
        return _params(cls, W, b, nobias, W.shape[2:], head + (W.shape[1] * groups, W.shape[0]), (stride, pad),
                       cover_all=cover_all, dilate=dilate, groups=groups)

    def _convolve(self, x):
        return functions.convolution_nd(x, self.W, self.b, self.stride, self.pad, cover_all=self.cover_all,
                                        dilate=self.dilate, groups=self.groups)


class DeconvolutionND(_Convolution):
    """Transposed convolution of arrays (n, channels, d1, …, dN)."""

    def __init__(self, ndim, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None,
                 initialW=None, initial_bias=None, dilate=1, groups=1):
        super().__init__()
        in_channels, out_channels, ksize = self._shift_arguments(in_channels, out_channels, ksize)
        self.out_channels = out_channels
        self.ksize = conv_nd.as_tuple(ksize, ndim)
        self.stride = stride
        self.pad = pad
        self.outsize = outsize
        self.dilate = conv_nd.as_tuple(dilate, ndim)
        self.groups = int(groups)
        self._add_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return (in_channels, self.out_channels // self.groups) + self.ksize

    def _convolve(self, x):
        return functions.deconvolution_nd(x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate,
                                          groups=self.groups)


class Convolution1D(ConvolutionND):
    """`ConvolutionND` with one axis."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None, cover_all=False, dilate=1, groups=1):
        super().__init__(1, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, cover_all,
                         dilate, groups)


class Convolution3D(ConvolutionND):
    """`ConvolutionND` with three axes."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None, cover_all=False, dilate=1, groups=1):
        super().__init__(3, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, cover_all,
                         dilate, groups)


class Deconvolution1D(DeconvolutionND):
    """`DeconvolutionND` with one axis."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, dilate=1, groups=1):
        super().__init__(1, in_channels, out_channels, ksize, stride, pad, nobias, outsize, initialW, initial_bias,
                         dilate, groups)


class Deconvolution3D(DeconvolutionND):
    """`DeconvolutionND` with three axes."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, dilate=1, groups=1):
        super().__init__(3, in_channels, out_channels, ksize, stride, pad, nobias, outsize, initialW, initial_bias,
                         dilate, groups)


class DilatedConvolution2D(_Convolution):
    """Convolves images with filters whose elements lie `dilate` apart."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, dilate=1, nobias=False, initialW=None,
                 initial_bias=None):
        super().__init__()
        in_channels, out_channels, ksize = self._shift_arguments(in_channels, out_channels, ksize)
        self.out_channels = out_channels
        self.ksize = ksize
        self.stride = pair(stride)
        self.pad = pair(pad)
        self.dilate = pair(dilate)
        self._add_params(in_channels, out_channels, nobias, initialW, initial_bias)

    def _weight_shape(self, in_channels):
        return (self.out_channels, in_channels) + tuple(pair(self.ksize))

    def _convolve(self, x):
        return functions.dilated_convolution_2d(x, self.W, self.b, self.stride, self.pad, self.dilate)


class DepthwiseConvolution2D(_Convolution):
    """Convolves each channel with `channel_multiplier` filters of its own."""

    def __init__(self, in_channels, channel_multiplier, ksize, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None):
        super().__init__()
        self.ksize = ksize
        self.stride = pair(stride)
        self.pad = pair(pad)
        self.channel_multiplier = channel_multiplier
        self.nobias = nobias
        with self.init_scope():
            self.W = weight(initialW)
            if not nobias:
                self.b = constant(initial_bias, 0)
        if nobias:
            self.b = None
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels):
        self.W.initialize((self.channel_multiplier, in_channels) + tuple(pair(self.ksize)))
        if self.b is not None:
            self.b.initialize(self.channel_multiplier * in_channels)

    def _convolve(self, x):
        return functions.depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)


class LocalConvolution2D(_Convolution):
    """Convolves images with filters that differ at each position. W is (out, height, width, in, kh, kw)."""

    def __init__(self, in_channels, out_channels, in_size=None, ksize=None, stride=1, nobias=False, initialW=None,
                 initial_bias=None, **kwargs):
        super().__init__()
        self.ksize = ksize
        self.stride = pair(stride)
        self.nobias = nobias
        self.out_channels = out_channels
        argument.assert_kwargs_empty(kwargs)
        with self.init_scope():
            self.W = weight(initialW)
            self.b = None if nobias else constant(initial_bias, 0)
        if in_channels is not None and in_size is not None:
            self._initialize_params(in_channels, in_size)

    def _initialize_params(self, in_channels, in_size):
        ksize = tuple(pair(self.ksize))
        outs = tuple(get_conv_outsize(size, k, step, 0)
                     for size, k, step in zip(pair(in_size), ksize, self.stride))
        self.W.initialize((self.out_channels,) + outs + (in_channels,) + ksize)
        if self.b is not None:
            self.b.initialize((self.out_channels,) + outs)

    def forward(self, x):
        if self.W.array is None:
            self._initialize_params(x.shape[1], x.shape[2:])
        return functions.local_convolution_2d(x, self.W, self.b, self.stride)


class _DeformableSampler(_Convolution):
    def __init__(self, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias):
        super().__init__()
        self.out_channels = out_channels
        self.ksize = ksize
        self.stride = pair(stride)
        self.pad = pair(pad)
        self._add_params(in_channels, out_channels, nobias, 0 if initialW is None else initialW, initial_bias)

    def _weight_shape(self, in_channels):
        return (self.out_channels, in_channels) + tuple(pair(self.ksize))

    def forward(self, x, offset):
        if self.W.array is None:
            self._initialize_params(x.shape[1])
        return functions.deformable_convolution_2d_sampler(x, offset, self.W, self.b, self.stride, self.pad)


class DeformableConvolution2D(Chain):
    """Convolves images at positions that a convolution of the same images moves."""

    def __init__(self, in_channels, out_channels, ksize, stride=1, pad=0, offset_nobias=False, offset_initialW=None,
                 offset_initial_bias=None, deform_nobias=False, deform_initialW=None, deform_initial_bias=None):
        super().__init__()
        height, width = pair(ksize)
        with self.init_scope():
            self.offset_conv = Convolution2D(in_channels, 2 * height * width, ksize, stride, pad, offset_nobias,
                                             offset_initialW, offset_initial_bias)
            self.deform_conv = _DeformableSampler(in_channels, out_channels, ksize, stride, pad, deform_nobias,
                                                  deform_initialW, deform_initial_bias)

    def forward(self, x):
        return self.deform_conv(x, self.offset_conv(x))


class MLPConvolution2D(ChainList):
    """A convolution and convolutions of 1x1 after it, with an activation between them (network in network)."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, activation=functions.relu, *args, **kwargs):
        if args:
            raise TypeError('conv_init and bias_init of MLPConvolution2D are keyword arguments')
        conv_init, bias_init = argument.parse_kwargs(
            kwargs, ('conv_init', None), ('bias_init', None), use_cudnn=_OLD['use_cudnn'],
            wscale='wscale is not an argument any more: use conv_init')
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
        first = Convolution2D(in_channels, out_channels[0], ksize, stride, pad, False, conv_init, bias_init)
        rest = [Convolution2D(before, size, 1, 1, 0, False, conv_init, bias_init)
                for before, size in zip(out_channels, out_channels[1:])]
        super().__init__(first, *rest)
        self.activation = activation

    def forward(self, x):
        for link in self[:-1]:
            x = self.activation(link(x))
        return self[-1](x)
