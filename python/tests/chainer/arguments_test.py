"""Arguments of functions that only few scripts pass: words, keywords, integers, mixed dtypes, noise that is given, keys with lists."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import RAISED, run  # noqa: E402

BEGIN = '''
import numpy as np, chainer
import chainer.functions as F
V = chainer.Variable
rng = np.random.RandomState(0)
''' + RAISED


def out(code):
    return run(BEGIN + code).split('\n')[:-1]


def test_functions_of_shapes_take_integers():
    assert out('''
x = np.arange(6, dtype=np.int64).reshape(2, 3) + 2 ** 60
pairs = [(F.reshape(x, (3, 2)), x.reshape(3, 2)), (F.transpose(x), x.T), (F.concat([x, x], 0), np.concatenate([x, x])), (F.flip(x, 1), x[:, ::-1]),
         (F.pad(x, 1, 'constant'), np.pad(x, 1)), (F.get_item(x, (slice(None), [2, 0])), x[:, [2, 0]]), (F.tile(x, 2), np.tile(x, 2)),
         (F.cast(np.array([1.5, -2.5]), 'i'), np.array([1, -2], 'i')), (F.separate(x)[1], x[1]), (F.repeat(x, True, 1), x), (F.identity(x), x),
         (F.broadcast_to(x[:1], (2, 3)), np.broadcast_to(x[:1], (2, 3))), (F.stack([x > 0, x < 0]), np.stack([x > 0, x < 0]))]
print(all(y.dtype == z.dtype and np.array_equal(y.array, z) for y, z in pairs))
i = V(np.array([1, 2]))
y = F.identity(i) + F.identity(i)
y.grad = np.array([5, 7])
y.backward()
print(i.grad, (i - 1).array, (-i).array, [raised(f) for f in (lambda: i * i, lambda: i ** 2, lambda: F.exp(i), lambda: i @ i)])
''') == ['True', "[10 14] [0 1] [-1 -2] ['InvalidType', 'InvalidType', 'InvalidType', 'InvalidType']"]


def test_unchanged_shapes_and_dtypes_return_the_variable():
    assert out('''
x = V(np.ones((2, 3), 'f'))
print(F.reshape(x, (2, 3)) is x, F.cast(x, 'f') is x, F.broadcast_to(x, (2, 3)) is x, F.copy(x, -1) is x, F.squeeze(x) is x, F.add(x) is x)
with chainer.no_backprop_mode():
    print(F.cast(x, 'f') is x)
y, z = F.cast(x, 'f'), F.cast(x, 'f')
print([g.array[0, 0] for g in chainer.grad([y + z], [y, z], [x])])
with chainer.using_config('train', False):
    print(F.dropout(x) is x, F.zoneout(x, x) is x, F.dropout(x, mask=x.array, return_mask=True)[1])
''') == ['True False True True False True', 'True', '[np.float32(1.0), np.float32(1.0)]', 'True True None']


def test_mixed_dtypes_are_refused_promoted_or_cast():
    assert out('''
h, f = rng.randn(2, 2).astype('e'), rng.randn(2, 2).astype('f')
print([F.linear(h, f).dtype, F.linear(f, h).dtype, F.matmul(h, f).dtype, F.tensordot(h, f, 1).dtype, F.einsum('ij,jk', h, f).dtype])
print([(V(h) + f).dtype, (f * V(h)).dtype, (V(f) / h).dtype, (V(f) + np.ones((2, 2), 'i')).dtype, (V(h) * np.float64(2)).dtype])
print({raised(g) for g in (lambda: V(h) + V(f), lambda: F.maximum(h, f), lambda: F.concat([h, f]), lambda: F.mean_squared_error(h, f))})
gamma = V(np.ones(2, 'f'))
mean = np.zeros(2, 'f')
y = F.batch_normalization(h, gamma, gamma, running_mean=mean, running_var=mean + 1)
y.grad = y.array
y.backward()
print(y.dtype, gamma.grad.dtype, (mean != 0).all())
''') == ["[dtype('float16'), dtype('float32'), dtype('float32'), dtype('float32'), dtype('float32')]",
         "[dtype('float16'), dtype('float16'), dtype('float32'), dtype('float32'), dtype('float16')]", "{'InvalidType'}", 'float16 float32 True']


def test_noise_may_be_given_and_returned():
    assert out('''
x = V(rng.randn(3, 4).astype('f'))
y, mask = F.dropout(x, 0.25, return_mask=True)
z = F.dropout(x, 0.25, mask=mask)
z.grad = np.ones_like(z.array)
z.backward()
print(np.array_equal(y.array, x.array * mask), np.array_equal(y.array, z.array), np.array_equal(x.grad, mask), raised(lambda: F.dropout(x, 1.5)))
s, eps = F.gaussian(x, x * 0, return_eps=True)
print(np.allclose(s.array, x.array + eps), np.array_equal(F.gaussian(x, x * 0, eps=eps).array, s.array))
y, r = F.rrelu(x, return_r=True)
print(np.array_equal(F.rrelu(x, r=r).array, y.array), F.rrelu(x, r=r, return_r=True)[1] is r)
''') == ['True True True ValueError', 'True True', 'True True']


def test_losses_take_probabilities_and_refuse_words():
    assert out('''
x, t = rng.randn(3, 4).astype('f'), np.array([1, 0, 3], 'i')
soft = np.eye(4, dtype='f')[t]
hard = F.softmax_cross_entropy(x, t, cache_score=False).array
print(np.allclose(F.softmax_cross_entropy(x, soft).array, hard), np.allclose(F.softmax_cross_entropy(x, soft, soft_target_loss='kl-divergence').array, hard, atol=1e-5))
print([raised(f) for f in (lambda: F.softmax_cross_entropy(x, t, reduce='x'), lambda: F.hinge(x, t, reduce='sum'), lambda: F.hinge(x, soft),
                           lambda: F.softmax_cross_entropy(x, t + 9), lambda: F.select_item(x, t + 9), lambda: F.sum(x, axis=(0, 0)))])
''') == ['True True', "['ValueError', 'ValueError', 'InvalidType', 'ValueError', 'ValueError', 'ValueError']"]


def test_cache_score_decides_whether_the_loss_gives_out_its_probabilities():
    assert out('''
x, t = V(rng.randn(3, 4)), np.array([1, 0, 3], 'i')
kept, none = F.softmax_cross_entropy(x, t), F.softmax_cross_entropy(x, t, cache_score=False)
print(np.allclose(kept.creator.y, F.softmax(x).array), none.creator.y, kept.array == none.array)
soft = F.softmax_cross_entropy(x, t, class_weight=np.ones(4), reduce='no', cache_score=False)
print(soft.creator.y, F.softmax_cross_entropy(x, t, True, True).creator.y is None)
''') == ['True None True', 'None False']


def test_errors_have_the_classes_of_chainer():
    assert out('''
import warnings
x, i = rng.randn(2, 3, 4).astype('f'), np.array([[1], [2]])
print([raised(f) for f in (
    lambda: F.moveaxis(x, (0, 1), (1,)), lambda: F.squeeze(x, 0), lambda: F.tensordot(x, x, 2), lambda: F.max(x, axis=(0, -3)),
    lambda: F.scatter_add(x, 0, x), lambda: F.permutate(x, np.array([0, 7]), 0), lambda: F.average_pooling_3d(x, 2),
    lambda: F.get_item(x, (Ellipsis, Ellipsis)), lambda: F.scatter_add(x, (Ellipsis, 0, Ellipsis), x), lambda: V(x)[..., None, ...])])
print([raised(f) for f in (
    lambda: F.moveaxis(x, 3, 0), lambda: F.squeeze(x, 5), lambda: F.max(x, axis=4), lambda: F.average_pooling_2d(x, 2), lambda: F.get_item(x, (0,) * 4),
    lambda: V(x)[x > 0, None, 0], lambda: F.scatter_add(x, (0,) * 4, V(x[0, 0, :1])),
    lambda: F.convolution_1d(x, np.ones((2, 5, 1), 'f')), lambda: F.average(x, 1, np.ones(5, 'f')), lambda: F.where(i, x, x))])
print([raised(f) for f in (lambda: V(x)[5], lambda: F.embed_id(np.array([9]), x[0]), lambda: F.linear(x, x, nothing=1), lambda: F.inv(np.zeros((2, 2), 'f')))])
with chainer.using_config('debug', True):
    try:
        F.log(-V(x[0] ** 2))
    except RuntimeError as error:
        print(error)
    y = F.sqrt(V(np.zeros(1, 'f')))
    y.grad = np.zeros(1, 'f')
    try:
        y.backward()
    except RuntimeError as error:
        print(error)
with warnings.catch_warnings(record=True) as met:
    warnings.simplefilter('always')
    y = F.batch_matmul(x, x, transb=True)
print(np.allclose(y.array, x @ x.transpose(0, 2, 1), 1e-5, 1e-5), [(w.category.__name__, 'matmul' in str(w.message), w.filename) for w in met], F.batch_matmul.__name__)
''') == [str(['ValueError'] * 10), str(['InvalidType'] * 10), "['IndexError', 'ValueError', 'TypeError', 'LinAlgError']",
         'NaN is detected on forward computation of Log', 'NaN is detected on backward computation of Sqrt',
         "True [('DeprecationWarning', True, '<string>')] batch_matmul"]


def test_lists_of_indices_add_and_stacks_need_equal_axes():
    assert out('''
x, same = rng.randn(3, 4).astype('f'), []
for key in ([], [[0, 2, 2], [1, 0, 0]], [0, -1], ([], slice(1, 3)), [True, False, True], (slice(None), [1, 1])):
    at = tuple(key) if key and isinstance(key, list) and isinstance(key[0], list) else key
    at = np.array(at, None if at else 'l') if isinstance(at, list) else tuple([np.array(i, 'l') if i == [] else i for i in at])
    added = x.copy()
    np.add.at(added, at, x[at] * 2)
    a, b = V(x), V(x[at] * 2)
    y = F.scatter_add(a, key, b)
    y.grad = x
    y.backward()
    same += [np.allclose(y.array, added), np.array_equal(a.grad, x), np.array_equal(b.grad, x[at]), np.array_equal(F.get_item(x, key).array, x[at])]
print(all(same), len(same))
print([raised(lambda: f([V(np.ones(s, 'f')) for s in shapes])) for f in (F.hstack, F.vstack, F.dstack)
       for shapes in (((), (1,)), ((1,), (1, 1)), ((2, 1), (2, 1, 1)), ((3,), (3,)), ((), ()))])
''') == ['True 24', str((['InvalidType'] * 3 + [None] * 2) * 3)]


def test_few_elements_and_debug_mode():
    assert out('''
x, t = rng.randn(2, 3, 4).astype('f'), np.arange(8, dtype='i').reshape(1, 2, 4)
print(F.transpose_sequence([]), F.transpose_sequence([x[0, :0], x[1, :0]]), raised(lambda: F.transpose_sequence([x[0, :0], x[1]])))
print([raised(f) for f in (lambda: F.batch_l2_norm_squared(x[0, 0]), lambda: F.connectionist_temporal_classification(V(x), t[0], 0),
                           lambda: F.split_axis(x, [2, 1], 1), lambda: F.tensordot(x, x, ((0, 1, 2, 3), (0, 1, 2, 3))),
                           lambda: F.tensordot(x, x, (-4, 0)), lambda: F.tensordot(x, x, ()))])
with chainer.using_config('debug', True):
    print(raised(lambda: F.split_axis(x, [2, 1], 1)), len(F.split_axis(x, [1, 1, 2], 1)))
e = rng.randn(1, 3, 2, 4)
a, b = [F.discriminative_margin_based_clustering_loss(e, labels, 0.1, 2, 3) for labels in (t, np.where(t > 3, 0, t))]
print([np.array_equal(u.array, v.array) for u, v in zip(a, b)])
''') == ['() () InvalidType', "['InvalidType', 'TypeError', None, 'ValueError', 'ValueError', 'ValueError']", 'ValueError 4', '[True, True, True]']


def test_strides_of_memory():
    assert out('''
from chainer.functions.array.as_strided import _stride_array
memory = rng.randn(24)
print([raised(f) for f in (lambda: _stride_array(memory, (2, 2), (1,), 0), lambda: _stride_array(memory, (3,), (-1,), 1),
                           lambda: _stride_array(memory, (3, 2), (9, 6), 1), lambda: _stride_array(memory, (0, 3), (9, 60), 1))])
for x, geometry in ((memory.reshape(4, 6)[::-1, ::2], ((5, 3), (4, 1), 2)), (memory.reshape(4, 6).T, ((2, 0), (1, 1), 0)),
                    (memory.reshape(2, 3, 4)[:, 1], ((3, 3, 2), (-1, 2, 3), 5)), (np.broadcast_to(memory[3:6], (2, 3)), ((7,), (1,), 0)),
                    (np.asfortranarray(memory.reshape(4, 6))[1:, 2:], ((2, 2), (-9, -1), 23))):
    base = x if x.base is None else x.base
    while base.base is not None:
        base = base.base
    whole = base.ravel('K')
    at = _stride_array(np.arange(24), *geometry)
    v = V(x)
    y = F.as_strided(v, *geometry)
    print(np.array_equal(y.array, whole[at]), end=' ')
    gy = rng.randn(*geometry[0])
    cells = np.bincount(at.ravel(), gy.ravel(), 24)
    of_x = [(element.__array_interface__['data'][0] - whole.__array_interface__['data'][0]) // 8 for element in
            (x[i:i + 1] if x.ndim == 1 else x[tuple(slice(k, k + 1) for k in i)] for i in np.ndindex(x.shape))]
    counts = np.bincount(of_x, minlength=24)
    gx, = chainer.grad((y,), (v,), (V(gy),), enable_double_backprop=True)
    print(np.allclose(gx.array.ravel(), [cells[i] / counts[i] for i in of_x]), end=' ')
    g, r = V(gy), rng.randn(*x.shape)
    twice, = chainer.grad(chainer.grad((y,), (v,), (g,), enable_double_backprop=True), (g,), (V(r),))
    spread = np.bincount(of_x, r.ravel() / counts[of_x], 24)
    print(np.allclose(twice.array, spread[at]), end=' ')
print()
i = V(np.arange(12).reshape(3, 4)[::-1])
y = F.as_strided(i, (12,), (1,))
y.grad = np.ones(12, int)
print(y.array.tolist() == list(range(12)), raised(lambda: chainer.grad((y,), (i,))))
cupy = chainer.backends.cuda.cupy
x = V(cupy.asarray(memory.reshape(4, 6)).T[::-1])
y = F.as_strided(x, (3, 5), (2, 1), 4)
gx, = chainer.grad((F.sum(y ** 2),), (x,))
w = V(memory.reshape(4, 6).T[::-1])
gw, = chainer.grad((F.sum(F.as_strided(w, (3, 5), (2, 1), 4) ** 2),), (w,))
print(np.array_equal(y.array.get(), memory[4:][np.arange(3)[:, None] * 2 + np.arange(5)]), type(gx.array) is cupy.ndarray, np.allclose(gx.array.get(), gw.array))
''') == ["['ValueError', 'ValueError', 'ValueError', None]", 'True ' * 15, 'True TypeError', 'True True True']


def test_averages_and_16_bit_matrices():
    assert out('''
x = rng.rand(3, 4, 5)
print(np.allclose(F.average(x, None, None).array, x.mean()), np.allclose(F.average(x, weights=x).array, (x * x).sum() / x.sum()))
print(np.allclose(F.average(x, (2, 0), keepdims=True).array, x.mean((0, 2), keepdims=True)), raised(lambda: F.average(x, (0, 2), x[:, 0])))
h = rng.rand(2, 3, 3).astype('e') + np.eye(3, dtype='e')
print(F.batch_det(h).dtype, np.allclose(F.batch_det(h).array, np.linalg.det(h.astype('d')), 1e-2), np.allclose(F.batch_inv(h).array, np.linalg.inv(h.astype('d')), 1e-2, 1e-2))
''') == ['True True', 'True ValueError', 'float16 True True']


def test_axes_labels_keys_and_weights():
    assert out('''
a, b = rng.randn(4, 3, 2), rng.randn(3, 2, 5)
print(np.allclose(F.tensordot(a, b, axes=([1, 2], [0, 1])).array, np.tensordot(a, b, ([1, 2], [0, 1]))))
print(np.allclose(F.einsum(a, [0, 1, 2], b, [1, 2, 3], [3, 0]).array, np.einsum('abc,bcd->da', a, b)))
print(np.allclose(F.einsum('...ij,jk', a, b[0, :, :]).array, np.einsum('...ij,jk', a, b[0, :, :])))
w = V(np.array([1., 2, 3]))
y = F.average(V(a), 1, w)
print(np.allclose(y.array, np.average(a, 1, w.array)), raised(lambda: F.average(a, (1, 1), w)))
x = V(a)
z = F.sum(x[[2, 0]] * 2 + x[[0, 0], [1, 2]][:, None])
z.backward()
print(x.grad.sum(), raised(lambda: x[..., ...]), raised(lambda: x[0, 0, 0, 0]), F.get_item(x, []).shape, F.split_axis(x, 1, 0, force_tuple=False).shape)
print(F.pad(a, ((1, 2), (0, 0), (3, 4)), 'constant', constant_values=((1, 2), (0, 0), (3, 4))).array[0, 0, 3],
      [part.shape for part in F.split_axis(x, np.array([1, 3]), 0)])
''') == ['True', 'True', 'True', 'True ValueError', '36.0 ValueError InvalidType (0, 3, 2)' + ' (4, 3, 2)', '1.0 [(1, 3, 2), (2, 3, 2), (1, 3, 2)]']


def test_max_pooling_returns_indices():
    assert out('''
x = rng.permutation(2 * 3 * 5 * 5).reshape(2, 3, 5, 5).astype('f')
y, indices = F.max_pooling_2d(x, 2, return_indices=True)
print(y.shape, indices.shape, indices.dtype, indices[0, 0, 0, 0] == x[0, 0, :2, :2].argmax())
back = F.upsampling_2d(y, indices, 2, outsize=(5, 5)).array
print((back.max((2, 3)) == y.array.max((2, 3))).all(), F.softplus(x, np.float32(2)).dtype)
''') == ['(2, 3, 3, 3) (2, 3, 3, 3) int32 True', 'True float32']


def test_forget_computes_again():
    assert out('''
x, w = V(rng.randn(3, 2).astype('f')), V(rng.randn(3, 2).astype('f'))
y = F.forget(lambda a, b: (a * b, F.exp(a)), x, w)
F.sum(y[0] + y[1]).backward()
print(np.allclose(x.grad, w.array + np.exp(x.array)), np.allclose(w.grad, x.array))
print(raised(lambda: F.forget(3)), raised(lambda: F.forget(lambda: (x, 1))))
bn = chainer.links.BatchNormalization(2)
F.sum(F.forget(bn, x)).backward()
print(np.allclose(bn.avg_mean, 0.1 * x.array.mean(0)))
''') == ['True True', 'TypeError RuntimeError', 'True']


def test_deep_modules_have_the_classes_that_scripts_derive_from():
    assert out('''
class Mine(F.math.identity.Identity):
    def backward(self, indexes, gradients):
        return gradients[0] * 3,
x = V(np.ones(2, 'f'))
y, = Mine().apply((x,))
y.grad = y.array
y.backward()
print(x.grad, F.noise.dropout.Dropout(0.5).dropout_ratio)
''') == ['[3. 3.] 0.5']


def test_sparse_matrices_are_promoted():
    assert out('''
dense, values = V(rng.randn(3, 2).astype('f')), np.diag([1., 2, 3])
sparse = chainer.utils.to_coo(values, requires_grad=True)
y = F.sparse_matmul(sparse, dense)
F.sum(y).backward()
print(y.dtype, np.allclose(y.array, values.dot(dense.array)), sparse.data.grad.dtype, np.allclose(sparse.data.grad, dense.array.sum(1)), dense.grad.dtype)
print(raised(lambda: F.sparse_matmul(dense, dense)), raised(lambda: F.convolution_1d(np.ones((2, 3, 4, 4), 'f'), np.ones((3, 3, 2), 'f'))),
      raised(lambda: F.softmax_cross_entropy(dense, np.zeros(3, 'i'), class_weight=np.ones(2, 'i'))), raised(lambda: F.hstack([dense, np.ones(3, 'f')])))
''') == ['float64 True float64 True float32', 'ValueError ValueError ValueError InvalidType']


def test_errors_of_types_name_the_function_and_both_sides():
    assert out('''
x, W = rng.randn(2, 3).astype('f'), rng.randn(4, 3).astype('f')
for f in (lambda: F.linear(x[0], W), lambda: F.maximum(x, x.astype('d')), lambda: F.exp(W.astype('i')), lambda: V(x) + W,
          lambda: F.softmax_cross_entropy(x, W)):
    try:
        f()
    except chainer.utils.type_check.InvalidType as error:
        print('; '.join(str(error).splitlines()[1:]), [error.expect, error.actual] == [s[8:] for s in str(error).splitlines()[3:]])
''') == ['Invalid operation is performed in: linear (Forward); ; Expect: x must have at least 2 axes (batch, inputs); Actual: (3,) True',
         'Invalid operation is performed in: maximum (Forward); ; Expect: x1.dtype == x2.dtype; Actual: float32 != float64 True',
         'Invalid operation is performed in: exp (Forward); ; Expect: x.dtype.kind == f; Actual: i != f True',
         'Invalid operation is performed in: + (Forward); ; add: shapes (2, 3) and (4, 3) do not broadcast together False',
         'Invalid operation is performed in: softmax_cross_entropy (Forward); ; Expect: arrays whose shapes and dtypes fit together; Actual: '
         "an array of shape (2, 3) and dtype float32; an array of shape (4, 3) and dtype float32; True; True; None; -1; 'mean'; False; "
         "'cross-entropy' True"]


def test_copies_between_numpy_and_cupy_on_the_processor():
    assert run(BEGIN + '''
x = V(rng.randn(2, 3).astype('f'))
for first, second in (('@numpy', '@cupy:0'), ('@cupy:0', -1), ('@cupy:0', 0), ('@numpy', '@numpy')):
    a = chainer.Variable(chainer.get_device(first).send(x.array))
    b = F.copy(a, second)
    c = F.exp(b)
    c.grad = c.array * 2
    c.backward()
    print(*[isinstance(array, np.ndarray) for array in (b.array, c.array, a.grad)], b is a,
          np.allclose(chainer.cuda.to_cpu(a.grad), 2 * np.exp(2 * x.array)))
''', CATENARY_CUPY_CPU='1').splitlines() == ['False False True False True', 'True True False False True', 'False False False True True',
                                              'True True True True True']


def test_poolings_over_four_axes():
    assert out('''
x = rng.randn(2, 3, 4, 3, 2, 5)
def windows(y):
    for axis in range(2, 6):  # ksize 2, stride 1, pad 0
        y = np.stack([np.take(y, range(0, y.shape[axis] - 1), axis), np.take(y, range(1, y.shape[axis]), axis)], -1)
    return y.reshape(y.shape[:6] + (16,))
most, mean = F.max_pooling_nd(x, 2, 1, cover_all=False), F.average_pooling_nd(x, 2, 1)
print(np.array_equal(most.array, windows(x).max(-1)), np.allclose(mean.array, windows(x).mean(-1)))
''') == ['True True']


def test_recurrent_layers_drop_in_training_by_numpys_seed():
    assert out('''
L = chainer.links
xs = [rng.randn(5, 4).astype('f'), rng.randn(3, 4).astype('f')]
for layer in (L.NStepLSTM(3, 4, 4, 0.5), L.NStepBiGRU(2, 4, 3, 0.5), L.NStepRNNReLU(2, 4, 4, 0.5)):
    def last(seed):
        np.random.seed(seed)
        return layer(*(None,) * (2 if 'LSTM' in type(layer).__name__ else 1), xs)[-1]
    one, two, other = last(1), last(1), last(2)
    with chainer.using_config('train', False):
        still = last(1)
    F.sum(one[0]).backward()
    same = all(np.array_equal(a.array, b.array) for a, b in zip(one, two))
    print(same, np.array_equal(one[0].array, other[0].array), np.array_equal(one[0].array, still[0].array), next(layer.params()).grad is not None)
''') == ['True False False True'] * 3


def test_randomized_functions_run_on_devices():
    assert out('''
cupy = chainer.backends.cuda.cupy
x = V(cupy.asarray(rng.randn(3, 4).astype('f')))
ys = [F.dropout(x), F.gaussian(x, x), F.rrelu(x), F.zoneout(x, x), F.gumbel_softmax(x)]
with chainer.using_config('train', False):
    ys.append(F.rrelu(x))
i = cupy.arange(6).reshape(2, 3)
ys += [F.reshape(i, (3, 2)), F.concat([i, i]), x[[1, 0]], F.average(x, 1, cupy.ones(4, 'f')), x + cupy.ones((3, 4)), F.pad(x, 1, 'edge')]
print({type(y.array) is cupy.ndarray for y in ys}, ys[-2].dtype, raised(lambda: x + np.ones((3, 4), 'f')))
''') == ['{True} float32 TypeError']


def test_other_arguments_are_named():
    assert out('''
x = rng.randn(1, 2, 8, 8).astype('f')
rois, indices = np.array([[0, 0, 5, 6]], 'f'), np.zeros(1, 'i')
a, b = [F.roi_average_align_2d(x, rois, indices, (2, 3), np.float32(1), ratio).array for ratio in ((None, 2), (0, 2))]
print(np.array_equal(a, b), a.shape)
print([raised(f) for f in (lambda: F.concat([x, x], 'a'), lambda: F.repeat(x, 'a'), lambda: F.tile((x, x), 2),
                           lambda: F.scatter_add(x, slice(0, 1), x[0]))])
e = np.ones((3, 2), 'f')
print([raised(f) for f in (lambda: F.linear(e, e, n_batch_axes=0), lambda: F.bilinear(e, e, np.ones((2, 2, 2), 'f'), e),
                           lambda: F.hinge(e, np.zeros(3, 'i'), norm='L3'))])
from chainer.serializers import NpzDeserializer
print([raised(lambda: NpzDeserializer({'x': np.asarray(value)})('x', target)) for value, target in
       ((np.float32(2), 3), (np.int64(-1), np.uint32(3)), (np.int64(4), 3), (2, 3.5))])
''') == ['True (1, 2, 2, 3)', "['TypeError', 'TypeError', 'TypeError', 'ValueError']", "['ValueError', 'ValueError', 'NotImplementedError']", "['TypeError', 'TypeError', None, None]"]


def test_matrices_of_float16_are_computed_in_float32():
    assert out('''
a = rng.randn(3, 4, 4).astype('e')
for f, numpys in ((F.batch_det, np.linalg.det), (F.batch_inv, np.linalg.inv)):
    x = V(a)
    y = f(x)
    F.sum(y).backward()
    print(y.dtype, x.grad.dtype, np.allclose(y.array, numpys(a.astype('d')), 2e-3, 2e-3))
print(F.inv(a[0]).dtype, F.det(a[0]).dtype)
''') == ['float16 float16 True', 'float16 float16 True', 'float16 float16']
