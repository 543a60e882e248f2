"""Helpers shared by the cases of chainer_graph_test.py."""

import chainer
import numpy as np

x_data = np.random.RandomState(0).uniform(-1, 1, (3, 4)).astype('f')


class Square(chainer.FunctionNode):
    """A user's function with a second derivative."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 2,

    def backward(self, indexes, grad_outputs):
        x, = self.get_retained_inputs()
        return 2 * x * grad_outputs[0],
