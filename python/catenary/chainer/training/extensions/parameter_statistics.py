"""Statistics of parameters and their gradients."""

import numpy

from ... import backend, reporter
from ...backends import cuda
from .. import extension, trigger as trigger_module

_PERCENTILES = (0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87)


def _percentiles(array):
    return numpy.percentile(cuda.to_cpu(array), _PERCENTILES)


class ParameterStatistics(extension.Extension):
    """Reports statistics of the parameters of links, and of their gradients, each time its trigger fires.

    `statistics` is a dict of functions of an array, whose results are numbers or several numbers. `prefix` begins the keys. `skip_nan_params` reports
    NaN for arrays that have one, without calling the functions.
    """

    default_name = 'parameter_statistics'
    priority = extension.PRIORITY_WRITER
    report_key_template = '{prefix}{link_name}{param_name}/{attr_name}/{function_name}'
    default_statistics = {
        'mean': lambda array: array.mean(), 'std': lambda array: array.std(), 'min': lambda array: array.min(), 'max': lambda array: array.max(),
        'zeros': lambda array: (array == 0).sum(), 'percentile': _percentiles}

    def __init__(self, links, statistics='default', report_params=True, report_grads=True, prefix=None, trigger=(1, 'epoch'), skip_nan_params=False):
        self._links = list(links) if isinstance(links, (list, tuple)) else [links]
        self._statistics = dict(self.default_statistics if isinstance(statistics, str) and statistics == 'default' else statistics or {})
        self._attrs = [name for name, is_wanted in (('data', report_params), ('grad', report_grads)) if is_wanted]
        self._prefix = prefix
        self._trigger = trigger_module.get_trigger(trigger)
        self._skip_nan_params = skip_nan_params

    def register_statistics(self, name, function):
        """Adds a function, or replaces the one with this name."""
        self._statistics[name] = function

    def __call__(self, trainer):
        if not self._trigger(trainer):
            return
        values = {}
        for link in self._links:
            for param_name, param in link.namedparams():
                for attr_name in self._attrs:
                    array = getattr(param, attr_name)
                    if array is not None:
                        self._add(values, array, prefix=self._prefix + '/' if self._prefix else '', link_name=link.name, param_name=param_name,
                                  attr_name=attr_name)
        reporter.report(values)

    def _add(self, values, array, **names):
        with backend.using_device(backend.get_device_from_array(array)):
            xp = backend.get_array_module(array)
            is_nan = self._skip_nan_params and bool(xp.isnan(array).any())
            for function_name, function in self._statistics.items():
                value = numpy.nan if is_nan else function(array)
                key = self.report_key_template.format(function_name=function_name, **names)
                if getattr(value, 'ndim', 0) or isinstance(value, (list, tuple)):
                    values.update({f'{key}/{number}': float(each) for number, each in enumerate(value)})
                else:
                    values[key] = float(value)
