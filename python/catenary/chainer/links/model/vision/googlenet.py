"""GoogLeNet."""
from .... import functions, initializers
from ...connection.convolution import Convolution2D
from ...connection.inception import Inception
from ...connection.linear import Linear
from ._base import ImageModel, _import_error, available, max_pooling, ordered, prepare_image  # noqa: F401

_URL = 'http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel'
_INCEPTIONS = {
    '3a': (192, 64, 96, 128, 16, 32, 32), '3b': (256, 128, 128, 192, 32, 96, 64),
    '4a': (480, 192, 96, 208, 16, 48, 64), '4b': (512, 160, 112, 224, 24, 64, 64),
    '4c': (512, 128, 128, 256, 24, 64, 64), '4d': (512, 112, 144, 288, 32, 64, 64),
    '4e': (528, 256, 160, 320, 32, 128, 128), '5a': (832, 256, 160, 320, 32, 128, 128),
    '5b': (832, 384, 192, 384, 48, 128, 128)}


def prepare(image, size=(224, 224)):
    """Returns an image as GoogLeNet takes it: (channels, height, width) in BGR without the mean colour."""
    return prepare_image(image, size, [104.0, 117.0, 123.0])


def _normalize(x):
    return functions.local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


def _average(ksize, stride):
    return lambda x: functions.average_pooling_2d(x, ksize, stride)


def _dropout(x):
    return functions.dropout(x, ratio=0.4)


class GoogLeNet(ImageModel):
    """GoogLeNet. `pretrained_model` is the path of an npz file, 'auto' for the stored model, or None."""

    _default_features = 'pool5'
    _prepare = staticmethod(prepare)

    def __init__(self, pretrained_model='auto'):
        super().__init__()
        uniform = initializers.Zero() if pretrained_model else initializers.LeCunUniform(scale=1.0)
        inner = {'conv_init': uniform} if pretrained_model else {}
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, initialW=uniform)
            self.conv2_reduce = Convolution2D(64, 64, 1, initialW=uniform)
            self.conv2 = Convolution2D(64, 192, 3, 1, 1, initialW=uniform)
            for name, sizes in _INCEPTIONS.items():
                setattr(self, 'inc' + name, Inception(*sizes, **inner))
            self.loss3_fc = Linear(1024, 1000, initialW=uniform)
            for name, channels in (('loss1', 512), ('loss2', 528)):
                setattr(self, name + '_conv', Convolution2D(channels, 128, 1, initialW=uniform))
                setattr(self, name + '_fc1', Linear(2048, 1024, initialW=uniform))
                setattr(self, name + '_fc2', Linear(1024, 1000, initialW=uniform))
        if pretrained_model == 'auto':
            self._load_stored('bvlc_googlenet.npz', 'bvlc_googlenet.caffemodel', _URL)
        elif pretrained_model:
            self._load(pretrained_model)

    @property
    def functions(self):
        relu, pool = functions.relu, [max_pooling(3, 2)]

        def inceptions(*names):
            return [('inception_' + name, [self['inc' + name]]) for name in names]

        def side(name):
            return name + '_fc2', [_average(5, 3), self[name + '_conv'], relu, self[name + '_fc1'], relu,
                                   self[name + '_fc2']]

        return ordered(
            ('conv1', [self.conv1, relu]), ('pool1', pool + [_normalize]), ('conv2_reduce', [self.conv2_reduce, relu]),
            ('conv2', [self.conv2, relu, _normalize]), ('pool2', pool), *inceptions('3a', '3b'), ('pool3', pool),
            *inceptions('4a', '4b', '4c', '4d', '4e'), ('pool4', pool), *inceptions('5a', '5b'),
            ('pool5', [_average(7, 1)]), ('loss3_fc', [_dropout, self.loss3_fc]), ('prob', [functions.softmax]),
            side('loss1'), side('loss2'))

    _side_inputs = {'loss1_fc2': 'inception_4a', 'loss2_fc2': 'inception_4d'}

    def _run(self, name, steps, h, found, wanted):
        if name in self._side_inputs:
            if name not in wanted:
                return h
            h = self._inputs.pop(name)
        h = super()._run(name, steps, h, found, wanted)
        for side, source in self._side_inputs.items():
            if source == name:
                self._inputs[side] = h
        return h

    def forward(self, x, layers=None, **kwargs):
        self._inputs = {}
        try:
            return super().forward(x, layers, **kwargs)
        finally:
            del self._inputs

    def _copy_from_caffe(self, caffe):
        pairs = {'conv1': 'conv1/7x7_s2', 'conv2_reduce': 'conv2/3x3_reduce', 'conv2': 'conv2/3x3',
                 'loss3_fc': 'loss3/classifier'}
        for side in ('loss1', 'loss2'):
            for name, source in (('conv', 'conv'), ('fc1', 'fc'), ('fc2', 'classifier')):
                pairs['{}_{}'.format(side, name)] = '{}/{}'.format(side, source)
        for name, source in pairs.items():
            self[name].copyparams(caffe[source])
        inner = {'conv1': '1x1', 'proj3': '3x3_reduce', 'conv3': '3x3', 'proj5': '5x5_reduce', 'conv5': '5x5',
                 'projp': 'pool_proj'}
        for name in _INCEPTIONS:
            for own, source in inner.items():
                self['inc' + name][own].copyparams(caffe['inception_{}/{}'.format(name, source)])
