"""Plots of statistics of variables."""

import os

import numpy

from ... import variable
from ...backends import cuda
from .. import extension, trigger as trigger_module
from . import plot_report


# The percentiles at whole standard deviations of a normal distribution, with the extremes.
_PERCENTILES = (0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100)


class Reservoir:
    """Keeps a random sample of `size` of the arrays that are added, with their numbers."""

    def __init__(self, size, data_shape, dtype=numpy.float32):
        self.size = size
        self.data = numpy.zeros((size, *data_shape), dtype)
        self.idxs = numpy.zeros((size,), numpy.int32)
        self.counter = 0

    def add(self, x, idx=None):
        """Adds an array. `idx` is its number, by default the count."""
        place = self.counter
        if place >= self.size:
            place = numpy.random.randint(self.counter + 1)
        if place < self.size:
            self.data[place] = x
            self.idxs[place] = self.counter if idx is None else idx
        self.counter += 1

    def get_data(self):
        """Returns the numbers in order and the arrays of the sample."""
        count = min(self.counter, self.size)
        order = numpy.argsort(self.idxs[:count])
        return self.idxs[:count][order], self.data[:count][order]


class Statistician:
    """Computes mean, standard deviation and percentiles of an array."""

    def __init__(self, collect_mean, collect_std, percentile_sigmas):
        self.percentile_sigmas = percentile_sigmas
        self.collect_mean, self.collect_std = collect_mean, collect_std

    def __call__(self, x, axis=0, dtype=None, xp=None):
        """Returns a dict with 'mean', 'std' and 'percentile', as far as they are wanted, of the given type."""
        found = self.collect(x, axis)
        return found if dtype is None else {key: value.astype(dtype, copy=False) for key, value in found.items()}

    def collect(self, x, axis):
        found = {}
        if self.collect_mean:
            found['mean'] = numpy.asarray(x.mean(axis=axis))
        if self.collect_std:
            found['std'] = numpy.asarray(x.std(axis=axis))
        if self.percentile_sigmas:
            found['percentile'] = numpy.percentile(x, self.percentile_sigmas, axis=axis)
        return found


def _variables(targets):
    """Returns the variables of a variable, a link, or a list of them."""
    if isinstance(targets, variable.Variable):
        return [targets]
    if hasattr(targets, 'params'):
        return list(targets.params())
    return [each for target in targets for each in _variables(target)]


class VariableStatisticsPlot(extension.Extension):
    """Plots statistics of the data and gradients of variables, or of the parameters of links, against the iteration.

    At most `max_sample_size` iterations, chosen at random, are in the plot. `percentile_sigmas` are the percentiles, drawn as nested areas.
    `filename` (or `file_name`) is 'statistics.png'. Without matplotlib, nothing is plotted.
    """

    def __init__(self, targets, max_sample_size=1000, report_data=True, report_grad=True, plot_mean=True, plot_std=True,
                 percentile_sigmas=_PERCENTILES, trigger=(1, 'epoch'), filename=None, figsize=None, marker=None,
                 grid=True, **kwargs):
        file_name = kwargs.pop('file_name', 'statistics.png')
        if kwargs:
            raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
        self._file_name = file_name if filename is None else filename
        self._is_available = plot_report.is_available(type(self).__name__)
        self._vars = list({id(each): each for each in _variables(targets)}.values())
        if not self._vars:
            raise ValueError('there is no variable to plot')
        self._attrs = [name for name, is_wanted in (('data', report_data), ('grad', report_grad)) if is_wanted]
        sigmas = percentile_sigmas if isinstance(percentile_sigmas, (list, tuple)) else (percentile_sigmas,)
        self._statistician = Statistician(plot_mean, plot_std, tuple(sigmas))
        self._max_sample_size = max_sample_size
        self._samples = {}
        self._figsize = figsize
        self._marker = marker
        self._grid = grid
        self._trigger = trigger_module.get_trigger(trigger)

    @staticmethod
    def available():
        """Returns whether matplotlib is installed."""
        return plot_report.is_available('VariableStatisticsPlot')

    def __call__(self, trainer):
        if not self._is_available:
            return
        for attr in self._attrs:
            arrays = [getattr(each, attr) for each in self._vars]
            arrays = [cuda.to_cpu(array).ravel() for array in arrays if array is not None]
            if arrays:
                self._sample(attr, numpy.concatenate(arrays), trainer.updater.iteration)
        if self._trigger(trainer):
            from matplotlib import pyplot
            self.save_plot_using_module(os.path.join(trainer.out, self._file_name), pyplot)

    def _sample(self, attr, values, iteration):
        for name, value in self._statistician(values, axis=0, dtype=numpy.float32).items():
            if (attr, name) not in self._samples:
                self._samples[attr, name] = Reservoir(self._max_sample_size, value.shape)
            self._samples[attr, name].add(value, iteration)

    def save_plot_using_module(self, file_path, plt):
        """Writes the plot with `matplotlib.pyplot` or a module like it."""
        names = [name for name, is_wanted in (('mean', self._statistician.collect_mean), ('std', self._statistician.collect_std),
                                              ('percentile', self._statistician.percentile_sigmas)) if is_wanted]
        figure, axes = plt.subplots(max(len(names), 1), max(len(self._attrs), 1), figsize=self._figsize, squeeze=False, sharex=True)
        for column, attr in enumerate(self._attrs):
            for row, name in enumerate(names):
                self._draw(axes[row, column], attr, name)
        figure.savefig(file_path)
        plt.close(figure)

    def _draw(self, axes, attr, name):
        axes.set_title(f'{name} of {attr}')
        if self._grid:
            axes.grid(True)
        if (attr, name) not in self._samples:
            return
        iterations, values = self._samples[attr, name].get_data()
        if name != 'percentile':
            axes.plot(iterations, values, marker=self._marker)
            return
        count = values.shape[1]
        for inner in range(count // 2):
            axes.fill_between(iterations, values[:, inner], values[:, count - 1 - inner], color='C0', alpha=0.15)
        if count % 2:
            axes.plot(iterations, values[:, count // 2], marker=self._marker, color='C0')
