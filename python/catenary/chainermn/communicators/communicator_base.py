"""The interface of communicators, for users who write one of their own."""

import abc
import contextlib
import warnings

_PROPERTIES = ('rank', 'size', 'intra_rank', 'intra_size', 'inter_rank', 'inter_size')
_METHODS = ('split', 'alltoall', 'recv', 'send', 'bcast', 'gather', 'allgather', 'allreduce', 'scatter', 'send_obj', 'recv_obj', 'bcast_obj',
            'gather_obj', 'allreduce_obj', 'bcast_data', 'multi_node_mean_grad')


class CommunicatorBase(abc.ABC):
    """The ranks of a job, or some of them.

    `rank` and `size` are the number of this process and of all. `intra_rank` counts on one machine, `inter_rank` counts machines.
    A subclass defines the methods that are abstract here.
    """

    _in_config_scope = False

    def __init__(self):
        self._configs = {}

    @contextlib.contextmanager
    def config_scope(self):
        """Attributes that are set in this scope are settings of the communicator."""
        before, self._in_config_scope = self._in_config_scope, True
        try:
            yield
        finally:
            self._in_config_scope = before

    def __setattr__(self, name, value):
        if self._in_config_scope and name != '_in_config_scope':
            self._configs[name] = value
        super().__setattr__(name, value)

    def set_config(self, name, **kwargs):
        """Changes a setting. Raises ValueError for a name that the communicator does not have."""
        raise ValueError('%s has no setting %r' % (type(self).__name__, name))

    def get_config(self, name=None):
        """Returns a setting, or all of them by name."""
        if name is None:
            return dict(self._configs)
        raise ValueError('%s has no setting %r' % (type(self).__name__, name))

    def finalize(self):
        """Ends the use of the communicator. All ranks call it."""

    def broadcast_data(self, model):
        """The name of `bcast_data` up to version 1.3."""
        warnings.warn('broadcast_data is deprecated: call bcast_data', DeprecationWarning, stacklevel=2)
        self.bcast_data(model)

    def allreduce_grad(self, model, zero_fill=False):
        """The name of `multi_node_mean_grad` up to version 5."""
        warnings.warn('allreduce_grad is deprecated: call multi_node_mean_grad', DeprecationWarning, stacklevel=2)
        self.multi_node_mean_grad(model, zero_fill)


def _missing(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError('%s does not define %s' % (type(self).__name__, name))
    method.__name__ = name
    return abc.abstractmethod(method)


for _name in _METHODS:
    setattr(CommunicatorBase, _name, _missing(_name))
for _name in _PROPERTIES:
    setattr(CommunicatorBase, _name, property(_missing(_name)))
abc.update_abstractmethods(CommunicatorBase)
