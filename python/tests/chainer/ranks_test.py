"""`chainermn` on the package catenary/chainer: two ranks against one."""

import os
import pathlib
import subprocess
import sys

from catenary import _core

CATENARY = pathlib.Path(_core._library_folder()).parent / 'bin/catenary'
SETUP = '''
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
comm = chainermn.create_communicator('naive')
rank, size = comm.rank, comm.size
assert '/catenary/' in chainer.__file__.replace(chr(92), '/') and '/catenary/' in chainermn.links.__file__
'''


def ranks(code, n=2):
    environment = {name: value for name, value in os.environ.items() if not name.startswith('PYTEST_')}
    environment.update(OMP_NUM_THREADS='1', CATENARY_COLLECTIVE_TIMEOUT='1')
    result = subprocess.run([CATENARY, 'launch', '-n', str(n), '--', sys.executable, '-c', SETUP + code], capture_output=True, text=True, timeout=120,
                            env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


def test_batch_normalisation_of_all_ranks():
    ranks('''
rng = np.random.RandomState(3)
x, g = rng.normal(1, 2, (2, 8, 3, 5)).astype('f')
single = L.BatchNormalization(3)
model = chainermn.links.create_mnbn_model(chainer.Sequential(L.BatchNormalization(3)), comm)
assert isinstance(model[0], chainermn.links.MultiNodeBatchNormalization)
part = slice(4 * rank, 4 * rank + 4)
one, some = chainer.Variable(x), chainer.Variable(x[part])
y, z = single(one), model(some)
np.testing.assert_allclose(z.array, y.array[part], rtol=1e-4, atol=1e-5)
y.grad, z.grad = g, g[part]
single.cleargrads(); model.cleargrads()
y.backward(); z.backward()
np.testing.assert_allclose(some.grad, one.grad[part], rtol=1e-3, atol=1e-5)
np.testing.assert_allclose(model[0].gamma.grad * 2, single.gamma.grad, rtol=1e-4, atol=1e-4)
np.testing.assert_allclose(model[0].avg_mean, single.avg_mean, rtol=1e-5)
''')


def test_optimizers_average_gradients():
    ranks('''
import chainermn.optimizers
model = L.Linear(2, 3)
optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1), comm).setup(model)
model.W.array[...] = rank
optimizer.update()  # copies the parameters of rank 0
assert (model.W.array == 0).all() and optimizer.t == 0 and optimizer.lr == 1
model.cleargrads()
model.W.grad = np.full((3, 2), 1 + 2 * rank, 'f')
optimizer.update()
assert (model.W.array == -2).all() and (model.b.array == 0).all() and optimizer.t == 1
try:
    chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm, double_buffering=True)
    raise AssertionError('not refused')
except ValueError as error:
    assert 'pure_nccl' in str(error)

twice = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1), chainermn.create_communicator('pure_nccl'), double_buffering=True).setup(model)
twice.update()
for step, wanted in ((1, -2), (2, -4), (3, -7)):  # gradients take effect one update later
    model.W.grad = np.full((3, 2), step + 2 * rank, 'f')
    twice.update()
    twice.wait()
    assert (model.W.array == wanted).all(), (step, model.W.array)
''')


def test_datasets_iterators_and_evaluators():
    ranks('''
whole = list(range(7))
part = chainermn.scatter_dataset(whole if rank == 0 else None, comm, shuffle=True, seed=1)
assert len(part) == 4 and set(sum(comm.allgather_obj(part[:]), [])) == set(whole)
assert chainermn.scatter_index(7, comm, force_equal_length=False) == ((0, 4), (4, 7))[rank]
uneven = chainermn.scatter_dataset(whole if rank == 0 else None, comm, force_equal_length=False)
assert sorted(sum(comm.allgather_obj(uneven[:]), [])) == whole

data = np.arange(10).astype('f')
same = chainermn.iterators.create_synchronized_iterator(chainer.iterators.SerialIterator(data, 4), comm)
led = chainermn.iterators.create_multi_node_iterator(chainer.iterators.SerialIterator(data * (1 - rank), 4), comm)
for _ in range(5):
    first, second = comm.allgather_obj([same.next(), led.next(), same.epoch, led.epoch, led.is_new_epoch, led.epoch_detail])
    assert first == second, (first, second)

class Mean(chainer.Chain):
    def forward(self, x):
        chainer.report({'x': x.mean()}, self)
evaluator = chainer.training.extensions.Evaluator(chainer.iterators.SerialIterator(np.full(4, rank, 'f'), 2, repeat=False), Mean())
found = chainermn.create_multi_node_evaluator(evaluator, comm)()
assert list(found.values()) == [.5], found
''')


def test_a_model_on_two_ranks():
    ranks('''
from chainermn import functions as M
x = np.linspace(-1, 1, 6).reshape(2, 3).astype('f')
first, second = L.Linear(3, 4, initialW=.5), L.Linear(4, 2, initialW=-.25)
first.cleargrads(); second.cleargrads()
expected = F.sum(F.square(second(F.tanh(first(x)))))
expected.backward()
wanted = first.W.grad.copy()
first.cleargrads()

class Model(chainermn.MultiNodeChainList):
    def __init__(self):
        super().__init__(comm)
        if rank == 0:
            self.add_link(chainer.Sequential(first, F.tanh), rank_out=1)
        else:
            self.add_link(second, rank_in=0)
model = Model()
y = model(x) if rank == 0 else model()
loss = y if rank == 0 else F.sum(F.square(y))
loss.backward()
if rank == 0:
    np.testing.assert_allclose(first.W.grad, wanted, rtol=1e-5)
else:
    np.testing.assert_allclose(loss.array, expected.array, rtol=1e-6)

v = chainer.Variable(np.full((2, 2), rank + 1, 'f'))
parts = M.allgather(comm, v)
F.sum(parts[0] * 2 + parts[1] * 3).backward()
assert (v.grad == (4, 6)[rank]).all()
''')
