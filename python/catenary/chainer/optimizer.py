"""The bases of optimizers. The library's formulas update all parameters in one call (_updates)."""

import collections
import warnings

import numpy

from catenary import _core

from . import _old_optimizer, _precision, backend, serializer as serializer_module, variable
from .link import Link


class Hyperparameter:
    """The numbers of an update rule. Those that are not set are its parent's."""

    def __init__(self, parent=None):
        self._parent = parent

    def __getattr__(self, name):
        if '_parent' not in self.__dict__ or self._parent is None:
            raise AttributeError('no hyperparameter %s' % name)
        return getattr(self._parent, name)

    def __repr__(self):
        return 'Hyperparameter(%s)' % ', '.join('%s=%s' % pair for pair in sorted(self.get_dict().items()))

    @property
    def parent(self):
        """The Hyperparameter whose numbers hold where this one has none."""
        return self._parent

    def get_dict(self):
        """Returns all numbers by name, also the parent's."""
        known = {} if self._parent is None else self._parent.get_dict()
        known.update({name: value for name, value in self.__dict__.items() if name != '_parent'})
        return known


class _Hooks:
    """The hooks of an optimizer or a rule, before and after the update."""

    def __init__(self):
        self._pre_update_hooks = collections.OrderedDict()
        self._post_update_hooks = collections.OrderedDict()

    def call_hooks(self, timing, args):
        for hook in (self._pre_update_hooks if timing == 'pre' else self._post_update_hooks).values():
            hook(*args)

    def add_hook(self, hook, name=None, timing='auto', what='optimizer'):
        if not callable(hook):
            raise TypeError('a hook must be a function')
        if timing not in ('pre', 'post', 'auto'):
            raise ValueError('timing must be pre, post or auto, not %r' % (timing,))
        if timing == 'auto':
            timing = getattr(hook, 'timing', 'pre')
            if timing not in ('pre', 'post'):
                warnings.warn('the timing of a hook is pre or post, not %r: pre is used' % (timing,))
                timing = 'pre'
        if name is None:
            name = getattr(hook, 'name', getattr(hook, '__name__', None))
            if name is None:
                raise ValueError('the hook has no name: pass one')
        if name in self._pre_update_hooks or name in self._post_update_hooks:
            raise KeyError('the %s has a hook %s already' % (what, name))
        (self._pre_update_hooks if timing == 'pre' else self._post_update_hooks)[name] = hook

    def remove_hook(self, name):
        for hooks in (self._pre_update_hooks, self._post_update_hooks):
            if name in hooks:
                del hooks[name]
                return
        raise KeyError('no hook %s' % name)


class UpdateRule:
    """Updates one parameter. Subclasses define init_state, and update_core or update_core_cpu and update_core_gpu."""

    is_elementwise = False
    _state_names = ()

    def __init__(self, parent_hyperparam=None, hyperparam=None, *, _=None):
        self._hookable = _Hooks()
        self._state = None
        self.enabled = True
        self.hyperparam = Hyperparameter(parent_hyperparam)
        self.t = 0
        self._use_fp32_update = False
        self._fp32_param = None

    @property
    def state(self):
        """The arrays of the rule by name, or None before the first update."""
        return self._state

    def add_hook(self, hook, name=None, timing='auto'):
        """Adds a function that is called with the rule and the parameter, before or after each update."""
        self._hookable.add_hook(hook, name, timing, 'update rule')

    def remove_hook(self, name):
        """Removes a hook."""
        self._hookable.remove_hook(name)

    def update(self, param):
        """Updates a parameter by its gradient, if the rule is enabled."""
        if not self.enabled:
            return
        self.t += 1
        with backend.using_device(param.device):
            if self._use_fp32_update and _dtype_of(param) == numpy.float16:
                self._update_wide(param)
            else:
                self._prepare(param)
                self._hookable.call_hooks('pre', (self, param))
                self.update_core(param)
                self._hookable.call_hooks('post', (self, param))

    def _update_wide(self, param):
        wide = self._fp32_param
        if wide is None:
            if param.array is None:
                self.update_core(self._without_values(param))
                return
            wide = self._fp32_param = variable.Parameter(param.array.astype(numpy.float32), name=param.name)
        gradient = param.grad
        wide._grad = None if gradient is None else gradient.astype(numpy.float32)
        if wide._grad is not None and param._loss_scale is not None:
            wide._grad /= param._loss_scale
        self._prepare(wide)
        self._hookable.call_hooks('pre', (self, wide))
        self.update_core(wide)
        self._hookable.call_hooks('post', (self, wide))
        param.array = wide.array.astype(param.dtype)
        wide._grad = None

    @staticmethod
    def _without_values(param):
        """Returns a float32 parameter in the place of a float16 one that is not initialized."""
        def initializer(array):
            param.initializer(array)
        initializer.dtype = numpy.dtype(numpy.float32)
        return variable.Parameter(initializer, name=param.name)

    def _prepare(self, param):
        if self._state is None and param.array is not None:
            self._init_states(param)
        for name, value in (self._state or {}).items():
            if backend.is_array(value):
                self._state[name] = param.device.send(value)

    def _init_states(self, param):
        self._state = {}
        with backend.using_device(param.device):
            self.init_state(param)

    def update_core(self, param):
        """Updates a parameter, by default by update_core_cpu or update_core_gpu."""
        if param.device.xp is numpy:
            self.update_core_cpu(param)
        else:
            self.update_core_gpu(param)

    def update_core_cpu(self, param):
        raise NotImplementedError('%s defines neither update_core nor update_core_cpu' % type(self).__name__)

    def update_core_gpu(self, param):
        raise NotImplementedError('%s defines neither update_core nor update_core_gpu' % type(self).__name__)

    def update_core_chainerx(self, param):
        raise NotImplementedError('ChainerX is not provided')

    def init_state(self, param):
        """Puts the rule's arrays into self.state. A subclass defines it if its rule has any."""

    def use_fp32_update(self, flag=True):
        """Updates a float32 copy of 16-bit parameters."""
        self._use_fp32_update = flag

    def serialize(self, serializer):
        """Saves or loads the number of updates, the arrays and the float32 parameter."""
        self.t = serializer('t', self.t)
        loads = isinstance(serializer, serializer_module.Deserializer)
        if self._state is None:
            if loads:
                self._load_state(serializer)
        else:
            for name in list(self._state):
                self._state[name] = serializer(name, self._state[name])
        if loads:
            wide = _precision.read(serializer, 'fp32_param')
            self._fp32_param = None if wide is None else variable.Parameter(wide)
        elif self._fp32_param is not None and self._fp32_param.array is not None:
            serializer('fp32_param', self._fp32_param.array)

    def _load_state(self, serializer):
        """Loads arrays of a rule that was not used yet."""
        self._state = {}
        self.init_state(variable.Variable(numpy.array(0, numpy.float32)))
        names, self._state = list(self._state), None
        found = {}
        for name in names:
            try:
                value = serializer(name, None)
            except KeyError:
                if self.enabled:
                    raise
                value = None
            if value is not None:
                found[name] = value
        if len(found) == len(names) and names:
            self._state = found


def _dtype_of(param):
    """Returns the dtype of a parameter, or None if it is not known."""
    return None if param.array is None and getattr(param.initializer, 'dtype', None) is None else param.dtype


class Optimizer(_old_optimizer.OldMethods):
    """The base of optimizers. setup() gives it the link whose parameters it updates."""

    target = None
    t = 0
    epoch = 0
    _loss_scale = None
    _loss_scale_max = 65504
    _loss_scaling_is_dynamic = False
    use_auto_new_epoch = False

    def __init__(self):
        self._hookable = _Hooks()

    @property
    def _pre_update_hooks(self):
        return self._hookable._pre_update_hooks

    @property
    def _post_update_hooks(self):
        return self._hookable._post_update_hooks

    def setup(self, link):
        """Sets the link whose parameters are updated. Returns the optimizer."""
        if not isinstance(link, Link):
            from .function_set import as_link
            link = as_link(link)
        self.target = link
        self.t = 0
        self.epoch = 0
        return self

    def update(self, lossfun=None, *args, **kwds):
        """Updates the parameters. With a loss function, it first computes the gradients of its result for these arguments."""
        _old_optimizer.update(self)

    def new_epoch(self, auto=False):
        """Counts an epoch."""
        if bool(auto) != bool(self.use_auto_new_epoch):
            raise RuntimeError('new_epoch: the updater counts epochs if and only if use_auto_new_epoch is set')
        self.epoch += 1

    def _need(self, what):
        if self.target is None:
            raise RuntimeError('%s: call setup() first' % what)

    def add_hook(self, hook, name=None, timing='auto'):
        """Adds a function that is called with the optimizer, before or after each update."""
        self._need('add_hook')
        self._hookable.add_hook(hook, name, timing)

    def remove_hook(self, name):
        """Removes a hook."""
        self._hookable.remove_hook(name)

    def call_hooks(self, timing='pre'):
        """Calls the hooks of before ('pre') or after ('post') the update."""
        for hook in (self._pre_update_hooks if timing == 'pre' else self._post_update_hooks).values():
            self.call_hook(hook)

    def call_hook(self, hook):
        """Calls a hook, for each parameter if it asks for that."""
        if not getattr(hook, 'call_for_each_param', False):
            hook(self)
            return
        for param in self.target.params():
            hook(param.update_rule, param)

    def serialize(self, serializer):
        """Saves or loads the counts and the state of the update rules."""
        self._need('serialize')
        for name in ('t', 'epoch'):
            setattr(self, name, serializer(name, getattr(self, name)))
        for path, param in self.target.namedparams():
            if param.update_rule is not None:
                param.update_rule.serialize(serializer[path])

    def loss_scaling(self, interval=1000, scale=None):
        """Makes the scale of the loss dynamic, or sets it."""

    def set_loss_scale(self, loss_scale):
        """Sets the scale of the loss (deprecated: use loss_scaling)."""
        warnings.warn('set_loss_scale is deprecated: use loss_scaling(scale=…)', DeprecationWarning, stacklevel=2)
        self.loss_scaling(scale=loss_scale)

    def is_safe_to_update(self):
        """Returns whether the last gradients were finite, as far as this was checked."""
        return not getattr(self, '_loss_scaling_isnan', False)

    def check_nan_in_grads(self):
        """Checks for gradients that are not finite, if the loss scale is dynamic."""


class GradientMethod(_precision.Scaled, Optimizer):
    """The base of optimizers that use gradients. A subclass defines create_update_rule."""

    _use_cleargrads = True

    def __init__(self, link=None):
        super().__init__()
        self.hyperparam = Hyperparameter()
        if isinstance(link, Link):
            self.setup(link)

    def setup(self, link):
        """Sets the link whose parameters are updated, and gives each parameter an update rule. Returns the optimizer."""
        self._forget_scale()
        super().setup(link)
        for param in self.target.params():
            param.update_rule = _old_optimizer.rule_of(self) or self.create_update_rule()
            if self._use_fp32_update:
                param.update_rule.use_fp32_update()
        return self

    def call_hook(self, hook):
        """Calls a hook. Gradients that it removed become zeros."""
        super().call_hook(hook)
        self.reallocate_cleared_grads()

    def reallocate_cleared_grads(self):
        """Gives zeros to parameters without gradient."""
        params = list(self.target.params(False))
        if _core._have_grads(params):
            return
        for name, param in self.target.namedparams(False):
            with backend.using_device(param.device):
                if param.grad is None:
                    param.grad = param.device.xp.zeros_like(param.array)

    def use_cleargrads(self, use=True):
        """Clears gradients (the default), or fills them with zeros, before the loss function of update()."""
        warnings.warn('use_cleargrads is deprecated: gradients are cleared', DeprecationWarning, stacklevel=2)
        self._use_cleargrads = use

    def create_update_rule(self):
        """Returns a new update rule."""
        raise NotImplementedError('%s does not define create_update_rule' % type(self).__name__)

class HyperparameterProxy:
    """An attribute of an optimizer that is one of its hyperparameters."""

    def __init__(self, attr_name):
        self._name = attr_name
        self.__doc__ = 'The hyperparameter %s.' % attr_name

    def __get__(self, obj, type=None):
        return self if obj is None else getattr(obj.hyperparam, self._name)

    def __set__(self, obj, value):
        setattr(obj.hyperparam, self._name, value)


def __getattr__(name):
    # names that moved to optimizer_hooks
    if name in ('GradientClipping', 'GradientHardClipping', 'GradientNoise', 'GradientLARS', 'Lasso', 'WeightDecay'):
        from . import optimizer_hooks
        hook = getattr(optimizer_hooks, name)

        def moved(*args, **kwargs):
            warnings.warn('chainer.optimizer.%s is deprecated: use chainer.optimizer_hooks.%s' % (name, name), DeprecationWarning, stacklevel=2)
            return hook(*args, **kwargs)
        return moved
    raise AttributeError('module %r has no attribute %r' % (__name__, name))
