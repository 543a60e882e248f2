"""Properties that are computed once."""
import functools

from ..configuration import config


class cached_property:
    """A property that keeps its value, one with a graph and one without."""

    def __init__(self, func):
        functools.update_wrapper(self, func)
        self.func = func

    def __get__(self, obj, cls):
        if obj is None:
            return self
        values = obj.__dict__.setdefault('_cached_values', {})
        key = (self.func.__name__, bool(config.enable_backprop))
        if key not in values:
            values[key] = self.func(obj)
        return values[key]

    def __set__(self, obj, value):
        raise AttributeError("attribute '{}' cannot be set".format(self.func.__name__))
