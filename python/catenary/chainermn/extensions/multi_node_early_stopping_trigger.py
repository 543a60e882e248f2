from chainer.training.triggers import EarlyStoppingTrigger

from chainermn.extensions.observation_aggregator import ObservationAggregator


class MultiNodeEarlyStoppingTrigger:
    """`EarlyStoppingTrigger` for the mean of an observation over all ranks, so that they all stop together."""

    def __init__(self, comm, check_trigger=(1, 'epoch'), monitor='main/loss', patience=3, mode='auto', verbose=False,
                 max_trigger=(100, 'epoch')):
        mean = monitor + '_over_all_ranks'
        self.actual_trigger = EarlyStoppingTrigger(check_trigger=check_trigger, monitor=mean, patience=patience, mode=_mode(mode, monitor),
                                                   verbose=verbose, max_trigger=max_trigger)
        self.aggregator = ObservationAggregator(comm, monitor, mean)

    def __call__(self, trainer):
        reporter = trainer.reporter
        with reporter.scope(trainer.observation):
            self.aggregator(trainer)
        return self.actual_trigger(trainer)

    def _stop_condition(self):
        return self.actual_trigger._stop_condition()

    def _init_summary(self):
        self.actual_trigger._init_summary()

    def get_training_length(self):
        return self.actual_trigger.get_training_length()


def _mode(mode, monitor):
    """Returns whether less or more is better, which the name of the observation tells."""
    if mode != 'auto':
        return mode
    return 'max' if 'accuracy' in monitor else 'min'
