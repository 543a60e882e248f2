"""Differentiable functions: the library's, under the original's names and arguments."""

import importlib

from .. import _old_api
from . import _rows
from .forget import forget  # noqa: F401
from .simplified_dropconnect import simplified_dropconnect  # noqa: F401

globals().update(_rows.functions())
mean = average  # noqa: F821
_old_api.change_functions(globals())
_PACKAGES = ('activation', 'array', 'connection', 'evaluation', 'loss', 'math', 'noise', 'normalization', 'pooling', 'rnn')


def __getattr__(name):
    if name in _PACKAGES:
        return importlib.import_module('%s.%s' % (__name__, name))
    # the links that were classes in this module up to Chainer 1.24
    from .. import _old_arguments
    found = _old_arguments.parametric(name)
    if found is None:
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    globals()[name] = found
    return found
