"""Plots of observed values."""

import importlib.util
import json
import os
import warnings

import numpy

from ...serializer import Serializer
from ._summaries import Summarizing


def is_available(name):
    """Is matplotlib installed? Warns that `name` writes no plots if it is not."""
    is_there = importlib.util.find_spec('matplotlib') is not None
    if not is_there:
        warnings.warn(f'matplotlib is not installed, so {name} plots nothing: python -m pip install matplotlib', stacklevel=3)
    return is_there


class PlotReport(Summarizing):
    """Plots the means of the values `y_keys` against the iteration (or another `x_key`) to an image each time its trigger fires.

    `postprocess(figure, axes, summary)` may change the plot. `filename` (or `file_name`) is 'plot.png'. Without matplotlib, nothing is plotted.
    """

    def __init__(self, y_keys, x_key='iteration', trigger=(1, 'epoch'), postprocess=None, filename=None, marker='x', grid=True,
                 *, file_name='plot.png'):
        self._is_available = is_available(type(self).__name__)
        self._x_key = x_key
        self._y_keys = [y_keys] if isinstance(y_keys, str) else y_keys
        self._postprocess = postprocess
        self._file_name = file_name if filename is None else filename
        self._marker = marker
        self._grid = grid
        self._data = {key: [] for key in self._y_keys}
        self._start(self._y_keys if x_key in ('iteration', 'epoch') else [*self._y_keys, x_key], trigger)

    @staticmethod
    def available():
        """Is matplotlib installed?"""
        return is_available('PlotReport')

    def __call__(self, trainer):
        if not self._is_available:
            return
        summary = self._summary
        means = self._collect(trainer)
        if means is None:
            return
        for key in self._y_keys:
            if key in means:
                self._data[key].append((means[self._x_key], means[key]))
        self._plot(os.path.join(trainer.out, self._file_name), summary)

    def _plot(self, path, summary):
        from matplotlib import pyplot
        figure = pyplot.figure()
        axes = figure.add_subplot(111)
        axes.set_xlabel(self._x_key)
        if self._grid:
            axes.grid()
        for key, points in self._data.items():
            if points:
                x, y = numpy.array(points).T
                axes.plot(x, y, marker=self._marker, label=key)
        if axes.has_data():
            if self._postprocess is not None:
                self._postprocess(figure, axes, summary)
            legend = axes.legend(bbox_to_anchor=(1.05, 1), loc='upper left', borderaxespad=0.)
            figure.savefig(path, bbox_extra_artists=(legend,), bbox_inches='tight')
        pyplot.close(figure)

    def serialize(self, serializer):
        key = f'_plot_{self._file_name}'
        if isinstance(serializer, Serializer):
            serializer(key, json.dumps(self._data))
        else:
            self._data = json.loads(str(serializer(key, '')))
