"""Losses with parameters."""
import heapq

import numpy

from ... import backend, functions, initializers
from ...link import Link
from ...utils import argument, type_check
from ...utils.walker_alias import WalkerAlias
from ...variable import Parameter, as_variable
from .._weights import constant, weight
from ..rnn.n_step import argsort_list_descent, permutate_list


class _Sampled(Link):
    """A link that owns a sampler of negative examples."""

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        self.sampler.device_resident_accept(visitor)


class BlackOut(_Sampled):
    """Loss of BlackOut: a softmax over the true class and sampled ones."""

    sample_data = None

    def __init__(self, in_size, counts, sample_size):
        super().__init__()
        share = numpy.array(counts, numpy.float32)
        share /= share.sum()
        self.sampler = WalkerAlias(share)
        self.sample_size = sample_size
        with self.init_scope():
            self.W = Parameter(shape=(len(counts), in_size))

    def forward(self, x, t):
        samples = self.sample_data
        if samples is None:
            samples = self.sampler.sample((x.shape[0], self.sample_size))
        return functions.black_out(x, t, self.W, samples)


class NegativeSampling(_Sampled):
    """Loss of negative sampling, which tells the true class from sampled ones."""

    def __init__(self, in_size, counts, sample_size, power=0.75, dtype=None):
        from ... import get_dtype
        super().__init__()
        dtype = get_dtype(dtype, map_mixed16=numpy.float32)
        self.sample_size = sample_size
        share = numpy.array(counts, dtype)
        numpy.power(share, power, share)
        self.sampler = WalkerAlias(share)
        with self.init_scope():
            self.W = weight(initializers.Constant(0, dtype), (len(counts), in_size))

    def forward(self, x, t, reduce='sum', **kwargs):
        return_samples, = argument.parse_kwargs(kwargs, ('return_samples', False))
        return functions.negative_sampling(x, t, self.W, self.sampler.sample, self.sample_size, reduce=reduce,
                                           return_samples=return_samples)


class CRF1d(Link):
    """Loss of a linear chain of labels (conditional random field) with a matrix of transition costs."""

    def __init__(self, n_label, initial_cost=None):
        super().__init__()
        with self.init_scope():
            self.cost = constant(initial_cost, 0, (n_label, n_label))

    def forward(self, xs, ys, reduce='mean', transpose=False):
        if not transpose:
            return functions.crf1d(self.cost, xs, ys, reduce)
        order = argsort_list_descent(xs)
        xs, ys = (functions.transpose_sequence(permutate_list(seqs, order, inv=False)) for seqs in (xs, ys))
        return functions.crf1d(self.cost, xs, ys, reduce)

    def argmax(self, xs, transpose=False):
        """Returns the best score and path of labels for each sequence."""
        if not transpose:
            return functions.argmax_crf1d(self.cost, xs)
        order = argsort_list_descent(xs)
        score, path = functions.argmax_crf1d(
            self.cost, functions.transpose_sequence(permutate_list(xs, order, inv=False)))
        path = [step.array if hasattr(step, 'array') else step for step in functions.transpose_sequence(path)]
        score = functions.permutate(score, self.xp.asarray(order), inv=True)
        return score, permutate_list(path, order, inv=True)


def _collect(tree, visits, found):
    """Adds (nodes, codes) of the way to each leaf. Inner nodes are numbered from the root down, left side first."""
    if not isinstance(tree, tuple):
        found[tree] = [(node, code) for node, code in visits]
        return
    left, right = tree
    node = found.setdefault(None, 0)
    found[None] = node + 1
    _collect(left, visits + [(node, 1.0)], found)
    _collect(right, visits + [(node, -1.0)], found)


class _Ways:
    """Nodes (`paths`) and signs (`codes`) on the way to each leaf; leaf i has the entries from begins[i] on."""

    def __init__(self, found, dtype):
        ways = [found.get(leaf, []) for leaf in range(max(found) + 1)]
        self.begins = numpy.cumsum([0] + [len(way) for way in ways]).astype(numpy.int32)
        self.paths = numpy.array([node for way in ways for node, _ in way], numpy.int32)
        self.codes = numpy.array([code for way in ways for _, code in way], dtype)

    def choose(self, labels):
        """Returns row of the batch, node and sign for each decision about the labels."""
        entries = [numpy.arange(self.begins[label], self.begins[label + 1]) for label in labels]
        rows = numpy.repeat(numpy.arange(len(labels), dtype=numpy.int32), [len(entry) for entry in entries])
        entries = numpy.concatenate(entries) if entries else numpy.empty(0, numpy.int64)
        return rows, self.paths[entries], self.codes[entries]


class BinaryHierarchicalSoftmax(Link):
    """Loss of a softmax as binary decisions on the way from the root of a tree to the leaf of the true class.

    A tree is a class index or a pair of trees.
    """

    def __init__(self, in_size, tree, dtype=None):
        from ... import get_dtype
        super().__init__()
        found = {}
        _collect(tree, [], found)
        nodes = found.pop(None, 0)
        dtype = get_dtype(dtype, map_mixed16=numpy.float32)
        self._func = _Ways(found, dtype)
        with self.init_scope():
            self.W = weight(initializers.Uniform(1.0, dtype), (nodes, in_size))

    @staticmethod
    def create_huffman_tree(word_counts):
        """Returns the Huffman tree of a dictionary from classes to counts."""
        if not word_counts:
            raise ValueError('a Huffman tree needs one class or more')
        heap = [(count, number, word) for number, (word, count) in enumerate(word_counts.items())]
        heapq.heapify(heap)
        while len(heap) > 1:
            small, large = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (small[0] + large[0], min(small[1], large[1]), (small[2], large[2])))
        return heap[0][2]

    def _check(self, x, t):
        types = type_check.get_types((x.array, t.array), 'in_types', False)
        type_check._argname(types, ('x', 't'))
        type_check.expect(types[0].dtype.kind == 'f', types[0].ndim == 2, types[1].dtype == numpy.int32,
                          types[1].ndim == 1, types[0].shape[0] == types[1].shape[0],
                          types[0].shape[1] == self.W.shape[1])

    def forward(self, x, t):
        x, t = as_variable(x), as_variable(t)
        self._check(x, t)
        labels = backend.CpuDevice().send(t.array)
        xp = self.xp
        with backend.using_device(self.device):
            rows, nodes, codes = map(xp.asarray, self._func.choose(labels))
            scores = functions.sum(functions.embed_id(rows, x) * functions.embed_id(nodes, self.W), axis=1)
            if x.dtype != numpy.float16:
                return functions.sum(functions.softplus(-codes.astype(x.dtype) * scores))
            scores = functions.cast(scores, numpy.float32)
            loss = functions.sum(functions.softplus(-codes.astype(numpy.float32) * scores))
            return functions.cast(loss, numpy.float16)
