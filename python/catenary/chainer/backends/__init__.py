"""Devices."""

from . import _cpu, cuda, intel64

__all__ = ['cuda', 'intel64']


def __getattr__(name):
    if name == 'chainerx':
        raise AttributeError('chainer.backends.chainerx is not provided: use NumPy or CuPy')
    raise AttributeError('module %r has no attribute %r' % (__name__, name))
