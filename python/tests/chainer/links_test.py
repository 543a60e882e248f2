"""Links of the package catenary/chainer: shapes, seeds, files and hooks."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402


def test_recurrent_link_keeps_shorter_batches():
    run('''
        import numpy as np
        import chainer.links as L
        np.random.seed(0)
        link = L.LSTM(5, 3)
        x = np.random.randn(7, 5).astype('f')
        link(x)
        tail = link.h.array[4:].copy()
        assert link(x[:4]).shape == (4, 3)
        assert link.h.shape == (7, 3)
        np.testing.assert_array_equal(link.h.array[4:], tail)
    ''')


def test_gates_of_lstm_start_with_forget_bias_one():
    run('''
        import numpy as np
        import chainer.links as L
        gates = L.LSTM(5, 3).upward.b.array.reshape(3, 4)
        np.testing.assert_array_equal(gates[:, 2], 1)
        np.testing.assert_array_equal(gates[:, [0, 1, 3]], 0)
    ''')


def test_batch_normalization_averages():
    run('''
        import numpy as np
        import chainer
        import chainer.links as L
        x = np.random.RandomState(0).randn(9, 3).astype('f')
        link = L.BatchNormalization(3)
        link(x, finetune=True)
        np.testing.assert_allclose(link.avg_mean, x.mean(axis=0), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(link.avg_var, x.var(axis=0, ddof=1), rtol=1e-5)
        with chainer.using_config('train', False):
            y = link(x).array
        np.testing.assert_allclose(y, (x - link.avg_mean) / np.sqrt(link.avg_var + 2e-5), rtol=1e-5, atol=1e-6)
    ''')


def test_files_keep_parameters_and_persistent_values(tmp_path):
    run('''
        import sys
        import numpy as np
        import chainer
        import chainer.links as L
        first, second = L.BatchNormalization(3), L.BatchNormalization(3)
        first(np.random.RandomState(0).randn(9, 3).astype('f'))
        chainer.serializers.save_npz(%r, first)
        chainer.serializers.load_npz(%r, second)
        np.testing.assert_array_equal(first.avg_mean, second.avg_mean)
        assert sorted(np.load(%r)) == ['N', 'avg_mean', 'avg_var', 'beta', 'gamma']
    ''' % ((str(tmp_path / 'bn.npz'),) * 3))


def test_spectral_normalization_divides_by_the_largest_singular_value():
    run('''
        import numpy as np
        import chainer.links as L
        from chainer.link_hooks import SpectralNormalization
        np.random.seed(0)
        link = L.Linear(6, 4, nobias=True)
        link.add_hook(SpectralNormalization(n_power_iteration=200))
        x = np.eye(6, dtype='f')
        np.testing.assert_allclose(np.linalg.svd(link(x).array, compute_uv=False)[0], 1, rtol=1e-4)
    ''')


def test_types_are_checked_with_facts():
    run('''
        import numpy as np
        import chainer.links as L
        from chainer.utils.type_check import InvalidType
        try:
            L.SimplifiedDropconnect(3, 2)(np.zeros((4, 5), 'f'))
        except InvalidType as error:
            assert '5 != 3' in str(error) and 'SimplifiedDropconnect' in str(error), error
        else:
            assert False
    ''')


def test_unsupported_links_are_refused_by_name():
    run('''
        import chainer.links as L
        for make, text in ((lambda: L.TheanoFunction([], []), 'Theano'),):
            try:
                make()
            except (RuntimeError, NotImplementedError) as error:
                assert text in str(error)
            else:
                assert False
    ''')


def test_links_without_from_params_say_so():
    run('''
import numpy, pytest
import chainer.links as L
for name in ('Deconvolution1D', 'Deconvolution2D', 'Deconvolution3D', 'DeconvolutionND', 'DilatedConvolution2D', 'DepthwiseConvolution2D', 'LocalConvolution2D'):
    with pytest.raises(NotImplementedError):
        getattr(L, name).from_params(numpy.zeros((2, 3, 1, 1), 'f'))
link = L.Convolution2D.from_params(numpy.ones((2, 3, 1, 1), 'f'), numpy.zeros(2, 'f'))
assert (link.in_channels, link.out_channels) == (3, 2)
''')


def test_links_may_have_an_attribute_forward():
    run('''
        import numpy as np
        import chainer
        import chainer.links as L
        class Mine(L.Linear):
            def __init__(self):
                super().__init__(3, 2)
                self._forward = ['a']
        assert Mine()(np.ones((4, 3), 'f')).shape == (4, 2)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            y = L.ResNet50Layers(None)(np.ones((1, 3, 64, 64), 'f'), layers=['prob', 'res2'])
        assert y['prob'].shape == (1, 1000) and y['res2'].shape == (1, 256, 16, 16)
    ''')


def test_classifier_sets_attributes_that_subclasses_may_define():
    run('''
        import numpy as np
        import chainer.links as L
        class Recording(L.Classifier):
            seen = []
            @property
            def y(self):
                return self.seen[-1]
            @y.setter
            def y(self, value):
                self.seen.append(value)
        model = Recording(L.Linear(3, 2))
        loss = model(np.ones((4, 3), 'f'), np.zeros(4, 'i'))
        assert model.seen[-1].shape == (4, 2) and 'y' not in model.__dict__
        assert model.loss is loss
    ''')


def test_embedding_refuses_ids_as_labels_are_refused():
    run('''
        import numpy as np
        import chainer.links as L
        for ignored, bad in ((None, -1), (None, 2), (-1, 2)):
            try:
                L.EmbedID(2, 3, ignore_label=ignored)(np.array([0, bad], 'i'))
            except ValueError as error:
                assert 'must be in [0, 2)' in str(error) and 'x[1] is %d' % bad in str(error), error
            else:
                raise AssertionError('not refused')
        assert not L.EmbedID(2, 3, ignore_label=-1)(np.array([-1], 'i')).array.any()
    ''')


def test_copies_without_values_are_made_on_their_own_devices():
    run('''
        import cupy
        import numpy as np
        import chainer
        import chainer.links as L
        from chainer import training
        link = L.Linear(None, 2)
        near, far = link.copy(), link.copy()
        far.to_device('@cupy:0')
        link.W.initialize((2, 3))
        assert near.W.array is link.W.array and not far.W.is_initialized
        far.W.initialize((2, 3))
        assert isinstance(far.W.array, cupy.ndarray) and isinstance(link.W.array, np.ndarray)
        # data parallelism of a model whose sizes are not known yet
        optimizer = chainer.optimizers.SGD()
        optimizer.setup(L.Classifier(L.Linear(None, 2)))
        iterator = chainer.iterators.SerialIterator([(np.full(3, i, 'f'), i % 2) for i in range(4)], 4)
        updater = training.updaters.ParallelUpdater(iterator, optimizer, devices={'main': '@numpy', 'second': '@cupy:0'})
        updater.update()
        main, second = updater._models['main'].predictor.W.array, updater._models['second'].predictor.W.array
        assert isinstance(main, np.ndarray) and isinstance(second, cupy.ndarray)
        assert (main == second.get()).all()
    ''', CATENARY_CUPY_CPU='1')
