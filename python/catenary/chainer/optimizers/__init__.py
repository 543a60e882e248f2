"""Optimizers."""

from catenary import _updates

from . import _methods
from ._methods import (SGD, SMORMS3, MSVAG, AdaBound, AdaDelta, AdaGrad, Adam, AdamW, AMSBound, AMSGrad, CorrectedMomentumSGD, MomentumSGD, NesterovAG,
                       RMSprop, RMSpropGraves)

__all__ = ['AMSBound', 'AMSGrad', 'AdaBound', 'AdaDelta', 'AdaGrad', 'Adam', 'AdamW', 'CorrectedMomentumSGD', 'MSVAG', 'MomentumSGD', 'NesterovAG',
           'RMSprop', 'RMSpropGraves', 'SGD', 'SMORMS3']

for _name in _updates.OPTIMIZERS.values():
    _updates.rule(_name, _methods)
