"""Walks over the graph: Variable.backward, chainer.backward and chainer.grad."""

import threading
import warnings

import numpy

from catenary import _core

from . import backend
from .configuration import using_config


_walk = threading.local()  # its `scale` is the loss scale of the walk in progress


def _scaled(loss_scale, walk, *args):
    """Returns the result of a walk. Functions that are computed again during the walk use its loss scale."""
    before, _walk.scale = getattr(_walk, 'scale', None), loss_scale
    try:
        return walk(*args, loss_scale)
    finally:
        _walk.scale = before


def backward(variable, retain_grad, loss_scale):
    """Implements Variable.backward."""
    array = variable.array
    if array is None:
        raise RuntimeError('backward: the variable is not initialized')
    gradient = variable._grad_var
    if gradient is None:
        if array.size != 1 and not variable.requires_grad:
            return
        if array.size > 1:
            raise RuntimeError('backward: set the gradient of a variable with several elements first')
        if array.ndim > 0 and array.size > 0:
            warnings.warn('backward of a variable of shape %s without a gradient is deprecated: apply chainer.functions.squeeze to get a scalar, or '
                          'set the gradient' % (array.shape,), DeprecationWarning, stacklevel=3)
        with backend.using_device(variable.device):
            from .variable import Variable
            gradient = Variable(variable.xp.full_like(array, 1 if loss_scale is None else loss_scale), requires_grad=False)
        variable._grad_var = gradient
    if variable.creator_node is None:
        return
    if not retain_grad:
        variable._grad_var = None
    _scaled(loss_scale, _core._backprop_to_all, [(variable.node, gradient)], bool(retain_grad))


def refuse_old_style(variables):
    """Raises RuntimeError if a function of the old style computed a gradient that the variables depend on."""
    if not _core._old_style():
        return
    waiting, seen = [variable.node for variable in variables], set()
    while waiting:
        node = waiting.pop()
        label, function = node._old_style_grad_generator, node.creator_node
        if label is not None:
            raise RuntimeError('%s cannot be differentiated twice: it is a chainer.Function. Make it a chainer.FunctionNode' % label)
        if function is not None and id(function) not in seen:
            seen.add(id(function))
            waiting.extend(function.inputs or ())


def backprop(outputs, grad_outputs=None, *, enable_double_backprop=False):
    """Computes the gradients of several variables at once."""
    _backprop(outputs, grad_outputs, enable_double_backprop, None)


def backprop_again(outputs, grad_outputs):
    """Computes the gradients of a function that was computed again, with the loss scale of the walk in progress."""
    _backprop(outputs, grad_outputs, False, getattr(_walk, 'scale', None))


def _backprop(outputs, grad_outputs, enable_double_backprop, loss_scale):
    from .variable import Variable
    _check_variables('outputs', outputs)
    if grad_outputs is not None:
        if not isinstance(grad_outputs, (tuple, list)):
            raise TypeError('grad_outputs must be None, a tuple or a list, not %s' % type(grad_outputs))
        if len(outputs) != len(grad_outputs):
            raise ValueError('%d outputs but %d gradients' % (len(outputs), len(grad_outputs)))
    pairs = []
    for i, variable in enumerate(outputs):
        gradient = variable._grad_var if grad_outputs is None else grad_outputs[i]
        if gradient is None:
            warnings.warn('backward: output %d has no gradient and is left out' % i, RuntimeWarning, stacklevel=2)
            continue
        variable._grad_var = None
        pairs.append((variable.node, gradient))
    refuse_old_style(outputs)
    with using_config('enable_backprop', enable_double_backprop):
        _scaled(loss_scale, _core._backprop_to_all, pairs, False)


def grad(outputs, inputs, grad_outputs=None, grad_inputs=None, set_grad=False, retain_grad=False, enable_double_backprop=False,
         loss_scale=None):
    """Returns the gradients of `outputs` with respect to `inputs`, without a change of other variables."""
    from .variable import Variable, as_variable
    _check_variables('outputs', outputs)
    refuse_old_style(outputs)
    _check_variables('inputs', inputs)
    for name, value, of in (('grad_outputs', grad_outputs, outputs), ('grad_inputs', grad_inputs, inputs)):
        if value is None:
            continue
        if not isinstance(value, (tuple, list)):
            raise TypeError('%s must be None, a tuple or a list, not %s' % (name, type(value)))
        if len(value) != len(of):
            raise ValueError('%s must have %d entries, not %d' % (name, len(of), len(value)))
    if retain_grad:
        for variable, gradient in zip(outputs, grad_outputs or (None,) * len(outputs)):
            with backend.using_device(variable.device):
                variable.grad_var = Variable(variable.xp.ones_like(variable.array)) if gradient is None else as_variable(gradient)
    with using_config('enable_backprop', enable_double_backprop):
        gradients = _scaled(loss_scale, _core._grad, outputs, inputs, grad_outputs, grad_inputs, set_grad, retain_grad, enable_double_backprop)
    if retain_grad:
        for variable, gradient in zip(inputs, gradients):
            if gradient is not None:
                variable.grad_var = gradient
    return gradients


def _check_variables(name, values):
    from .variable import Variable
    if not isinstance(values, (tuple, list)):
        raise TypeError('%s must be a tuple or a list, not %s' % (name, type(values)))
    for variable in values:
        if not isinstance(variable, Variable):
            raise TypeError('%s must hold Variables, not %s' % (name, type(variable)))


def check_finite(arrays, message):
    """Raises RuntimeError if an array holds NaN, in debug mode."""
    for array in arrays:
        if array is not None and array.dtype.kind == 'f' and bool(backend.get_array_module(array).isnan(array).any()):
            raise RuntimeError(message)


def is_number(value):
    return isinstance(value, (int, float, numpy.generic))
