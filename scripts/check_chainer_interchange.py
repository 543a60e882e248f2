#!/usr/bin/env python3
"""check_chainer_interchange.py TRAIN_MNIST [--data DIR] [--out DIR]

Checks that weights and snapshots can be exchanged between C++ and Python in both directions, with the `chainer` that this Python imports: ours,
or Chainer 7 with CATENARY_CHAINER=original. TRAIN_MNIST is the built program train_mnist, and --data is the folder of the four
MNIST files. Results are in a temporary folder, or stay in --out.

1. TRAIN_MNIST trains for 3 epochs and writes a snapshot after each.
2. Chainer loads the final weights, and the weights inside the last snapshot. For each of the 10,000 test images it must predict the same
   class as `TRAIN_MNIST inference`. Its validation loss must equal the loss in Catenary's log.
3. Chainer resumes Catenary's first snapshot. Epoch 2 of its log must equal epoch 2 of Catenary's log.
4. Chainer continues to epoch 3, and Catenary resumes Chainer's snapshot of epoch 2. Epoch 3 must be equal in both logs.

The last line is `N passed, N failed`. Exits with 0 if everything agrees.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np

    import chainer
    import chainer.functions as F
    import chainer.links as L
    from chainer import training
    from chainer.training import extensions
except ImportError as error:
    sys.exit('%s\nThis Python lacks the package %s.' % (__doc__, error.name))

UNITS = 50
TOLERANCE = 1e-4


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, UNITS)
            self.l2 = L.Linear(None, UNITS)
            self.l3 = L.Linear(None, 10)

    def forward(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


def read_mnist(folder, name):
    def idx(kind):
        with gzip.open(os.path.join(folder, '%s-%s-ubyte.gz' % (name, kind))) as f:
            data = f.read()
        return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3])

    labels = idx('labels-idx1').astype(np.int32)
    images = idx('images-idx3').reshape(len(labels), 784).astype(np.float32) / 255
    return chainer.datasets.TupleDataset(images, labels)


def make_trainer(train, test, epochs, out):
    model = L.Classifier(MLP())
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    updater = training.updaters.StandardUpdater(chainer.iterators.SerialIterator(train, 100), optimizer)
    trainer = training.Trainer(updater, (epochs, 'epoch'), out)
    trainer.extend(extensions.Evaluator(chainer.iterators.SerialIterator(test, 100, repeat=False, shuffle=False), model))
    trainer.extend(extensions.snapshot(), trigger=(1, 'epoch'))
    trainer.extend(extensions.LogReport())
    return trainer


passed = failures = 0


def check(what, good, detail=''):
    global passed, failures
    passed, failures = passed + bool(good), failures + (not good)
    print('%s %s%s' % ('ok    ' if good else 'FAILED', what, ': ' + detail if detail else ''))


def check_entries(what, ours, theirs):
    for key in ('main/loss', 'main/accuracy', 'validation/main/loss', 'validation/main/accuracy'):
        a, b = ours[key], theirs[key]
        check('%s, %s' % (what, key), abs(a - b) <= TOLERANCE * abs(b), 'Catenary %.8g, Chainer %.8g' % (a, b))
    check('%s, epoch and iteration' % what,
          (ours['epoch'], ours['iteration']) == (theirs['epoch'], theirs['iteration']))


def read_log(folder):
    with open(os.path.join(folder, 'log')) as f:
        return json.load(f)


def exchange(args, out):
    environment = dict(os.environ, CATENARY_DATA=os.path.abspath(args.data))

    def ours(*arguments):
        done = subprocess.run([args.train_mnist, *arguments], env=environment, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()

    train, test = read_mnist(args.data, 'train'), read_mnist(args.data, 't10k')
    here, there, back = (os.path.join(out, name) for name in ('catenary', 'chainer', 'back'))
    ours('-e', '3', '-f', '1', '-u', str(UNITS), '--seed', '1', '--noplot', '-o', here)
    log = read_log(here)

    for name, path in (('model.npz', ''), ('snapshot_iter_1800', 'updater/model:main/')):
        file = os.path.join(here, name)
        model = L.Classifier(MLP())
        chainer.serializers.load_npz(file, model, path=path)
        x, t = chainer.dataset.concat_examples(test)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            loss = float(model(x, t).array)
            predicted = model.predictor(x).array.argmax(axis=1)
        lines = ours('inference', '-s', file, '-n', str(len(test))).splitlines()
        pairs = [line.split() for line in lines if line.startswith('image ')]
        differing = sum(int(pair[3].rstrip(',')) != p for pair, p in zip(pairs, predicted))
        check('%s: predictions' % name, len(pairs) == len(test) and differing == 0,
              '%d of %d images differ' % (differing, len(test)))
        expected = log[-1]['validation/main/loss']
        check('%s: validation loss' % name, abs(loss - expected) <= TOLERANCE * expected,
              'Catenary %.8g, Chainer %.8g' % (expected, loss))

    trainer = make_trainer(train, test, 3, there)
    chainer.serializers.load_npz(os.path.join(here, 'snapshot_iter_600'), trainer)
    trainer.run()
    theirs = read_log(there)
    check('our first epoch is in Chainer\'s log', theirs[0]['main/loss'] == log[0]['main/loss'])
    check_entries('Chainer goes on from our snapshot', log[1], theirs[1])

    ours('-e', '3', '-u', str(UNITS), '--noplot', '-o', back, '--resume', os.path.join(there, 'snapshot_iter_1200'))
    check_entries('we go on from Chainer\'s snapshot', read_log(back)[2], theirs[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('train_mnist')
    parser.add_argument('--data', default=os.path.join(os.path.dirname(__file__), '..', 'data', 'mnist'))
    parser.add_argument('--out', help='folder for the results (default: a temporary folder that is removed)')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        exchange(args, args.out or folder)
    print('%d passed, %d failed' % (passed, failures))
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
