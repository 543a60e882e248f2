"""Trains as users of Chainer 1.5 did: a Chain in a Classifier, volatile variables, and optimizer.update of a function."""
import argparse
import os
import tempfile

import data
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import computational_graph, cuda, optimizers, serializers


class MnistMLP(chainer.Chain):
    def __init__(self, n_in, n_units, n_out):
        super(MnistMLP, self).__init__(l1=L.Linear(n_in, n_units), l2=L.Linear(n_units, n_units), l3=L.Linear(n_units, n_out))

    def __call__(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


parser = argparse.ArgumentParser()
parser.add_argument('--gpu', '-g', type=int, default=-1)
args = parser.parse_args()
mnist = data.load_mnist_data()
x_train, x_test = np.split(mnist['data'].astype(np.float32) / 255, [60000])
y_train, y_test = np.split(mnist['target'].astype(np.int32), [60000])

model = L.Classifier(MnistMLP(784, 100, 10))
if args.gpu >= 0:
    cuda.get_device(args.gpu).use()
    model.to_gpu()
xp = np if args.gpu < 0 else cuda.cupy
optimizer = optimizers.Adam()
optimizer.setup(model)

out = tempfile.TemporaryDirectory()
perm = np.random.permutation(60000)
for i in range(0, 60000, 100):
    x = chainer.Variable(xp.asarray(x_train[perm[i:i + 100]]))
    t = chainer.Variable(xp.asarray(y_train[perm[i:i + 100]]))
    optimizer.update(model, x, t)
    if i == 0:
        graph = computational_graph.build_computational_graph((model.loss,))
        assert 'LinearFunction' in graph.dump() or 'Linear' in graph.dump()

correct = 0
for i in range(0, 10000, 100):
    x = chainer.Variable(xp.asarray(x_test[i:i + 100]), volatile='on')
    t = chainer.Variable(xp.asarray(y_test[i:i + 100]), volatile='on')
    loss = model(x, t)
    assert loss.creator is None
    correct += float(model.accuracy.data) * len(t.data)
path = os.path.join(out.name, 'mlp.model')
serializers.save_npz(path, model)
serializers.load_npz(path, model)
serializers.save_npz(path, optimizer)
serializers.load_npz(path, optimizer)
print('accuracy', correct / 10000)
