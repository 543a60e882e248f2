"""Links of matrices and vectors: Linear, Bias, Scale, Bilinear, EmbedID, Highway and Parameter."""
import numpy

from ... import functions, initializers
from ...link import Chain, Link
from ...utils import size_of_shape
from ...variable import Parameter as _Parameter
from .._weights import constant, weight


class Linear(Link):
    """Computes ``x W^T + b``. Without `in_size`, the first input decides it."""

    def __init__(self, in_size, out_size=None, nobias=False, initialW=None, initial_bias=None):
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        self.in_size = in_size
        self.out_size = out_size
        with self.init_scope():
            self.W = weight(initialW)
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = None if nobias else constant(initial_bias, 0, out_size)

    def _initialize_params(self, in_size):
        self.W.initialize((self.out_size, in_size))

    @classmethod
    def from_params(cls, W, b=None, nobias=False):
        """Returns a link with given arrays or variables."""
        nobias = nobias or b is None
        return cls(W.shape[1], W.shape[0], nobias, _array(W), None if nobias else _array(b))

    @property
    def printable_specs(self):
        yield 'in_size', self.in_size
        yield 'out_size', self.out_size
        yield 'nobias', self.b is None

    def forward(self, x, n_batch_axes=1):
        if self.W.array is None:
            self.in_size = size_of_shape(x.shape[n_batch_axes:])
            self._initialize_params(self.in_size)
        return functions.linear(x, self.W, self.b, n_batch_axes=n_batch_axes)


def _array(x):
    return getattr(x, 'array', x)


def _two(xs, link, name):
    """Returns the arguments of a link, with its parameter as the second one if it has one."""
    if hasattr(link, name):
        xs += (getattr(link, name),)
    assert len(xs) == 2, 'a link with a parameter takes one input, a link without takes two'
    return xs


class Bias(Link):
    """Adds a parameter, or a second input, that is broadcast from `axis` on."""

    def __init__(self, axis=1, shape=None):
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b = weight(0, shape)

    def forward(self, *xs):
        return functions.bias(*_two(xs, self, 'b'), self.axis)


class Scale(Chain):
    """Multiplies by a parameter, or by a second input, that is broadcast from `axis` on, and may add a bias."""

    def __init__(self, axis=1, W_shape=None, bias_term=False, bias_shape=None):
        super().__init__()
        self.axis = axis
        with self.init_scope():
            if W_shape is not None:
                self.W = weight(1, W_shape)
                bias_shape = W_shape
            elif bias_term and bias_shape is None:
                raise ValueError('bias_shape is required where W_shape is None and bias_term is True')
            if bias_term:
                self.bias = Bias(axis, bias_shape)

    def forward(self, *xs):
        y = functions.scale(*_two(xs, self, 'W'), self.axis)
        return self.bias(y) if hasattr(self, 'bias') else y


class Bilinear(Link):
    """Computes ``e1 W e2 + e1 V1 + e2 V2 + b`` of two batches of vectors."""

    def __init__(self, left_size, right_size, out_size, nobias=False, initialW=None, initial_bias=None):
        super().__init__()
        self.in_sizes = (left_size, right_size)
        self.nobias = nobias
        left, right, bias = (None, None, None) if initial_bias is None else initial_bias
        for initial, shape in ((initialW, (left_size, right_size, out_size)), (left, (left_size, out_size)),
                               (right, (right_size, out_size)), (bias, (out_size,))):
            if isinstance(initial, numpy.ndarray):
                assert initial.shape == shape, 'an initial array must have the shape {}, but it has {}'.format(
                    shape, initial.shape)
        with self.init_scope():
            self.W = weight(initialW, (left_size, right_size, out_size))
            if not nobias:
                self.V1 = weight(left, (left_size, out_size))
                self.V2 = weight(right, (right_size, out_size))
                self.b = constant(bias, 0, out_size)

    def forward(self, e1, e2):
        if self.nobias:
            return functions.bilinear(e1, e2, self.W)
        return functions.bilinear(e1, e2, self.W, self.V1, self.V2, self.b)

    def zero_grads(self):
        """Sets all gradients to zero."""
        self.zerograds()


class EmbedID(Link):
    """Looks up rows of a parameter by integer indices. Rows for `ignore_label` are zero."""

    ignore_label = None

    def __init__(self, in_size, out_size, initialW=None, ignore_label=None):
        super().__init__()
        self.ignore_label = ignore_label
        with self.init_scope():
            self.W = weight(initializers.Normal(1.0) if initialW is None else initialW, (in_size, out_size))

    @classmethod
    def from_params(cls, W, ignore_label=None):
        """Returns a link with a given array or variable."""
        return cls(W.shape[0], W.shape[1], _array(W), ignore_label)

    def forward(self, x):
        return functions.embed_id(x, self.W, ignore_label=self.ignore_label)


class Highway(Chain):
    """Mixes ``activate(plain(x))`` and x with a gate that another linear link computes."""

    def __init__(self, in_out_size, nobias=False, activate=functions.relu, init_Wh=None, init_Wt=None, init_bh=None,
                 init_bt=-1):
        super().__init__()
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(in_out_size, in_out_size, nobias, init_Wh, init_bh)
            self.transform = Linear(in_out_size, in_out_size, nobias, init_Wt, init_bt)

    def forward(self, x):
        gate = functions.sigmoid(self.transform(x))
        return self.activate(self.plain(x)) * gate + x * (1 - gate)


class Parameter(Link):
    """Holds one parameter and returns it."""

    def __init__(self, array):
        super().__init__()
        with self.init_scope():
            self.W = _Parameter(array)

    def forward(self, volatile='off'):
        return self.W
