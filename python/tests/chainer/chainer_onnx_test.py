"""Networks of chainer in ONNX files, read back by catenary.onnx."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

COMPARE = '''
        import numpy as np
        import chainer
        import chainer.functions as F
        import chainer.links as L
        import catenary.onnx

        def compare(path, function, shape):
            model = catenary.onnx.load(path)
            for batch in (1, 7):
                x = np.random.RandomState(batch).uniform(-1, 1, (batch, *shape)).astype('f')
                with chainer.using_config('train', False):
                    wanted = function(chainer.Variable(x)).array
                y, = model(x)
                assert y.dtype == wanted.dtype
                np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)
            return model
'''


def test_perceptron_keeps_names(tmp_path):
    run(COMPARE + '''
        net = chainer.Sequential(L.Linear(None, 6), F.relu, lambda h: F.dropout(h), L.Linear(6, 3), F.softmax)
        path = %r
        catenary.onnx.export(path, net, [np.ones((2, 5), 'f')], input_names=['image'])
        model = compare(path, net, (5,))
        assert sorted(model.parameters) == ['0/W', '0/b', '1/W', '1/b']
        assert model.inputs == [('image', 'float32', ('batch', '5'))]
    ''' % str(tmp_path / 'net.onnx'))


def test_convnet(tmp_path):
    run(COMPARE + '''
        class Net(chainer.Chain):
            def __init__(self):
                super().__init__()
                with self.init_scope():
                    self.conv = L.Convolution2D(3, 4, 3, pad=1)
                    self.bn = L.BatchNormalization(4)
                    self.fc = L.Linear(None, 5)

            def forward(self, x):
                h = F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 2)
                return self.fc(F.reshape(h, (x.shape[0], -1)))

        net = Net()
        net(np.random.RandomState(0).uniform(-1, 1, (4, 3, 9, 8)).astype('f'))
        path = %r
        catenary.onnx.export(path, net, [np.ones((2, 3, 9, 8), 'f')])
        compare(path, net, (3, 9, 8))
    ''' % str(tmp_path / 'net.onnx'))


def test_functions_and_errors(tmp_path):
    run(COMPARE + '''
        import os
        import pytest
        path = %r
        catenary.onnx.export(path, lambda x: F.sum(x * 2 - 1, axis=1) ** 2, [np.ones((2, 5), 'f')])
        compare(path, lambda x: F.sum(x * 2 - 1, axis=1) ** 2, (5,))
        os.remove(path)
        with pytest.raises(ValueError, match='functions cannot be exported: LGamma'):
            catenary.onnx.export(path, F.lgamma, [np.ones((2, 5), 'f')])
        with pytest.raises(ValueError, match='depends on the inputs'):
            catenary.onnx.export(path, lambda x: x * (x.array > 0), [np.arange(-5, 5).reshape(2, 5).astype('f')])
        assert not os.path.exists(path)
    ''' % str(tmp_path / 'net.onnx'))
