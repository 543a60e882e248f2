"""Linear: x Wᵀ + b."""

from .. import functions, initializers
from ..link import Link
from ..variable import Parameter


class Linear(Link):
    """A linear layer. Its parameters are W of the shape (out_size, in_size) and b. Without in_size the first input determines it; with one size
    alone, that is the size of the output."""

    def __init__(self, in_size, out_size=None, nobias=False, initialW=None, initial_bias=None):
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        self.in_size, self.out_size, self.nobias = in_size, out_size, nobias
        with self.init_scope():
            self.W = Parameter(initializers._get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = None if nobias else Parameter(initializers._get_initializer(0 if initial_bias is None else initial_bias), out_size)

    def _initialize_params(self, in_size):
        self.W.initialize((self.out_size, in_size))

    @property
    def printable_specs(self):
        yield from (('in_size', self.in_size), ('out_size', self.out_size), ('nobias', self.nobias))

    def forward(self, x, n_batch_axes=1):
        """Applies the layer to the axes behind the first n_batch_axes."""
        if self.W.array is None:
            size = 1
            for extent in x.shape[n_batch_axes:]:
                size *= extent
            self.in_size = size
            self._initialize_params(size)
        return functions.linear(x, self.W, self.b, n_batch_axes=n_batch_axes)
