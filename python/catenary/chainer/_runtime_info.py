"""Versions and devices, for reports of problems."""

import platform
import sys

import numpy


class _RuntimeInfo:
    """Versions and devices as an object that prints itself."""

    def __str__(self):
        from catenary import _core
        import chainer
        lines = (('Platform', platform.platform()), ('Chainer', '%s (Catenary %s)' % (chainer.__version__, _core.version)),
                 ('ChainerX', 'Not Available'), ('NumPy', numpy.__version__))
        return ''.join('%s: %s\n' % pair for pair in lines) + _core.runtime_info()

    __repr__ = __str__


def _get_runtime_info():
    return _RuntimeInfo()


def print_runtime_info(out=None):
    """Prints the versions of the packages and the devices that programs can use."""
    out = sys.stdout if out is None else out
    out.write(str(_get_runtime_info()))
    out.flush()
