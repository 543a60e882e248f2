"""Settings: `config` is the calling thread's, `global_config` the default of all threads."""

import contextlib
import os
import sys
import threading

import numpy

from catenary import _core

# settings that the compiled graph reads
_SHARED = frozenset(('enable_backprop', 'train', 'debug'))


def _show(values, file):
    width = max((len(name) for name, _ in values), default=0)
    for name, value in values:
        print('%-*s %s' % (width, name, value), file=sys.stdout if file is None else file)


class GlobalConfig:
    """The settings of every thread that has no value of its own. Any attribute can be set, also by user code."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if name in _SHARED and globals().get('global_config') is self:
            _core._set_config(name, 1 if value else 0, True)

    def show(self, file=None):
        """Prints all settings, one a line."""
        _show(sorted(vars(self).items()), file)


class LocalConfig:
    """The settings of a thread over the defaults of a GlobalConfig."""

    def __init__(self, global_config):
        own = threading.local()
        object.__setattr__(self, '_global', global_config)
        object.__setattr__(self, '_local', own)

    def __getattr__(self, name):
        own = object.__getattribute__(self, '_local').__dict__
        return own[name] if name in own else getattr(self._global, name)

    def __setattr__(self, name, value):
        setattr(self._local, name, value)
        if name in _SHARED and globals().get('config') is self:
            _core._set_config(name, 1 if value else 0, False)

    def __delattr__(self, name):
        delattr(self._local, name)
        if name in _SHARED and globals().get('config') is self:
            _core._set_config(name, -1, False)

    def show(self, file=None):
        """Prints the settings in effect in this thread, one a line."""
        _show(sorted({**vars(self._global), **self._local.__dict__}.items()), file)


@contextlib.contextmanager
def using_config(name, value, config=None):
    """Sets a setting of this thread until the end of the `with` block."""
    where = globals()['config'] if config is None else config
    own = where._local.__dict__
    had, before = name in own, own.get(name)
    setattr(where, name, value)
    try:
        yield
    finally:
        if had:
            setattr(where, name, before)
        elif name in own:
            delattr(where, name)


def _number(name, otherwise=0):
    return int(os.environ.get(name, otherwise))


def _dtype():
    word = os.environ.get('CHAINER_DTYPE', 'float32')
    if word in ('mixed16', 'float16', 'float32', 'float64'):
        from ._dtypes import mixed16
        return mixed16 if word == 'mixed16' else numpy.dtype(word)
    raise TypeError('CHAINER_DTYPE must be mixed16, float16, float32 or float64, not %r' % word)


def _compute_mode():
    """Returns the setting compute_mode."""
    return config.compute_mode


def _fill(into):
    """Sets the defaults, some of which environment variables give."""
    into.autotune = False
    into.compute_mode = os.environ.get('CHAINER_COMPUTE_MODE')
    into.cudnn_deterministic = False
    into.cudnn_fast_batch_normalization = False
    into.debug = bool(_number('CHAINER_DEBUG'))
    into.dtype = _dtype()
    into.enable_backprop = True
    into.in_recomputing = False
    into.keep_graph_on_report = bool(_number('CHAINER_KEEP_GRAPH_ON_REPORT'))
    into.lazy_grad_sum = bool(_number('CHAINER_LAZY_GRAD_SUM'))
    into.schedule_func = None
    into.train = True
    into.type_check = bool(_number('CHAINER_TYPE_CHECK', 1))
    into.use_cudnn = os.environ.get('CHAINER_USE_CUDNN', 'auto')
    into.use_cudnn_tensor_core = 'auto'
    into.use_ideep = os.environ.get('CHAINER_USE_IDEEP', 'never')
    into.use_static_graph = True
    into.warn_nondeterministic = False


global_config = GlobalConfig()
_fill(global_config)
config = LocalConfig(global_config)
