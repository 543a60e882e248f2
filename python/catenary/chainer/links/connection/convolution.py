"""Links of convolutions.

All have filters W and an optional bias b. The number of input channels may be None; then the first input decides it.
"""
from ... import functions
from ...link import Chain, ChainList, Link
from ...utils import argument, conv_nd, get_conv_outsize
from .._arguments import arguments
from .._weights import constant, pair, weight

_OLD = {
    'use_cudnn': 'use_cudnn is not an argument any more: use chainer.using_config("use_cudnn", ...)',
    'deterministic': 'deterministic is not an argument any more: use chainer.using_config("cudnn_deterministic", ...)',
}


class _Convolution(Link):
    """Gives W and b to links whose method ``_weight_shape(in_channels)`` returns the shape of W."""

    def _begin(self, a, tuple_of, tuples, plain=''):
        """Stores the arguments `a`: those named in `tuples` by tuple_of, those in `plain` unchanged. Then makes W and b."""
        Link.__init__(self)
        if a.ksize is None:  # in_channels, the first argument, was left out
            a.in_channels, a.out_channels, a.ksize = None, a.in_channels, a.out_channels
        for name in ('out_channels', 'ksize', *plain.split()):
            setattr(self, name, getattr(a, name))
        for name in tuples.split():
            setattr(self, name, tuple_of(getattr(a, name)))
        if hasattr(a, 'groups'):
            self.groups = int(a.groups)
        with self.init_scope():
            self.W = weight(a.initialW)
            if a.in_channels is not None:
                self._initialize_params(a.in_channels)
            self.b = None if a.nobias else constant(a.initial_bias, 0, a.out_channels)

    def _initialize_params(self, in_channels):
        self.W.initialize(self._weight_shape(in_channels))

    def _filters(self, first, second):
        """Returns the shape of W for this many channels. One of them is divided among the groups."""
        return first, second, *(self.ksize if isinstance(self.ksize, tuple) else pair(self.ksize))

    def _check_groups(self, in_channels):
        if self.out_channels % self.groups or in_channels % self.groups:
            raise ValueError('in_channels {} and out_channels {} must be multiples of groups {}'.format(
                in_channels, self.out_channels, self.groups))

    def forward(self, x):
        if self.W.array is None:
            self._initialize_params(x.shape[1])
        return self._convolve(x)


class _Forward(_Convolution):
    """W is [out_channels, in_channels / groups, taps…]."""

    _extra = ()  # the keyword arguments of from_params, with their defaults

    @classmethod
    def from_params(cls, W, b=None, stride=1, pad=0, nobias=False, **kwargs):
        """Returns a link with given arrays or variables."""
        names = [name for name, _ in cls._extra]
        more = dict(zip(names, argument.parse_kwargs(kwargs, *cls._extra)))
        bias = None if nobias or b is None else getattr(b, 'array', b)
        return cls(*cls._head(W), W.shape[1] * more['groups'], W.shape[0], W.shape[2:], stride, pad, bias is None,
                   initialW=getattr(W, 'array', W), initial_bias=bias, **more)

    @staticmethod
    def _head(W):
        """Returns the arguments in front of in_channels."""
        return ()

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return self._filters(self.out_channels, in_channels // self.groups)


class _Transposed(_Convolution):
    """W is [in_channels, out_channels / groups, taps…]."""

    def _weight_shape(self, in_channels):
        self._check_groups(in_channels)
        return self._filters(in_channels, self.out_channels // self.groups)


class Convolution2D(_Forward):
    """Convolves images (n, channels, height, width)."""

    _extra = (('dilate', 1), ('groups', 1))

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None, initial_bias=None,
                 **kwargs):
        a = arguments(locals())
        a.dilate, a.groups = argument.parse_kwargs(a.kwargs, *self._extra, **_OLD)
        self.in_channels = None
        self._begin(a, pair, 'stride pad dilate')
        self.in_channels = a.in_channels

    @property
    def printable_specs(self):
        shown = 'in_channels out_channels ksize stride pad nobias dilate groups'
        return ((name, self.b is None if name == 'nobias' else getattr(self, name)) for name in shown.split())

    def _initialize_params(self, in_channels):
        self.in_channels = in_channels
        super()._initialize_params(in_channels)

    def _convolve(self, x):
        return functions.convolution_2d(x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups)


class Deconvolution2D(_Transposed):
    """Transposed convolution of images (n, channels, height, width)."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, **kwargs):
        a = arguments(locals())
        a.dilate, a.groups = argument.parse_kwargs(a.kwargs, *Convolution2D._extra, **_OLD)
        self._begin(a, pair, 'stride pad dilate')
        self.outsize = (None, None) if a.outsize is None else a.outsize

    def _convolve(self, x):
        return functions.deconvolution_2d(x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate,
                                          groups=self.groups)


class _OfAxes:
    """Links for `ndim` spatial axes."""

    def _begin_axes(self, ndim, a, plain):
        def of_axes(value):
            return conv_nd.as_tuple(value, ndim)
        if a.ksize is None:
            a.in_channels, a.out_channels, a.ksize = None, a.in_channels, a.out_channels
        a.ksize = of_axes(a.ksize)
        self._begin(a, of_axes, 'dilate', plain)


class ConvolutionND(_OfAxes, _Forward):
    """Convolves arrays (n, channels, d1, …, dN)."""

    _extra = (('cover_all', False), ('dilate', 1), ('groups', 1))

    def __init__(self, ndim, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None,
                 initial_bias=None, cover_all=False, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(a.ndim, a, 'stride pad cover_all')

    @staticmethod
    def _head(W):
        return (W.ndim - 2,)

    def _convolve(self, x):
        options = {name: getattr(self, name) for name, _ in self._extra}
        return functions.convolution_nd(x, self.W, self.b, self.stride, self.pad, **options)


class DeconvolutionND(_OfAxes, _Transposed):
    """Transposed convolution of arrays (n, channels, d1, …, dN)."""

    def __init__(self, ndim, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(a.ndim, a, 'stride pad outsize')

    def _convolve(self, x):
        return functions.deconvolution_nd(x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate,
                                          groups=self.groups)


class Convolution1D(ConvolutionND):
    """`ConvolutionND` with one axis."""

    _head = _Forward._head

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None, initial_bias=None,
                 cover_all=False, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(1, a, 'stride pad cover_all')


class Convolution3D(ConvolutionND):
    """`ConvolutionND` with three axes."""

    _head = _Forward._head

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, initialW=None, initial_bias=None,
                 cover_all=False, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(3, a, 'stride pad cover_all')


class Deconvolution1D(DeconvolutionND):
    """`DeconvolutionND` with one axis."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(1, a, 'stride pad outsize')


class Deconvolution3D(DeconvolutionND):
    """`DeconvolutionND` with three axes."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, nobias=False, outsize=None, initialW=None,
                 initial_bias=None, dilate=1, groups=1):
        a = arguments(locals())
        self._begin_axes(3, a, 'stride pad outsize')


class DilatedConvolution2D(_Convolution):
    """Convolves images with filters whose elements lie `dilate` apart."""

    def __init__(self, in_channels, out_channels, ksize=None, stride=1, pad=0, dilate=1, nobias=False, initialW=None,
                 initial_bias=None):
        a = arguments(locals())
        self._begin(a, pair, 'stride pad dilate')

    def _weight_shape(self, in_channels):
        return self._filters(self.out_channels, in_channels)

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
        a = arguments(locals())
        argument.assert_kwargs_empty(a.kwargs)
        super().__init__()
        self.out_channels, self.ksize, self.stride, self.nobias = a.out_channels, a.ksize, pair(a.stride), a.nobias
        with self.init_scope():
            self.W = weight(a.initialW)
            self.b = None if a.nobias else constant(a.initial_bias, 0)
        if None not in (a.in_channels, a.in_size):
            self._initialize_params(a.in_channels, a.in_size)

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
        a = arguments(locals())
        a.initialW = 0 if a.initialW is None else a.initialW
        self._begin(a, pair, 'stride pad')

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
        a = arguments(locals())
        super().__init__()
        height, width = pair(a.ksize)
        window = a.ksize, a.stride, a.pad
        with self.init_scope():
            self.offset_conv = Convolution2D(a.in_channels, 2 * height * width, *window, a.offset_nobias, a.offset_initialW,
                                             a.offset_initial_bias)
            self.deform_conv = _DeformableSampler(a.in_channels, a.out_channels, *window, a.deform_nobias, a.deform_initialW,
                                                  a.deform_initial_bias)

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
