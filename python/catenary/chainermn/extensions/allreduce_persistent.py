from chainer.training import extension


class AllreducePersistent(extension.Extension):
    """Replaces the persistent arrays of a model by their means over all ranks, for example the averages of batch normalisations.

    It runs after each epoch, before snapshots and evaluators.
    """

    trigger = 1, 'epoch'
    priority = extension.PRIORITY_WRITER + 1

    def __init__(self, model, comm):
        self.model, self.comm = model, comm

    def __call__(self, trainer=None):
        for path, link in sorted(self.model.namedlinks()):
            for name in sorted(link._persistent):
                value = getattr(link, name)
                if getattr(value, 'ndim', 0) > 0 and value.dtype.kind == 'f':
                    self.comm._multi_node_mean(None, value)
