"""Recurrent links over whole sequences, of several layers and in one or both directions."""
import numpy

from ... import backend, functions
from ...link import ChainList, Link
from ...utils import argument
from .._weights import constant, weight

_OLD = {
    'use_cudnn': 'use_cudnn is not an argument any more: use chainer.using_config("use_cudnn", ...)',
    'use_bi_direction': 'use_bi_direction is not an argument any more: choose a class with or without Bi',
    'activation': 'activation is not an argument any more: choose a class for ReLU or Tanh',
}


def argsort_list_descent(lst):
    """Returns the indices that sort arrays from long to short, in a stable order."""
    return numpy.argsort([-len(x) for x in lst], kind='stable').astype(numpy.int32)


def permutate_list(lst, indices, inv):
    """Returns the list in the order of indices, or back from it."""
    result = [None] * len(lst)
    for place, index in enumerate(indices):
        if inv:
            result[index] = lst[place]
        else:
            result[place] = lst[index]
    return result


class NStepRNNBase(ChainList):
    """The parameters w0, w1, … and b0, b1, … of each layer and direction, and the loop over them.

    Subclasses say how many pairs of them a layer has (`n_weights`), which function computes, and how many
    states it has (`n_cells`).
    """

    n_weights = 2
    n_cells = 1
    use_bi_direction = False

    def __init__(self, n_layers, in_size, out_size, dropout, *, initialW=None, initial_bias=None, **kwargs):
        argument.check_unexpected_kwargs(kwargs, **_OLD)
        argument.assert_kwargs_empty(kwargs)
        directions = 2 if self.use_bi_direction else 1
        layers = []
        for layer in range(n_layers):
            lower_size = in_size if layer == 0 else out_size * directions
            layers += [self._make_layer(lower_size, out_size, initialW, initial_bias) for _ in range(directions)]
        super().__init__(*layers)
        self.n_layers = n_layers
        self.dropout = dropout
        self.out_size = out_size
        self.direction = directions

    def _make_layer(self, lower_size, out_size, initialW, initial_bias):
        layer = Link()
        with layer.init_scope():
            for index in range(self.n_weights):
                columns = lower_size if index < self.n_weights // 2 else out_size
                setattr(layer, 'w{}'.format(index), weight(initialW, (out_size, columns)))
                setattr(layer, 'b{}'.format(index), constant(initial_bias, 0, (out_size,)))
        return layer

    def _params_of_layers(self, letter):
        return [[getattr(layer, letter + str(index)) for index in range(self.n_weights)] for layer in self]

    @property
    def ws(self):
        return self._params_of_layers('w')

    @property
    def bs(self):
        return self._params_of_layers('b')

    def init_hx(self, xs):
        """Returns a state of zeros for the sequences."""
        with backend.using_device(self.device):
            shape = (self.n_layers * self.direction, len(xs), self.out_size)
            return self.xp.zeros(shape, dtype=xs[0].dtype)

    def rnn(self, *args):
        """Runs the function of the link on (n_layers, dropout, states…, ws, bs, xs)."""
        raise NotImplementedError(type(self).__name__ + ' has no rnn()')

    def _run(self, states, xs):
        assert isinstance(xs, (list, tuple)), 'xs is a list of sequences'
        order = argsort_list_descent(xs)
        sorted_xs = permutate_list(xs, order, inv=False)
        indices = self.xp.asarray(order) if hasattr(self.xp, 'asarray') else order
        states = [self.init_hx(sorted_xs) if state is None else functions.permutate(state, indices, axis=1, inv=False)
                  for state in states]
        steps = functions.transpose_sequence(sorted_xs)
        result = self.rnn(self.n_layers, self.dropout, *states, self.ws, self.bs, steps)
        states = [functions.permutate(state, indices, axis=1, inv=True) for state in result[:-1]]
        return (*states, permutate_list(functions.transpose_sequence(result[-1]), order, inv=True))

    def forward(self, hx, xs, **kwargs):
        argument.assert_kwargs_empty(kwargs)
        return self._run([hx], xs)


class NStepGRUBase(NStepRNNBase):
    """Links of gated recurrent units."""

    n_weights = 6


class NStepLSTMBase(NStepRNNBase):
    """Links of long short-term memories, which have a cell as a second state."""

    n_weights = 8
    n_cells = 2

    def forward(self, hx, cx, xs, **kwargs):
        argument.assert_kwargs_empty(kwargs)
        return self._run([hx, cx], xs)


def _make(name, base, function, options, text):
    """Defines a link that calls the function of the given name."""
    def rnn(self, *args):
        return getattr(functions, function)(*args, **options)

    return type(name, (base,), {'__doc__': text, '__module__': __name__, '__qualname__': name, 'rnn': rnn,
                                'use_bi_direction': '_bi' in function})


NStepGRU = _make('NStepGRU', NStepGRUBase, 'n_step_gru', {}, 'Gated recurrent units.')
NStepBiGRU = _make('NStepBiGRU', NStepGRUBase, 'n_step_bigru', {}, 'Gated recurrent units in both directions.')
NStepLSTM = _make('NStepLSTM', NStepLSTMBase, 'n_step_lstm', {}, 'Long short-term memories.')
NStepBiLSTM = _make('NStepBiLSTM', NStepLSTMBase, 'n_step_bilstm', {}, 'Long short-term memories in both directions.')
NStepRNNTanh = _make('NStepRNNTanh', NStepRNNBase, 'n_step_rnn', {'activation': 'tanh'}, 'Recurrent layers with tanh.')
NStepRNNReLU = _make('NStepRNNReLU', NStepRNNBase, 'n_step_rnn', {'activation': 'relu'}, 'Recurrent layers with ReLU.')
NStepBiRNNTanh = _make('NStepBiRNNTanh', NStepRNNBase, 'n_step_birnn', {'activation': 'tanh'},
                       'Recurrent layers with tanh in both directions.')
NStepBiRNNReLU = _make('NStepBiRNNReLU', NStepRNNBase, 'n_step_birnn', {'activation': 'relu'},
                       'Recurrent layers with ReLU in both directions.')
