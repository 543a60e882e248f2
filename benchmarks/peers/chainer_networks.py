"""Times training steps of Chainer and of `catenary bench` alternately, in milliseconds: a small CNN, ResNet-18 and an LSTM language model.

    python benchmarks/peers/chainer_networks.py build/release [cnn resnet18 lstm] [--rounds N]
"""
import argparse
import json
import statistics
import subprocess
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

random = np.random.RandomState(0)


def cnn():
    network = chainer.Sequential(L.Convolution2D(1, 32, 3), F.relu, L.Convolution2D(32, 64, 3), F.relu, lambda h: F.max_pooling_2d(h, 2),
                                 L.Linear(9216, 128), F.relu, L.Linear(128, 10))
    return network, chainer.optimizers.Adam(), random.rand(100, 1, 28, 28).astype('f')


class Block(chainer.Chain):
    """Two convolutions and a shortcut."""

    def __init__(self, before, after, stride):
        super().__init__()
        with self.init_scope():
            self.a, self.a_norm = L.Convolution2D(before, after, 3, stride, 1, nobias=True), L.BatchNormalization(after)
            self.b, self.b_norm = L.Convolution2D(after, after, 3, 1, 1, nobias=True), L.BatchNormalization(after)
            if stride > 1:
                self.across, self.across_norm = L.Convolution2D(before, after, 1, stride, nobias=True), L.BatchNormalization(after)

    def forward(self, x):
        h = self.b_norm(self.b(F.relu(self.a_norm(self.a(x)))))
        return F.relu(h + (self.across_norm(self.across(x)) if hasattr(self, 'across') else x))


def resnet18():
    network = chainer.Sequential(L.Convolution2D(3, 64, 3, pad=1, nobias=True), L.BatchNormalization(64), F.relu)
    for channels in (64, 128, 256, 512):
        stride = 1 if channels == 64 else 2
        network.append(Block(channels // stride, channels, stride))
        network.append(Block(channels, channels, 1))
    network.append(lambda h: F.mean(h, (2, 3)))
    network.append(L.Linear(512, 10))
    return network, chainer.optimizers.MomentumSGD(0.01, 0.9), random.rand(32, 32, 32, 3).astype('f').transpose(0, 3, 1, 2)


class Lstm(chainer.Chain):
    def __init__(self, units=650, words=10000):
        super().__init__()
        with self.init_scope():
            self.embed, self.lstm, self.out = L.EmbedID(words, units), L.NStepLSTM(2, units, units, 0), L.Linear(units, words)

    def forward(self, ids):
        return self.out(F.concat(self.lstm(None, None, list(F.separate(self.embed(ids))))[2], 0))


def lstm():
    return Lstm(), chainer.optimizers.SGD(0.1), random.randint(0, 10000, (20, 35)).astype('i')


def step_of(make):
    network, optimizer, x = make()
    optimizer.setup(network)
    labels = random.randint(0, 10000, 700).astype('i') if make is lstm else (np.arange(len(x)) % 10).astype('i')

    def step():
        network.cleargrads()
        F.softmax_cross_entropy(network(x), labels).backward()
        optimizer.update()

    return step


def milliseconds(step, seconds=1.0):
    """Returns the median time of one step, measured for about `seconds`."""
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        start = time.perf_counter()
        step()
        found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found)


parser = argparse.ArgumentParser()
parser.add_argument('build', help='the build folder, which holds bin/catenary')
parser.add_argument('networks', nargs='*', default=['cnn', 'resnet18', 'lstm'])
parser.add_argument('--rounds', type=int, default=3)
args = parser.parse_args()
for name in args.networks:
    step = step_of(globals()[name])
    step()
    ours, theirs = [], []
    for _ in range(args.rounds):
        told = subprocess.run([f'{args.build}/bin/catenary', 'bench', name, '--json'], check=True, capture_output=True, text=True).stdout
        theirs.append(1e3 * json.loads(told)['results'][0]['seconds'])
        ours.append(milliseconds(step))
    print(f'{name}: catenary bench', *(f'{t:.1f}' for t in theirs), '  Chainer', *(f'{t:.1f}' for t in ours), '  best by best',
          f'{min(ours) / min(theirs):.2f}', flush=True)
