"""Functions and operators of our chainer on the library's graph: values and gradients that Chainer recorded."""

import operator as operator_module

import chainer
import chainer.functions as F
import numpy as np
import pytest
from graph_shared import numbers_of, recorded, some, x_data


images, labels, states = some(2, 4, 6, 5), np.array([0, 2, 1], 'i'), [some(n, 3, seed=n) for n in (3, 2, 2)]
boxes, box_of = np.array([[0, 0, 3, 4], [1, 1, 4, 4]], 'f'), np.array([0, 1], 'i')


def gates(count, width=3):
    return [[some(4, width if i < count // 2 else 4, seed=i) - 0.5 for i in range(count)]]


def of_images(f, **arguments):
    return lambda call: call(getattr(F, f), images, **arguments)


COMPUTATIONS = [
    lambda call: call(F.add, images, images, images), lambda call: call(F.absolute, some(3, 2) - 0.5), lambda call: call(F.fmod, images, images * 0.3),
    lambda call: call(F.argmax, images, axis=1),
    lambda call: call(F.einsum, 'ij,jk->ik', some(2, 3), some(3, 4)), lambda call: call(F.fft, (some(2, 4), some(2, 4))), lambda call: call(F.sum_to, images, (2, 1, 6, 5)),
    lambda call: call(F.broadcast, some(2, 1), some(1, 3)), lambda call: call(F.cast, images, np.float64), of_images('space2depth', r=1), of_images('diagonal', axis1=2, axis2=3),
    lambda call: call(F.get_item, images, (0, slice(1, None, 2), Ellipsis, 1)), of_images('im2col', ksize=3, pad=1), of_images('moveaxis', source=(0, 1), destination=(2, 0)),
    of_images('pad', pad_width=((1, 0), (0, 0), (2, 1), (0, 3)), mode='constant', constant_values=2), lambda call: call(F.pad_sequence, [some(2), some(3)], padding=-1),
    lambda call: call(F.permutate, some(3, 2), np.array([2, 0, 1], 'i')), of_images('repeat', repeats=2, axis=1), of_images('resize_images', output_shape=(3, 7)),
    of_images('tile', reps=(2, 1)), lambda call: call(F.transpose_sequence, states), lambda call: call(F.split_axis, some(5, 2), [2, 3], 0),
    lambda call: call(F.convolution_1d, some(2, 3, 7), some(4, 3, 2), some(4), stride=2), lambda call: call(F.dilated_convolution_2d, images, some(3, 4, 2, 2), dilate=2),
    lambda call: call(F.depthwise_convolution_2d, images, some(2, 4, 2, 3)), lambda call: call(F.local_convolution_2d, images, some(3, 5, 4, 4, 2, 2)),
    lambda call: call(F.bilinear, some(2, 3), some(2, 4), some(3, 4, 5)), of_images('max_pooling_2d', ksize=2), of_images('max_pooling_nd', ksize=(2, 3), stride=1),
    of_images('average_pooling_nd', ksize=2, pad=1, pad_value=None), of_images('unpooling_2d', ksize=2), of_images('spatial_pyramid_pooling_2d', pyramid_height=2, pooling='max'),
    of_images('roi_average_align_2d', rois=boxes, roi_indices=box_of, outsize=2, spatial_scale=1.0, sampling_ratio=(1, 2)), of_images('dropout', ratio=0.3),
    lambda call: call(F.gaussian, some(2, 3), some(2, 3)), lambda call: call(F.slstm, some(2, 2), some(2, 2), some(2, 8), some(2, 8)),
    lambda call: call(F.tree_lstm, some(2, 2), some(2, 2), some(2, 10)), lambda call: call(F.n_step_lstm, 1, 0.0, some(1, 3, 4), some(1, 3, 4), gates(8), [[some(4)] * 8], states),
    lambda call: call(F.n_step_gru, 1, 0.0, some(1, 3, 4), gates(6), [[some(4)] * 6], states), lambda call: call(F.n_step_rnn, 1, 0.0, some(1, 3, 4), gates(2), [[some(4)] * 2], states),
    lambda call: call(F.hinge, some(3, 4), labels, norm='L2'), lambda call: call(F.huber_loss, some(3, 4), some(3, 4, seed=9), 0.1),
    lambda call: call(F.contrastive, some(3, 4), some(3, 4, seed=9), np.array([0, 1, 1], 'i')), lambda call: call(F.triplet, some(3, 4), some(3, 4, seed=8), some(3, 4, seed=9)),
    lambda call: call(F.decov, some(3, 4)), lambda call: call(F.connectionist_temporal_classification, [some(2, 3, seed=i) for i in range(5)], np.array([[1, 2], [2, 1]], 'i'), 0),
    lambda call: call(F.crf1d, some(3, 3), states, [np.array(t, 'i') for t in ([0, 1, 2], [1, 0], [2, 2])]),
    lambda call: call(F.binary_accuracy, some(4) - 0.5, np.array([1, 0, 1, -1], 'i')), lambda call: call(F.precision, some(3, 4), labels), lambda call: call(F.r2_score, some(5), some(5, seed=4)),
    lambda call: call(F.batch_renormalization, some(5, 3), some(3), some(3), 1.5, 0.5, running_mean=np.zeros(3, 'f'), running_var=np.ones(3, 'f'))]


@pytest.mark.parametrize('case', range(len(COMPUTATIONS)))
def test_values_and_gradients_are_chainers(case):
    """Compares results and their types, gradients, and the noise of NumPy's generator."""
    inputs = []

    def variables(argument):
        if isinstance(argument, np.ndarray) and argument.dtype == 'f' and argument is not boxes and not np.isin(argument, (0, 1)).all():
            inputs.append(chainer.Variable(argument.copy()))
            return inputs[-1]
        if isinstance(argument, (list, tuple)) and not all(isinstance(item, (int, tuple, slice, type(Ellipsis))) for item in argument):
            return type(argument)(variables(item) for item in argument)
        return argument

    def call(f, *arguments, **keywords):
        return f(*variables(arguments), **{name: variables(value) for name, value in keywords.items()})

    def flat(results):
        return [results] if isinstance(results, chainer.Variable) else [y for part in results for y in flat(part)]

    def kind(part):
        return 'sequence' if isinstance(part, (list, tuple)) else type(part).__name__

    np.random.seed(5)
    results = COMPUTATIONS[case](call)
    values = flat(results)
    loss = sum(F.sum(y * np.arange(1, y.size + 1, dtype=y.dtype).reshape(y.shape)) for y in values if y.creator is not None and y.dtype.kind == 'f')
    if isinstance(loss, chainer.Variable):
        loss.backward()
    kinds = [type(results).__name__, [kind(part) for part in results] if isinstance(results, tuple) else None]
    expected_kinds, expected, expected_gradients = recorded('values', case)
    assert kinds == expected_kinds
    assert len(values) == len(expected) and len(inputs) == len(expected_gradients)
    for y, e in zip(values, expected):
        assert y.dtype == e.dtype
        np.testing.assert_allclose(y.array, e, rtol=2e-4, atol=1e-5)
    for x, e in zip(inputs, expected_gradients):
        assert (x.grad is None) == (e is None)
        if e is not None:
            np.testing.assert_allclose(x.grad, e, rtol=1e-3, atol=1e-4)


def sampled(shape):
    return np.random.randint(0, 5, shape).astype('i')


def clusters():
    """Uses as many images as clusters, since Chainer's own function requires that."""
    return np.random.RandomState(4).randint(0, 5, (4, 3, 4)).astype('i')


RARE = [
    ('argmax_crf1d', lambda f, v: f(v(some(3, 3)), [v(x) for x in states])),
    ('batch_matmul', lambda f, v: f(v(some(2, 3, 4)), v(some(2, 3, 5)), transa=True)), ('batch_matmul', lambda f, v: f(v(some(2, 3)), v(some(2, 4)), False, True)),
    ('discriminative_margin_based_clustering_loss', lambda f, v: f(v(some(4, 4, 3, 4)), clusters(), 0.05, 0.2, 4)),
    ('discriminative_margin_based_clustering_loss', lambda f, v: f(v(some(4, 4, 3, 4)), clusters(), 0.05, 0.2, 4, 1, alpha=2.0, gamma=0.5)),
    ('fixed_batch_renormalization', lambda f, v: f(v(some(5, 3)), v(some(3)), v(some(3)), v(some(3)), v(some(3)))),
    ('gumbel_softmax', lambda f, v: f(v(some(3, 4)), tau=0.3)), ('gumbel_softmax', lambda f, v: f(v(some(3, 4)), axis=0)),
    ('negative_sampling', lambda f, v: f(v(some(3, 4)), labels, v(some(5, 4)), sampled, 2)),
    ('negative_sampling', lambda f, v: f(v(some(3, 4)), np.array([0, -1, 4], 'i'), v(some(5, 4)), sampled, 2, reduce='no', return_samples=True)),
    ('rrelu', lambda f, v: f(v(some(3, 4) - 0.5))), ('rrelu', lambda f, v: f(v(some(3, 4) - 0.5), 0.2, u=0.7, return_r=True)),
    ('rrelu', lambda f, v: f(v(some(3, 4) - 0.5), r=some(3, 4, seed=8))),
    ('scatter_add', lambda f, v: f(v(some(4, 3)), ([0, 2, 2], np.array([1, 0, 0])), v(some(3, seed=5)))),
    ('scatter_add', lambda f, v: f(v(some(4, 3)), (slice(1, None, 2), None, 1), v(some(2, 1, seed=5)))),
    ('zoneout', lambda f, v: f(v(some(3, 4)), v(some(3, 4, seed=9)), 0.4)),
    ('softmax_cross_entropy', lambda f, v: f(v(some(3, 4)), labels, class_weight=some(4, seed=9))),
    ('softmax_cross_entropy', lambda f, v: f(v(some(3, 4)), np.array([1, -1, 3], 'i'), False, class_weight=some(4, seed=9), reduce='no')),
    ('get_item', lambda f, v: f(v(some(4, 3)), np.array([2, 0, 2]))), ('get_item', lambda f, v: f(v(some(4, 3)), [3, 1])),
    ('get_item', lambda f, v: f(v(some(4, 3)), (np.array([[True, False, True]] * 4)))), ('get_item', lambda f, v: f(v(some(4, 3)), (np.int64(1), slice(np.int32(2))))),
    ('reshape', lambda f, v: f(v(some(2, 3)), (np.int64(3), np.int32(2))))]


@pytest.mark.parametrize('case', range(len(RARE)))
def test_rare_functions_and_arguments_are_chainers(case):
    name, compute = RARE[case]
    inputs = []

    def variable(array):
        inputs.append(chainer.Variable(array.copy()))
        return inputs[-1]

    def flat(results):
        return [results] if isinstance(results, (chainer.Variable, np.ndarray)) else [y for part in results for y in flat(part)]

    np.random.seed(5)
    results = compute(getattr(F, name), variable)
    values = flat(results)
    loss = sum(F.sum(y * np.arange(1, y.size + 1, dtype=y.dtype).reshape(y.shape)) for y in values if isinstance(y, chainer.Variable))
    loss.backward()
    kinds, expected, expected_gradients, drawn = recorded('rare', case)
    assert [type(each).__name__ for each in (results, *values)] == kinds
    assert np.random.random() == drawn  # as many of NumPy's random numbers
    for y, e in zip(values, expected):
        assert y.dtype == e.dtype
        np.testing.assert_allclose(getattr(y, 'array', y), e, rtol=2e-4, atol=1e-5)
    for x, e in zip(inputs, expected_gradients):
        np.testing.assert_allclose(x.grad, e, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize('transposed', [False, True])
@pytest.mark.parametrize('batch', [(), (2,)])
def test_sparse_products_are_dense_ones(batch, transposed):
    """Chainer's own function needs SciPy here."""
    rows, columns = np.array([[0, 1, 1, 3], [2, 0, -1, -1]], 'i')[:2 if batch else 1], np.array([[2, 0, 0, 1], [1, 1, -1, -1]], 'i')[:2 if batch else 1]
    data = chainer.Variable(some(*batch, 4))
    matrix = chainer.utils.CooMatrix(data.array, *(a if batch else a[0] for a in (rows, columns)), (4, 3))
    matrix.data = data
    counted = chainer.Variable(data.array.copy())
    values = F.reshape(counted, (-1, 4))
    dense = F.stack([F.scatter_add(np.zeros((4, 3), 'f'), (r[r >= 0], c[c >= 0]), values[i, :(r >= 0).sum()]) for i, (r, c) in enumerate(zip(rows, columns))])
    dense = F.reshape(dense, (*batch, 4, 3))
    for of_sparse, of_dense in (
            (lambda b: F.sparse_matmul(matrix, b, transa=transposed), lambda b: F.matmul(dense, b, transa=transposed)),
            (lambda b: F.sparse_matmul(F.swapaxes(b, -1, -2), matrix, transb=not transposed), lambda b: F.matmul(F.swapaxes(b, -1, -2), dense, transb=not transposed))):
        b, other = (chainer.Variable(some(*batch, 4 if transposed else 3, 2)) for _ in range(2))
        data.cleargrad()
        counted.cleargrad()
        y, expected = of_sparse(b), of_dense(other)
        np.testing.assert_allclose(y.array, expected.array, rtol=1e-5)
        assert type(y.creator).__module__ == 'chainer.functions'
        F.sum(y * y).backward()
        F.sum(expected * expected).backward()
        np.testing.assert_allclose(b.grad, other.grad, rtol=1e-4)
        np.testing.assert_allclose(data.grad, counted.grad, rtol=1e-4)
    with pytest.raises(ValueError, match='one matrix must be sparse'):
        F.sparse_matmul(matrix, matrix)


def test_keyword_only_arguments():
    with pytest.raises(TypeError):
        F.rrelu(x_data, 0.1, 0.2, x_data)
    with pytest.raises(TypeError):
        F.negative_sampling(x_data, labels, some(5, 4), sampled, 2, 'sum', True)
    with pytest.raises(TypeError):
        F.pad(x_data, 1, 'constant', 3)
    with pytest.raises(TypeError):
        F.batch_normalization(x_data, some(4), some(4), 1e-3)
    with pytest.raises(TypeError):
        F.resize_images(some(1, 1, 2, 2), (4, 4), 'nearest')


OTHERS = [np.float32(1.5), np.float64(1.5), np.float16(1.5), np.int64(2), numbers_of(3, 4), numbers_of(4), numbers_of(3, 1), np.array(2, 'f'),
          numbers_of(3, 4).astype('d'), numbers_of(3, 4).T.copy().T]


@pytest.mark.parametrize('case', range(len(OTHERS)))
@pytest.mark.parametrize('operator', ['add', 'sub', 'mul', 'truediv', 'pow'])
@pytest.mark.parametrize('swapped', [False, True])
def test_operators_beside_numpys_values_are_chainers(case, operator, swapped):
    other, operate = OTHERS[case], getattr(operator_module, operator)
    x = chainer.Variable(np.abs(x_data) + 1)
    positive = abs(other) + (0 if np.isscalar(other) else type(other.flat[0])(1)) if isinstance(other, np.ndarray) else other
    try:
        y = operate(positive, x) if swapped else operate(x, positive)
        y.grad = np.ones_like(y.array)
        y.backward()
        results = y.array, x.grad
    except Exception as error:
        results = type(error).__name__
    expected = recorded('operators', case, operator, swapped)
    if isinstance(expected, str):
        assert results == expected
        return
    for ours, e in zip(results, expected):
        assert ours.dtype == e.dtype and type(ours) is type(e)
        # Chainer multiplies by 1 / other in float16
        np.testing.assert_allclose(ours, e, rtol=1e-3 if operator == 'truediv' and other.dtype == 'e' else 1e-5)


EDGES = [
    lambda x: F.relu(x), lambda x: F.leaky_relu(x), lambda x: F.leaky_relu(x, 0), lambda x: F.leaky_relu(x, -1), lambda x: F.elu(x),
    lambda x: F.elu(x, -2), lambda x: F.selu(x), lambda x: F.clipped_relu(x, 2.0), lambda x: F.relu6(x), lambda x: F.hard_sigmoid(x),
    lambda x: F.crelu(x, axis=0), lambda x: F.prelu(x, np.array(0.25, 'f')), lambda x: F.prelu(np.array([np.inf, 1, -2], 'f'), F.sum(x[2:4])), lambda x: F.clip(x, -1.0, 2.0), lambda x: F.absolute(x), lambda x: F.sigmoid(x),
    lambda x: F.tanh(x), lambda x: F.softplus(x), lambda x: F.maximum(x, np.zeros(9, 'f')), lambda x: F.minimum(x, np.full(9, 2, 'f')),
    lambda x: F.huber_loss(x[2:], np.zeros(7, 'f'), 1.0, reduce='no'), lambda x: F.absolute_error(x, np.zeros(9, 'f')), lambda x: F.squeeze(x),
    lambda x: F.concat(F.transpose_sequence([F.reshape(x, (3, 3)), F.reshape(x, (3, 3))[:0]]), axis=0), lambda x: F.stack(F.broadcast(x, x * 1))]


@pytest.mark.parametrize('case', range(len(EDGES)))
def test_values_and_gradients_at_the_edges_are_chainers(case):
    """Inputs are zeros of both signs, infinities, and points where a function is not smooth."""
    x = chainer.Variable(np.array([np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 2.0, -2.5, 6.0], 'f'))
    y = EDGES[case](x)
    assert y is not x
    y.grad = np.arange(1, y.size + 1, dtype='f').reshape(y.shape)
    y.backward()
    value, gradient = recorded('edges', case)
    np.testing.assert_allclose(y.array, value, rtol=1e-6)
    np.testing.assert_allclose(x.grad, gradient, rtol=1e-4)


def test_sequences_without_rows_have_gradients():
    xs = [chainer.Variable(some(n, 3)) for n in (2, 1, 0)]
    F.sum(F.concat(F.transpose_sequence(xs), axis=0)).backward()
    assert [x.grad.tolist() for x in xs] == [[[1, 1, 1]] * 2, [[1, 1, 1]], []]
