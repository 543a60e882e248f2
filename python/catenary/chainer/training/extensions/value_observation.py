"""Values that are computed when a trainer reports."""

from ... import reporter
from .. import extension


def observe_value(observation_key, target_func):
    """Returns an extension that reports `target_func(trainer)` as `observation_key` each epoch."""
    @extension.make_extension(trigger=(1, 'epoch'), priority=extension.PRIORITY_WRITER, default_name='_observe_value')
    def observe(trainer):
        reporter.report({observation_key: target_func(trainer)})
    return observe


def observe_lr(optimizer_name='main', observation_key='lr'):
    """Returns an extension that reports an optimizer's learning rate each epoch."""
    return observe_value(observation_key, lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr)
