import chainer
from chainer.training import extension


def multi_node_snapshot(comm, snapshot, replica_sets):
    """Makes a snapshot extension save one file for each set of ranks that hold the same values (chainermn.extensions.multi_node_snapshot).

    replica_sets: ranks, or sets of ranks. The ranks that are missing form one more set, so that [] stands for ranks that are all equal.
    The lowest rank of a set writes the file, whose name gets the rank. With autoload, the other ranks of the set get the values from it.
    """
    return _MultiNodeSnapshot(comm, snapshot, replica_sets)


def _parse_replica_sets(replica_sets, size):
    """Returns the sets of ranks, which cover all ranks once."""
    sets = [{ranks} if isinstance(ranks, int) else set(ranks) for ranks in replica_sets]
    named = set().union(*sets)
    if len(named) != sum(map(len, sets)):
        raise ValueError('multi_node_snapshot: a rank is in two of the sets %s' % sets)
    if not named <= set(range(size)):
        raise ValueError('multi_node_snapshot: the sets %s name ranks that are not among %d' % (sets, size))
    rest = set(range(size)) - named
    return sets + [rest] if rest else sets


class _MultiNodeSnapshot(extension.Extension):
    def __init__(self, comm, snapshot, replica_sets):
        self.comm, self.snapshot = comm, snapshot
        self.trigger, self.priority = snapshot.trigger, snapshot.priority
        self.name = getattr(snapshot, 'name', None)
        sets = _parse_replica_sets(replica_sets, comm.size)
        own = next(i for i, ranks in enumerate(sets) if comm.rank in ranks)
        self.is_master = comm.rank == min(sets[own])
        self._replicas = comm.split(own, comm.rank)
        if self.is_master:
            filename = snapshot.filename
            snapshot.filename = (lambda trainer: '%s.%d' % (filename(trainer), comm.rank)) if callable(filename) else '%s.%d' % (filename, comm.rank)

    def initialize(self, trainer):
        if self.is_master:
            self.snapshot.initialize(trainer)
        if self.snapshot.autoload:
            self._spread(trainer)

    def _spread(self, trainer):
        """Copies the values that the master loaded to the other ranks of its set."""
        target = getattr(self.snapshot, '_target', None) or trainer
        values = None
        if self.is_master:
            saved = chainer.serializers.DictionarySerializer()
            saved.save(target)
            values = saved.target
        values = self._replicas.bcast_obj(values)
        if not self.is_master:
            chainer.serializers.NpzDeserializer(values, strict=False).load(target)  # new optimizers have no values yet

    def __call__(self, trainer):
        if self.is_master:
            self.snapshot(trainer)

    def serialize(self, serializer):
        self.snapshot.serialize(serializer)

    def finalize(self):
        if self.is_master:
            self.snapshot.finalize()

    def on_error(self, trainer, exc, tb):
        if not self.is_master:
            return
        self.snapshot.on_error(trainer, exc, tb)
