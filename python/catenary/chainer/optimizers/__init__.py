"""Optimizers."""

import importlib

from .. import _updates
from . import _methods
from ._methods import (SGD, SMORMS3, MSVAG, AdaBound, AdaDelta, AdaGrad, Adam, AdamW, AMSBound, AMSGrad, CorrectedMomentumSGD, MomentumSGD, NesterovAG,
                       RMSprop, RMSpropGraves)

__all__ = ['AMSBound', 'AMSGrad', 'AdaBound', 'AdaDelta', 'AdaGrad', 'Adam', 'AdamW', 'CorrectedMomentumSGD', 'MSVAG', 'MomentumSGD', 'NesterovAG',
           'RMSprop', 'RMSpropGraves', 'SGD', 'SMORMS3']



def __getattr__(name):
    if name in _updates.OPTIMIZERS:  # a module in the original
        return importlib.import_module('%s.%s' % (__name__, name))
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


_updates.RULES.update((getattr(_methods, name + 'Rule'), name) for name in _updates.OPTIMIZERS.values())
