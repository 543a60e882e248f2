"""Runs the benchmarks with Chainer 7.8.1 on NumPy. compare.py starts it."""

import tempfile
import time

import work
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def mnist():
    x, t, x_test, t_test = work.mnist()
    model = L.Classifier(chainer.Sequential(L.Linear(784, 1000), F.relu, L.Linear(1000, 1000), F.relu, L.Linear(1000, 10)))
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    train = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t.astype(np.int32)), 100)
    test = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x_test, t_test.astype(np.int32)), 100, repeat=False, shuffle=False)
    with tempfile.TemporaryDirectory() as folder:
        trainer = training.Trainer(training.updaters.StandardUpdater(train, optimizer), (1, "epoch"), out=folder)
        trainer.extend(extensions.Evaluator(test, model))
        trainer.extend(extensions.LogReport())
        start = time.perf_counter()
        trainer.run()
        work.report("Chainer", "A", [time.perf_counter() - start])


def chain():
    x = np.random.default_rng(0).standard_normal(work.CHAIN, np.float32)
    with chainer.no_backprop_mode():
        work.report("Chainer", "E", work.seconds(lambda: F.relu(x * 1.5 + 0.5) * F.sigmoid(x) + F.tanh(x), 3))


def small():
    a, b = chainer.Variable(np.ones(10, np.float32)), chainer.Variable(np.ones(10, np.float32))
    add = work.seconds(lambda: a + b, inner=5000)
    work.report("Chainer", "G deferred", add)
    work.report("Chainer", "G computed", add)
    layers = chainer.ChainList(*[L.Linear(10, 10) for _ in range(10)])
    x = np.random.default_rng(0).standard_normal((10, 10)).astype(np.float32)

    def step():
        layers.cleargrads()
        h = x
        for layer in layers:
            h = F.tanh(layer(h))
        F.sum(h).backward()

    work.report("Chainer", "G ten layers", work.seconds(step, inner=50))


work.run({"A": mnist, "E": chain, "G": small})
