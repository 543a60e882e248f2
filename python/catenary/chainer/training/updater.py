"""The base class of updaters."""


class Updater:
    """Base class of updaters, which a trainer calls for each update of the parameters.

    A class of the user's defines the methods below. A trainer also reads `iteration`, `epoch`, `epoch_detail` and `is_new_epoch`.
    """

    def connect_trainer(self, trainer):
        """Is called with the trainer that will use this updater."""

    def finalize(self):
        """Is called after the loop."""

    def get_optimizer(self, name):
        """Returns the optimizer with this name."""
        raise NotImplementedError(f'{type(self).__name__} has to define get_optimizer(name)')

    def get_all_optimizers(self):
        """Returns a dict of all optimizers."""
        raise NotImplementedError(f'{type(self).__name__} has to define get_all_optimizers()')

    def update(self):
        """Updates the parameters and counts the iteration."""
        raise NotImplementedError(f'{type(self).__name__} has to define update()')

    def serialize(self, serializer):
        """Reads or writes the state of the updater."""
        raise NotImplementedError(f'{type(self).__name__} has to define serialize(serializer)')


def __getattr__(name):
    if name in ('ParallelUpdater', 'StandardUpdater'):  # up to Chainer 3 they were defined here
        from . import updaters
        return getattr(updaters, name)
    raise AttributeError('module %r has no attribute %r' % (__name__, name))
