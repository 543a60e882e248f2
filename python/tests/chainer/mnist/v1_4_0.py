"""Trains as users of Chainer 1.4 did: a FunctionSet of functions with parameters, and gradients that the loop sets to zero."""
import argparse

import data
import numpy as np

import chainer
import chainer.functions as F
from chainer import cuda, optimizers

parser = argparse.ArgumentParser()
parser.add_argument('--gpu', '-g', type=int, default=-1)
args = parser.parse_args()
if args.gpu >= 0:
    cuda.init(args.gpu)
xp = cuda.cupy if args.gpu >= 0 else np
batchsize, n_units, N = 100, 100, 60000

mnist = data.load_mnist_data()
mnist['data'] = mnist['data'].astype(np.float32) / 255
mnist['target'] = mnist['target'].astype(np.int32)
x_train, x_test = np.split(mnist['data'], [N])
y_train, y_test = np.split(mnist['target'], [N])

model = chainer.FunctionSet(l1=F.Linear(784, n_units), l2=F.Linear(n_units, n_units), l3=F.Linear(n_units, 10))
if args.gpu >= 0:
    model.to_gpu()


def forward(x_data, y_data, train=True):
    x, t = chainer.Variable(x_data, volatile=not train), chainer.Variable(y_data, volatile=not train)
    h1 = F.dropout(F.relu(model.l1(x)), train=train)
    h2 = F.dropout(F.relu(model.l2(h1)), train=train)
    y = model.l3(h2)
    return F.softmax_cross_entropy(y, t), F.accuracy(y, t)


optimizer = optimizers.Adam()
optimizer.setup(model)
perm = np.random.permutation(N)
for i in range(0, N, batchsize):
    x_batch, y_batch = xp.asarray(x_train[perm[i:i + batchsize]]), xp.asarray(y_train[perm[i:i + batchsize]])
    optimizer.zero_grads()
    loss, acc = forward(x_batch, y_batch)
    loss.backward()
    optimizer.update()

correct = 0
for i in range(0, len(x_test), batchsize):
    loss, acc = forward(xp.asarray(x_test[i:i + batchsize]), xp.asarray(y_test[i:i + batchsize]), train=False)
    assert loss.volatile and loss.creator is None
    correct += float(cuda.to_cpu(acc.data)) * batchsize
print('accuracy', correct / len(x_test))
