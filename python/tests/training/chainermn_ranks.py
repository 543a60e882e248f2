"""A rank of chainermn_test.py: `chainermn_ranks.py CASE ARGUMENTS…`, started by `catenary launch` or MPI. A failure raises an exception, which ends
the job."""

import itertools
import os
import pathlib
import signal
import sys
import threading
import time

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import numpy
from chainer import training
from chainer.training import extensions

DTYPES = ('bool', 'int8', 'uint8', 'int16', 'int32', 'int64', 'uint64', 'float16', 'float32', 'float64')


def same(got, expected):
    """Asserts equal values, dtype, shape and kind of array."""
    assert type(got) is type(expected), (type(got), type(expected))
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, got.shape, expected.dtype, expected.shape)
    numpy.testing.assert_array_equal(chainer.backends.cuda.to_cpu(got), chainer.backends.cuda.to_cpu(expected))


def arrays_of(xp):
    """Returns arrays that each rank can generate for every other rank: all dtypes, empty and 0-d shapes, layouts other than C order."""
    def made(rank, dtype, shape):
        n = int(numpy.prod(shape))
        return xp.asarray(((numpy.arange(n) * 7 + rank * 3 + 1) % 11).reshape(shape).astype(dtype))
    for dtype, shape in itertools.product(DTYPES, ((3, 4), (), (0, 2), (5,))):
        yield lambda rank, dtype=dtype, shape=shape: made(rank, dtype, shape)
    for change in (lambda x: x.T, lambda x: x[::-1], lambda x: x[:, 1:3], lambda x: xp.broadcast_to(x[:, :1], (3, 4))):
        yield lambda rank, change=change: change(made(rank, 'float32', (3, 4)))


def arrays(on):
    import cupy
    comm = chainermn.create_communicator('naive')
    n, me = comm.size, comm.rank
    xp = numpy if on == 'numpy' else cupy
    for of in arrays_of(xp):
        x, all_x = of(me), [of(rank) for rank in range(n)]
        same(comm.bcast(x if me == n - 1 else None, root=n - 1), all_x[-1])
        gathered = comm.gather(x, root=0)
        assert (gathered is None) == (me != 0)
        for ys in filter(None, (gathered, comm.allgather(x))):
            assert isinstance(ys, tuple)
            for y, expected in zip(ys, all_x, strict=True):
                same(y, expected)
        same(comm.scatter(all_x if me == 0 else None), x)
        for y, expected in zip(comm.alltoall(tuple(of(me + rank) for rank in range(n))), (of(rank + me) for rank in range(n)), strict=True):
            same(y, expected)
        comm.send(x, (me + 1) % n, 3) if n > 1 else None
        if n > 1:
            same(comm.recv((me - 1) % n, 3), all_x[me - 1])
            comm.send([x, x], (me + 1) % n)
            two = comm.recv((me - 1) % n)
            assert isinstance(two, tuple) and len(two) == 2
            same(two[1], all_x[me - 1])
        if x.dtype != bool:
            total = sum(chainer.backends.cuda.to_cpu(y).astype('f8') for y in all_x)
            same(comm.allreduce(x), xp.asarray(numpy.asarray(total).astype(x.dtype)))
    stack = xp.arange(3 * n, dtype='f').reshape(n, 3)
    same(comm.scatter(stack if me == 0 else 7), stack[me])
    y = comm.allreduce(stack)
    y += 1  # it is the caller's
    ours = xp.full((1 << 18,), me, 'f')
    same(comm.allreduce(ours), xp.full((1 << 18,), sum(range(n)), 'f'))
    same(ours, xp.full((1 << 18,), me, 'f'))
    wrong = ((TypeError, lambda: comm.allreduce([x])), (TypeError, lambda: comm.allreduce(numpy.array([1j]))),
             (ValueError, lambda: comm.alltoall([x] * (n + 1))), (ValueError, lambda: comm.scatter([x] * (n + 1), root=me)),
             (ValueError, lambda: comm.send([numpy.ones(1), cupy.ones(1)] if on != 'numpy' else [1, x], 0)),
             (TypeError, lambda: comm.send([numpy.ones(1), numpy.ones(1, 'f')], 0)), (TypeError, lambda: comm.send(3, 0)),
             (ValueError, lambda: comm.send(x, n)), (ValueError, lambda: comm.recv(-1)), (ValueError, lambda: comm.gather(x, root=n)))
    for kind, call in wrong:
        try:
            call()
        except kind:
            continue
        raise AssertionError('nothing was thrown')


def objects():
    comm = chainermn.create_communicator('flat')
    n, me = comm.size, comm.rank
    large = {'name': ['a', None, 2.5], 'x': numpy.arange(100_000) + me, 'text': 'é' * 100_000, 'empty': numpy.zeros((0, 3))}

    def check(got, rank):
        assert got['name'] == large['name'] and got['text'] == large['text'] and got['empty'].shape == (0, 3)
        same(got['x'], numpy.arange(100_000) + rank)
        got['x'][0] = 1  # it is the receiver's

    check(comm.bcast_obj(dict(large, x=large['x'].copy()) if me == 0 else None), 0)
    assert comm.bcast_obj(None) is None
    for got in filter(None, (comm.gather_obj(large, root=n - 1), comm.allgather_obj(large))):
        for rank, each in enumerate(got):
            check(each, rank)
    check(comm.scatter_obj([dict(large, x=numpy.arange(100_000) + rank) for rank in range(n)] if me == 0 else None), me)
    assert comm.allreduce_obj([me]) == list(range(n))
    if n > 1:
        comm.send_obj('first', (me + 1) % n, tag=5)
        comm.send_obj(large, (me + 1) % n, tag=6)
        comm.send(numpy.ones(2), (me + 1) % n, tag=7)
        assert comm.recv_obj((me - 1) % n) == 'first'  # of any tag
        check(comm.recv_obj((me - 1) % n, tag=6), (me - 1) % n)
        try:
            comm.recv_obj((me - 1) % n)
        except ValueError as error:
            assert 'expected an object (send_obj)' in str(error), error
        else:
            raise AssertionError('an array was taken for an object')
    part = comm.split(me % 2, -me)
    assert part.size == (n + 1 - me % 2) // 2 and type(part) is type(comm)
    assert part.allgather_obj(me) == list(reversed(range(me % 2, n, 2)))
    assert comm.mpi_comm.Get_rank() == comm.mpi_comm.rank == me and comm.mpi_comm.allreduce(1) == n
    comm.mpi_comm.Barrier()
    again = chainermn.create_communicator('naive', comm.mpi_comm)
    assert again.allgather_obj(me) == list(range(n))
    assert (comm.intra_size, comm.inter_size, comm.intra_rank, comm.inter_rank) == (n, 1, me, 0)
    comm.set_config('collective_timeout', 3)
    assert comm.get_config('collective_timeout') == 3
    comm.finalize()


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1, self.l2, self.unused = L.Linear(None, 8), L.Linear(8, 3), L.Linear(2, 2)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def to(model, on):
    model.to_device(on if on == '@numpy' else '@cupy:%d' % (0 if on == 'one' else int(on) + chainermn.create_communicator('naive').rank))
    return model


def gradients(on, names):
    """Tests the mean of gradients and the broadcast of rank 0's parameters with each communicator."""
    for name in names.split(','):
        comm = chainermn.create_communicator(name)
        n, me = comm.size, comm.rank
        for dtype in ('float32', 'float64', 'float16'):
            with chainer.using_config('dtype', numpy.dtype(dtype)):
                model = to(Net(), on)
            xp = model.xp
            with chainer.using_device(model.device):
                model.l2.W.array[...] = me + 1
                comm.bcast_data(model)  # l1 waits for its shape
                same(model.l2.W.array, xp.full((3, 8), 1, dtype))
                model.cleargrads()
                model.l2.W.grad = xp.asarray(numpy.full((8, 3), me, dtype).T)
                model.l2.b.grad = xp.arange(3).astype(dtype) if me == 0 else None
                with chainer.using_config('dtype', numpy.dtype(dtype)):
                    comm.multi_node_mean_grad(model, zero_fill=True)
                if name == 'dummy':
                    same(model.l2.W.grad, xp.full((3, 8), me, dtype))
                    continue
                same(model.l2.W.grad, xp.full((3, 8), (n - 1) / 2, dtype))
                same(model.l2.b.grad, xp.asarray((numpy.arange(3) / n).astype(dtype)))
                same(model.unused.W.grad, xp.zeros((2, 2), dtype))
                model.l2.W.grad[...] *= 2  # it is the caller's
                chainer.set_debug(True)
                model.l2.b.grad[...] = numpy.nan
                try:
                    comm.multi_node_mean_grad(model)
                except ValueError as error:
                    assert 'diverged' in str(error)
                else:
                    raise AssertionError('NaN was not told')
                chainer.set_debug(False)
        comm.finalize()


class TheSameNet(Net):
    """A model whose initial weights come from a seed on every device."""

    def __init__(self, seed):
        super().__init__()
        draw = numpy.random.RandomState(seed)
        self.l1.W.initialize((8, 4))
        for _, p in sorted(self.namedparams()):
            p.array[...] = draw.uniform(-1, 1, p.shape)


def examples():
    draw = numpy.random.RandomState(1)
    return list(zip(draw.uniform(-1, 1, (40, 4)).astype('f'), draw.randint(0, 3, 40).astype('i'), strict=True))


def training_of_all(name, on, out, double_buffering='no'):
    """Trains for some epochs. Rank 0 writes the weights, and its log has the evaluator's mean over all ranks."""
    comm = chainermn.create_communicator(name)
    model = to(L.Classifier(TheSameNet(comm.rank)), on)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.MomentumSGD(0.1), comm, double_buffering=double_buffering == 'yes')
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-3))
    data = examples()
    if comm.size == 1:  # in the order in which two ranks receive them
        data = data[:10] + data[20:30] + data[10:20] + data[30:]
    data = chainermn.scatter_dataset(data if comm.rank == 0 else None, comm)
    iterator = chainer.iterators.SerialIterator(data, 20 // comm.size, shuffle=False)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer, device=model.device), (6, 'iteration'), out=out)
    check = chainer.iterators.SerialIterator(data, 5, repeat=False, shuffle=False)
    trainer.extend(chainermn.create_multi_node_evaluator(extensions.Evaluator(check, model, device=model.device), comm),
                   trigger=(2, 'iteration'))
    if comm.rank == 0:
        trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    trainer.run()
    weights = chainer.backends.cuda.to_cpu(model.predictor.l1.W.array)
    for other in comm.allgather(weights):
        same(other, weights)
    if comm.rank == 0:
        chainer.serializers.save_npz(os.path.join(out, 'weights.npz'), model)


def resumed(out, until, dies_at):
    """Trains with shuffling and dropout, saves every 3 iterations, and resumes from the newest set."""
    comm = chainermn.create_communicator('flat')
    numpy.random.seed(comm.rank)
    model = L.Classifier(chainer.Sequential(TheSameNet(0), lambda x: F.dropout(x, 0.3)))
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(chainermn.scatter_dataset(examples() if comm.rank == 0 else None, comm), 3)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), (int(until), 'iteration'), out=out)
    checkpointer = chainermn.create_multi_node_checkpointer('some.job', comm, cp_interval=2, gc_interval=2)
    trainer.extend(checkpointer, trigger=(3, 'iteration'))
    checkpointer.finalize = lambda: None  # else it takes its files away at the end
    checkpointer.maybe_load(trainer, optimizer)

    @training.make_extension(trigger=(1, 'iteration'))
    def die(trainer):
        if trainer.updater.iteration == int(dies_at) and comm.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    trainer.extend(die, name='die')
    trainer.run()
    if comm.rank == 0:
        chainer.serializers.save_npz(os.path.join(out, 'weights.npz'), model)


def vectors(path):
    """Compares collectives, scattering, training and batch normalisation with ChainerMN's vectors, which this program also generated."""
    comm = chainermn.create_communicator('naive')
    expected = numpy.load(pathlib.Path(path) / f'ranks_{comm.size}.npz')
    me = comm.rank
    x = expected[f'x_{me}']
    parts = [numpy.ascontiguousarray(x[:, 2 * i:2 * i + 2]) for i in range(comm.size)]
    for name, got in (('allreduce', comm.allreduce(x)), ('bcast', comm.bcast(x if me == 1 else None, root=1)),
                      ('allgather', comm.allgather(x)), ('scatter', comm.scatter(parts if me == 0 else None)),
                      ('alltoall', comm.alltoall(parts))):
        # MPI's order of summation is unspecified
        numpy.testing.assert_allclose(got, expected[f'{name}_{me}'], rtol=1e-6 if name == 'allreduce' else 0, err_msg=name)
    for total in (10, 11, 3):
        for force in (True, False):
            assert list(expected[f'index_{total}_{force:d}_{me}']) == list(chainermn.scatter_index(total, comm, force_equal_length=force))
        assert list(expected[f'scatter_{total}_{me}']) == list(chainermn.scatter_dataset(list(range(total)) if me == 0 else None, comm))
    data, label = expected[f'data_{me}'], expected[f'label_{me}']
    for rule in (chainer.optimizers.SGD, chainer.optimizers.Adam):
        model = chainer.Sequential(L.Linear(6, 5), F.relu, L.Linear(5, 3))
        if me == 0:
            for name, p in model.namedparams():
                p.array[...] = expected['w' + name]
        optimizer = chainermn.create_multi_node_optimizer(rule(), comm).setup(model)
        for step in range(20):
            at = slice(5 * (step % 6), 5 * (step % 6) + 5)
            optimizer.update(lambda at=at: F.softmax_cross_entropy(model(data[at]), label[at]))
        for name, p in model.namedparams():
            numpy.testing.assert_allclose(p.array, expected[f'{rule.__name__}_f{name}'], rtol=2e-5, atol=2e-6)
    link = chainermn.links.MultiNodeBatchNormalization(4, comm)
    bx = chainer.Variable(expected[f'bx_{me}'])
    with chainer.using_config('train', True):
        y = link(bx)
    y.grad = expected[f'bgy_{me}']
    y.backward()
    for name, got in (('by', y.array), ('bgx', bx.grad), ('bggamma', link.gamma.grad), ('bgbeta', link.beta.grad),
                      ('avg_mean', link.avg_mean), ('avg_var', link.avg_var)):
        numpy.testing.assert_allclose(got, expected[f'{name}_{me}'], rtol=2e-5, atol=2e-6, err_msg=name)


def differ():
    comm = chainermn.create_communicator('naive')
    try:
        comm.allreduce(numpy.ones(3 + comm.rank, 'f'))
    except ValueError as error:
        assert 'rank 0 calls allreduce of float32 (3,)' in str(error) and 'float32 (4,)' in str(error), error
        print('told')


def dies(how):
    """Ends rank 1 in some way while the others wait for it."""
    comm = chainermn.create_communicator('flat')
    comm.bcast_obj(1 if comm.rank == 0 else None)
    if comm.rank == 1:
        if how == 'sigkill':
            os.kill(os.getpid(), signal.SIGKILL)
        if how == 'hook':
            chainermn.global_except_hook.add_hook()
            threading.Thread(target=time.sleep, args=(250,)).start()  # which the end of a process waits for
        if how == 'abort':
            comm.mpi_comm.Abort()
        raise RuntimeError('what rank 1 could not do')
    comm.allreduce(numpy.ones(3))


def twins():
    """Tests that no file is imported as two modules."""
    import chainermn.communicators.naive_communicator  # noqa: F401
    files = [(getattr(module, '__file__', None), name) for name, module in sys.modules.items() if 'chainermn' in name and name != '__main__']
    seen = {}
    for file, name in files:
        assert seen.setdefault(file, name) == name or file is None, (file, name, seen[file])
    import catenary.chainermn
    assert catenary.chainermn is chainermn and chainermn.create_communicator.__module__ == 'chainermn.communicators'
    assert chainermn.functions.send.__module__.startswith('chainermn.functions')
    print('one each')


def some_ranks():
    """Tests a communicator of mpi4py's with some of the ranks in another order."""
    import mpi4py.MPI as mpi
    world = mpi.COMM_WORLD
    comm = chainermn.create_communicator('naive', world)
    part = world.Split(world.rank % 2, -world.rank)
    half = chainermn.create_communicator('flat', part)
    assert (comm.rank, half.rank, half.size) == (world.rank, part.rank, part.size)
    assert half.allgather_obj(world.rank) == part.allgather(world.rank)
    assert comm.mpi_comm is world


if __name__ == '__main__':
    {'arrays': arrays, 'objects': objects, 'gradients': gradients, 'training': training_of_all, 'resumed': resumed, 'vectors': vectors,
     'differ': differ, 'dies': dies, 'twins': twins, 'some_ranks': some_ranks}[sys.argv[1]](*sys.argv[2:])
