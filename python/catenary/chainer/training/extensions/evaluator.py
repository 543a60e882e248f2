"""Evaluation on a validation set."""

import copy
import warnings

from ... import configuration, function
from ... import reporter as reporter_module
from ...dataset import convert
from .. import extension
from .._accessors import accessors
from ..updaters.standard_updater import call_with
from . import util


class Evaluator(extension.Extension):
    """Evaluates models with the batches of an iterator and reports the means of the values that they report.

    The arguments may be dicts of iterators and targets, of which 'main' is used. `eval_func` is called with each batch, by default the target.
    `eval_hook` is called before an evaluation. Values of an evaluator with a `name` have it as prefix. `progress_bar` shows the progress.
    """

    name = None
    default_name = 'validation'
    trigger = 1, 'epoch'
    priority = extension.PRIORITY_WRITER

    def __init__(self, iterator, target, converter=convert.concat_examples, device=None, eval_hook=None, eval_func=None, **kwargs):
        self._progress_bar = kwargs.pop('progress_bar', False)
        if kwargs:
            raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
        self._iterators = iterator if isinstance(iterator, dict) else {'main': iterator}
        self._targets = target if isinstance(target, dict) else {'main': target}
        self.converter = converter
        self.device = convert._get_device(device)
        self.eval_hook = eval_hook
        self.eval_func = eval_func
        for name, each in self._iterators.items():
            if getattr(each, 'repeat', False):
                warnings.warn(f'the iterator {name!r} of an evaluation repeats, so that the evaluation never ends: make it with repeat=False',
                              stacklevel=2)

    get_iterator, get_all_iterators = accessors('iterator')
    get_target, get_all_targets = accessors('target')

    def __call__(self, trainer=None):
        """Evaluates, reports the means and returns them."""
        reporter = reporter_module.Reporter()
        prefix = '' if self.name is None else self.name + '/'
        for name, target in self._targets.items():
            reporter.add_observer(prefix + name, target)
            reporter.add_observers(prefix + name, target.namedlinks(skipself=True))
        with reporter, configuration.using_config('train', False):
            result = self.evaluate()
        reporter_module.report(result)
        return result

    def evaluate(self):
        """Returns the means of the values that are reported for the batches. Subclasses may define another evaluation."""
        iterator = self._iterators['main']
        evaluate = self.eval_func or self._targets['main']
        if self.eval_hook:
            self.eval_hook(self)
        if hasattr(iterator, 'reset'):
            iterator.reset()
        else:
            iterator = copy.copy(iterator)
        bar = _IteratorProgressBar(iterator) if self._progress_bar else None
        summary = reporter_module.DictSummary()
        for batch in iterator:
            observation = {}
            with reporter_module.report_scope(observation):
                arrays = convert._call_converter(self.converter, batch, self.device)
                with function.no_backprop_mode():
                    call_with(evaluate, arrays)
            summary.add(observation)
            if bar is not None:
                bar.update()
        if bar is not None:
            bar.close()
        return summary.compute_mean()

    def finalize(self):
        """Finalizes the iterators. An evaluator that overrides evaluate() may have None for one."""
        for iterator in self._iterators.values():
            if iterator is not None:
                iterator.finalize()


class _IteratorProgressBar(util.ProgressBar):
    """Shows how much of an iterator's epoch is done."""

    def __init__(self, iterator):
        super().__init__()
        self._iterator = iterator

    def get_lines(self):
        detail = self._iterator.epoch_detail
        speed, epochs = self.update_speed(self._count(), detail)
        left = (1 - detail) / epochs if epochs else 0.
        return [f'validation {util.bar(min(detail, 1.), self._bar_length)}\n', util.speed_line(speed, left)]

    def _count(self):
        iterator = self._iterator
        return getattr(iterator, 'current_position', 0) // max(getattr(iterator, 'batch_size', 1), 1)
