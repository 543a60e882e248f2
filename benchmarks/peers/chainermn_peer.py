"""Runs the benchmarks with ChainerMN (of Chainer 7.8.1) on NumPy and mpi4py: all-reduce, and an epoch of MNIST with its evaluation.

mpiexec -n RANKS python chainermn_peer.py
"""

import os
import time

os.environ.setdefault("PEER_THREADS", "1")

import work  # noqa: E402  (it sets the number of threads)
import numpy as np  # noqa: E402
import chainer  # noqa: E402
import chainer.functions as F  # noqa: E402
import chainer.links as L  # noqa: E402
import chainermn  # noqa: E402
from chainer import training  # noqa: E402

comm = chainermn.create_communicator("naive")


def tell(row, samples):
    if comm.rank == 0:
        work.report("ChainerMN", row, samples)


def all_reduce(count):
    x = np.ones(count, np.float32)
    samples = []
    for i in range(11):
        comm.mpi_comm.Barrier()
        start = time.perf_counter()
        comm.allreduce(x)
        if i:
            samples.append(time.perf_counter() - start)
    tell(f"M {count * 4e-6:g} MB", samples)


def epochs_of_mnist():
    x, t, x_test, t_test = work.mnist()
    train = test = None
    if comm.rank == 0:
        train = chainer.datasets.TupleDataset(x, t.astype(np.int32))
        test = chainer.datasets.TupleDataset(x_test, t_test.astype(np.int32))
    train = chainermn.scatter_dataset(train, comm, shuffle=True, seed=0)
    test = chainermn.scatter_dataset(test, comm)
    model = L.Classifier(chainer.Sequential(L.Linear(784, 1000), F.relu, L.Linear(1000, 1000), F.relu, L.Linear(1000, 10)))
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(model)
    updater = training.StandardUpdater(chainer.iterators.SerialIterator(train, 400), optimizer)
    trainer = training.Trainer(updater, (2, "epoch"))
    evaluator = training.extensions.Evaluator(chainer.iterators.SerialIterator(test, 400, repeat=False, shuffle=False), model)
    trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm))
    comm.mpi_comm.Barrier()
    start = time.perf_counter()
    trainer.run()
    tell("M MNIST", [(time.perf_counter() - start) / 2])


all_reduce(1_800_000)
all_reduce(25_000_000)
epochs_of_mnist()
