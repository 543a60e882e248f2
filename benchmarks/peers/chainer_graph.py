"""Measures the overhead of `chainer` in microseconds: of Catenary's, and of an installed one.

    for chainer in own original; do CATENARY_CHAINER=$chainer python benchmarks/peers/chainer_graph.py; done

docs/guide/python.md has results.
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
class Lstm(chainer.Chain):
    """An LSTM of 64 units. forward() takes ten steps with a batch of 20."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed, self.lstm, self.out = L.EmbedID(100, 64), L.LSTM(64, 64), L.Linear(64, 100)

    def forward(self, words, t):
        self.lstm.reset_state()
        return sum(F.softmax_cross_entropy(self.out(F.dropout(self.lstm(self.embed(words)), 0.2)), t) for _ in range(10))


class Cnn(chainer.Chain):
    """Two convolutions, for a batch of 32 images of 28 x 28."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a, self.norm, self.b, self.out = L.Convolution2D(1, 8, 3), L.BatchNormalization(8), L.Convolution2D(8, 16, 3), L.Linear(None, 10)

    def forward(self, x, t):
        h = F.max_pooling_2d(F.relu(self.norm(self.a(x))), 2)
        return F.softmax_cross_entropy(self.out(F.max_pooling_2d(F.relu(self.b(h)), 2)), t)


def step(model, optimizer, *batch):
    optimizer.setup(model)
    return lambda: optimizer.update(model, *batch)


model = L.Classifier(chainer.Sequential(L.Linear(20, 20), F.relu, L.Linear(20, 10)))
optimizer = chainer.optimizers.Adam().setup(model)
batch = np.ones((5, 20), 'f'), np.zeros(5, 'i')


def forward_and_backward():
    layers.cleargrads()
    layers(x).backward()


for name, f, times in (('Variable + Variable', lambda: y + y, 20000), ('relu', lambda: F.relu(y), 20000),
                       ("a user's FunctionNode, forward", lambda: Identity().apply((x,)), 5000),
                       ('ten small layers, forward and backward', forward_and_backward, 300),
                       ('a step of a small MLP by Adam', lambda: optimizer.update(model, *batch), 300),
                       ('a step of an LSTM by SGD', step(Lstm(), chainer.optimizers.SGD(), np.zeros(20, 'i'), np.zeros(20, 'i')), 10),
                       ('a step of a small CNN by MomentumSGD',
                        step(Cnn(), chainer.optimizers.MomentumSGD(), np.ones((32, 1, 28, 28), 'f'), np.zeros(32, 'i')), 10)):
    print(f'{name}: {microseconds(f, times):.2f}')
