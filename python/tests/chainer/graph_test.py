"""Variables, functions, hooks and settings of our chainer on the library's graph."""

import contextlib
import copy
import gc
import pickle
import subprocess
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from catenary import _core
from chainer import gradient_check
from graph_shared import Square, numbers_of, some, x_data


class Old(chainer.Function):
    """An old-style function, from before version 3."""

    def forward(self, inputs):
        return inputs[0] * 3,

    def backward(self, inputs, grad_outputs):
        return grad_outputs[0] * 3,


def test_one_class_has_one_name():
    names = {}
    for name, module in list(sys.modules.items()):
        if name.partition('.')[0] not in ('chainer', 'chainermn') or module is None:
            continue
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__.partition('.')[0] in ('chainer', 'chainermn'):
                names.setdefault((value.__module__, value.__qualname__), set()).add(value)
    assert [name for name, classes in names.items() if len(classes) > 1] == []
    assert issubclass(chainer.Parameter, chainer.Variable) and issubclass(chainer.Variable, _core._VariableBase)


def test_arrays_are_shared_and_one_object():
    a = x_data.copy()
    x = chainer.Variable(a)
    assert x.array is a and x.data is a
    y = x * 2
    assert y.array is y.array
    a[0, 0] = 10
    assert F.sum(x * 1).array == np.float32(a.sum(dtype='f')) or abs(F.sum(x * 1).array - a.sum()) < 1e-5
    y.array[...] = 5
    assert (y * 2).array[1, 1] == 10  # later operations see a write through the view
    strided = np.arange(24, dtype='f').reshape(4, 6)[::2, ::-3]
    np.testing.assert_array_equal((chainer.Variable(strided) + 0).array, strided)


def test_a_node_knows_its_variable():
    x = chainer.Variable(x_data)
    x.mark = 'mine'
    y = F.relu(x)
    assert y.creator is y.creator_node is y.node.creator
    assert y.creator.inputs[0] is x.node and x.node.get_variable() is x and x.node.get_variable().mark == 'mine'
    assert y.creator.outputs[0]() is y.node and y.creator.label == 'ReLU' and y.rank == x.rank + 1
    f = Square()
    z, = f.apply((y,))
    assert z.creator is f and f.inputs[0] is y.node and f.rank == 1 and z.rank == 2
    node = x.node
    del x, y, z, f
    gc.collect()
    assert node.get_variable_or_none() is None and node.shape == (3, 4)


@pytest.mark.parametrize('f', [F.relu, F.sigmoid, F.tanh, F.softmax, F.log_softmax, F.exp, F.sqrt, F.square, F.leaky_relu, F.elu,
                               F.clipped_relu, lambda x: F.sum(x, axis=1), lambda x: F.reshape(x, (4, 3)), F.transpose,
                               lambda x: F.concat((x, x), axis=0), lambda x: x[1:, 2], lambda x: 3 - x / 2 + x ** 3 * (-x),
                               lambda x: x @ x.T, F.sin, lambda x: F.tile(x, (2, 1)), lambda x: F.batch_normalization(x, np.ones(4), np.zeros(4)), F.softplus,
                               lambda x: F.max(x, axis=0), lambda x: F.split_axis(x, 2, 1)[0], lambda x: F.average(x, axis=1)])
def test_gradients(f):
    x = np.random.RandomState(1).uniform(0.2, 0.9, (3, 4))
    gradient_check.check_backward(f, x, np.ones(f(x).shape), dtype='d', atol=1e-4, rtol=1e-3)


def test_functions_are_bound_as_pythons_are():
    class Mine:
        act = F.relu

        def __init__(self):
            self.own = F.relu

    x = chainer.Variable(x_data)
    np.testing.assert_array_equal(abs(x).array, abs(x_data))
    assert Mine.act is F.relu and Mine().own is F.relu
    with pytest.raises(TypeError):
        Mine().act(x)  # as Python's: the object is the first argument


def test_attributes_of_functions_that_scripts_read():
    x = chainer.Variable(some(4, 3))
    np.random.seed(1)
    y = F.dropout(x, 0.5)
    np.testing.assert_array_equal(y.array, x.array * y.creator.mask)
    assert set(np.unique(y.creator.mask)) == {0, 2}
    t = np.array([0, 1, 2, 0], 'i')
    np.testing.assert_allclose(F.softmax_cross_entropy(x, t).creator.y, F.softmax(x).array)
    h = chainer.Variable(some(4, 3, seed=7))
    y = F.zoneout(h, x, 0.4)
    np.testing.assert_array_equal(y.array, h.array * y.creator.flag_h + x.array * y.creator.flag_x)
    assert y.creator.flag_h.dtype == bool and (y.creator.flag_h ^ y.creator.flag_x).all()


def told(results):
    """The attributes of the library's functions behind results, by name."""
    found, waiting = {}, [y.creator_node for y in results]
    while waiting:
        f = waiting.pop()
        if f is not None and id(f) not in found:
            found[id(f)] = f, f.attributes if type(f).__module__ == 'chainer.functions' else None
            waiting += [x.creator_node for x in f.inputs]
    return {f.label: attributes for f, attributes in found.values() if attributes is not None}


def test_functions_report_their_attributes():
    x = chainer.Variable(some(2, 3, 4, 4))
    assert F.sum(x, axis=(1, 2)).creator.attributes == {'axis': (1, 2), 'keepdims': False}
    assert F.relu(x).creator.attributes == {}
    assert F.cast(x, 'e').creator.attributes == {'dtype': np.dtype('e')}
    assert x[1, None, ..., 2].creator.attributes == {'indices': (1, None, Ellipsis, 2)}
    assert (x * 2.5).creator.attributes == {'c': 2.5}
    of_pooling = F.max_pooling_2d(x, 2, 1, 1).creator.attributes
    assert (of_pooling['size'], of_pooling['stride'], of_pooling['pad']) == ((2, 2), (1, 1), (1, 1))
    y = F.dropout(x)
    np.testing.assert_array_equal(y.array, x.array * y.creator.attributes['mask'])
    with pytest.raises(AttributeError):
        Old()(x).creator.attributes  # a user's function has the attributes of its class


def test_arguments_without_values_are_named():
    """Each function's error names the function, the argument and the given object."""
    nothing, x, others = chainer.Variable(None), some(2, 3, 4, 4), {'axis': 1, 'r': 2, 'pool_size': 2, 'groups': 2, 'n_layers': 1, 'dst': '@numpy'}
    for row, parameters in _core._chainer_rows().items():
        name = row.rpartition('.')[2]
        function = getattr(F, name)
        first = next(parameter for parameter in parameters if parameter not in ('n_layers', 'dropout_ratio'))
        if first[0] == '*':
            arguments, named = ('ij,ij', x[0, 0], nothing) if name == 'einsum' else (nothing, x), first[1:] + ('[2]' if name == 'einsum' else '[0]')
        else:
            given = parameters[:parameters.index(first) + 4]
            arguments, named = [nothing if p == first else others.get(p, x) for p in given if p[0] != '='], first
        with pytest.raises((ValueError, TypeError)) as error:
            function(*arguments)
        if error.type is ValueError:
            assert str(error.value).startswith(f'{name}: {named} is a Variable without values'), (row, error.value)


@pytest.mark.parametrize('call, says', [
    (lambda x, n: F.linear(x, n), 'linear: W'), (lambda x, n: F.linear(x, x, b=n), 'linear: b'), (lambda x, n: F.linear(x, L.Linear(3).W), 'linear: W'),
    (lambda x, n: F.concat([x, n]), 'concat: xs[1]'), (lambda x, n: F.maximum(x, x2=n), 'maximum: x2'), (lambda x, n: F.dropout(n, mask=None), 'dropout: x'),
    (lambda x, n: F.n_step_gru(1, 0.0, x, [[x, n]], [[x]], [x]), 'n_step_gru: ws[0][1]'), (lambda x, n: F.add(x, x, n), 'add: xs[2]'),
    (lambda x, n: x + n, '+: the right operand'), (lambda x, n: n + x, '+: the left operand'), (lambda x, n: n * 2, '*: the left operand'),
    (lambda x, n: x_data / n, '/: the right operand'), (lambda x, n: n ** 2, '**: the left operand'), (lambda x, n: -n, '-: the operand'),
    (lambda x, n: n[0], '[]: the left operand'), (lambda x, n: x @ n, '@: the right operand'), (lambda x, n: 1 - n, '-: the right operand')])
@pytest.mark.parametrize('hooked', [False, True])
def test_operands_and_lists_without_values_are_named(call, says, hooked):
    with chainer.function_hooks.TimerHook() if hooked else contextlib.nullcontext():
        with pytest.raises(ValueError) as error:
            call(chainer.Variable(x_data), chainer.Variable(None))
    assert str(error.value).startswith(says + ' is a Variable without values'), error.value


def test_errors_that_have_nothing_to_do_with_values():
    with pytest.raises(chainer.utils.type_check.InvalidType):
        F.linear(chainer.Variable(x_data), np.zeros((2, 5), 'f'))
    strings = chainer.Variable(np.array([1, 2], 'O'))  # the library lacks its dtype, but it has values
    with pytest.raises(Exception) as error:
        F.relu(strings)
    assert 'without values' not in str(error.value)


def test_deprecated_functions_warn():
    with pytest.warns(DeprecationWarning, match='Use matmul instead'):
        F.batch_matmul(some(2, 3, 4), some(2, 4, 5))
    with pytest.warns(DeprecationWarning, match='Use fixed_batch_normalization instead'):
        F.fixed_batch_renormalization(some(5, 3), some(3), some(3), some(3), some(3))


def test_wrong_indexes():
    x = chainer.Variable(x_data)
    with pytest.raises(IndexError):
        x[np.array([7])]
    np.testing.assert_array_equal(x[[slice(1), 2]].array, x_data[:1, 2])  # Chainer's: a list is a tuple unless it is of integers


def test_library_and_python_functions_in_one_graph():
    x = chainer.Variable(x_data.astype('d'))
    y = F.sum(F.tanh(Square().apply((F.exp(x),))[0]))
    gx, = chainer.grad([y], [x], enable_double_backprop=True)
    e = np.exp(x.array)
    expected = (1 - np.tanh(e ** 2) ** 2) * 2 * e * e
    np.testing.assert_allclose(gx.array, expected, rtol=1e-9)
    F.sum(gx).backward()
    h = 1e-6
    numeric = []
    for sign in (1, -1):
        e = np.exp(x.array + sign * h)
        numeric.append((1 - np.tanh(e ** 2) ** 2) * 2 * e * e)
    np.testing.assert_allclose(x.grad, (numeric[0] - numeric[1]) / (2 * h), rtol=1e-5, atol=1e-8)


def test_an_old_function_is_not_differentiated_twice():
    x = chainer.Variable(x_data)
    y = F.sum(Old()(x))
    y.backward(enable_double_backprop=True)
    np.testing.assert_array_equal(x.grad, np.full_like(x_data, 3))
    with pytest.raises(RuntimeError, match='cannot be differentiated twice'):
        x.grad_var.backward()


def test_errors():
    x = chainer.Variable(x_data)
    with pytest.raises(chainer.utils.type_check.InvalidType, match='linear'):
        F.linear(x, np.zeros((2, 5), 'f'))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        F.relu(np.arange(3))
    with pytest.raises(TypeError, match='missing|required'):
        F.softmax_cross_entropy(x)
    with pytest.raises(ValueError, match='the shape of the gradient'):
        x.grad = np.zeros(3, 'f')
    with pytest.raises(TypeError):
        chainer.Variable([1, 2])

    with pytest.raises(TypeError, match='third argument'):
        pow(x, 2, 3)

    class Wrong(Square):
        def backward(self, indexes, grad_outputs):
            raise KeyError('mine')

    with pytest.raises(KeyError, match='mine') as info:
        F.sum(Wrong().apply((x,))[0]).backward()
    assert any('backward' == entry.name for entry in info.traceback)


def test_hooks_see_every_function():
    seen = []

    class Hook(chainer.FunctionHook):
        name = 'mine'

        def forward_postprocess(self, function, in_data):
            seen.append(('forward', function.label))

        def backward_postprocess(self, function, in_data, out_grad):
            seen.append(('backward', function.label))

    x = chainer.Variable(x_data)
    with Hook():
        y = F.sum(F.relu(x) * 2)
        y.backward()
    assert seen[:3] == [('forward', 'ReLU'), ('forward', '_ * 2'), ('forward', 'Sum')] or len(seen) == 6
    assert [direction for direction, _ in seen].count('backward') == 3
    with pytest.raises(NotImplementedError, match='ReLU: functions of the library'):
        F.relu(x).creator.add_hook(Hook())
    # and hooks of functions that were applied before the hook was added
    x.cleargrad()
    z = F.sum(F.relu(x))
    del seen[:]
    with Hook():
        z.backward()
    assert [label for direction, label in seen if direction == 'backward'] == ['Sum', 'ReLU']


def test_settings_are_one_store():
    x = chainer.Variable(x_data)
    with chainer.no_backprop_mode():
        assert F.relu(x).creator is None and (x + 1).creator is None
        with chainer.force_backprop_mode():
            assert F.relu(x).creator is not None
    chainer.global_config.enable_backprop = False
    try:
        assert (x * 2).creator is None
    finally:
        chainer.global_config.enable_backprop = True
    assert (x * 2).creator is not None
    with chainer.using_config('mine', 3):
        assert chainer.config.mine == 3
    with chainer.using_config('debug', True):
        with pytest.raises(RuntimeError, match='NaN'):
            F.relu(chainer.Variable(np.array([np.nan], 'f'))) * 2


def test_integers_may_want_gradients():
    x = chainer.Variable(np.arange(3))
    assert x.requires_grad and F.identity(x).requires_grad
    t = chainer.Variable(np.array([0, 1, 2]))
    loss = F.softmax_cross_entropy(chainer.Variable(x_data), t)
    loss.backward()
    assert t.grad is None


def test_copies_and_pickles():
    x = chainer.Variable(x_data, name='x')
    x.grad = np.ones_like(x_data)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.name == 'x' and y.array is not x.array
        np.testing.assert_array_equal(y.array, x.array)
        np.testing.assert_array_equal(y.grad, x.grad)
    p = chainer.Parameter(0)
    q = copy.copy(p)
    p.initialize((2, 3))
    assert q.array is p.array  # a link's copy is initialised with it
    link = L.Linear(4, 2)
    assert link.copy('share').W.array is link.W.array and link.copy('copy').W.array is not link.W.array
    assert not np.array_equal(link.copy('init').W.array, link.W.array)
    F.relu(pickle.loads(pickle.dumps(F.relu))(x))


def test_on_the_device_of_ordinal_0():
    import cupy
    t = np.array([0, 1, 1], 'i')
    losses = []
    for device in ('@numpy', '@cupy:0'):
        np.random.seed(0)
        model = L.Classifier(chainer.Sequential(L.Linear(4, 5), F.tanh, lambda h: Square().apply((h,))[0], L.Linear(5, 2)))
        model.to_device(device)
        o = chainer.optimizers.AMSGrad().setup(model)
        x = chainer.get_device(device).send(x_data)
        labels = chainer.get_device(device).send(t)
        for _ in range(3):
            o.update(model, x, labels)
        losses.append(float(model.loss.array))
        kind = cupy.ndarray if device == '@cupy:0' else np.ndarray
        assert isinstance(model.predictor[0].W.update_rule.state['vhat'], kind)
        assert isinstance(model.loss.array, kind) and isinstance(model.predictor[0].W.grad, kind)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_unsupported_dtypes_fall_back_to_numpy():
    x = chainer.Variable(np.zeros(3, 'c8'))
    assert x.dtype == 'c8' and x.shape == (3,) and x.array.dtype == 'c8'
    none = chainer.Variable(None)
    assert none.array is None and none.node.shape is None


@pytest.mark.parametrize('examples', [
    [x_data[0], x_data[1]], [x_data, x_data * 2], [x_data.T, x_data.T], [x_data[:0], x_data[:0]], [np.float32(1), np.float32(2)],
    [np.int8(1), np.int8(-2)], [np.int32(1), np.int64(2)], [1, 2], [1.5, 2], [True, False], [np.bool_(True), np.bool_(False)],
    [np.zeros((), 'i'), np.ones((), 'i')], [np.arange(3), np.arange(3.0)], [np.ones(2, '>f4'), np.ones(2, '>f4')], [np.ones(2, 'q'), np.ones(2, 'q')],
    [np.ones(2, 'F'), np.ones(2, 'F')], [np.array(['a', 'b']), np.array(['a', 'b'])], [[1, 2], [3, 4]],
    [np.broadcast_to(np.float32(1), (3,)), np.ones(3, 'f')], [np.ma.masked_array([1, 2]), np.ma.masked_array([3, 4])]])
def test_batches_equal_numpys(examples):
    batch = [(x, {'a': x}['a']) for x in examples]
    first, second = chainer.dataset.concat_examples(batch)
    expected = np.concatenate([np.asarray(x)[None] for x in np.asarray(examples)]) if not isinstance(examples[0], np.ndarray) else \
        np.concatenate([x[None] for x in examples])
    for together in (first, second, chainer.dataset.concat_examples(examples)):
        assert type(together) is type(expected) and together.dtype == expected.dtype and together.dtype.num == expected.dtype.num
        np.testing.assert_array_equal(together, expected)
        assert together.flags.writeable and not any(isinstance(x, np.ndarray) and np.shares_memory(together, x) for x in examples)


def test_batches_that_do_not_fit_are_refused_or_padded():
    batch = [np.ones(2, 'f'), np.ones(3, 'f')]
    with pytest.raises(ValueError):
        chainer.dataset.concat_examples(batch)
    np.testing.assert_array_equal(chainer.dataset.concat_examples(batch, padding=0), [[1, 1, 0], [1, 1, 1]])


def test_tuple_datasets():
    x, t = np.arange(12, dtype='f').reshape(4, 3), np.arange(4, dtype='i')
    dataset = chainer.datasets.TupleDataset(x, t, 'abcd')
    example = dataset[np.int64(1)]
    assert type(example) is tuple and np.shares_memory(example[0], x) and type(example[1]) is np.int32 and example[2] == 'b'
    assert [e[2] for e in dataset] == list('abcd') and len(dataset) == 4 and dataset[-1][2] == 'd'
    assert [e[2] for e in dataset[1:3]] == ['b', 'c'] and dataset.__getitem__(2)[2] == 'c'
    for wrong, error in ((4, IndexError), ('a', (IndexError, TypeError)), (1.0, (IndexError, TypeError))):
        with pytest.raises(error):
            dataset[wrong]

    class Doubled(chainer.datasets.TupleDataset):
        def __getitem__(self, index):
            return super().__getitem__(index) * 2

    assert len(Doubled(x, t)[0]) == 4 and next(iter(Doubled(t)))[1] == 0
    same = pickle.loads(pickle.dumps(dataset))
    assert type(same) is chainer.datasets.TupleDataset and same[3][2] == 'd'
    batch = chainer.iterators.SerialIterator(dataset, 3, shuffle=False).next()
    assert [e[2] for e in batch] == list('abc')


def test_backward_starts_from_an_existing_grad():
    gc.collect()  # old-style functions of earlier tests make Chainer's own walk run
    x = chainer.Variable(x_data.copy())
    y = x * 2
    with pytest.raises(Exception):
        y.backward()  # of several elements, without a gradient
    y.grad = np.full_like(x_data, 3)
    y.backward()
    assert (x.grad == 6).all() and y.grad is None
    x.cleargrad()
    F.sum(x * 2).backward(loss_scale=4)
    assert (x.grad == 8).all()
    with pytest.warns(DeprecationWarning):
        F.reshape(F.sum(x), (1, 1)).backward()
    assert (x.grad == 3).all()  # the gradient that was there without its scale, where Chainer adds 8 and 1
    x.cleargrad()
    y = F.sum(x * x * x)
    y.backward(enable_double_backprop=True, retain_grad=True)
    assert float(y.grad) == 1 and x.grad_var.creator is not None
    F.sum(x.grad_var).backward()
    np.testing.assert_allclose(x.grad, 3 * x_data ** 2 + 6 * x_data, rtol=1e-5)
    seen = []

    class Seeing(chainer.FunctionNode):
        def forward(self, inputs):
            return inputs[0] * 1,

        def backward(self, indexes, grad_outputs):
            seen.append(chainer.config.enable_backprop)
            return grad_outputs

    for double in (False, True):
        F.sum(Seeing().apply((x,))[0]).backward(enable_double_backprop=double)
    assert seen == [False, True] and chainer.config.enable_backprop


def test_cleargrads_calls_overridden_methods():
    class Kept(chainer.Parameter):
        def cleargrad(self):
            cleared.append(self.name)

    cleared = []
    link = chainer.Link()
    with link.init_scope():
        link.plain, link.kept, link.later = chainer.Parameter(x_data.copy()), Kept(x_data.copy()), chainer.Parameter(0)
    link.plain.grad, link.kept.grad = x_data.copy(), x_data.copy()
    link.cleargrads()
    assert link.plain.grad is None and link.kept.grad is not None and cleared == ['kept']
    link.later.initialize((2,))
    assert link.later.grad is None


def test_summaries_of_numbers():
    summary = chainer.reporter.DictSummary()
    for value in (1, 2.5, np.float32(3), np.array(4, 'f'), chainer.Variable(np.array(5, 'd')), (np.float64(1), 2)):
        summary.add({'a': value})
    mean, deviation = summary.make_statistics()['a'], summary.make_statistics()['a.std']
    np.testing.assert_allclose([mean, deviation], [17.5 / 7, np.std([1, 2.5, 3, 4, 5, 1, 1])], rtol=1e-6)


@pytest.mark.parametrize('call', [
    lambda: L.Convolution2D(3, 4, 3, pad=1)(numbers_of(2, 3, 8, 8)), lambda: L.Convolution2D(4, 4, 3, 2, groups=2)(numbers_of(2, 4, 8, 8)),
    lambda: L.ConvolutionND(2, 3, 4, 3)(numbers_of(2, 3, 8, 8)), lambda: L.Convolution1D(3, 4, 3)(numbers_of(2, 3, 8)),
    lambda: L.DilatedConvolution2D(3, 4, 3)(numbers_of(2, 3, 8, 8)), lambda: L.DepthwiseConvolution2D(3, 2, 3)(numbers_of(2, 3, 8, 8)),
    lambda: L.Deconvolution2D(3, 4, 3)(numbers_of(2, 3, 8, 8)), lambda: L.Deconvolution2D(3, 4, 3, 2, outsize=(17, 17))(numbers_of(2, 3, 8, 8)),
    lambda: L.DeconvolutionND(2, 3, 4, 3)(numbers_of(2, 3, 8, 8)), lambda: L.Linear(3, 2)(numbers_of(4, 3)),
    lambda: L.Linear(3, 2)(numbers_of(4, 5, 3), n_batch_axes=2), lambda: L.BatchNormalization(3)(numbers_of(2, 3, 4, 4)),
    lambda: L.LayerNormalization(3)(numbers_of(2, 3)), lambda: L.GroupNormalization(2, 4)(numbers_of(2, 4, 3, 3)), lambda: L.Scale(W_shape=3)(numbers_of(4, 3)),
    lambda: L.EmbedID(5, 3)(np.array([[1, 4]], 'i')), lambda: L.LSTM(3, 4)(numbers_of(2, 3)), lambda: L.GRU(3, 4)(numbers_of(2, 3)),
    lambda: L.NStepLSTM(1, 3, 4, 0)(None, None, [numbers_of(5, 3), numbers_of(2, 3)])[2][0], lambda: L.PReLU()(numbers_of(2, 3)), lambda: L.Maxout(3, 2, 2)(numbers_of(2, 3)),
    lambda: L.Inception(3, 1, 2, 2, 2, 2, 2)(numbers_of(2, 3, 8, 8)), lambda: L.Highway(3)(numbers_of(2, 3))])
def test_links_call_the_librarys_functions(call):
    y = call()
    assert type(y.creator).__module__ == 'chainer.functions', type(y.creator)
    expected = y.array.copy()
    assert np.isfinite(expected).all()


def test_arrays_beside_variables_are_seen_as_they_are_when_gradients_are_computed():
    x, a = chainer.Variable(x_data.copy()), np.full_like(x_data, 2)
    y = x * a
    a[:] = 3
    F.sum(y).backward()
    assert (x.grad == 3).all()
