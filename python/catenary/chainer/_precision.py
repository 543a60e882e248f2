"""Models with float16 parameters train as in C++ (docs/guide/precision.md): a float32 parameter beside each 16-bit one, and a loss scale.

Both are the default of each optimizer whose model has float16 parameters. During an update the float32 parameter takes the place of the
16-bit one, so hooks and rules see float32 gradients without the loss scale. `use_fp32_update(False)` and `set_loss_scale(1)` turn the
defaults off.
"""

import math
import warnings

import numpy

from catenary import _core

from . import _updates, backend, serializer as serializer_module, variable

_INTERVAL = 1000  # number of updates after which the scale doubles, as in Chainer
_MOST_IN_A_ROW = 8  # number of updates in a row that may be skipped at a scale of 1, as one batch may be bad


def _is_half(param):
    return param.is_initialized and param.dtype.char == 'e'


# ---- the loss scale

def _begin(optimizer, by_itself, interval=_INTERVAL):
    vars(optimizer).update(_loss_scale=1.0, _loss_scaling_is_dynamic=True, _loss_scaling_multiplier=math.pow(2, 1 / interval),
                           _loss_scaling_isnan_ever=False, _loss_scaling_by_itself=by_itself, _loss_scaling_in_a_row=0)


def _non_finite(optimizer):
    """Returns the names of the parameters whose gradients are not finite."""
    return [name for name, param in optimizer.target.namedparams(False)
            if param.grad is not None and not param.device.xp.isfinite(param.grad).all()]


# ---- float32 parameters in the place of 16-bit ones

class _InFloat32:
    """A context in which gradients are without the loss scale, and parameters that are updated in float32 are float32."""

    def __init__(self, params):
        self._params = params
        self._replaced = []

    def __enter__(self):
        seen = set()
        try:
            for param in self._params:
                if id(param) not in seen and param.is_initialized:
                    seen.add(id(param))
                    self._enter(param)
        except BaseException:
            self.__exit__()
            raise

    def _enter(self, param):
        grad, scale, rule = param.grad, param._loss_scale, param.update_rule
        if grad is None:
            return
        param._loss_scale = None
        own = param.array
        if not _is_half(param) or rule is None or not rule._use_fp32_update or not rule.enabled:
            if scale is not None and scale != 1:
                param.grad = grad / scale
            return
        with backend.using_device(param.device):
            wide = self._wide(rule, param)
            grad = grad.astype(numpy.float32)
            if scale is not None and scale != 1:
                grad /= scale
            for name, value in (rule.state or {}).items():  # the state from training without float32 parameters
                if getattr(value, 'dtype', None) == numpy.float16:
                    rule.state[name] = value.astype(numpy.float32)
        self._replaced.append((param, own))
        param.array = wide
        param.grad = grad

    def _wide(self, rule, param):
        """Returns the float32 parameter. A 16-bit one that was loaded, copied or set meanwhile holds."""
        own, kept = param.array, rule._fp32_param
        if kept is None or kept.array is None or kept.shape != own.shape:
            rule._fp32_param = variable.Parameter(own.astype(numpy.float32), name=param.name)
            return rule._fp32_param.array
        wide = param.device.send(kept.array)
        param.device.xp.copyto(wide, own, where=wide.astype(numpy.float16) != own)
        return wide

    def __exit__(self, *error):
        for param, own in self._replaced:
            wide, grad = param.array, param.grad
            param.update_rule._fp32_param.array = wide
            with backend.using_device(param.device):
                own[...] = wide.astype(numpy.float16)
                param.array = own
                param.grad = None if grad is None else grad.astype(numpy.float16)


def read(serializer, key):
    """Returns the entry of a snapshot for a key, or None if it is missing, as in Chainer's snapshots."""
    try:
        return serializer(key, None)
    except KeyError:
        return None


class Scaled:
    """The part of GradientMethod that scales the loss and updates float32 parameters."""

    _use_fp32_update = True
    _loss_scaling_by_itself = False

    @property
    def _loss_scale(self):
        """The scale of the next loss, or None without scaling. A model with float16 parameters begins at 1."""
        own = vars(self)
        if '_loss_scale' not in own and self.target is not None:
            if '_has_half' not in own:
                self._has_half = any(map(_is_half, self.target.params()))
            if self._has_half:
                _begin(self, True)
        return own.get('_loss_scale')

    @_loss_scale.setter
    def _loss_scale(self, scale):
        vars(self)['_loss_scale'] = scale

    def _forget_scale(self):
        """Makes the scale begin anew, if the optimizer began it."""
        vars(self).pop('_has_half', None)
        if vars(self).get('_loss_scaling_by_itself'):
            for name in ('_loss_scale', '_loss_scaling_is_dynamic', '_loss_scaling_by_itself'):
                vars(self).pop(name, None)

    def loss_scaling(self, interval=_INTERVAL, scale=None):
        """Makes the scale of the loss dynamic, or sets it."""
        if scale is None:
            if interval < 1:
                raise ValueError('loss_scaling: interval is %s, but must be 1 or more' % interval)
            _begin(self, False, interval)
        else:
            if scale <= 0:
                raise ValueError('loss_scaling: scale is %s, but must be positive' % scale)
            self._loss_scale = scale
            self._loss_scaling_is_dynamic = False

    def use_fp32_update(self, flag=True):
        """Updates float32 copies of 16-bit parameters."""
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)

    def check_nan_in_grads(self):
        """Checks for gradients that are not finite, with one synchronisation per device, if the loss scale is dynamic."""
        self._loss_scaling_isnan = False
        if not self._loss_scaling_is_dynamic:
            return
        finite = {}
        for param in self.target.params(False):
            grad = param.grad
            if grad is not None:
                flag, device = param.device.xp.isfinite(grad).all(), str(param.device)
                finite[device] = finite[device] & flag if device in finite else flag
        if all(map(bool, finite.values())):
            return
        self._loss_scaling_isnan = True
        if not self._loss_scaling_by_itself:
            for name in _non_finite(self):
                warnings.warn('Non finite number found in param.grad of {} (iteration: {}, loss_scale: {})'.format(
                    name, self.t, self._loss_scale))

    def update_loss_scale(self):
        """Sets the next scale by Chainer's rule. At a scale of 1 it is not the scale that is too large."""
        if not self._loss_scaling_is_dynamic:
            return
        scale, skipped = self._loss_scale, self._loss_scaling_isnan
        self._loss_scaling_isnan_ever |= skipped and scale > 1
        self._loss_scaling_in_a_row = self._loss_scaling_in_a_row + 1 if skipped and scale <= 1 else 0
        factor = 0.5 if skipped else self._loss_scaling_multiplier if self._loss_scaling_isnan_ever else 2.0
        self._loss_scale = max(1.0, min(self._loss_scale_max, scale * factor))
        if self._loss_scaling_by_itself and self._loss_scaling_in_a_row >= _MOST_IN_A_ROW:
            names = _non_finite(self)
            which = 'hooks have replaced the numbers that were not' if not names else 'the gradient of %s is not finite%s' % (
                names[0], ', nor are %d others' % (len(names) - 1) if len(names) > 1 else '')
            raise ValueError('%s: the last %d updates were skipped, as gradients were inf or NaN at a loss scale of 1: %s. Look for such '
                             'numbers in the data, or for a model that leaves the range of float16'
                             % (type(self).__name__, self._loss_scaling_in_a_row, which))

    def update(self, lossfun=None, *args, **kwds):
        """Updates the parameters. With a loss function, it first computes the gradients of its result for these arguments."""
        target = self.target
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            clear = target.cleargrads if self._use_cleargrads else target.zerograds
            clear()
            loss.backward(loss_scale=self._loss_scale)
            del loss
        params = list(target.params())
        if not _core._have_grads(params):
            self.reallocate_cleared_grads()
        halves = list(map(_is_half, params))
        self._has_half = True in halves
        self._loss_scale  # computed when the model has become float16
        self.check_nan_in_grads()
        special = [param for param, is_half in zip(params, halves) if is_half or param._loss_scale is not None]
        if special:
            with _InFloat32(special):
                self._step(params)
        else:
            self._step(params)
        if not _core._have_grads(params):
            self.reallocate_cleared_grads()
        self.call_hooks('post')
        self.update_loss_scale()

    def _step(self, params):
        has_hooks = bool(self._hookable._pre_update_hooks)
        self.call_hooks('pre')
        self.t += 1
        if self.is_safe_to_update():
            _updates.update_all(list(self.target.params()) if has_hooks else params)

    def serialize(self, serializer):
        """Saves or loads the counts, the state of the update rules and the loss scale."""
        super().serialize(serializer)
        scale = self._loss_scale
        if not self._loss_scaling_is_dynamic:
            return
        if isinstance(serializer, serializer_module.Deserializer):
            scale, overflowed = read(serializer, 'loss_scale'), read(serializer, 'loss_scale_overflowed')
            if scale is not None:
                self._loss_scale, self._loss_scaling_isnan_ever = float(scale), bool(overflowed)
        else:
            serializer('loss_scale', scale)
            serializer('loss_scale_overflowed', self._loss_scaling_isnan_ever)
