"""Runs the benchmarks with tinygrad on OpenCL (DEV=CL), with training steps compiled by TinyJit. compare.py starts it."""

import os

os.environ.setdefault("DEV", "CL")

import time  # noqa: E402

import work  # noqa: E402
import numpy as np  # noqa: E402
from tinygrad import Context, Device, Tensor, TinyJit, nn  # noqa: E402


class Network:
    def __init__(self):
        self.layers = [nn.Linear(784, 1000), nn.Linear(1000, 1000), nn.Linear(1000, 10)]

    def __call__(self, x):
        return self.layers[2](self.layers[1](self.layers[0](x).relu()).relu())


def training_step(net):
    optimizer = nn.optim.Adam(nn.state.get_parameters(net))

    @TinyJit
    def step(x, t):
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(t).backward()
        optimizer.step()
        return loss.realize()

    return step


def mnist():
    x, t, x_test, t_test = work.mnist()
    net = Network()
    step = training_step(net)

    @TinyJit
    def classes(x):
        return net(x).argmax(1).realize()

    def epoch():
        order = np.random.default_rng(0).permutation(len(x))
        with Context(TRAINING=1):
            for i in range(0, len(x), 100):
                chosen = order[i:i + 100]
                step(Tensor(x[chosen]).realize(), Tensor(t[chosen].astype(np.int32)).realize())
        return sum(int((classes(Tensor(x_test[i:i + 100]).realize()).numpy() == t_test[i:i + 100]).sum()) for i in range(0, len(x_test), 100))

    with Context(TRAINING=1):
        for _ in range(3):  # the first calls compile
            step(Tensor(x[:100]).realize(), Tensor(t[:100].astype(np.int32)).realize())
    for _ in range(3):
        classes(Tensor(x_test[:100]).realize())
    start = time.perf_counter()
    right = epoch()
    assert right > 9000, right
    work.report("tinygrad", "A", [time.perf_counter() - start])


class ConvolutionalNetwork:
    def __init__(self):
        self.convolutions = [nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)]
        self.layers = [nn.Linear(9216, 128), nn.Linear(128, 10)]

    def __call__(self, x):
        for convolution in self.convolutions:
            x = convolution(x).relu()
        return self.layers[1](self.layers[0](x.max_pool2d(2).flatten(1)).relu())


def images():
    generator = np.random.default_rng(0)
    x = Tensor(generator.random((100, 1, 28, 28), np.float32)).realize()
    t = Tensor(generator.integers(0, 10, 100).astype(np.int32)).realize()
    net = ConvolutionalNetwork()
    step = training_step(net)

    @TinyJit
    def forward(x):
        return net(x).realize()

    def timed(run, *inputs):
        run(*inputs)
        Device[Device.DEFAULT].synchronize()

    with Context(TRAINING=1):
        work.report("tinygrad", "C CNN step", work.seconds(lambda: timed(step, x, t), 5, 3))
    work.report("tinygrad", "C CNN inference", work.seconds(lambda: timed(forward, x), 5, 3))


def chain():
    x = Tensor(np.random.default_rng(0).standard_normal(work.CHAIN).astype(np.float32)).realize()

    @TinyJit
    def formula(x):
        return ((x * 1.5 + 0.5).relu() * x.sigmoid() + x.tanh()).realize()

    def run():
        formula(x)
        Device[Device.DEFAULT].synchronize()

    work.report("tinygrad", "E", work.seconds(run, warm=3))


work.run({"A": mnist, "C": images, "E": chain})
