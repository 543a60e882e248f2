import copy
import itertools

import chainer
from chainer.training import extension

from chainermn.extensions.observation_aggregator import on_host


def create_multi_node_evaluator(actual_evaluator, communicator):
    """Makes an evaluator return the means over all ranks (chainermn.create_multi_node_evaluator). A rank without examples does not count."""
    local = actual_evaluator.evaluate

    def evaluate(*args, **kwargs):
        own = {name: float(value) for name, value in local(*args, **kwargs).items()}
        values = {}
        for result in communicator.allgather_obj(own):
            for name, value in result.items():
                values.setdefault(name, []).append(value)
        return {name: sum(found) / len(found) for name, found in values.items()}

    actual_evaluator.evaluate = evaluate
    return actual_evaluator


class GenericMultiNodeEvaluator(extension.Extension):
    """Evaluates batches on all ranks, and passes the results of all batches to one function on the root.

    Subclasses define `calc_local`, which gets a batch, and `aggregate`, which gets the list of all its results. The extension returns the
    result of `aggregate` on the root, and None on other ranks.
    """

    trigger = 1, 'epoch'
    default_name = 'validation'
    priority = extension.PRIORITY_WRITER
    name = None

    def __init__(self, comm, iterator, target, device=None, converter=chainer.dataset.concat_examples, root=0, **kwargs):
        if kwargs:
            raise TypeError('GenericMultiNodeEvaluator: unknown arguments %s' % ', '.join(sorted(kwargs)))
        self.comm, self.iterator, self.root = comm, iterator, root
        self._targets = {'main': target}
        self.converter = converter
        self.device = device

    def calc_local(self, *args, **kwargs):
        """Returns the result of a batch, by default that of the model."""
        return self._targets['main'](*args, **kwargs)

    def aggregate(self, results):
        """Returns the result of all batches of all ranks, by default their list."""
        return results

    def evaluate(self):
        """Returns the results of this rank's batches."""
        if hasattr(self.iterator, 'reset'):
            self.iterator.reset()
            batches = self.iterator
        else:
            batches = copy.copy(self.iterator)
        results = []
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            for batch in batches:
                given = self.converter(batch, self.device)
                if isinstance(given, dict):
                    result = self.calc_local(**given)
                else:
                    result = self.calc_local(*given) if isinstance(given, tuple) else self.calc_local(given)
                results.append(_sendable(result))
        return results

    def __call__(self, trainer):
        table = self.comm.gather_obj(self.evaluate(), root=self.root)
        if self.comm.rank != self.root:
            return None
        missing = object()
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*table, fillvalue=missing))
        return self.aggregate([result for result in in_turn if result is not missing])


def _sendable(result):
    """Returns a variable's array on the processor, and other results as they are."""
    return on_host(result.array if isinstance(result, chainer.Variable) else result)
