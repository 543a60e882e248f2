"""Iterators, converters and datasets of the package catenary/chainer."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402


def test_a_batch_is_a_list_that_fetches_when_looked_at():
    run('''
import copy, pickle
import numpy as np
import chainer
from chainer.dataset import concat_examples
x, t = np.arange(24, dtype='f').reshape(8, 3), np.arange(8, dtype='i')
def batch(data, size=3):
    return chainer.iterators.SerialIterator(data, size, shuffle=False).next()
for data, kind in ((chainer.datasets.TupleDataset(x, t), tuple), (chainer.datasets.DictDataset(x=x, t=t), dict), (x, np.ndarray)):
    fetched = [data[i] for i in range(3)]
    same = lambda a, b: all(map(np.array_equal, a, b)) if kind is tuple else np.array_equal(a, b) if kind is np.ndarray else \\
        a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)
    for look in (list, tuple, lambda b: b[:], lambda b: b + [], lambda b: [] + b, lambda b: [b[i] for i in range(-3, 0)], lambda b: list(reversed(b))[::-1],
                 copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b)), lambda b: sum([b], []), lambda b: [*b], lambda b: b.copy()):
        made = batch(data)
        assert isinstance(made, list) and len(made) == 3 and made
        looked = look(made)
        assert len(looked) == 3 and all(map(same, looked, fetched)), look
        assert len(made) == 3
    lazily, looked = batch(data), batch(data)
    looked[0]
    a, b = concat_examples(lazily), concat_examples(looked)
    assert type(a) is type(b) and same(a, b) if kind is not np.ndarray else a.dtype == b.dtype and np.array_equal(a, b)
made = batch(chainer.datasets.TupleDataset(x, t))
made.append((x[7], t[7]))  # a changed list counts
assert [list(part) for part in zip(*made)][1] == [0, 1, 2, 7]
assert concat_examples(made)[1].tolist() == [0, 1, 2, 7]
made[0][0][:] = 100  # an example is a view, as in the original
assert x[0].tolist() == [100, 100, 100]
class Own(chainer.datasets.TupleDataset):
    def __getitem__(self, i):
        return super().__getitem__(i)[1] + 1
assert concat_examples(batch(Own(x, t))).tolist() == [1, 2, 3]
assert concat_examples([(np.ones(2), 1), (np.zeros(3), 2)], padding=(7, None))[0].tolist() == [[1, 1, 7], [0, 0, 0]]
''')


def test_processes_return_any_example_and_their_errors():
    run('''
import collections
import numpy as np
import chainer
Pair = collections.namedtuple('Pair', 'a b')
class Data:
    def __len__(self):
        return 11
    def __getitem__(self, i):
        if i == self.bad:
            raise KeyError('example', i)
        return Pair(np.full((i, 2), i, 'f'), {'list': [np.array(i), 'text', None], 'empty': np.zeros((0, 3)), 'objects': np.array([i, None], object)})
    bad = None
for memory in (None, 0, 8, 10 ** 6):
    with chainer.iterators.MultiprocessIterator(Data(), 4, shuffle=False, repeat=False, n_processes=2, n_prefetch=2, shared_mem=memory) as it:
        seen = [example for batch in it for example in batch]
    assert len(seen) == 11
    for i, (a, b) in enumerate(seen):
        assert np.array_equal(a, np.full((i, 2), i, 'f')) and a.dtype == np.float32 and b['list'][0] == i and b['list'][1:] == ['text', None]
        assert b['empty'].shape == (0, 3) and b['objects'].tolist() == [i, None] and isinstance(seen[i], Pair)
        a += 1  # a copy of its own
for kind, options in ((chainer.iterators.MultiprocessIterator, {'n_processes': 2}), (chainer.iterators.MultithreadIterator, {'n_threads': 2})):
    data = Data()
    data.bad = 6
    it = kind(data, 4, shuffle=False, **options)
    assert len(it.next()) == 4
    try:
        it.next()
        assert False
    except KeyError as error:
        assert error.args == ('example', 6)
    it.finalize()
''')


def test_downloads_are_made_once_and_prepared():
    run('''
import gzip, io, os, pathlib, pickle, struct, tarfile, tempfile
import numpy as np
import chainer
from chainer import datasets
root = pathlib.Path(tempfile.mkdtemp())
chainer.dataset.set_dataset_root(str(root / 'cache'))
site = root / 'site'
site.mkdir()
rng = np.random.default_rng(0)
truth = {}
for part, prefix, count in (('train', 'train', 7), ('test', 't10k', 3)):
    images, labels = rng.integers(0, 256, (count, 28, 28), dtype='u1'), rng.integers(0, 10, count, dtype='u1')
    truth[part] = images, labels
    with gzip.open(site / f'{prefix}-images-idx3-ubyte.gz', 'wb') as file:
        file.write(struct.pack('>4i', 0x803, count, 28, 28) + images.tobytes())
    with gzip.open(site / f'{prefix}-labels-idx1-ubyte.gz', 'wb') as file:
        file.write(struct.pack('>2i', 0x801, count) + labels.tobytes())
from catenary import _core
def no_mnist():
    raise FileNotFoundError('mnist')
own, _core._mnist = _core._mnist, no_mnist
for module, get, folder in ((datasets.mnist, datasets.get_mnist, 'mnist'), (datasets.fashion_mnist, datasets.get_fashion_mnist, 'fashion-mnist'),
                            (datasets.kuzushiji_mnist, datasets.get_kuzushiji_mnist, 'kuzushiji_mnist')):
    module._URL = site.as_uri() + '/'
    for again in range(2):
        for data, (images, labels) in zip(get(), truth.values()):
            x, t = data[:][1]
            assert np.array_equal(x, images[1].ravel().astype('f') * np.float32(1 / 255.)) and x.dtype == np.float32 and t == labels[1] and t.dtype == np.int32
        module._URL = 'file:///nowhere/'  # the cache is used
    train, test = get(withlabel=False, ndim=3, scale=255., dtype=np.float16, rgb_format=True)
    assert train.shape == (7, 3, 28, 28) and train.dtype == np.float16 and np.array_equal(train[2, 1], truth['train'][0][2].astype('e'))
    assert sorted(os.listdir(root / 'cache/pfnet/chainer' / folder)) == ['test.npz', 'train.npz']
    assert sorted(np.load(root / 'cache/pfnet/chainer' / folder / 'train.npz').files) == ['x', 'y']

# the library's own copy, without a network
chainer.dataset.set_dataset_root(str(root / 'fresh'))
_core._mnist = own
assert [(len(part), part[0][1], round(float(part[0][0].sum()))) for part in datasets.get_mnist()] == [(60000, 5, 108), (10000, 7, 72)]
chainer.dataset.set_dataset_root(str(root / 'cache'))

def archive(name, files):
    with tarfile.open(site / name, 'w:gz') as made:
        for path, content in files.items():
            data = pickle.dumps(content)
            info = tarfile.TarInfo(path)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
ten = {f'cifar-10-batches-py/{name}': {'data': rng.integers(0, 256, (2, 3072), dtype='u1'), 'labels': [3, 4]}
       for name in ['test_batch'] + [f'data_batch_{i}' for i in range(1, 6)]}
archive('cifar-10-python.tar.gz', ten)
real = chainer.dataset.download.cached_download
chainer.dataset.download.cached_download = lambda url: real(site.as_uri() + '/' + url.rpartition('/')[2])
train, test = datasets.get_cifar10()
assert len(train) == 10 and len(test) == 2 and train[0][0].shape == (3, 32, 32) and train[3][1] == 4
assert np.allclose(test[1][0].ravel() * 255, ten['cifar-10-batches-py/test_batch']['data'][1], atol=1e-4)
class Evil:
    def __reduce__(self):
        return os.mkdir, (str(root / 'ran'),)
archive('cifar-100-python.tar.gz', {'cifar-100-python/train': Evil(), 'cifar-100-python/test': Evil()})
try:
    datasets.get_cifar100()
    assert False
except pickle.UnpicklingError as error:
    assert 'mkdir' in str(error) and not (root / 'ran').exists()

for part, text in (('train', ' a b a \\n c \\n'), ('valid', ' b \\n'), ('test', ' c a \\n')):
    (site / f'ptb.{part}.txt').write_text(text)
words = datasets.get_ptb_words()
assert [part.tolist() for part in words] == [[0, 1, 0, 2, 3, 2], [1, 2], [3, 0, 2]]
assert datasets.get_ptb_words_vocabulary() == {'a': 0, 'b': 1, '<eos>': 2, 'c': 3}
''')


def test_svhn_and_parts_of_datasets():
    run('''
import tempfile
import numpy as np
import chainer
from chainer import datasets
from scipy import io
root = tempfile.mkdtemp()
chainer.dataset.set_dataset_root(root)
rng = np.random.default_rng(0)
content = {'X': rng.integers(0, 256, (32, 32, 3, 4), dtype='u1'), 'y': np.array([[1], [10], [9], [2]], 'u1')}
io.savemat(root + '/one.mat', content)
chainer.dataset.download.cached_download = lambda url: root + '/one.mat'
sets = datasets.get_svhn(add_extra=True, scale=255.)
assert len(sets) == 3 and [int(t) for _, t in sets[2]] == [1, 0, 9, 2]
assert np.array_equal(sets[0][1][0], content['X'][:, :, :, 1].transpose(2, 0, 1))
assert sorted(np.load(root + '/pfnet/chainer/svhn/test.npz').files) == ['x', 'y']
data = list(range(7))
parts = datasets.get_cross_validation_datasets(data, n_folds=3)
assert [(sorted([*train, *valid]), len(valid)) for train, valid in parts] == [(data, 3), (data, 2), (data, 2)]
assert sorted(i for _, valid in parts for i in valid) == data
first, second = datasets.split_dataset_random(data, 3, seed=5)
assert len(first) == 3 and sorted([*first, *second]) == data and first[-1] == list(first)[-1]
for bad in (-1, 8, 2.5):
    try:
        datasets.split_dataset(data, bad)
        assert False
    except (ValueError, TypeError):
        pass
''')


def test_parts_may_be_properties_and_hooks_take_names():
    run('''
import inspect, os
os.environ['CHAINER_DATASET_ROOT'] = ''
from chainer import dataset, function_hooks, training
assert dataset.get_dataset_root() == ''
class Chosen(training.updaters.StandardUpdater):
    _optimizers = property(lambda self: {'main': 3})
    _iterators = property(lambda self: {'main': 4})
    def __init__(self):
        pass
chosen = Chosen()
assert chosen.get_optimizer('main') == 3 and chosen.get_all_optimizers() == {'main': 3} and chosen.get_iterator('main') == 4
for way in ('forward', 'backward'):
    names = list(inspect.signature(getattr(function_hooks.CUDAProfileHook, way + '_postprocess')).parameters)
    assert names == ['self', 'function', 'in_data', 'out_grad'][:3 if way == 'forward' else 4], names
''')


def test_two_batches_are_both_fetched():
    run('''
import numpy as np
import chainer
def batch():
    return chainer.iterators.SerialIterator(np.arange(3, dtype='f'), 3, shuffle=False).next()
wanted = [0, 1, 2]
assert batch() + batch() == wanted + wanted and batch() == batch() and not batch() != batch() and not batch() < batch()
joined = batch()
joined += batch()
joined.extend(batch())
joined[1:1] = batch()
assert joined == [0] + wanted + [1, 2] + wanted + wanted
''')


def test_batches_in_order_are_copies():
    run('''
import numpy as np
import chainer
from chainer.dataset import concat_examples
x, t = np.arange(22, dtype='f').reshape(11, 2), np.arange(11, dtype='i')[::-1]
iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x, t), 4, shuffle=False)
seen = []
for _ in range(6):  # the third and the sixth batch cross the end of an epoch
    a, b = concat_examples(iterator.next())
    assert a.shape == (4, 2) and a.flags.c_contiguous and b.flags.c_contiguous
    assert np.array_equal(a, x[10 - b])
    seen += b.tolist()
    a[:], b[:] = -1, -1
assert seen == [*range(10, -1, -1)] * 2 + [10, 9] and x.min() == 0 and t.min() == 0
end = chainer.iterators.SerialIterator(x, 4, repeat=False, shuffle=False)
assert [concat_examples(batch).tolist() for batch in end] == [x[:4].tolist(), x[4:8].tolist(), x[8:].tolist()]
threads = chainer.iterators.MultithreadIterator(x, 4, repeat=False, shuffle=False, n_threads=2)
assert [len(batch) for batch in threads] == [4, 4, 3]
''')


def test_batches_equal_indexing_for_all_dtypes_and_orders():
    run('''
import numpy as np
import chainer
from chainer.dataset import concat_examples
random = np.random.RandomState(3)
class Order(chainer.iterators.OrderSampler):
    def __init__(self, order):
        self.order = order
    def __call__(self, order, position):
        return self.order
def batches(columns, order, size=4):
    data = chainer.datasets.TupleDataset(*columns)
    iterator = chainer.iterators.SerialIterator(data, size, repeat=False, shuffle=False if order is None else None,
                                                order_sampler=None if order is None else Order(order))
    return [concat_examples(batch) for batch in iterator]
columns = [random.rand(13, 5), random.rand(13, 1100).astype('f'), random.rand(13, 3, 2).astype('e'), random.rand(13) > 0.5,
           np.arange(13).astype('>i4'), np.arange(26).reshape(13, 2)[:, ::-1], np.asfortranarray(random.rand(13, 3)), np.array(list('abcdefghijklm')),
           np.array([[i] for i in range(13)], object), random.rand(13, 2) + 1j, np.zeros((13, 0), 'f'), np.arange(13)[::-1],
           np.arange(13).astype('M8[D]'), *[np.arange(13).astype(d) for d in 'bBhHiIlLqQ']]
for order in (None, random.permutation(13), random.permutation(13).astype('i'), random.permutation(13) - 13, random.permutation(26)[::2] % 13,
              random.permutation(13).tolist()):
    where = np.arange(13) if order is None else np.asarray(order)
    for i, made in enumerate(batches(columns, order)):
        for column, array in zip(columns, made):
            wanted = column[where[4 * i:4 * i + 4]]
            assert type(array) is np.ndarray and array.dtype == wanted.dtype and array.shape == wanted.shape, (column.dtype, order)
            assert np.array_equal(array, wanted) and array.flags.writeable and not np.shares_memory(array, column)
for bad in (np.full(13, 13), np.full(13, -14)):
    try:
        batches(columns, bad)
    except IndexError:
        pass
    else:
        assert False
''')


def test_an_array_that_occurs_twice_is_converted_once():
    run('''
import numpy as np
from catenary.chainer._backend import convert
x, y = np.zeros(3), np.ones(2)
made = convert((x, [y, x], None), np.copy)
assert made[0] is made[1][1] and made[2] is None and isinstance(made[1], list)
''')
