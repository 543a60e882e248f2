"""Lifetime of parts of a graph, memory, and threads."""

import gc
import os
import threading
import time
import weakref

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from catenary import _core
from graph_shared import Square, x_data
from background_thread import gives_turns


class Loop(Square):
    """A reference cycle that something else also refers to."""


def itself(f, x, y):
    f.cycle = f


def its_output(f, x, y):
    f.output = y


def closure(f, x, y):
    f.tell = lambda: y.array


def node_of_output(f, x, y):
    f.node = y.node
    y.node.cycle = y.node


def node_and_output(f, x, y):
    f.both = y.node, y, y.creator.outputs


def loss(f, x, y):
    f.loss = F.sum(F.exp(y * y) + y)


def node_of_loss(f, x, y):
    f.loss = F.sum(y * y + y).node


def creator_of_loss(f, x, y):
    f.creator = F.sum(y * y + y).creator


def another_function(f, x, y):
    g = Loop()
    z, = g.apply((y * 2 + y,))
    f.z, g.f = F.sum(z + z), f


def gradient(f, x, y):
    f.x = x
    F.sum(y * y).backward(enable_double_backprop=True)  # x's gradient comes from y, too


def output_and_loss(f, x, y):
    f.all = y, F.sum(F.exp(y * y) + y)


def all_on_the_way(f, x, y):
    a, b = F.split_axis(y, 2, axis=1)
    c = a * b
    f.all = a, c, F.sum(c + a * y[:, :2])


def both_functions_share(f, x, y):
    g = Loop()
    z, = g.apply((y,))
    f.all, g.all = F.sum(z * y), (z, F.sum(y + z), y)


def classifier(f, x, y):
    model = L.Classifier(lambda x: y)
    f.loss = model(x, np.array([0, 1, 1], 'i'))
    f.model = model  # which keeps y and the loss


def creators(f, x, y):
    loss = F.sum(F.exp(y * y) + y)
    f.all = loss, loss.creator, loss.creator.inputs[0].creator_node, y.creator


LOOPS = creators, output_and_loss, all_on_the_way, both_functions_share, classifier, itself, its_output, closure, node_of_output, node_and_output, loss, node_of_loss, creator_of_loss, another_function, gradient


KEPT = (lambda f, y, z: f, lambda f, y, z: y, lambda f, y, z: y.node, lambda f, y, z: z, lambda f, y, z: z.node, lambda f, y, z: z.creator,
        lambda f, y, z: z.creator.inputs, lambda f, y, z: (z.node, z))


@pytest.mark.parametrize('tie', LOOPS)
def test_cycles_are_collected(tie):
    def make():
        x = chainer.Variable(x_data)
        f = Loop()
        y, = f.apply((x * 1,))
        tie(f, x, y)
        return weakref.ref(f)

    gc.collect()
    gc.disable()
    try:
        reference = make()
        assert reference() is not None  # without the collector it would stay
        gc.collect()
        assert reference() is None
    finally:
        gc.enable()


@pytest.mark.parametrize('tie', LOOPS)
@pytest.mark.parametrize('kept', KEPT)
def test_referenced_parts_of_a_cycle_stay(tie, kept):
    x = chainer.Variable(x_data)

    def make():
        f = Loop()
        y, = f.apply((x * 1,))
        tie(f, x, y)
        return kept(f, y, F.sum(y * y))

    held = make()
    for _ in range(3):
        gc.collect()
    waiting, seen = list(held) if isinstance(held, tuple) else [held], {}
    while waiting:
        end = waiting.pop()
        seen[id(end)] = end
        function = end if isinstance(end, chainer.FunctionNode) else end.creator_node
        waiting += function.inputs if function else ()
    assert id(x.node) in seen and any(isinstance(getattr(end, 'creator_node', end), Loop) for end in seen.values())
    x.cleargrad()
    if isinstance(held, chainer.Variable):
        held.grad = np.ones(held.shape, 'f')
        held.backward()
        assert np.isfinite(x.grad).all() and abs(x.grad).min() > 0


def test_long_chains_die_one_after_the_other():
    x = chainer.Variable(np.zeros(1, 'f'))
    y = x
    for i in range(20000):
        y = Square().apply((y,))[0] if i % 100 == 0 else y * 0
    del y
    y = x
    for _ in range(3000):
        y, = Square().apply((y * 0,))
    y.grad = np.ones(1, 'f')
    y.backward()
    del y


def resident():
    """Returns the resident memory of this process in bytes."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


@pytest.mark.parametrize('looped', [False, True])
def test_memory_stays_flat(looped):
    """CATENARY_TEST_ITERATIONS=1000000 runs a million iterations. Half of the graphs are cycles that the collector has to find."""
    x = chainer.Variable(x_data)

    def some(n):
        for i in range(n):
            f = Loop()
            y = F.sum(f.apply((x * 2,))[0] + x)
            if looped and i % 2:
                f.loss, f.node = y, y.node
            x.cleargrad()
            y.backward()

    some(5000)
    gc.collect()
    before, began = resident(), time.perf_counter()
    some(int(os.environ.get('CATENARY_TEST_ITERATIONS', 20000)))
    gc.collect()
    grown = resident() - before
    print('%.1f s, %.2f MB more' % (time.perf_counter() - began, grown / 1e6))
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):  # the address sanitizer delays frees
        assert grown < 2 << 20


def backward_of(size):
    x = chainer.Variable(np.ones((size, size), 'f'))
    y = F.sum(F.exp(x @ x * 1e-9))
    y.grad = np.ones((), 'f')

    def run():
        x.cleargrad()
        y.grad = np.ones((), 'f')
        y.backward()
    return run


def grad_of(size):
    x = chainer.Variable(np.ones((size, size), 'f'))
    y = F.sum(F.exp(x @ x * 1e-9))
    return lambda: chainer.grad([y], [x])


def updates_of(size):
    p = chainer.Parameter(np.ones((size, size), 'f'))
    p.grad = np.ones((size, size), 'f')
    formula = _core._Formula('SGD')
    return lambda: formula.update(1, [0.1], [(p, {})])


@pytest.mark.parametrize('work_of', [backward_of, grad_of, updates_of])
def test_another_thread_runs_meanwhile(work_of):
    assert gives_turns(work_of(512), work_of(4), 10000)


def test_gradients_are_added_without_the_gil():
    def accumulated(f):
        x = chainer.Variable(np.random.RandomState(0).uniform(-1, 1, (300, 300)).astype('f'))
        x.grad = np.full((300, 300), 3, 'f')
        for loss_scale in (None, 2.0):
            F.sum(f(x @ x) * x).backward(loss_scale=loss_scale)
        return x.grad, x._loss_scale

    (ours, scale), (with_python, other) = accumulated(F.square), accumulated(lambda x: Square().apply((x,))[0])
    np.testing.assert_allclose(ours, with_python, rtol=1e-4, atol=1e-4)
    assert scale == other == 2.0


def test_threads_that_train_and_collect():
    """Threads train one model each, while others collect garbage and read gradients."""
    batch = np.random.RandomState(0).uniform(-1, 1, (64, 300)).astype('f'), np.arange(64, dtype='i') % 10
    models, results, errors, ended = [], {}, [], threading.Event()

    def train(i):
        try:
            random = np.random.RandomState(1)
            model = L.Classifier(chainer.Sequential(L.Linear(300, 400, initialW=random.normal(size=(400, 300)) * 0.05), F.relu,
                                                    L.Linear(400, 10, initialW=random.normal(size=(10, 400)) * 0.05)))
            models.append(model)
            optimizer = chainer.optimizers.Adam().setup(model)
            for _ in range(15):
                optimizer.update(model, *batch)
                f = Loop()
                f.y = F.sum(f.apply((model.y,))[0])
            results[i] = float(model.loss.array)
        except BaseException as error:
            errors.append(error)

    def look():
        while not ended.is_set():
            gc.collect()
            for model in list(models):
                for p in model.params():
                    p.grad is None or p.grad.sum()

    threads = [threading.Thread(target=train, args=(i,)) for i in range(4)] + [threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads[:4]:
        thread.join()
    ended.set()
    threads[4].join()
    assert not errors, errors
    assert len(set(results.values())) == 1, results
