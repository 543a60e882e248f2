"""The trainer of versions 1.12 to 7.8, with the names that each version's users wrote."""
import argparse
import json
import os
import sys
import tempfile

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions

parser = argparse.ArgumentParser()
parser.add_argument('version', choices=('1.12.0', '1.24.0', '4.0.0', '5.1.0', '6.2.0', '7.0.0b2', '7.8.1'))
parser.add_argument('--gpu', '-g', type=int, default=-1)
parser.add_argument('--batchsize', type=int, default=100)
args = parser.parse_args()
version = tuple(int(part) for part in args.version.replace('b2', '').split('.'))


class OfArguments(chainer.Chain):
    """A chain of Chainer 1."""

    def __init__(self, n_in, n_units, n_out):
        super(OfArguments, self).__init__(l1=L.Linear(n_in, n_units), l2=L.Linear(n_units, n_units), l3=L.Linear(n_units, n_out))

    def __call__(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


class OfScope(chainer.Chain):
    """A chain from version 2 on."""

    def __init__(self, n_units, n_out):
        super(OfScope, self).__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_units)
            self.l3 = L.Linear(None, n_out)

    def forward(self, x):
        h1 = F.relu(self.l1(x))
        h2 = F.relu(self.l2(h1))
        return self.l3(h2)


def on_device(model):
    """Moves the model as the version's users did, and returns the device argument of updaters."""
    if version >= (6,):
        device = chainer.get_device(args.gpu)
        if version >= (7,):
            model.to_device(device)
            device.use()
        else:
            device.use()
            model.to_device(device)
        return device
    if args.gpu >= 0:
        if version < (2,):
            chainer.cuda.get_device(args.gpu).use()
        elif version < (4,):
            chainer.cuda.get_device_from_id(args.gpu).use()
        else:
            chainer.backends.cuda.get_device_from_id(args.gpu).use()
        model.to_gpu()
    return args.gpu


def first_or_before():
    """Returns the keyword argument that calls an extension before training."""
    return {'call_before_training': True} if version >= (7,) else {'invoke_before_training': True} if version < (2,) else {}


if version < (1, 24):
    model = L.Classifier(OfArguments(784, 100, 10))
elif version < (2,):
    model = L.Classifier(OfArguments(None, 100, 10))
else:
    model = L.Classifier(OfScope(100, 10))
device = on_device(model)
optimizer = chainer.optimizers.Adam()
optimizer.setup(model)

train, test = chainer.datasets.get_mnist()
train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)
out = tempfile.TemporaryDirectory()
Updater = training.StandardUpdater if version < (4,) else training.updaters.StandardUpdater
trainer = training.Trainer(Updater(train_iter, optimizer, device=device), (1, 'epoch'), out=out.name)
trainer.extend(extensions.Evaluator(test_iter, model, device=device), **first_or_before())
trainer.extend(extensions.DumpGraph('main/loss') if version >= (7, 1) else extensions.dump_graph('main/loss'))
if version >= (7, 1):
    trainer.extend(extensions.snapshot(n_retains=1, autoload=False), trigger=(1, 'epoch'))
elif version >= (1, 24):
    trainer.extend(extensions.snapshot(), trigger=(1, 'epoch'))
else:
    trainer.extend(extensions.snapshot(trigger=(1, 'epoch')))
trainer.extend(extensions.LogReport())
if version >= (4,) and extensions.PlotReport.available():
    trainer.extend(extensions.PlotReport(['main/loss', 'validation/main/loss'], 'epoch', file_name='loss.png'))
trainer.extend(extensions.PrintReport(
    ['epoch', 'main/loss', 'validation/main/loss', 'main/accuracy', 'validation/main/accuracy', 'elapsed_time']), **first_or_before())
trainer.extend(extensions.ProgressBar(out=sys.stderr))
trainer.run()

with open(os.path.join(out.name, 'log')) as file:
    print('accuracy', json.load(file)[-1]['validation/main/accuracy'])
chainer.serializers.load_npz(os.path.join(out.name, 'snapshot_iter_%d' % optimizer.t), trainer)
