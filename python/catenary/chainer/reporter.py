"""Reporter: collects values that are reported in a scope, and summaries of them."""

import collections
import contextlib
import threading

import numpy

from . import backend
from .configuration import config
from .variable import Variable

_thread = threading.local()


def _get_reporters():
    try:
        return _thread.reporters
    except AttributeError:
        _thread.reporters = []
        return _thread.reporters


class Reporter:
    """Collects reported values. Within `with reporter:` or a scope, report() adds to its observation."""

    def __init__(self):
        self._names = {}
        self.observation = {}

    def __enter__(self):
        _get_reporters().append(self)

    def __exit__(self, *error):
        _get_reporters().pop()

    @contextlib.contextmanager
    def scope(self, observation):
        """Returns a context in which the reporter adds to this dict."""
        before, self.observation = self.observation, observation
        self.__enter__()
        try:
            yield
        finally:
            self.__exit__()
            self.observation = before

    def add_observer(self, name, observer):
        """Registers an object under a name, which then stands before the keys of its values."""
        self._names[id(observer)] = name

    def add_observers(self, prefix, observers):
        """Registers objects from pairs of names and objects."""
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values, observer=None):
        """Adds values to the observation. Variables lose their graph, unless the setting keep_graph_on_report is on."""
        if not config.keep_graph_on_report:
            values = {key: _detached(value) for key, value in values.items()}
        if observer is None:
            self.observation.update(values)
            return
        if id(observer) not in self._names:
            raise KeyError('%s is not an observer of the reporter' % (observer,))
        name = self._names[id(observer)]
        self.observation.update({'%s/%s' % (name, key): value for key, value in values.items()})


def _detached(value):
    return value.__copy__() if isinstance(value, Variable) else value  # copies have no graph


def get_current_reporter():
    """Returns the reporter in use."""
    return _get_reporters()[-1]


def report(values, observer=None):
    """Adds values to the observation of the reporter in use, if there is one."""
    reporters = _get_reporters()
    if reporters:
        reporters[-1].report(values, observer)


@contextlib.contextmanager
def report_scope(observation):
    """Returns a context in which the reporter in use adds to this dict."""
    current = _get_reporters()[-1]
    before, current.observation = current.observation, observation
    try:
        yield
    finally:
        current.observation = before


# Sums of these types stay on the processor, whatever the current device is.
_NUMBERS = frozenset((float, int, numpy.ndarray, numpy.float32, numpy.float64))
_FLOAT32 = numpy.dtype(numpy.float32)


class Summary:
    """The mean and the standard deviation of numbers."""

    def __init__(self):
        self._x = 0.0
        self._x2 = 0.0
        self._n = 0
        self._waiting = []  # float32 numbers with weight 1 that are not in the sums yet

    def add(self, value, weight=1):
        """Adds a number, a 0-d array or a Variable."""
        if type(value) is numpy.ndarray and type(weight) is int and weight == 1 and value.ndim == 0 and value.dtype is _FLOAT32:
            self._waiting.append(float(value))
            return
        self._sum_up()
        if type(value) in _NUMBERS and type(weight) in _NUMBERS:
            self._add(value, weight)
            return
        if isinstance(value, Variable):
            value = value.array
        with backend.using_device(backend.get_device_from_array(value)):
            self._add(value, weight)

    def _add(self, value, weight):
        weighted = weight * value
        self._x += weighted
        self._x2 += weighted * value
        self._n += weight

    def _sum_up(self):
        """Adds the waiting numbers one after the other, with the result of _add() for each."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        if not {type(self._x), type(self._x2)} <= {float, numpy.float32}:
            for value in waiting:
                self._add(numpy.array(value, _FLOAT32), 1)
            return
        values = numpy.array(waiting, _FLOAT32)
        self._x = _sum_in_order(self._x, values)
        self._x2 = _sum_in_order(self._x2, values * values)
        self._n += len(waiting)

    def compute_mean(self):
        """Returns the mean."""
        self._sum_up()
        with backend.using_device(backend.get_device_from_array(self._x)):
            return self._x / self._n

    def make_statistics(self):
        """Returns the mean and the standard deviation."""
        self._sum_up()
        with backend.using_device(backend.get_device_from_array(self._x)):
            mean = self._x / self._n
            variance = self._x2 / self._n - mean * mean
            return mean, backend.get_array_module(variance).sqrt(variance)

    def serialize(self, serializer):
        """Saves or loads the sums."""
        self._sum_up()
        try:
            for name in ('_x', '_x2', '_n'):
                setattr(self, name, serializer(name, getattr(self, name)))
        except KeyError:
            import warnings
            warnings.warn('the file holds no sums of this summary')


def _sum_in_order(start, values):
    """Returns the sum of a float32 array, from the first to the last element, which numpy.sum() would pair."""
    return numpy.add.accumulate(numpy.append(numpy.array(start, _FLOAT32), values))[-1]


class DictSummary:
    """A Summary for each key. Values that are not numbers are left out."""

    def __init__(self):
        self._summaries = collections.defaultdict(Summary)

    def add(self, d):
        """Adds the numbers of a dict. A value may be a pair of the number and its weight."""
        for key, value in d.items():
            weight = 1
            if isinstance(key, tuple):
                raise TypeError('the keys must be strings')
            if isinstance(value, tuple):
                value, weight = value
                weight = _number(weight, 'the weight of %s' % key)
            if isinstance(value, Variable):
                value = value.array
            if getattr(value, 'ndim', None) == 0 or numpy.isscalar(value):
                if not isinstance(value, (str, bytes)):
                    self._summaries[key].add(value, weight=weight)

    def compute_mean(self):
        """Returns the mean of each key."""
        return {name: summary.compute_mean() for name, summary in self._summaries.items()}

    def make_statistics(self):
        """Returns the mean of each key, and the standard deviation as key.std."""
        found = {}
        for name, summary in self._summaries.items():
            mean, deviation = summary.make_statistics()
            found[name] = mean
            found[name + '.std'] = deviation
        return found

    def serialize(self, serializer):
        """Saves or loads all summaries."""
        import json
        if hasattr(serializer, 'save'):
            names = list(self._summaries)
            serializer('_names', json.dumps(names))
            for i, name in enumerate(names):
                self._summaries[name].serialize(serializer['_summaries'][str(i)])
            return
        self._summaries.clear()
        try:
            names = json.loads(str(serializer('_names', '')))
        except KeyError:
            import warnings
            warnings.warn('the file holds no names of summaries')
            return
        for i, name in enumerate(names):
            self._summaries[name].serialize(serializer['_summaries'][str(i)])


def _number(weight, what):
    if isinstance(weight, Variable):
        weight = weight.array
    if not numpy.isscalar(weight) and getattr(weight, 'ndim', None) != 0:
        raise ValueError('%s must be a number' % what)
    return weight
