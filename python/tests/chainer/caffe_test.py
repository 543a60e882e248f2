"""Files of Caffe: chains from them, and files of chains."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

MODEL = '''
import os
import numpy as np
import pytest
import chainer
from chainer import functions as F, links as L
from chainer.exporters import caffe
from chainer.links.caffe.caffe_function import caffe_pb

class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(3, 4, 3, 2, 1)
            self.b1 = L.BatchNormalization(4, eps=1e-3)
            self.c2 = L.Convolution2D(4, 4, (3, 1), 1, (1, 0), groups=2)
            self.c3 = L.Convolution2D(4, 4, 3, 1, 2, dilate=2, nobias=True)
            self.up = L.Deconvolution2D(4, 2, (2, 3), 2, 1)
            self.fc = L.Linear(None, 5)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        h = F.relu(h + self.c2(h) * self.c3(h))
        h = F.max_pooling_2d(h, 3, 2)
        h = F.local_response_normalization(F.concat([h, F.leaky_relu(h, .3)], 1))
        h = F.maximum(F.average_pooling_2d(h, 2, 2), F.max_pooling_2d(h, 2, 2, cover_all=False))
        h = F.sigmoid(self.up(F.reshape(h, (-1, 4, *h.shape[2:]))))
        return F.softmax(self.fc(F.reshape(h, (len(x), -1))))

rng = np.random.RandomState(0)
model, x = Model(), chainer.Variable(rng.rand(2, 3, 19, 17).astype('f'))
with chainer.using_config('train', False):
    model(x)
for param in model.params():
    param.array[...] = rng.randn(*param.shape)
model.b1.avg_mean[...], model.b1.avg_var[...] = rng.rand(4), rng.rand(4) + .5
with chainer.using_config('train', False):
    y = model(x).array
'''


def test_exported_models_are_read_with_the_same_results(tmp_path):
    run(MODEL + f'''
folder = {str(tmp_path)!r}
assert len(caffe.export(model, [x], folder, True, 'test').layer) == 23
read = L.caffe.CaffeFunction(os.path.join(folder, 'chainer_model.caffemodel'))
assert set(link.name for link in read.children()) == set('c1 BatchNorm_1 b1 c2 c3 up fc'.split())
with chainer.using_config('train', False):
    found, = read(inputs={{'data': x}}, outputs=['Softmax_1'])
    np.testing.assert_allclose(found.array, y, rtol=1e-4, atol=1e-6)
with open(os.path.join(folder, 'chainer_model.prototxt')) as file:
    text = file.read()
assert 'name: "test"' in text and 'pool: AVE' in text and 'operation: PROD' in text and 'blobs' not in text and 'round_mode: FLOOR' in text
assert 'dilation: 2' in text and 'group: 2' in text and 'negative_slope: 0.3' in text
os.remove(os.path.join(folder, 'chainer_model.caffemodel'))
caffe.export(model, [x], folder, False)
assert os.listdir(folder) == ['chainer_model.prototxt']
''')


def test_models_that_caffe_cannot_have_are_refused():
    run(MODEL + '''
def refused(function, text):
    class Link(chainer.Chain):
        def forward(self, x):
            return function(x)
    with pytest.raises(ValueError, match=text):
        caffe.export(Link(), [x])
refused(lambda x: F.sin(x), 'Sin cannot be exported')
refused(lambda x: F.softmax(x, axis=2), 'axis 2')
refused(lambda x: x + np.ones((2, 3, 19, 17), 'f'), 'neither an argument')
refused(lambda x: F.convolution_2d(x, np.ones((2, 3, 4, 4), 'f'), stride=3, cover_all=True), 'instead of')
refused(lambda x: F.linear(x, np.ones((2, 17), 'f'), n_batch_axes=3), 'n_batch_axes')
class Named(chainer.Chain):
    def forward(self, x):
        return {'y': F.relu(x), 'z': x * x}
assert [layer.type for layer in caffe.export(Named(), [x]).layer] == ['Input', 'ReLU', 'Eltwise']
linear = F.linear
with pytest.raises(TypeError):
    caffe.export(Model(), x)
assert F.linear is linear
''')


def test_messages_are_those_of_protocol_buffers(tmp_path):
    run(f'''
import numpy as np
from chainer.links.caffe._messages import Message, caffe_pb
blob = bytes([42, 8]) + np.array([1.5, -2], '<f').tobytes() + bytes([58, 4, 10, 2, 2, 1])
# name 'n', then a layer: name 'ip', type 'InnerProduct', bottom 'x', top 'y', a blob, inner_product_param without bias, and an unknown field 900
layer = bytes([10, 2]) + b'ip' + bytes([18, 12]) + b'InnerProduct' + bytes([26, 1]) + b'x' + bytes([34, 1]) + b'y'
layer += bytes([58, len(blob)]) + blob + bytes([0xaa, 7, 2, 16, 0])
net = bytes([10, 1]) + b'n' + bytes([0xa2, 6, len(layer)]) + layer
read = Message('NetParameter').ParseFromString(net + bytes([0xa0, 0x38, 5]))
assert (read.name, read.layer[0].name, list(read.layer[0].bottom)) == ('n', 'ip', ['x'])
assert read.layer[0].inner_product_param.bias_term is False and read.layer[0].inner_product_param.axis == 1
assert read.layer[0].blobs[0].data.tolist() == [1.5, -2] and read.layer[0].blobs[0].shape.dim == [2, 1]
assert read.SerializeToString() == net
shape = caffe_pb.BlobShape()
shape.dim = [-1, 0, 1 << 40]
assert Message('BlobShape').ParseFromString(shape.SerializeToString()).dim == [-1, 0, 1 << 40]
# numbers that are not packed
assert Message('BlobShape').ParseFromString(bytes([8, 3, 8, 4])).dim == [3, 4]
import pytest
for bad in (net[:-3], b'\\xff' * 20, bytes([10, 99, 1])):
    with pytest.raises(ValueError, match='model of Caffe'):
        Message('NetParameter').ParseFromString(bad)
with pytest.raises(AttributeError):
    read.nothing
''')


def test_old_files_and_layers_of_caffe(tmp_path):
    run(MODEL + f'''
net = caffe_pb.NetParameter()
def add(name, kind, bottoms, tops, *blobs):
    layer = net.layers.add()
    layer.name, layer.type, layer.bottom, layer.top = name, kind, bottoms, tops
    for values in blobs:
        blob = layer.blobs.add()
        blob.num, blob.channels, blob.height, blob.width = (1,) * (4 - values.ndim) + values.shape
        blob.data = values.ravel()
    return layer
w, b, v = rng.randn(4, 3, 3, 3).astype('f'), rng.randn(4).astype('f'), rng.randn(5, 400).astype('f')
add('source', 5, [], ['data', 'label'])
param = add('conv', 4, ['data'], ['conv'], w, b).convolution_param
param.kernel_size, param.stride, param.pad = [3], [2], [1]
add('relu', 18, ['conv'], ['conv'])
add('split', 22, ['conv'], ['one', 'two'])
add('sum', 25, ['one', 'two'], ['sum']).eltwise_param.coeff = [.5, 2.]
add('fc', 14, ['sum'], ['fc'], v, rng.randn(5).astype('f'))
add('prob', 20, ['fc'], ['prob'])
add('odd', 31, ['prob'], ['odd'])
path = {str(tmp_path / 'old.caffemodel')!r}
with open(path, 'wb') as file:
    file.write(net.SerializeToString())
with pytest.warns(UserWarning, match='odd'):
    read = L.caffe.CaffeFunction(path)
x = rng.rand(2, 3, 19, 19).astype('f')
h = F.relu(F.convolution_2d(x, w, b, 2, 1))
wanted = F.softmax(F.linear(2.5 * h, v, read.fc.b.array))
found, conv = read(inputs={{'data': chainer.Variable(x)}}, outputs=['prob', 'two'])
np.testing.assert_allclose(found.array, wanted.array, rtol=1e-4, atol=1e-6)
np.testing.assert_allclose(conv.array, h.array, rtol=1e-5, atol=1e-5)
with pytest.raises(KeyError):
    read(inputs={{'data': chainer.Variable(x)}}, outputs=['prob'], disable=['fc'])
with pytest.raises(ValueError, match='train'):
    read(inputs={{}}, outputs=[], train=False)
''')


def test_googlenet_takes_parameters_of_a_caffemodel(tmp_path):
    run(f'''
import numpy as np
import chainer
from chainer import links as L
from chainer.links.caffe.caffe_function import caffe_pb
model = L.GoogLeNet(pretrained_model=None)
class Names:
    """Notes which names the model asks for."""
    def __init__(self):
        self.found = []
    def __getitem__(self, name):
        self.found.append(name)

names = Names()
copied = []
original = chainer.Link.copyparams
chainer.Link.copyparams = lambda self, other: copied.append(self)
model._copy_from_caffe(names)
chainer.Link.copyparams = original
net = caffe_pb.NetParameter()
rng = np.random.RandomState(0)
for name, link in zip(names.found, copied):
    layer = net.layer.add()
    layer.name, layer.type = name, 'Convolution' if link.W.ndim == 4 else 'InnerProduct'
    for array in (link.W.array, link.b.array):
        blob = layer.blobs.add()
        blob.shape.dim = list(array.shape)
        blob.data = rng.rand(array.size).astype('f')
    if link.W.ndim == 4:
        layer.convolution_param.kernel_size = [link.W.shape[2]]
path, npz = {str(tmp_path / 'g.caffemodel')!r}, {str(tmp_path / 'g.npz')!r}
with open(path, 'wb') as file:
    file.write(net.SerializeToString())
L.GoogLeNet.convert_caffemodel_to_npz(path, npz)
read = L.GoogLeNet(pretrained_model=npz)
paths = {{id(link): path for path, link in model.namedlinks()}}
links = dict(read.namedlinks())
assert len(copied) == len(net.layer) == 64
for layer, link in zip(net.layer, copied):
    np.testing.assert_array_equal(links[paths[id(link)]].W.array.ravel(), layer.blobs[0].data)
    np.testing.assert_array_equal(links[paths[id(link)]].b.array, layer.blobs[1].data)
''')
