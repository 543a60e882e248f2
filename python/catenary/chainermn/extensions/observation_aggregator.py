import chainer
from chainer.training import extension, util


def _mean(table):
    """Returns the mean of all observations, which are a list for each rank."""
    values = [value for row in table for value in row]
    return sum(values[1:], values[0]) / len(values)


class ObservationAggregator(extension.Extension):
    """Replaces an observation by one made of those of all ranks, by default by their mean.

    original_key: the observation. aggregated_key: the name of the result, by default the same. comm_trigger: when the ranks exchange the
    values that they observed since the last time. aggregator: a function of a list of observations for each rank.
    """

    trigger = 1, 'iteration'
    priority = extension.PRIORITY_EDITOR
    name = None

    def __init__(self, comm, original_key, aggregated_key=None, *, comm_trigger=(1, 'iteration'), aggregator=None):
        self.comm, self.original_key = comm, original_key
        self.aggregated_key = original_key if aggregated_key is None else aggregated_key
        self.comm_trigger = util.get_trigger(comm_trigger)
        self.aggregator = aggregator or _mean
        self.observation_history = []

    def initialize(self, trainer):
        begin = getattr(self.comm_trigger, 'initialize', None)
        if begin is not None:
            begin(trainer)

    def __call__(self, trainer):
        if self.original_key in trainer.observation:
            self.observation_history.append(on_host(trainer.observation[self.original_key]))
        if not self.comm_trigger(trainer):
            return
        table = self.comm.allgather_obj(self.observation_history)
        self.observation_history = []
        chainer.report({self.aggregated_key: self.aggregator(table)})

    def serialize(self, serializer):
        if hasattr(self.comm_trigger, 'serialize'):
            self.comm_trigger.serialize(serializer['comm_trigger'])


def on_host(value):
    """Returns a number or a variable without its graph, in host memory."""
    if isinstance(value, chainer.Variable):
        return chainer.Variable(chainer.backend.CpuDevice().send(value.array), requires_grad=False)
    return chainer.backend.CpuDevice().send(value) if isinstance(value, chainer.get_array_types()) else value
