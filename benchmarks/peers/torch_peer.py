"""PyTorch on the processor: eager, compiled, and where it matters with pages kept or subnormal numbers flushed."""

import time

import work
import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, embedding

torch.set_num_threads(work.THREADS)
torch.manual_seed(0)


def layers(*sizes):
    parts = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        parts += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def epoch_of_mnist(who, flush, compiled):
    x, t, x_test, t_test = map(torch.from_numpy, work.mnist())
    net = layers(784, 1000, 1000, 10)
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    forward = torch.compile(net) if compiled else net
    loss_of = torch.compile(lambda a, b: cross_entropy(net(a), b)) if compiled else lambda a, b: cross_entropy(net(a), b)
    loss_of(x[:100], t[:100]).backward()
    with torch.no_grad():
        forward(x_test[:100])
    torch.set_flush_denormal(flush)
    samples = []
    for _ in range(3):  # its moments become subnormal in the second epoch
        start = time.perf_counter()
        order = torch.randperm(len(x))
        for i in range(0, len(x), 100):
            chosen = order[i:i + 100]
            optimizer.zero_grad()
            loss_of(x[chosen], t[chosen]).backward()
            optimizer.step()
        with torch.no_grad():
            right = sum((forward(x_test[i:i + 100]).argmax(1) == t_test[i:i + 100]).sum().item() for i in range(0, len(x_test), 100))
        samples.append(time.perf_counter() - start)
    assert right > 9500, right
    torch.set_flush_denormal(False)
    work.report(who, "A", [sum(samples) / len(samples)])


def mnist():
    epoch_of_mnist("PyTorch, fused Adam", False, False)
    epoch_of_mnist("PyTorch, set_flush_denormal", True, False)
    epoch_of_mnist("torch.compile", False, True)


def deep_network():
    x, t = torch.rand(1024, 784), torch.randint(0, 10, (1024,))
    net = layers(784, *[4096] * 5, 10)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for who, loss_of in (("PyTorch", lambda: cross_entropy(net(x), t)), ("torch.compile", torch.compile(lambda: cross_entropy(net(x), t)))):

        def step():
            optimizer.zero_grad()
            loss_of().backward()
            optimizer.step()

        work.report(who, "B", work.seconds(step, 3))


def chain():
    x = torch.randn(work.CHAIN)

    def formula(x):
        return torch.relu(x * 1.5 + 0.5) * torch.sigmoid(x) + torch.tanh(x)

    compiled = torch.compile(formula)
    work.report("PyTorch", "E", work.seconds(lambda: formula(x)))
    work.report("torch.compile", "E", work.seconds(lambda: compiled(x)))


def products():
    for m, n, k in work.PRODUCTS:
        a, b = torch.rand(m, k), torch.rand(k, n)
        work.report("PyTorch", f"F {m}x{n}x{k}", work.gflops(work.seconds(lambda: a @ b, 15, 3), m, n, k))


def small():
    a, b = torch.ones(10, requires_grad=True), torch.ones(10, requires_grad=True)
    add = work.seconds(lambda: a + b, inner=20000)
    work.report("PyTorch", "G deferred", add)
    work.report("PyTorch", "G computed", add)
    net = nn.Sequential(*[part for _ in range(10) for part in (nn.Linear(10, 10), nn.Tanh())])
    x = torch.randn(10, 10)

    def step():
        net.zero_grad()
        net(x).sum().backward()

    work.report("PyTorch", "G ten layers", work.seconds(step, inner=200))


def moves():
    keys = torch.rand(work.KEYS)
    work.report("PyTorch", "H sort", work.seconds(lambda: torch.sort(keys), 3))
    work.report("PyTorch", "H argsort", work.seconds(lambda: torch.argsort(keys), 3))
    square = torch.rand(4096, 4096)
    for axis in (0, 1):
        work.report("PyTorch", f"H sum {axis}", work.seconds(lambda: square.sum(axis), 15))
    work.report("PyTorch", "H transpose", work.seconds(lambda: square.t().contiguous(), 9))
    table, rows = torch.rand(100_000, 64), torch.randint(0, 100_000, (1_000_000,))
    work.report("PyTorch", "H gather", work.seconds(lambda: embedding(rows, table), 9))
    flat = torch.rand(1_000_000)
    work.report("PyTorch", "H argmax", work.seconds(lambda: flat.argmax(), 15, inner=10))
    work.report("PyTorch", "H argmax rows", work.seconds(lambda: flat.reshape(1000, 1000).argmax(1), 15, inner=10))


work.run({"A": mnist, "B": deep_network, "E": chain, "F": products, "G": small, "H": moves})
