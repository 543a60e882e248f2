"""MNIST as the examples of Chainer 1.4 and 1.5 had it: all 70,000 images in one array."""

import chainer


def load_mnist_data():
    parts = [chainer.dataset.concat_examples(part) for part in chainer.datasets.get_mnist(scale=255)]
    xp = chainer.cuda.get_array_module(parts[0][0])
    return {'data': xp.concatenate([x for x, _ in parts]), 'target': xp.concatenate([t for _, t in parts])}
