"""Chainer's overhead, in microseconds: once as it is, once with CATENARY_CHAINER=1. docs/python.md has figures.

    for graph in 0 1; do CATENARY_CHAINER=$graph python benchmarks/peers/chainer_graph.py; done
"""
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


def microseconds(f, times):
    f()
    best = float('inf')
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(times):
            f()
        best = min(best, (time.perf_counter() - start) / times)
    return 1e6 * best


class Identity(chainer.FunctionNode):
    def forward(self, inputs):
        return inputs

    def backward(self, indexes, grad_outputs):
        return grad_outputs


class Layers(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.layer = L.Linear(3, 3)

    def forward(self, x):
        for _ in range(10):
            x = F.relu(self.layer(x))
        return F.sum(x)


x = chainer.Variable(np.ones((2, 3), 'f'))
y = x * 1
layers = Layers()
model = L.Classifier(chainer.Sequential(L.Linear(20, 20), F.relu, L.Linear(20, 10)))
optimizer = chainer.optimizers.Adam().setup(model)
batch = np.ones((5, 20), 'f'), np.zeros(5, 'i')


def forward_and_backward():
    layers.cleargrads()
    layers(x).backward()


for name, f, times in (('Variable + Variable', lambda: y + y, 20000), ('relu', lambda: F.relu(y), 20000),
                       ("a user's FunctionNode, forward", lambda: Identity().apply((x,)), 5000),
                       ('ten small layers, forward and backward', forward_and_backward, 300),
                       ('a step of a small MLP by Adam', lambda: optimizer.update(model, *batch), 300)):
    print(f'{name}: {microseconds(f, times):.2f}')
