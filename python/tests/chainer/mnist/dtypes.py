"""Prints the test accuracies of networks of three or six layers, trained by SGD or Adam, by the line that sets the dtype."""
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

LAYERS, OPTIMIZER, EPOCHS = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def trained(dtype):
    chainer.global_config.dtype = dtype
    np.random.seed(0)
    model = L.Classifier(chainer.Sequential(*[f for _ in range(LAYERS - 1) for f in (L.Linear(None, 100), F.relu)], L.Linear(None, 10)))
    name, rate = ('lr', 0.1) if OPTIMIZER == 'sgd' else ('alpha', 0.001)
    optimizer = (chainer.optimizers.SGD if OPTIMIZER == 'sgd' else chainer.optimizers.Adam)(rate)
    optimizer.setup(model)
    train, test = chainer.datasets.get_mnist()
    updater = chainer.training.StandardUpdater(chainer.iterators.SerialIterator(train, 100), optimizer)
    while updater.epoch < EPOCHS:
        setattr(optimizer, name, rate * max(0.01, 1 - updater.epoch_detail / EPOCHS))  # a constant rate ends at random accuracies
        updater.update()
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        x, t = chainer.dataset.concat_examples(test)
        model(x, t)
    expected = np.float16 if dtype is chainer.mixed16 else dtype
    assert x.dtype == expected and all(p.dtype == expected for p in model.params())
    return float((model.y.array.argmax(axis=1) == t).mean())


for dtype in (np.float32, np.float16, chainer.mixed16):
    print(trained(dtype))
