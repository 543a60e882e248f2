"""forget: a function whose intermediate results are freed, and computed again for backward."""

from .. import _backprop, function_node
from ..configuration import config, using_config
from ..variable import Variable


def _ordinal(number):
    suffix = 'th' if number % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')
    return '%d%s' % (number, suffix)


class Forget(function_node.FunctionNode):
    """Computes a user's function without a graph. backward() computes it again, with one."""

    def __init__(self, func):
        self._func = func

    def _outputs(self, variables):
        outputs = self._func(*variables)
        if isinstance(outputs, Variable):
            return (outputs,)
        if not isinstance(outputs, tuple):
            raise RuntimeError('forget: the function must return a Variable or a tuple of Variables, not %s' % type(outputs))
        for i, output in enumerate(outputs):
            if not isinstance(output, Variable):
                raise RuntimeError('forget: the %s element of the result must be a Variable, not %s' % (_ordinal(i + 1), type(output)))
        return outputs

    def forward(self, inputs):
        self.retain_inputs(range(len(inputs)))
        with using_config('enable_backprop', False):
            outputs = self._outputs([Variable(x) for x in inputs])
        return tuple([y.array for y in outputs])

    def backward(self, indexes, grad_outputs):
        if config.enable_backprop:
            raise RuntimeError('forget: its gradient cannot be differentiated')
        inputs = [Variable(x.array, requires_grad=x.requires_grad) for x in self.get_retained_inputs()]
        with using_config('enable_backprop', True), using_config('in_recomputing', True):
            outputs = self._outputs(inputs)
        known = [(y, g) for y, g in zip(outputs, grad_outputs) if g is not None]
        _backprop.backprop_again([y for y, _ in known], [g for _, g in known])
        return tuple([inputs[i].grad_var for i in indexes])


def forget(func, *xs):
    """Applies a function of Variables without a graph of its steps. backward() calls the function again, which saves memory and costs time."""
    if not callable(func):
        raise TypeError('forget: a function is expected, not %s' % type(func))
    # arrays require gradients, so that backward reaches the parameters that the function uses
    results = Forget(func).apply(tuple([x if isinstance(x, Variable) else Variable(x) for x in xs]))
    return results[0] if len(results) == 1 else results
