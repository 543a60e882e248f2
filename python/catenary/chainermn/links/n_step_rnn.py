import chainer

from chainermn import functions


class _MultiNodeNStepRNN(chainer.Chain):
    """A recurrent network whose first states come from another rank, and whose last states go to another."""

    def __init__(self, actual_rnn, communicator, rank_in, rank_out):
        super().__init__()
        self.communicator, self.rank_in, self.rank_out = communicator, rank_in, rank_out
        with self.init_scope():
            self.actual_rnn = actual_rnn

    def forward(self, *inputs):
        states = self.actual_rnn.n_cells
        if self.rank_in is not None:
            received = functions.recv(self.communicator, self.rank_in, force_tuple=True)
            inputs = (*received, *inputs[-1:])
        elif len(inputs) == 1:
            inputs = (*[None] * states, *inputs)
        results = self.actual_rnn(*inputs)
        if self.rank_out is None:
            delegate = None
        else:
            delegate = functions.send(results[:states], self.communicator, self.rank_out)
        return (*results, delegate)


def create_multi_node_n_step_rnn(actual_link, communicator, rank_in=None, rank_out=None):
    """Returns a link that passes the states of a recurrent link from rank to rank (chainermn.links.create_multi_node_n_step_rnn).

    Its results are those of the link and a delegate variable, which is None without rank_out. Raises ValueError for another link.
    """
    if not hasattr(actual_link, 'n_cells'):
        raise ValueError('create_multi_node_n_step_rnn: a link such as NStepLSTM is expected, not %s' % type(actual_link).__name__)
    return _MultiNodeNStepRNN(actual_link, communicator, rank_in, rank_out)
