"""Runs the benchmarks with PyTorch on the CPU: eager and compiled. compare.py starts it.

Some rows also run with flushed subnormal numbers or channels_last. With PEER_DTYPE=bfloat16 or float16, the networks of rows B and C run
under autocast.
"""

import contextlib
import os
import time

import work
import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, embedding

torch.set_num_threads(work.THREADS)
torch.manual_seed(0)
DTYPE = os.environ.get("PEER_DTYPE", "float32")


def precision():
    """Returns the context in which networks run: autocast for 16 bits."""
    return contextlib.nullcontext() if DTYPE == "float32" else torch.autocast("cpu", getattr(torch, DTYPE))


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
    for _ in range(3):  # Adam's moments become subnormal in the second epoch
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
            with precision():
                loss = loss_of()
            loss.backward()
            optimizer.step()

        work.report(who, "B", work.seconds(step, 3))


def steps(net, optimizer, compiled):
    """Returns a function that runs one training step with a batch x, t."""
    loss_of = torch.compile(lambda x, t: cross_entropy(net(x), t)) if compiled else lambda x, t: cross_entropy(net(x), t)

    def step(x, t):
        optimizer.zero_grad()
        with precision():
            loss = loss_of(x, t)
        loss.backward()
        optimizer.step()

    return step


def network_of_images(row, make, optimizer_of, shape, runs):
    """Measures each way to run it in PyTorch: both memory formats, eager and compiled."""
    ways = {"PyTorch": (torch.contiguous_format, False), "PyTorch, channels_last": (torch.channels_last, False),
            "torch.compile": (torch.contiguous_format, True), "torch.compile, channels_last": (torch.channels_last, True)}
    t = torch.randint(0, 10, shape[:1])
    for who, (order, compiled) in ways.items():
        net, x = make().to(memory_format=order), torch.rand(shape).contiguous(memory_format=order)
        step = steps(net, optimizer_of(net.parameters()), compiled)
        work.report(who, row + " step", work.seconds(lambda: step(x, t), runs, 2))
        net.eval()
        forward = torch.compile(net) if compiled else net
        with torch.inference_mode(), precision():
            work.report(who, row + " inference", work.seconds(lambda: forward(x), runs, 2))
        torch._dynamo.reset()


class Block(nn.Module):
    """Two 3 x 3 convolutions and a shortcut, like Catenary's BasicBlock."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet18():
    parts = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    for inputs, outputs in ((64, 64), (64, 128), (128, 256), (256, 512)):
        parts += [Block(inputs, outputs, outputs // inputs), Block(outputs, outputs, 1)]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def images():
    def cnn():
        return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))

    network_of_images("C CNN", cnn, lambda p: torch.optim.Adam(p, fused=True), (100, 1, 28, 28), 15)
    net, x = layers(784, 1000, 1000, 10).eval(), torch.rand(100, 784)
    with torch.inference_mode(), precision():
        for who, forward in (("PyTorch", net), ("torch.compile", torch.compile(net))):
            work.report(who, "C MLP inference", work.seconds(lambda: forward(x), 15, 2, 20))
    network_of_images("C ResNet-18", resnet18, lambda p: torch.optim.SGD(p, 0.01, momentum=0.9), (32, 3, 32, 32), 7)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(10_000, 650), nn.LSTM(650, 650, 2), nn.Linear(650, 10_000)

    def forward(self, words):
        return self.out(self.lstm(self.embed(words))[0].flatten(0, 1))


def language():
    words, following = torch.randint(0, 10_000, (35, 20)), torch.randint(0, 10_000, (700,))
    for who, compiled in (("PyTorch", False), ("torch.compile", True)):
        net = Language()
        step = steps(net, torch.optim.SGD(net.parameters(), 0.1), compiled)
        work.report(who, "D", work.seconds(lambda: step(words, following), 7, 2))


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


work.run({"A": mnist, "B": deep_network, "C": images, "D": language, "E": chain, "F": products, "G": small, "H": moves})
