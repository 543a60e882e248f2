"""The arguments of onnx_chainer.export, with files that catenary.onnx reads back."""

import os
import subprocess
import sys
import textwrap

import pytest

BEGIN = '''
    import io, os
    import numpy as np
    import pytest
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import catenary.onnx
    import onnx_chainer
    net = chainer.Sequential(L.Linear(5, 6), F.relu, lambda h: F.dropout(h), L.Linear(6, 3))
    x = np.random.RandomState(0).uniform(-1, 1, (2, 5)).astype('f')
    folder = %r
    path = os.path.join(folder, 'net.onnx')
    with chainer.using_config('train', False):
        wanted = net(x).array
'''


def run(folder, code):
    code = textwrap.dedent(BEGIN % str(folder)) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True, cwd=folder,
                          env=dict(os.environ, CATENARY_CUPY_CPU='1'))
    assert done.returncode == 0, done.stderr + done.stdout


def test_arguments_and_names(tmp_path):
    run(tmp_path, '''
        assert os.path.basename(os.path.dirname(os.path.dirname(onnx_chainer.__file__))) == 'catenary'
        data = onnx_chainer.export(net, x, path)
        if isinstance(data, bytes):  # the package onnx is not installed
            assert data == open(path, 'rb').read()
        model = catenary.onnx.load(path)
        assert model.inputs == [('Input_0', 'float32', ('2', '5'))]
        assert model.outputs == [('Output_0', 'float32', ('2', '3'))]
        np.testing.assert_allclose(model(x)[0], wanted, rtol=1e-6)

        file = io.BytesIO()
        onnx_chainer.export(net, (chainer.Variable(x),), file, opset_version=19, input_shapes=[('batch', 5)], input_names=['image'], output_names='y')
        open(path, 'wb').write(file.getvalue())
        model = catenary.onnx.load(path)
        assert model.inputs == [('image', 'float32', ('batch', '5'))]
        assert model.outputs == [('y', 'float32', ('batch', '3'))]
        np.testing.assert_allclose(model(np.tile(x, (3, 1)))[0], np.tile(wanted, (3, 1)), rtol=1e-6)

        class Two(chainer.Chain):
            def forward(self, a, b):
                return {'sum': a + b, 'product': a * b}

        _, inputs, outputs = onnx_chainer.export(Two(), {'a': x, 'b': x + 1}, path, return_named_inout=True, input_names={'b': 'B', 'a': 'A'},
                                                 output_names={'sum': 's', 'product': 'p'}, input_shapes={'a': ('n', 5), 'b': ('n', 5)})
        assert list(inputs) == ['A', 'B'] and list(outputs) == ['s', 'p']
        np.testing.assert_array_equal(outputs['p'].array, x * (x + 1))
        y = catenary.onnx.load(path)(x[:1], x[:1])
        np.testing.assert_allclose(y[1], x[:1] ** 2, rtol=1e-6)
    ''')


def test_test_cases(tmp_path):
    run(tmp_path, '''
        from onnx_chainer.export_testcase import export_testcase
        assert export_testcase is onnx_chainer.export_testcase
        onnx_chainer.export_testcase(net, [x], folder, output_grad=True)
        assert sorted(os.listdir(folder)) == ['model.onnx', 'test_data_set_0']
        data = os.path.join(folder, 'test_data_set_0')
        assert sorted(os.listdir(data)) == ['gradient_%d.pb' % i for i in range(4)] + ['input_0.pb', 'output_0.pb']
        # two extents, the type 1, the name and the elements
        expected = bytes([8, 2, 8, 5, 16, 1, 66, 7]) + b'Input_0' + bytes([74, 40]) + x.tobytes()
        assert open(os.path.join(data, 'input_0.pb'), 'rb').read() == expected
        np.testing.assert_allclose(np.frombuffer(open(os.path.join(data, 'output_0.pb'), 'rb').read()[-24:], 'f'), wanted.ravel(), rtol=1e-6)
        gradient = np.frombuffer(open(os.path.join(data, 'gradient_3.pb'), 'rb').read()[-12:], 'f')
        np.testing.assert_array_equal(gradient, [2, 2, 2])
    ''')


def test_unsupported_options_are_named(tmp_path):
    run(tmp_path, '''
        from onnx_chainer.export import RetainInputHook
        for name, value in dict(train=True, export_params=False, save_text=True, graph_name='g', external_converters={'ReLU': 1},
                                external_opset_imports={'mine': 1}).items():
            with pytest.raises(NotImplementedError, match='%s=.* is not supported' % name):
                onnx_chainer.export(net, x, path, **{name: value})
        for match, options in (('opset_version 9 is not supported', dict(opset_version=9)), ('2 names are given', dict(input_names=['a', 'b'])),
                               (r'input shape \\(3, 5\\) does not fit', dict(input_shapes=[(3, 5)])),
                               ('does not fit', dict(input_shapes=[('n',)])), ('2 input_shapes', dict(input_shapes=[('n', 5), ('n', 5)]))):
            with pytest.raises(ValueError, match=match):
                onnx_chainer.export(net, x, path, **options)
        with pytest.raises(ValueError, match='args must be'):
            onnx_chainer.export(net, 'x', path)
        with pytest.raises(ValueError, match='cannot be exported: LGamma'):
            onnx_chainer.export(chainer.Sequential(F.lgamma), x, path)
        assert not os.path.exists(path)
        with pytest.raises(NotImplementedError, match='RetainInputHook'):
            RetainInputHook()
        with pytest.raises(NotImplementedError, match='convert_parameter'):
            onnx_chainer.convert_parameter(x, None)
    ''')
