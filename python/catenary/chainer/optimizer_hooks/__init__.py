"""Changes of gradients before an update: weight decay, clipping, noise and layer-wise rates."""
import math

import numpy

from .. import backend

__all__ = ['GradientClipping', 'GradientHardClipping', 'GradientLARS', 'GradientNoise', 'Lasso', 'WeightDecay',
           'exponential_decay_noise']


class _ForEachParam:
    """A hook that an optimizer calls with each update rule and its parameter before the update."""

    call_for_each_param = True
    timing = 'pre'

    def __call__(self, rule, param):
        if param.array is None or param.grad is None:
            return
        with backend.using_device(param.device):
            self._apply(rule, param, param.array, param.grad)


class WeightDecay(_ForEachParam):
    """Adds `rate` times the parameter to its gradient."""

    name = 'WeightDecay'

    def __init__(self, rate):
        self.rate = rate

    def _apply(self, rule, param, array, grad):
        rate = self.rate
        if param._loss_scale is not None:
            rate *= param._loss_scale
        grad += array.dtype.type(rate) * array


class Lasso(_ForEachParam):
    """Adds `rate` times the sign of the parameter to its gradient."""

    name = 'Lasso'

    def __init__(self, rate):
        self.rate = rate

    def _apply(self, rule, param, array, grad):
        sign = param.device.xp.sign(array)
        grad += array.dtype.type(self.rate) * sign


class GradientHardClipping(_ForEachParam):
    """Limits each element of a gradient to an interval."""

    name = 'GradientHardClipping'

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def _apply(self, rule, param, array, grad):
        param.device.xp.clip(grad, self.lower_bound, self.upper_bound, out=grad)


class GradientLARS(_ForEachParam):
    """Scales each gradient by the ratio of the norms of parameter and gradient (layer-wise adaptive rates).

    Parameters whose norm does not exceed `threshold` keep their rate. `weight_decay` is part of both norms.
    """

    name = 'GradientLARS'

    def __init__(self, threshold=1e-2, weight_decay=0.0, eps=1e-9):
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def _apply(self, rule, param, array, grad):
        xp = param.device.xp
        size = xp.sqrt(xp.square(array).sum())
        if float(size) > self.threshold:
            rate = size / (self.eps + xp.sqrt(xp.square(grad).sum()) + self.weight_decay * size)
        else:
            rate = 1.0
        grad += array.dtype.type(self.weight_decay) * array
        grad *= xp.asarray(rate, dtype=grad.dtype)


def exponential_decay_noise(xp, shape, dtype, hook, opt):
    """Returns normal noise with variance ``hook.eta / (1 + opt.t) ** 0.55``."""
    scale = numpy.sqrt(hook.eta / numpy.power(1 + opt.t, 0.55))
    return xp.random.normal(loc=0, scale=scale, size=shape).astype(dtype)


class GradientNoise(_ForEachParam):
    """Adds noise to each gradient: normal noise that decays with time unless `noise_func` says otherwise."""

    name = 'GradientNoise'

    def __init__(self, eta, noise_func=exponential_decay_noise):
        self.eta = eta
        self.noise_func = noise_func

    def _apply(self, rule, param, array, grad):
        grad += self.noise_func(param.device.xp, array.shape, grad.dtype, self, rule)


class GradientClipping:
    """Scales all gradients of a model together so that their common L2 norm does not exceed `threshold`."""

    name = 'GradientClipping'
    timing = 'pre'

    def __init__(self, threshold):
        self.threshold = threshold

    def __call__(self, opt):
        grads = [(param.device, param.grad) for param in opt.target.params(False) if param.grad is not None]
        norm = math.sqrt(sum(_squares(device, grad) for device, grad in grads))
        if norm == 0:
            return
        rate = self.threshold / norm
        if rate >= 1:
            return
        for device, grad in grads:
            with backend.using_device(device):
                grad *= grad.dtype.type(rate)


def _squares(device, grad):
    with backend.using_device(device):
        wide = grad.astype(numpy.float32) if grad.dtype == numpy.float16 else grad
        return float(device.xp.square(wide).sum())
