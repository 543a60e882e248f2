"""Devices."""

from . import _cpu, cuda

__all__ = ['cuda']


def __getattr__(name):
    if name in ('chainerx', 'intel64'):
        raise AttributeError('chainer.backends.%s is not provided: Catenary has no ChainerX and no iDeep' % name)
    raise AttributeError('module %r has no attribute %r' % (__name__, name))
