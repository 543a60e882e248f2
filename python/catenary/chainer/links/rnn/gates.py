"""Recurrent links for single steps: GRU, LSTM, MGU, peephole and zoneout LSTM."""
from ... import backend, functions, initializers
from ...link import Chain
from ...utils import argument, size_of_shape
from ...variable import Variable
from .._arguments import arguments
from ..connection.linear import Linear


class _Stateful:
    """Keeps variables named in `_states` between calls, as None before the first."""

    _states = ('h',)

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        for name in self._states:
            state = getattr(self, name)
            if state is not None:
                visitor.visit_variable(state)

    def _set_states(self, *values):
        for name, value in zip(self._states, values):
            assert isinstance(value, Variable)
            value.to_device(self.device)
            setattr(self, name, value)

    def reset_state(self):
        """Forgets the state."""
        for name in self._states:
            setattr(self, name, None)

    def _zeros(self, x):
        """Returns a state of zeros for the batch x."""
        with backend.using_device(self.device):
            return Variable(self.xp.zeros((x.shape[0], self.state_size), dtype=x.dtype))


def _interpolate(gate, new, old):
    return functions.linear_interpolate(gate, new, old)


class GRUBase(Chain):
    """The six linear links of a gated recurrent unit."""

    def __init__(self, in_size, out_size, init=None, inner_init=None, bias_init=None):
        super().__init__()
        with self.init_scope():
            for gate in ('_r', '_z', ''):
                setattr(self, 'W' + gate, Linear(in_size, out_size, initialW=init, initial_bias=bias_init))
                setattr(self, 'U' + gate, Linear(out_size, out_size, initialW=inner_init, initial_bias=bias_init))


class StatelessGRU(GRUBase):
    """Returns the next state of a gated recurrent unit for a state and an input."""

    def forward(self, h, x):
        reset = functions.sigmoid(self.W_r(x) + self.U_r(h))
        update = functions.sigmoid(self.W_z(x) + self.U_z(h))
        return _interpolate(update, functions.tanh(self.W(x) + self.U(reset * h)), h)


class StatefulGRU(_Stateful, GRUBase):
    """A gated recurrent unit that keeps its state."""

    def __init__(self, in_size, out_size, init=None, inner_init=None, bias_init=0):
        super().__init__(in_size, out_size, init, inner_init, bias_init)
        self.state_size = out_size
        self.reset_state()

    def set_state(self, h):
        """Sets the state."""
        self._set_states(h)

    def forward(self, x):
        update = self.W_z(x)
        new = self.W(x)
        if self.h is None:
            self.h = functions.sigmoid(update) * functions.tanh(new)
        else:
            reset = functions.sigmoid(self.W_r(x) + self.U_r(self.h))
            update = functions.sigmoid(update + self.U_z(self.h))
            self.h = _interpolate(update, functions.tanh(new + self.U(reset * self.h)), self.h)
        return self.h


class GRU(StatefulGRU):
    """The same as `StatefulGRU`."""

    def forward(self, *args):
        if len(args) != 1:
            raise ValueError('GRU keeps its state and takes one argument, but {} were given: use StatelessGRU'.format(
                len(args)))
        return super().forward(args[0])


class LSTMBase(Chain):
    """The two linear links of a long short-term memory, whose outputs hold the gates a, i, f and o of each unit."""

    def __init__(self, in_size, out_size=None, lateral_init=None, upward_init=None, bias_init=None, forget_bias_init=None):
        a = arguments(locals())
        in_size, out_size = (None, a.in_size) if a.out_size is None else (a.in_size, a.out_size)
        super().__init__()
        self.bias_init = 0 if a.bias_init is None else a.bias_init
        self.forget_bias_init = 1 if a.forget_bias_init is None else a.forget_bias_init
        self.lateral_init, self.upward_init, self.state_size = a.lateral_init, a.upward_init, out_size
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size, initialW=0)
            self.lateral = Linear(out_size, 4 * out_size, initialW=0, nobias=True)
            if in_size is not None:
                self._initialize_params()

    def _initialize_params(self):
        size = self.state_size
        lateral = initializers._get_initializer(self.lateral_init)
        upward = initializers._get_initializer(self.upward_init)
        with backend.using_device(self.device):
            for start in range(0, 4 * size, size):
                lateral(self.lateral.W.array[start:start + size, :])
                upward(self.upward.W.array[start:start + size, :])
            gates = self.upward.b.array.reshape(size, 4)
            ordinary, forget = map(initializers._get_initializer, (self.bias_init, self.forget_bias_init))
            for column, initializer in enumerate((ordinary, ordinary, forget, ordinary)):
                initializer(gates[:, column])

    def _upward(self, x):
        if self.upward.W.array is None:
            with backend.using_device(self.device):
                self.upward._initialize_params(size_of_shape(x.shape[1:]))
                self._initialize_params()
        return self.upward(x)


class StatelessLSTM(LSTMBase):
    """Returns the next cell and output of a long short-term memory."""

    def forward(self, c, h, x):
        gates = self._upward(x)
        if h is not None:
            gates += self.lateral(h)
        if c is None:
            with backend.using_device(self.device):
                c = Variable(self.xp.zeros((x.shape[0], self.state_size), dtype=x.dtype))
        return functions.lstm(c, gates)


class LSTM(_Stateful, LSTMBase):
    """A long short-term memory that keeps cell and output. Later batches may be shorter: their tail keeps its state."""

    _states = ('c', 'h')

    def __init__(self, in_size, out_size=None, lateral_init=None, upward_init=None, bias_init=None, forget_bias_init=None):
        super().__init__(in_size, out_size, lateral_init, upward_init, bias_init, forget_bias_init)
        self.reset_state()

    def set_state(self, c, h):
        """Sets cell and output."""
        self._set_states(c, h)

    def _add_lateral(self, gates, batch):
        """Adds the part of the last output that belongs to the batch, and returns the rest of the output."""
        if self.h is None or batch == 0:
            return gates, self.h if batch == 0 else None
        size = self.h.shape[0]
        if size < batch:
            raise TypeError('the batch size must not grow: it was {} and is {} now. Call reset_state()'.format(size, batch))
        if size == batch:
            return gates + self.lateral(self.h), None
        now, rest = functions.split_axis(self.h, [batch], axis=0)
        return gates + self.lateral(now), rest

    def forward(self, x):
        gates, rest = self._add_lateral(self._upward(x), x.shape[0])
        if self.c is None:
            self.c = self._zeros(x)
        self.c, y = functions.lstm(self.c, gates)
        self.h = y if rest is None else functions.concat([y, rest], axis=0)
        return y


class MGUBase(Chain):
    """The two linear links of a minimal gated unit."""

    def __init__(self, n_inputs, n_units):
        super().__init__()
        with self.init_scope():
            self.W_f = Linear(n_inputs + n_units, n_units)
            self.W_h = Linear(n_inputs + n_units, n_units)

    def _step(self, h, x):
        forget = functions.sigmoid(self.W_f(functions.concat([h, x])))
        new = functions.tanh(self.W_h(functions.concat([forget * h, x])))
        return _interpolate(forget, new, h)


class StatelessMGU(MGUBase):
    """Returns the next state of a minimal gated unit for a state and an input."""

    def forward(self, h, x):
        return self._step(h, x)


class StatefulMGU(_Stateful, MGUBase):
    """A minimal gated unit that keeps its state."""

    def __init__(self, in_size, out_size):
        super().__init__(in_size, out_size)
        self._state_size = out_size
        self.reset_state()

    @property
    def state_size(self):
        return self._state_size

    def set_state(self, h):
        """Sets the state."""
        self._set_states(h)

    def forward(self, x):
        self.h = self._step(self._zeros(x) if self.h is None else self.h, x)
        return self.h


class StatefulPeepholeLSTM(_Stateful, Chain):
    """A long short-term memory whose gates see the cell."""

    _states = ('c', 'h')

    def __init__(self, in_size, out_size):
        super().__init__()
        self.state_size = out_size
        self.reset_state()
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)
            for gate in 'ifo':
                setattr(self, 'peep_' + gate, Linear(out_size, out_size, nobias=True))

    def forward(self, x):
        gates = self.upward(x)
        if self.h is not None:
            gates += self.lateral(self.h)
        if self.c is None:
            self.c = self._zeros(x)
        shape = (len(gates), self.state_size, 4)
        a, i, f, o = functions.separate(functions.reshape(gates, shape), axis=2)
        sigmoid, tanh = functions.sigmoid, functions.tanh
        kept = sigmoid(f + self.peep_f(self.c)) * self.c
        self.c = tanh(a) * sigmoid(i + self.peep_i(self.c)) + kept
        self.h = sigmoid(o + self.peep_o(self.c)) * tanh(self.c)
        return self.h


class StatefulZoneoutLSTM(_Stateful, Chain):
    """A long short-term memory whose units keep their old values at random in training."""

    _states = ('c', 'h')

    def __init__(self, in_size, out_size, c_ratio=0.5, h_ratio=0.5, **kwargs):
        argument.check_unexpected_kwargs(
            kwargs, train='train is not an argument any more: use chainer.using_config("train", ...)')
        argument.assert_kwargs_empty(kwargs)
        super().__init__()
        self.state_size = out_size
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio
        self.reset_state()
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)

    def set_state(self, c, h):
        """Sets cell and output."""
        self._set_states(c, h)

    def forward(self, x):
        gates = self.upward(x)
        if self.h is None:
            self.h = self._zeros(x)
        else:
            gates += self.lateral(self.h)
        if self.c is None:
            self.c = self._zeros(x)
        cell, output = functions.lstm(self.c, gates)
        self.c = functions.zoneout(self.c, cell, self.c_ratio)
        self.h = functions.zoneout(self.h, output, self.h_ratio)
        return self.h
