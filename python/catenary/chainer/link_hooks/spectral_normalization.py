"""Weights divided by their largest singular value."""
import numpy

from .. import backend, functions
from ..configuration import config
from ..variable import Parameter
from ._weights import WeightHook


def _unit(x, xp, eps):
    return x / (xp.sqrt(xp.square(x).sum()) + x.dtype.type(eps))


class SpectralNormalization(WeightHook):
    """Divides a link's weight by an estimate of its largest singular value.

    Each forward computation in training improves the estimate with steps of the power iteration. The left singular
    vector is persistent in the link under `vector_name`. With `use_gamma`, the link gets a scale ``gamma`` that
    starts at the largest singular value.
    """

    name = 'SpectralNormalization'

    def __init__(self, n_power_iteration=1, eps=1e-6, use_gamma=False, factor=None, weight_name='W', name=None):
        assert n_power_iteration > 0, 'n_power_iteration must be positive'
        super().__init__(weight_name, name)
        self.n_power_iteration = n_power_iteration
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name = weight_name + '_u'
        self.axis = 0

    def added(self, link):
        from .. import links
        self.axis = int(isinstance(link, (links.Deconvolution2D, links.DeconvolutionND)))
        if self._weight(link).array is not None:
            self._prepare_parameters(link)

    def deleted(self, link):
        for name in (self.vector_name, 'gamma' if self.use_gamma else self.vector_name):
            if hasattr(link, name):
                delattr(link, name)
        link._persistent.discard(self.vector_name)

    def _prepare_parameters(self, link, input_variable=None):
        weight = self._weight(link)
        if weight.array is None:
            link._initialize_params(input_variable.shape[1])
        if 0 in weight.shape:
            raise ValueError('{} needs a weight with elements, but its shape is {}'.format(self.name, weight.shape))
        xp = link.xp
        with backend.using_device(link.device):
            u = xp.random.normal(size=(weight.shape[self.axis],)).astype(weight.dtype)
            setattr(link, self.vector_name, u)
            link.register_persistent(self.vector_name)
            if self.use_gamma:
                matrix = self.reshape_W(weight.array)
                wide = matrix.astype(numpy.float32) if matrix.dtype == numpy.float16 else matrix
                largest = xp.linalg.svd(wide, False, False)
                with link.init_scope():
                    link.gamma = Parameter(xp.asarray(largest[0], dtype=weight.dtype))

    def _initialized(self, link, args):
        if not hasattr(link, self.vector_name):
            self._prepare_parameters(link, args[0] if args else None)
        return self._weight(link)

    def reshape_W(self, W):
        """Returns the weight as a matrix with a row for each output."""
        if self.axis != 0:
            W = functions.moveaxis(W, self.axis, 0) if hasattr(W, 'creator') else W.swapaxes(0, self.axis)
        return W if W.ndim == 2 else W.reshape(W.shape[0], -1)

    def _vectors(self, link, matrix):
        """Returns both singular vectors after steps of the power iteration, which only training keeps.

        While a function is recomputed, the vectors of its first computation are used again.
        """
        stored = getattr(link, self.vector_name)
        if config.in_recomputing:
            return stored, self.v
        u, xp = stored, link.xp
        for _ in range(self.n_power_iteration):
            self.v = _unit(matrix.T.dot(u), xp, self.eps)
            u = _unit(matrix.dot(self.v), xp, self.eps)
        if config.train:
            stored[...] = u
        return u, self.v

    def normalize_weight(self, link):
        """Returns the normalised weight as a variable."""
        weight = getattr(link, self.weight_name)
        matrix = self.reshape_W(weight)
        with backend.using_device(link.device):
            u, v = self._vectors(link, matrix.array)
            sigma = functions.sum(u * functions.matmul(matrix, v))
            if self.factor is not None:
                sigma /= self.factor
            scale = 1 / sigma if not self.use_gamma else link.gamma / sigma
            return weight * functions.broadcast_to(scale, weight.shape)

    _changed = normalize_weight
