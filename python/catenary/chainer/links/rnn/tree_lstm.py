"""Long short-term memories over trees."""
from ... import backend, functions
from ...link import Chain
from ..connection.linear import Linear


class _TreeLSTM(Chain):
    def __init__(self, in_size, out_size):
        super().__init__()
        self.in_size = in_size
        self.state_size = out_size

    def _split(self, cshsx):
        """Returns cells, outputs and the input, of arguments that are given in this order."""
        assert len(cshsx) % 2 == 1, 'arguments are cells, as many outputs, and the input'
        half = len(cshsx) // 2
        return cshsx[:half], cshsx[half:-1], cshsx[-1]

    def _shape_of(self, vs):
        """Returns shape and dtype of a state, from the first argument that is given."""
        given = [v for v in vs if v is not None]
        if not given:
            raise ValueError('all arguments are None')
        return (given[0].shape[0], self.state_size), given[0].dtype

    def _pad_zero_nodes(self, vs, shape, dtype='f'):
        """Replaces None with zeros."""
        if all(v is not None for v in vs):
            return vs
        with backend.using_device(self.device):
            zeros = self.xp.zeros(shape, dtype=dtype)
        return tuple(zeros if v is None else v for v in vs)


class ChildSumTreeLSTM(_TreeLSTM):
    """A node with any number of children, whose outputs are added up."""

    def __init__(self, in_size, out_size):
        super().__init__(in_size, out_size)
        with self.init_scope():
            self.W_x = Linear(in_size, 4 * out_size)
            self.W_h_aio = Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f = Linear(out_size, out_size, nobias=True)

    def forward(self, *cshsx):
        cs, hs, x = self._split(cshsx)
        shape, dtype = self._shape_of(cshsx)
        cs = self._pad_zero_nodes(cs, shape, dtype)
        hs = self._pad_zero_nodes(hs, shape, dtype)
        x, = self._pad_zero_nodes((x,), (shape[0], self.in_size), dtype)
        gates, forget = functions.split_axis(self.W_x(x), [3 * self.state_size], axis=1)
        if not hs:
            return functions.tree_lstm(*self._pad_zero_nodes((None,), shape, dtype),
                                       functions.concat([gates, forget], axis=1))
        gates += self.W_h_aio(sum(hs))
        forgets = [forget + self.W_h_f(h) for h in hs]
        return functions.tree_lstm(*cs, functions.concat([gates] + forgets, axis=1))


class NaryTreeLSTM(_TreeLSTM):
    """A node with `n_ary` children, each of which has its own weights."""

    def __init__(self, in_size, out_size, n_ary=2):
        assert n_ary >= 1, 'n_ary must be positive'
        super().__init__(in_size, out_size)
        self.n_ary = n_ary
        with self.init_scope():
            self.W_x = Linear(in_size, (3 + n_ary) * out_size)
            for index in range(1, n_ary + 1):
                setattr(self, 'W_h{}'.format(index), Linear(out_size, (3 + n_ary) * out_size, nobias=True))

    def forward(self, *cshsx):
        assert len(cshsx) == 2 * self.n_ary + 1, 'a node with {} children takes {} arguments, but {} are given'.format(
            self.n_ary, 2 * self.n_ary + 1, len(cshsx))
        cs, hs, x = self._split(cshsx)
        shape, dtype = self._shape_of(cshsx)
        cs = self._pad_zero_nodes(cs, shape, dtype)
        x, = self._pad_zero_nodes((x,), (shape[0], self.in_size), dtype)
        gates = self.W_x(x)
        for index, h in enumerate(hs, 1):
            if h is not None:
                gates += self['W_h{}'.format(index)](h)
        return functions.tree_lstm(*cs, gates)
