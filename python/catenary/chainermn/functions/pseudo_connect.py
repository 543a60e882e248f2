"""The link between a delegate variable and the variables after it."""

import chainer


class PseudoConnect(chainer.FunctionNode):
    """Returns its inputs after the delegate, whose backward runs when all gradients of the outputs are there."""

    def forward(self, inputs):
        self._delegate = inputs[0]
        return tuple(inputs[1:])

    def backward(self, indexes, grad_outputs):
        xp = chainer.backend.get_array_module(self._delegate)
        return (chainer.Variable(xp.zeros_like(self._delegate)), *grad_outputs)


def pseudo_connect(delegate_variable, *actual_variables):
    """Returns the variables unchanged, and connects the delegate to them, so that their backward() reaches it.

    Without variables it returns the delegate. (chainermn.functions.pseudo_connect)
    """
    if not actual_variables:
        return delegate_variable
    return PseudoConnect().apply((delegate_variable, *actual_variables))
