"""Walks over the graph: Variable.backward, chainer.backward and chainer.grad."""

import numpy

from catenary import _core

from . import backend
from .configuration import using_config


def backward(variable, retain_grad, loss_scale):
    """Implements Variable.backward."""
    array = variable.array
    if array is None:
        raise RuntimeError('backward: the variable is not initialized')
    gradient = variable._grad_var
    if gradient is None:
        if array.size != 1 and not variable.requires_grad:
            return
        if array.size != 1:
            raise RuntimeError('backward: set the gradient of a variable with several elements first')
        with backend.using_device(variable.device):
            from .variable import Variable
            gradient = Variable(variable.xp.full_like(array, 1 if loss_scale is None else loss_scale), requires_grad=False)
        variable._grad_var = gradient
    if variable.creator_node is None:
        return
    if not retain_grad:
        variable._grad_var = None
    _core._backprop_to_all([(variable.node, gradient)], bool(retain_grad), loss_scale)


def backprop(outputs, grad_outputs=None, *, enable_double_backprop=False):
    """Computes the gradients of several variables at once."""
    from .variable import Variable
    if not isinstance(outputs, (tuple, list)):
        raise TypeError('outputs must be a tuple or a list, not %s' % type(outputs))
    for variable in outputs:
        if not isinstance(variable, Variable):
            raise TypeError('each output must be a Variable, not %s' % type(variable))
    if grad_outputs is not None:
        if not isinstance(grad_outputs, (tuple, list)):
            raise TypeError('grad_outputs must be None, a tuple or a list, not %s' % type(grad_outputs))
        if len(outputs) != len(grad_outputs):
            raise ValueError('%d outputs but %d gradients' % (len(outputs), len(grad_outputs)))
    pairs = []
    for i, variable in enumerate(outputs):
        gradient = variable._grad_var if grad_outputs is None else grad_outputs[i]
        if gradient is None and variable.array.size == 1:
            gradient = Variable(variable.xp.ones_like(variable.array), requires_grad=False)
        if gradient is not None:
            variable._grad_var = None
            pairs.append((variable.node, gradient))
    with using_config('enable_backprop', enable_double_backprop):
        _core._backprop_to_all(pairs, False, None)


def grad(outputs, inputs, grad_outputs=None, grad_inputs=None, set_grad=False, retain_grad=False, enable_double_backprop=False,
         loss_scale=None):
    """Returns the gradients of `outputs` with respect to `inputs`, without a change of other variables."""
    from .variable import Variable
    for name, value in (('outputs', outputs), ('inputs', inputs)):
        if not isinstance(value, (tuple, list)):
            raise TypeError('%s must be a tuple or a list, not %s' % (name, type(value)))
        for variable in value:
            if not isinstance(variable, Variable):
                raise TypeError('%s must hold Variables, not %s' % (name, type(variable)))
    for name, value, of in (('grad_outputs', grad_outputs, outputs), ('grad_inputs', grad_inputs, inputs)):
        if value is None:
            continue
        if not isinstance(value, (tuple, list)):
            raise TypeError('%s must be None, a tuple or a list, not %s' % (name, type(value)))
        if len(value) != len(of):
            raise ValueError('%s must have %d entries, not %d' % (name, len(of), len(value)))
    with using_config('enable_backprop', enable_double_backprop):
        return _core._grad(outputs, inputs, grad_outputs, grad_inputs, set_grad, retain_grad, enable_double_backprop, loss_scale)


def check_finite(arrays, message):
    """Raises RuntimeError if an array holds NaN, in debug mode."""
    for array in arrays:
        if array is not None and array.dtype.kind == 'f' and bool(backend.get_array_module(array).isnan(array).any()):
            raise RuntimeError(message)


def is_number(value):
    return isinstance(value, (int, float, numpy.generic))
