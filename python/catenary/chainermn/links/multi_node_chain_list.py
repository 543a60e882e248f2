import queue

import chainer

from chainermn import functions


def _list_of(ranks):
    """Returns ranks as a list, or None."""
    if ranks is None:
        return None
    return [ranks] if isinstance(ranks, int) else list(ranks)


class MultiNodeChainList(chainer.ChainList):
    """The part of a network that lies on this rank: links with the ranks that their inputs come from and their outputs go to.

    The links run in the order in which they are added. The result is that of the last link whose output stays here, or a delegate
    variable, whose backward() receives the gradients of the other ranks.
    """

    def __init__(self, comm):
        super().__init__()
        self._comm = comm
        self._routes = []

    def add_link(self, link, rank_in=None, rank_out=None):
        """Adds a link. rank_in, rank_out: a rank, a list of ranks, or None for the model's own input and result."""
        super().add_link(link)
        self._routes.append((_list_of(rank_in), _list_of(rank_out)))

    def forward(self, *inputs):
        # values that this rank sends to itself
        own = queue.Queue()
        result = delegate = None
        for link, (sources, targets) in zip(self._children, self._routes):
            if sources is None:
                y = link(*inputs)
            else:
                xs, delegate = self._received(sources, own, delegate)
                y = link(*xs)
            if targets is None:
                if result is not None:
                    raise ValueError('MultiNodeChainList: two links have rank_out None, but the model has one result')
                result, = functions.pseudo_connect(delegate, y) if delegate is not None else (y,)
                delegate = None
                continue
            delegate = self._sent(y, targets, own, delegate)
        if result is None:
            return delegate
        if delegate is None:
            return result
        return functions.pseudo_connect(delegate, result)[0]

    def _received(self, sources, own, delegate):
        """Returns the inputs of a link, and the delegate that is left."""
        xs, received = [], False
        for rank in sources:
            if rank == self._comm.rank:
                if own.empty():
                    raise ValueError('MultiNodeChainList: no earlier link has rank_out %d, the rank itself' % rank)
                xs.append(own.get())
                continue
            # the gradients of all received values must be sent before one is waited for
            xs.append(functions.recv(self._comm, rank, delegate_variable=delegate))
            received = True
        return xs, None if received else delegate

    def _sent(self, y, targets, own, delegate):
        """Passes an output on, and returns the delegate of all messages so far."""
        for rank in targets:
            if rank == self._comm.rank:
                own.put(y)
                continue
            if delegate is not None:
                y, = functions.pseudo_connect(delegate, y)
            delegate = functions.send(y, self._comm, rank)
        return delegate
