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
