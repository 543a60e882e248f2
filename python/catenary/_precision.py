"""Chainer trains 16-bit models as the library does (docs/guide/precision.md): a float32 parameter beside each 16-bit one, and a loss scale.

Chainer 7.8.1 has both, but only where a program asks for them. Here they are the default of each optimizer whose model has float16
parameters. During an update the float32 parameter takes the place of the 16-bit one, so hooks and rules see float32 gradients
without the loss scale. `use_fp32_update(False)` and `set_loss_scale(1)` turn the defaults off.
"""

import functools
import math
import warnings

import numpy

_INTERVAL = 1000  # number of updates after which the scale doubles, as in Chainer
_MOST_IN_A_ROW = 8  # number of updates in a row that may be skipped at a scale of 1, as one batch may be bad


class Loader:
    """Runs a module by its own loader, and then `after` with it."""

    def __init__(self, loader, after):
        self._loader = loader
        self._after = after

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._after(module)


def loader(original):
    """Returns the loader of one of MODULES."""
    return Loader(original, lambda module: MODULES[module.__name__](module))


def _is_half(param):
    return param.is_initialized and param.dtype.char == 'e'


# ---- the loss scale

def _begin(optimizer, by_itself, interval=_INTERVAL):
    vars(optimizer).update(_loss_scale=1.0, _loss_scaling_is_dynamic=True, _loss_scaling_multiplier=math.pow(2, 1 / interval),
                           _loss_scaling_isnan_ever=False, _loss_scaling_by_itself=by_itself, _loss_scaling_in_a_row=0)


def _get_scale(self):
    """Returns the scale of the next loss, or None without scaling. A model with float16 parameters begins at 1."""
    own = vars(self)
    if '_loss_scale' not in own and self.target is not None:
        if '_has_half' not in own:
            self._has_half = any(map(_is_half, self.target.params()))
        if self._has_half:
            _begin(self, True)
    return own.get('_loss_scale')


def _set_scale(self, scale):
    vars(self)['_loss_scale'] = scale


def _loss_scaling(self, interval=_INTERVAL, scale=None):
    if scale is None:
        if interval < 1:
            raise ValueError('interval must be greater than or equal to 1. Actual: {}'.format(interval))
        _begin(self, False, interval)
    else:
        if scale <= 0:
            raise ValueError('loss_scale must be a positive number. Actual: {}'.format(scale))
        self._loss_scale = scale
        self._loss_scaling_is_dynamic = False


def _non_finite(optimizer):
    """Returns the names of the parameters whose gradients are not finite."""
    return [name for name, param in optimizer.target.namedparams(False)
            if param.grad is not None and not param.device.xp.isfinite(param.grad).all()]


def _check_nan_in_grads(self):
    """Checks for gradients that are not finite, with one synchronisation per device."""
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


def _update_loss_scale(self):
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


# ---- float32 parameters in the place of 16-bit ones

class _InFloat32:
    """A context in which gradients are without the loss scale, and parameters that are updated in float32 are float32."""

    def __init__(self, module, params):
        self._module = module
        self._params = params
        self._replaced = []

    def __enter__(self):
        seen = set()
        try:
            for param in self._params:
                if id(param) not in seen and param.is_initialized and not self._is_foreign(param):
                    seen.add(id(param))
                    self._enter(param)
        except BaseException:
            self.__exit__()
            raise

    def _is_foreign(self, param):
        return param.layout is not None or isinstance(param.array, self._module.chainerx.ndarray)

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
        with self._module.chainer.using_device(param.device):
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
            rule._fp32_param = self._module.variable.Parameter(own.astype(numpy.float32), name=param.name)
            return rule._fp32_param.array
        wide = param.device.send(kept.array)
        param.device.xp.copyto(wide, own, where=wide.astype(numpy.float16) != own)
        return wide

    def __exit__(self, *error):
        for param, own in self._replaced:
            wide, grad = param.array, param.grad
            param.update_rule._fp32_param.array = wide
            with self._module.chainer.using_device(param.device):
                own[...] = wide.astype(numpy.float16)
                param.array = own
                param.grad = None if grad is None else grad.astype(numpy.float16)


def update_of(module, update_all, reallocated=None):
    """Returns GradientMethod.update: update_all(params) updates parameters, `reallocated(optimizer, params)` gives all a gradient."""
    GradientMethod = module.GradientMethod

    @functools.wraps(GradientMethod.update)
    def update(self, lossfun=None, *args, **kwds):
        target = self.target
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            clear = target.cleargrads if getattr(self, '_use_cleargrads', True) else target.zerograds
            clear()
            loss.backward(loss_scale=self._loss_scale)
            del loss
        params = list(target.params())

        def reallocate():
            if reallocated is None or not reallocated(self, params):
                self.reallocate_cleared_grads()

        reallocate()
        self._has_half = any(map(_is_half, params))
        self._loss_scale  # computed when the model has become float16
        self.check_nan_in_grads()
        special = [param for param in params if param._loss_scale is not None or _is_half(param)]
        has_hooks = bool(self._hookable._pre_update_hooks)

        def step():
            self.call_hooks('pre')
            self.t += 1
            if self.is_safe_to_update():
                update_all(list(target.params()) if has_hooks else params)

        if special:
            with _InFloat32(module, special):
                step()
        else:
            step()
        reallocate()
        self.call_hooks('post')
        self.update_loss_scale()

    return update


# ---- snapshots

def _read(serializer, key):
    """Returns the entry of a snapshot for a key, or None if it is missing, as in Chainer's snapshots."""
    try:
        return serializer(key, None)
    except KeyError:
        return None


def _serialize_rule(module):
    original = module.UpdateRule.serialize

    @functools.wraps(original)
    def serialize(self, serializer):
        original(self, serializer)
        if isinstance(serializer, module.serializer_module.Deserializer):
            wide = _read(serializer, 'fp32_param')
            self._fp32_param = None if wide is None else module.variable.Parameter(wide)
        elif self._fp32_param is not None and self._fp32_param.array is not None:
            serializer('fp32_param', self._fp32_param.array)

    module.UpdateRule.serialize = serialize


def _serialize_optimizer(module):
    GradientMethod = module.GradientMethod
    original = GradientMethod.serialize

    @functools.wraps(original)
    def serialize(self, serializer):
        original(self, serializer)
        scale = self._loss_scale
        if not self._loss_scaling_is_dynamic:
            return
        if isinstance(serializer, module.serializer_module.Deserializer):
            scale, overflowed = _read(serializer, 'loss_scale'), _read(serializer, 'loss_scale_overflowed')
            if scale is not None:
                self._loss_scale, self._loss_scaling_isnan_ever = float(scale), bool(overflowed)
        else:
            serializer('loss_scale', scale)
            serializer('loss_scale_overflowed', self._loss_scaling_isnan_ever)

    GradientMethod.serialize = serialize


# ---- modules

def _rules_one_by_one(params):
    for param in params:
        param.update()


def optimizer(module, update_all=_rules_one_by_one, reallocated=None):
    """Makes float32 parameters and loss scales the default of chainer.optimizer's GradientMethod."""
    GradientMethod = module.GradientMethod
    initialize, setup = GradientMethod.__init__, GradientMethod.setup

    @functools.wraps(initialize)
    def __init__(self, *args, **kwargs):
        initialize(self, *args, **kwargs)
        self._use_fp32_update = True

    @functools.wraps(setup)
    def setup_link(self, link):
        vars(self).pop('_has_half', None)
        if vars(self).get('_loss_scaling_by_itself'):
            for name in ('_loss_scale', '_loss_scaling_is_dynamic', '_loss_scaling_by_itself'):
                vars(self).pop(name, None)
        return setup(self, link)

    @functools.wraps(GradientMethod.use_fp32_update)
    def use_fp32_update(self, flag=True):
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)

    GradientMethod.__init__ = __init__
    GradientMethod.setup = setup_link
    GradientMethod.use_fp32_update = use_fp32_update
    GradientMethod.update = update_of(module, update_all, reallocated)
    GradientMethod._loss_scale = property(_get_scale, _set_scale)
    GradientMethod._loss_scaling_by_itself = False
    GradientMethod.loss_scaling = functools.wraps(GradientMethod.loss_scaling)(_loss_scaling)
    GradientMethod.check_nan_in_grads = functools.wraps(GradientMethod.check_nan_in_grads)(_check_nan_in_grads)
    GradientMethod.update_loss_scale = _update_loss_scale
    _serialize_rule(module)
    _serialize_optimizer(module)


def variable(module):
    """Makes a gradient that is assigned from another variable keep its loss scale."""
    original = module.Variable.addgrad

    @functools.wraps(original)
    def addgrad(self, var):
        had_none = self.grad_var is None
        original(self, var)
        if had_none and self.grad_var is not None:
            self._loss_scale = var._loss_scale

    module.Variable.addgrad = addgrad


def standard_updater(module):
    """Makes updaters that call backward themselves use the optimizer's scale, unless the program passes one."""
    def get(self):
        given = vars(self).get('loss_scale')
        return getattr(self.get_optimizer('main'), '_loss_scale', None) if given is None else given

    def set_given(self, scale):
        vars(self)['loss_scale'] = scale

    module.StandardUpdater.loss_scale = property(get, set_given)


MODULES = {'chainer.optimizer': optimizer, 'chainer.variable': variable, 'chainer.training.updaters.standard_updater': standard_updater}
