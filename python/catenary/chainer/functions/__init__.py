"""Differentiable functions: the library's, under the original's names and arguments."""

from .. import _old_api
from . import _rows
from .simplified_dropconnect import simplified_dropconnect  # noqa: F401

globals().update(_rows.functions())
mean = average  # noqa: F821
_old_api.change_functions(globals())


def __getattr__(name):
    # the links that were classes in this module up to Chainer 1.24
    from .. import _old_arguments
    found = _old_arguments.parametric(name)
    if found is None:
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    globals()[name] = found
    return found
