"""The formulas of optimizers in Python, for parameters that the library's formulas do not cover, and their hyperparameters."""

import warnings

import numpy

from .. import _updates
from ..optimizer import GradientMethod, Hyperparameter, HyperparameterProxy, UpdateRule


class _Rule(UpdateRule):
    """An update rule whose formula is one function of the parameter, the gradient and its arrays."""

    names = ()  # of the arrays of the state, which begin as zeros
    is_elementwise = True
    defaults = Hyperparameter()  # the optimizer's, for rules without a parent

    def __init__(self, parent_hyperparam=None, **numbers):
        super().__init__(self.defaults if parent_hyperparam is None else parent_hyperparam)
        for name, value in numbers.items():
            if name not in vars(self.defaults):
                raise TypeError('%s: unexpected argument %s' % (type(self).__name__, name))
            if value is not None:
                setattr(self.hyperparam, name, value)

    def init_state(self, param):
        xp = param.device.xp
        for name in self.names:
            self.state[name] = xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        gradient = param.grad
        if gradient is not None and not _updates.update_one(self, param):
            self.step(param.device.xp, param.array, gradient)

    update_core_gpu = update_core_cpu

    def step(self, xp, x, g):
        """Changes x by the gradient g."""
        raise NotImplementedError


def _optimizer(name, rule, bases=(GradientMethod,), doc='', **defaults):
    """Returns an optimizer class whose hyperparameters have these defaults."""
    names = list(defaults)
    rule.defaults = Hyperparameter()
    vars(rule.defaults).update(defaults)

    def __init__(self, *args, **kwargs):
        if len(args) > len(names):
            raise TypeError('%s: %d arguments are the most, not %d' % (name, len(names), len(args)))
        given = dict(zip(names, args))
        for key, value in kwargs.items():
            if key in given or key not in names and key != 'model':
                raise TypeError('%s: unexpected argument %s' % (name, key))
            given[key] = value
        super(cls, self).__init__()
        for key, value in defaults.items():
            setattr(self.hyperparam, key, given.get(key, value))
        if given.get('model') is not None:
            self.setup(given['model'])

    def create_update_rule(self):
        return rule(self.hyperparam)

    cls = type(name, bases, {'__init__': __init__, 'create_update_rule': create_update_rule, '__doc__': doc, '__module__': __name__,
                             **{key: HyperparameterProxy(key) for key in names}})
    return cls


class SGDRule(_Rule):
    def step(self, xp, x, g):
        x -= self.hyperparam.lr * g


SGD = _optimizer('SGD', SGDRule, doc='Stochastic gradient descent.', lr=0.01)


class MomentumSGDRule(_Rule):
    names = ('v',)

    def step(self, xp, x, g):
        v = self.state['v']
        v *= self.hyperparam.momentum
        v -= self.hyperparam.lr * g
        x += v


MomentumSGD = _optimizer('MomentumSGD', MomentumSGDRule, doc='Gradient descent with momentum.', lr=0.01, momentum=0.9)


class CorrectedMomentumSGDRule(_Rule):
    names = ('v',)

    def step(self, xp, x, g):
        v = self.state['v']
        v *= self.hyperparam.momentum
        v -= g
        x += self.hyperparam.lr * v


CorrectedMomentumSGD = _optimizer('CorrectedMomentumSGD', CorrectedMomentumSGDRule,
                                  doc='Gradient descent with momentum, whose steps follow changes of the learning rate at once.', lr=0.01, momentum=0.9)


class NesterovAGRule(_Rule):
    names = ('v',)

    def step(self, xp, x, g):
        v, momentum, lr = self.state['v'], self.hyperparam.momentum, self.hyperparam.lr
        v *= momentum
        v -= lr * g
        x += momentum * momentum * v - (1 + momentum) * lr * g


NesterovAG = _optimizer('NesterovAG', NesterovAGRule, doc="Nesterov's accelerated gradient.", lr=0.01, momentum=0.9)


class AdaGradRule(_Rule):
    names = ('h',)

    def step(self, xp, x, g):
        h = self.state['h']
        h += g * g
        x -= self.hyperparam.lr * g / (xp.sqrt(h) + self.hyperparam.eps)


AdaGrad = _optimizer('AdaGrad', AdaGradRule, doc='AdaGrad.', lr=0.001, eps=1e-8)


class AdaDeltaRule(_Rule):
    names = ('msg', 'msdx')

    def step(self, xp, x, g):
        msg, msdx, rho, eps = self.state['msg'], self.state['msdx'], self.hyperparam.rho, self.hyperparam.eps
        msg *= rho
        msg += (1 - rho) * g * g
        dx = xp.sqrt((msdx + eps) / (msg + eps)) * g
        msdx *= rho
        msdx += (1 - rho) * dx * dx
        x -= dx


AdaDelta = _optimizer('AdaDelta', AdaDeltaRule, doc='AdaDelta.', rho=0.95, eps=1e-6)


class RMSpropRule(_Rule):
    names = ('ms',)

    def step(self, xp, x, g):
        ms, hp = self.state['ms'], self.hyperparam
        ms *= hp.alpha
        ms += (1 - hp.alpha) * g * g
        x -= hp.lr * g / (xp.sqrt(ms + hp.eps) if hp.eps_inside_sqrt else xp.sqrt(ms) + hp.eps)


RMSprop = _optimizer('RMSprop', RMSpropRule, doc='RMSprop.', lr=0.01, alpha=0.99, eps=1e-8, eps_inside_sqrt=False)


class RMSpropGravesRule(_Rule):
    names = ('n', 'g', 'delta')

    def step(self, xp, x, g):
        n, mean, delta, hp = self.state['n'], self.state['g'], self.state['delta'], self.hyperparam
        n *= hp.alpha
        n += (1 - hp.alpha) * g * g
        mean *= hp.alpha
        mean += (1 - hp.alpha) * g
        delta *= hp.momentum
        delta -= hp.lr * g / xp.sqrt(n - mean * mean + hp.eps)
        x += delta


RMSpropGraves = _optimizer('RMSpropGraves', RMSpropGravesRule, doc="Alex Graves's RMSprop.", lr=1e-4, alpha=0.95, momentum=0.9, eps=1e-4)


class SMORMS3Rule(_Rule):
    names = ('mem', 'g', 'g2')

    def init_state(self, param):
        super().init_state(param)
        self.state['mem'] = param.device.xp.ones_like(param.array)

    def step(self, xp, x, g):
        mem, mean, square, hp = self.state['mem'], self.state['g'], self.state['g2'], self.hyperparam
        r = 1 / (mem + 1)
        mean[...] = (1 - r) * mean + r * g
        square[...] = (1 - r) * square + r * g * g
        ratio = mean * mean / (square + hp.eps)
        x -= g * xp.minimum(hp.lr, ratio) / (xp.sqrt(square) + hp.eps)
        mem[...] = 1 + mem * (1 - ratio)


SMORMS3 = _optimizer('SMORMS3', SMORMS3Rule, doc='SMORMS3.', lr=0.001, eps=1e-16)


class MSVAGRule(_Rule):
    names = ('m', 'v')

    def __init__(self, parent_hyperparam=None, **numbers):
        super().__init__(parent_hyperparam, **numbers)
        self.beta_power = self.hyperparam.beta

    def step(self, xp, x, g):
        m, v, hp = self.state['m'], self.state['v'], self.hyperparam
        rho = (1 - hp.beta) * (1 + self.beta_power) / ((1 + hp.beta) * (1 - self.beta_power))
        m += (1 - hp.beta) * (g - m)
        v += (1 - hp.beta) * (g * g - v)
        mean = m / (1 - self.beta_power)
        square = mean * mean
        variance = (v / (1 - self.beta_power) - square) / (1 - rho) if rho < 1 else xp.zeros_like(v)
        with numpy.errstate(invalid='ignore', divide='ignore'):
            factor = xp.clip(xp.where(square + rho * variance == 0, 1, square / (square + rho * variance)), 0, 1)
        x -= hp.eta * (hp.lr * factor * mean + hp.weight_decay_rate * x)
        self.beta_power *= hp.beta


MSVAG = _optimizer('MSVAG', MSVAGRule, doc='M-SVAG.', lr=0.1, beta=0.9, eta=1.0, weight_decay_rate=0)


class AdamRule(_Rule):
    """Adam's rule and its variants: amsgrad keeps the largest second moment, adabound limits the rates."""

    names = ('m', 'v')

    def __init__(self, parent_hyperparam=None, **numbers):
        super().__init__(parent_hyperparam, **numbers)
        if self.hyperparam.adabound:
            self.initial_alpha = self.hyperparam.alpha

    def init_state(self, param):
        super().init_state(param)
        if self.hyperparam.amsgrad:
            self.state['vhat'] = param.device.xp.zeros_like(param.array)

    @property
    def alpha_t(self):
        """The rate with the correction of the first steps."""
        return _alpha_t(self.hyperparam, self.t)

    @property
    def bias_correction_lr(self):
        return self.alpha_t

    @property
    def lr(self):
        return _old_lr(self)

    @property
    def bounds(self):
        """The limits of AdaBound's rates."""
        return _bounds(self.hyperparam, self.initial_alpha, self.t)

    def step(self, xp, x, g):
        hp = self.hyperparam
        if hp.eps != 0 and x.dtype.type(hp.eps) == 0:
            raise ValueError('Adam: eps %s is 0 in %s' % (hp.eps, x.dtype))
        m, v = self.state['m'], self.state['v']
        m += (1 - hp.beta1) * (g - m)
        v += (1 - hp.beta2) * (g * g - v)
        if hp.amsgrad:
            xp.maximum(self.state['vhat'], v, out=self.state['vhat'])
            v = self.state['vhat']
        rate = self.alpha_t / (xp.sqrt(v) + hp.eps)
        if hp.adabound:
            rate = xp.clip(rate, *self.bounds)
        x -= (hp.eta * (rate * m + hp.weight_decay_rate * x)).astype(x.dtype)


def _old_lr(adam):
    warnings.warn('lr of Adam is called alpha_t since Chainer 6', DeprecationWarning, stacklevel=3)
    return adam.alpha_t


def _alpha_t(hp, t):
    if t == 0:
        raise RuntimeError('the rate is known after the first update')
    return hp.alpha * (1 - hp.beta2 ** t) ** 0.5 / (1 - hp.beta1 ** t)


def _bounds(hp, initial_alpha, t):
    if t == 0:
        raise RuntimeError('the limits are known after the first update')
    final = hp.final_lr * hp.alpha / initial_alpha
    return final * (1 - 1 / (hp.gamma * t + 1)), final * (1 + 1 / (hp.gamma * t))


_ADAM = dict(alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, weight_decay_rate=0, amsgrad=False, adabound=False, final_lr=0.1, gamma=1e-3)
Adam = _optimizer('Adam', AdamRule, doc='Adam, and with its options AMSGrad, AdaBound and AdamW.', **_ADAM)
Adam.alpha_t = property(lambda self: _alpha_t(self.hyperparam, self.t), doc='The rate with the correction of the first steps.')
Adam.bias_correction_lr = Adam.alpha_t
Adam.lr = property(_old_lr, doc='An old name of alpha_t.')


def _fixed(name, doc, fixed, defaults):
    def __init__(self, *args, **kwargs):
        names = list(defaults)
        given = {**defaults, **dict(zip(names, args)), **kwargs}
        unknown = [key for key in given if key not in names]
        if unknown or len(args) > len(names):
            raise TypeError('%s: unexpected argument %s' % (name, ', '.join(unknown)))
        Adam.__init__(self, **given, **fixed)
    return type(name, (Adam,), {'__init__': __init__, '__doc__': doc, '__module__': __name__})


_COMMON = {key: _ADAM[key] for key in ('alpha', 'beta1', 'beta2', 'eps', 'eta')}
_BOUND = dict(alpha=0.001, beta1=0.9, beta2=0.999, final_lr=0.1, gamma=1e-3, eps=1e-8, eta=1.0)
AdamW = _fixed('AdamW', 'Adam with weight decay beside the gradient.', {}, {**_COMMON, 'weight_decay_rate': 0})
AMSGrad = _fixed('AMSGrad', 'Adam with the largest second moment so far.', {'amsgrad': True}, _COMMON)
AdaBound = _fixed('AdaBound', 'Adam whose rates have limits.', {'adabound': True}, _BOUND)
AMSBound = _fixed('AMSBound', 'AMSGrad whose rates have limits.', {'amsgrad': True, 'adabound': True}, _BOUND)
