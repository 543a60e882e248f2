"""Methods that optimizers had in Chainer 1: changes of all gradients, and update formulas as methods of the optimizer.

Update formulas are found by their names: `init_state`, `init_state_cpu`, `init_state_gpu`, `update_one`, `update_one_cpu` and
`update_one_gpu`. They get (param, state) as in Chainer 1.5, or arrays as in 1.4: (param, grad) and (param, grad, state).
"""

import inspect
import math

import numpy

from . import backend

_NAMES = [method + suffix for method in ('update_one', 'init_state') for suffix in ('', '_cpu', '_gpu')]


def _params(optimizer):
    optimizer._need('the gradients')
    return [param for _, param in sorted(optimizer.target.namedparams(False), key=lambda pair: pair[0])]


def _with_grads(optimizer):
    return [param for param in _params(optimizer) if param._grad is not None]


def _scale(param):
    return 1 if param._loss_scale is None else param._loss_scale


class OldMethods:
    """The base of Optimizer with the methods of Chainer 1."""

    def zero_grads(self):
        """Fills the gradients with zeros."""
        self._need('zero_grads')
        for param in self.target.params():
            param._zero()

    def accumulate_grads(self, grads):
        """Adds arrays, which may be on another device, to the gradients, in the order of the parameters' paths."""
        grads, params = tuple(grads), _params(self)
        if len(grads) != len(params):
            raise ValueError('accumulate_grads: %d gradients for %d parameters' % (len(grads), len(params)))
        for param, grad in zip(params, grads):
            with backend.using_device(param.device):
                grad = param.device.send(grad)
                param.grad = grad.copy() if param._grad is None else param._grad + grad

    def weight_decay(self, decay):
        """Adds `decay` times the parameters to their gradients."""
        for param in _with_grads(self):
            with backend.using_device(param.device):
                param.grad = (param._grad + decay * _scale(param) * param.array).astype(param.dtype)

    def compute_grads_norm(self):
        """Returns the Euclidean norm of all gradients."""
        total = 0.
        for param in _with_grads(self):
            with backend.using_device(param.device):
                grad = param._grad.ravel().astype(numpy.float32 if param.dtype == numpy.float16 else param.dtype)
                total += float(grad.dot(grad)) / _scale(param) ** 2
        return math.sqrt(total)

    def clip_grads(self, maxnorm):
        """Scales all gradients such that their norm is at most `maxnorm`."""
        norm = self.compute_grads_norm()
        if norm > maxnorm:
            for param in _with_grads(self):
                with backend.using_device(param.device):
                    param.grad = (param._grad * (maxnorm / norm)).astype(param.dtype)

    def init_state(self, param, state=None):
        """Makes the arrays of the update formula for a parameter."""
        return self._of_device('init_state', param)(param, state)

    def init_state_cpu(self, param, state=None):
        """Makes the arrays on the processor, by default those of the update rule."""
        rule = _rule(self, param)
        if backend.is_array(param):
            return rule.state
        state.update(rule.state)

    init_state_gpu = init_state_cpu

    def update_one(self, param, *state):
        """Updates a parameter by its gradient."""
        self._of_device('update_one', param)(param, *state)

    def update_one_cpu(self, param, *state):
        """Updates a parameter on the processor, by default by the update rule."""
        rule = _rule(self, param, state[0] if backend.is_array(param) else None)
        rule._state, rule.t = state[-1], max(self.t, 1)
        rule.update_core(rule.param)

    update_one_gpu = update_one_cpu

    def _of_device(self, method, param):
        array = param if backend.is_array(param) else param.array
        return getattr(self, method + ('_cpu' if isinstance(array, numpy.ndarray) else '_gpu'))


def _rule(optimizer, param, grad=None):
    """Returns a new rule of the optimizer with the arrays of its first update."""
    from .variable import Parameter
    rule = optimizer.create_update_rule()
    if backend.is_array(param):
        param = Parameter(param)
        param.grad = grad
    rule.param = param
    rule._init_states(param)
    return rule


def rule_of(optimizer):
    """Returns an update rule that calls the methods of an optimizer of Chainer 1, or None if its class has no such methods."""
    for cls in type(optimizer).__mro__:
        if cls is OldMethods or 'create_update_rule' in vars(cls):
            return None
        if any(name in vars(cls) for name in _NAMES):
            return _rule_class()(optimizer)
    return None


_classes = []


def _rule_class():
    if _classes:
        return _classes[0]
    from .optimizer import UpdateRule

    class MethodsRule(UpdateRule):
        """Calls the methods of an optimizer."""

        def __init__(self, optimizer):
            super().__init__(getattr(optimizer, 'hyperparam', None))
            self._optimizer = optimizer
            self._takes_arrays = _takes_arrays(optimizer)

        def init_state(self, param):
            if not self._takes_arrays:
                self._optimizer.init_state(param, self.state)
                return
            grad = param._grad if param._grad is not None else param.device.xp.zeros_like(param.array)
            self.state['state'] = self._optimizer.init_state(param.array, grad)

        def update_core(self, param):
            if param._grad is None:
                return
            if self._takes_arrays:
                self._optimizer.update_one(param.array, param.grad, self.state['state'])
            else:
                self._optimizer.update_one(param, self.state)

    _classes.append(MethodsRule)
    return MethodsRule


def _takes_arrays(optimizer):
    """Do the methods get arrays, as in Chainer 1.4?"""
    for name in ('update_one_cpu', 'update_one_gpu', 'update_one'):
        method = getattr(type(optimizer), name)
        if method is not vars(OldMethods)[name]:
            return len(inspect.signature(method).parameters) == 4  # with self
    return False


def update(optimizer):
    """Updates all parameters of an optimizer of Chainer 1.4, which derives from Optimizer and has no update()."""
    optimizer._need('update')
    if rule_of(optimizer) is None:
        raise NotImplementedError('%s defines no update' % type(optimizer).__name__)
    optimizer.t += 1
    for param in _params(optimizer):
        if param.update_rule is None or getattr(param.update_rule, '_optimizer', None) is not optimizer:
            param.update_rule = rule_of(optimizer)
        param.update()
