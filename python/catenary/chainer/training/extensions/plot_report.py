"""Plots of observed values."""

import importlib.util
import json
import os
import re
import sys
import warnings

import numpy

from catenary import _core

from ...serializer import Serializer
from ._summaries import Summarizing


def is_available(name):
    """Returns whether matplotlib is installed. Warns that `name` writes no plots if it is not."""
    is_there = importlib.util.find_spec('matplotlib') is not None
    if not is_there:
        warnings.warn(f'matplotlib is not installed, so {name} plots nothing: python -m pip install matplotlib', stacklevel=3)
    return is_there


def _is_customized():
    """Has the program made figures of its own with matplotlib, or changed its settings?"""
    matplotlib = sys.modules.get('matplotlib')
    if matplotlib is None or 'matplotlib.pyplot' in sys.modules:
        return matplotlib is not None
    now, default = dict.copy(matplotlib.rcParams), dict.copy(matplotlib.rcParamsDefault)
    return any(now.get(key) != value for key, value in default.items() if not key.startswith('backend'))


class PlotReport(Summarizing):
    """Plots the means of the values `y_keys` against the iteration (or another `x_key`) to an image each time its trigger fires.

    `postprocess(figure, axes, summary)` may change the plot. `filename` (or `file_name`) is 'plot.png'. The library draws PNG files itself.
    matplotlib draws other files, plots with `postprocess` or another marker, and all plots of programs that use it for more than its backend.
    """

    def __init__(self, y_keys, x_key='iteration', trigger=(1, 'epoch'), postprocess=None, filename=None, marker='x', grid=True,
                 *, file_name='plot.png'):
        self._x_key = x_key
        self._y_keys = [y_keys] if isinstance(y_keys, str) else y_keys
        self._postprocess = postprocess
        self._file_name = file_name if filename is None else filename
        self._marker = marker
        self._grid = grid
        self._data = {key: [] for key in self._y_keys}
        self._is_available = self._is_drawn() or is_available(type(self).__name__)
        self._start(self._y_keys if x_key in ('iteration', 'epoch') else [*self._y_keys, x_key], trigger)

    @staticmethod
    def available():
        """Returns whether matplotlib is installed."""
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

    def _is_drawn(self):
        """Does the library draw the plot?"""
        labels = (self._x_key, *self._y_keys)
        return (self._postprocess is None and self._marker in ('x', '', None) and self._file_name.endswith('.png')
                and all(re.fullmatch(r'[A-Za-z0-9/_.,+() -]*', label) for label in labels) and not _is_customized())

    def _plot(self, path, summary):
        if self._is_drawn():
            curves = {key: points for key, points in self._data.items() if points}
            if curves:
                _core._plot(path, self._x_key, curves, bool(self._marker), bool(self._grid))
            return
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
