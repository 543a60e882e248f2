"""Debug mode."""

from .configuration import config, global_config


def is_debug():
    """Is debug mode on in this thread?"""
    return bool(config.debug)


def set_debug(debug):
    """Turns debug mode on or off in all threads."""
    global_config.debug = debug


class DebugMode:
    """A context in which debug mode is on or off."""

    def __init__(self, debug):
        import warnings
        warnings.warn('DebugMode is deprecated: use chainer.using_config("debug", …)', DeprecationWarning, stacklevel=2)
        self._debug = debug

    def __enter__(self):
        from .configuration import using_config
        self._context = using_config('debug', self._debug)
        self._context.__enter__()

    def __exit__(self, *error):
        self._context.__exit__(*error)
