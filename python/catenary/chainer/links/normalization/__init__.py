"""Links that normalise features."""
import warnings

import numpy

from ... import backend, functions, initializers
from ...configuration import config
from ...link import Link
from ...serializer import Deserializer
from ...utils import argument, size_of_shape
from ...variable import Parameter
from .._arguments import arguments

_OLD_TEST = 'test is not an argument any more: use chainer.using_config("train", False)'


def _parameter(initializer, value, dtype, size=None):
    """Returns a parameter of `dtype`, which waits for its shape if `size` is None."""
    initializer = initializers._get_initializer(value if initializer is None else initializer)
    initializer.dtype = dtype
    return Parameter(initializer, size)


def _scale_and_shift(link, size, gamma, beta):
    """Gives a link the parameters gamma and beta."""
    from ... import get_dtype
    dtype = get_dtype(map_mixed16=numpy.float32)
    with link.init_scope():
        link.gamma = _parameter(gamma, 1, dtype, size)
        link.beta = _parameter(beta, 0, dtype, size)


class BatchNormalization(Link):
    """Normalises with mean and variance of a batch, and with averages of them outside training.

    Args:
        size: shape of gamma and beta. If it is None, the first input and `axis` decide it.
        axis: axes over which mean and variance are computed.
    """

    gamma = beta = None

    def __init__(self, size=None, decay=0.9, eps=2e-5, dtype=None, use_gamma=True, use_beta=True, initial_gamma=None,
                 initial_beta=None, axis=None, initial_avg_mean=None, initial_avg_var=None):
        a = arguments(locals())
        self._begin(a, a.axis)

    def _begin(self, a, axis):
        from ... import get_dtype
        Link.__init__(self)
        if a.size is None and axis is None:
            raise RuntimeError('size or axis is required')
        self._initial_avg_mean, self._initial_avg_var = a.initial_avg_mean, a.initial_avg_var
        self.N, self.decay, self.eps = 0, a.decay, a.eps
        self.axis = (axis,) if isinstance(axis, int) else axis
        self._wide_dtype = get_dtype(a.dtype, map_mixed16=numpy.float32)
        with self.init_scope():
            for name, value, wanted in (('gamma', 1, a.use_gamma), ('beta', 0, a.use_beta)):
                if wanted:
                    setattr(self, name, _parameter(getattr(a, 'initial_' + name), value, self._wide_dtype))
        self.avg_mean = self.avg_var = None
        for name in ('N', 'avg_mean', 'avg_var'):
            self.register_persistent(name)
        if a.size is not None:
            self._initialize_params((a.size,) if isinstance(a.size, int) else a.size)

    def _initialize_params(self, shape):
        self.avg_mean = self._init_array(self._initial_avg_mean, 0, shape)
        self.avg_var = self._init_array(self._initial_avg_var, 1, shape)
        for parameter in (self.gamma, self.beta):
            if parameter is not None:
                parameter.initialize(shape)

    def _init_array(self, initializer, default_value, size):
        initializer = default_value if initializer is None else initializer
        initializer = initializers._get_initializer(initializer)
        return initializers.generate_array(initializer, size, self.xp, dtype=self._wide_dtype, device=self.device)

    def _constant(self, value):
        with backend.using_device(self.device):
            return self.xp.full(self.avg_mean.shape, value, dtype=self._wide_dtype)

    def _get_gamma(self):
        return self._constant(1) if self.gamma is None else self.gamma

    def _get_beta(self):
        return self._constant(0) if self.beta is None else self.beta

    @property
    def printable_specs(self):
        yield 'size', None if self.avg_mean is None else self.avg_mean.shape[0]
        yield 'decay', self.decay
        yield 'eps', self.eps
        yield 'dtype', self._wide_dtype
        yield 'use_gamma', self.gamma is not None
        yield 'use_beta', self.beta is not None

    def _ensure_shape(self, x):
        if self.avg_mean is None:
            axes = (0,) if self.axis is None else self.axis
            self._initialize_params(tuple(size for axis, size in enumerate(x.shape) if axis not in axes))

    def _decay(self, finetune):
        if not finetune:
            return self.decay
        self.N += 1
        return 1. - 1. / self.N

    def forward(self, x, **kwargs):
        finetune, = argument.parse_kwargs(kwargs, ('finetune', False), test=_OLD_TEST)
        self._ensure_shape(x)
        gamma, beta = self._get_gamma(), self._get_beta()
        if not config.train:
            return functions.fixed_batch_normalization(x, gamma, beta, self.avg_mean, self.avg_var, self.eps,
                                                       axis=self.axis)
        mean, var = self.avg_mean, self.avg_var
        if config.in_recomputing:
            mean, var, decay = None, None, self.decay
        else:
            decay = self._decay(finetune)
        return functions.batch_normalization(x, gamma, beta, eps=self.eps, running_mean=mean, running_var=var,
                                             decay=decay, axis=self.axis)

    def start_finetuning(self):
        """Starts new averages, for calls with ``finetune=True``."""
        self.N = 0


class BatchRenormalization(BatchNormalization):
    """Batch normalization whose outputs depend less on the batch (Ioffe 2017)."""

    def __init__(self, size, rmax=1, dmax=0, decay=0.9, eps=2e-5, dtype=None, use_gamma=True, use_beta=True, initial_gamma=None,
                 initial_beta=None, initial_avg_mean=None, initial_avg_var=None):
        a = arguments(locals())
        self._begin(a, None)
        self.rmax, self.dmax = a.rmax, a.dmax
        self.r = self.d = None

    def forward(self, x, finetune=False):
        gamma, beta = self._get_gamma(), self._get_beta()
        if not config.train:
            return functions.fixed_batch_renormalization(x, gamma, beta, self.avg_mean, self.avg_var, self.eps)
        mean, var = self.avg_mean, self.avg_var
        if config.in_recomputing:
            (mean, var), decay = self._before, self.decay
        else:
            decay = self._decay(finetune)
            self._before = None if config.enable_backprop else (mean.copy(), var.copy())  # for a second computation in backward
        return functions.batch_renormalization(x, gamma, beta, self.rmax, self.dmax, eps=self.eps, running_mean=mean,
                                               running_var=var, decay=decay, update_statistics=True)


class DecorrelatedBatchNormalization(Link):
    """Whitens groups of features with the covariance of a batch (Huang et al. 2018)."""

    def __init__(self, size, groups=16, decay=0.9, eps=2e-5, dtype=numpy.float32):
        super().__init__()
        each = size // groups
        self.groups = groups
        self.decay = decay
        self.eps = eps
        self.N = 0
        self.register_persistent('N')
        self.avg_mean = numpy.zeros((groups, each), dtype=dtype)
        self.register_persistent('avg_mean')
        self.avg_projection = numpy.tile(numpy.eye(each, dtype=dtype), (groups, 1, 1))
        self.register_persistent('avg_projection')

    def serialize(self, serializer):
        """Reads files of older versions too, in which all groups have the same statistics."""
        if isinstance(serializer, Deserializer):
            mean, projection = (serializer(name, None) for name in ('avg_mean', 'avg_projection'))
            if mean is not None and mean.ndim == 1:
                if self.groups != 1:
                    warnings.warn('the statistics of one group are loaded into {} groups'.format(self.groups), UserWarning)
                self.N = int(serializer('N', self.N))
                with backend.using_device(self.device):
                    self.avg_mean[...] = self.xp.asarray(mean)
                    self.avg_projection[...] = self.xp.asarray(projection)
                return
        super().serialize(serializer)

    def forward(self, x, **kwargs):
        finetune, = argument.parse_kwargs(kwargs, ('finetune', False))
        if not config.train:
            return functions.fixed_decorrelated_batch_normalization(x, self.avg_mean, self.avg_projection,
                                                                    groups=self.groups)
        decay = self.decay
        if finetune and not config.in_recomputing:
            self.N += 1
            decay = 1. - 1. / self.N
        mean, projection = self.avg_mean, self.avg_projection
        if config.in_recomputing:
            mean, projection = mean.copy(), projection.copy()
        return functions.decorrelated_batch_normalization(
            x, groups=self.groups, eps=self.eps, running_mean=mean, running_projection=projection, decay=decay)

    def start_finetuning(self):
        """Starts new averages, for calls with ``finetune=True``."""
        self.N = 0


class _Scaled(Link):
    """Has gamma and beta."""

    def _initialize_params(self, size):
        for parameter in (self.gamma, self.beta):
            parameter.initialize(size)


class GroupNormalization(_Scaled):
    """Normalises groups of channels of each sample."""

    def __init__(self, groups, size=None, eps=1e-5, initial_gamma=None, initial_beta=None):
        super().__init__()
        self.groups = groups
        self.eps = eps
        _scale_and_shift(self, size, initial_gamma, initial_beta)

    def forward(self, x):
        if x.ndim < 2:
            raise ValueError('group normalization needs two axes or more, but the input has {}'.format(x.ndim))
        if self.gamma.array is None:
            self._initialize_params(x.shape[1])
        return functions.group_normalization(x, self.groups, self.gamma, self.beta, self.eps)


class LayerNormalization(_Scaled):
    """Normalises the features of each sample."""

    def __init__(self, size=None, eps=1e-6, initial_gamma=None, initial_beta=None):
        super().__init__()
        self.eps = eps
        _scale_and_shift(self, size, initial_gamma, initial_beta)

    def forward(self, x):
        if self.gamma.array is None:
            self._initialize_params(size_of_shape(x.shape[1:]))
        return functions.layer_normalization(x, self.gamma, self.beta, self.eps)
