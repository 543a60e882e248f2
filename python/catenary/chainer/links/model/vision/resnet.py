"""Residual networks with 50, 101 and 152 layers."""
from .... import functions, initializers
from ....link import Chain
from ...connection.convolution import Convolution2D
from ...connection.linear import Linear
from ...normalization import BatchNormalization
from ._base import ImageModel, _import_error, available, max_pooling, ordered, prepare_image  # noqa: F401

_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def prepare(image, size=(224, 224)):
    """Returns an image as these networks take it: (channels, height, width) in BGR without the mean colour."""
    return prepare_image(image, size, [103.063, 115.903, 123.152])


def _global_average_pooling_2d(x):
    n, channels, height, width = x.shape
    return functions.reshape(functions.average_pooling_2d(x, (height, width), stride=1), (n, channels))


class _Bottleneck(Chain):
    """Convolutions of 1x1, 3x3 and 1x1 with batch normalization, beside a shortcut."""

    def _add(self, index, before, after, ksize, stride, initialW):
        setattr(self, 'conv{}'.format(index), Convolution2D(before, after, ksize, stride, ksize // 2, True, initialW))
        setattr(self, 'bn{}'.format(index), BatchNormalization(after))

    def _apply(self, index, x):
        return self['bn{}'.format(index)](self['conv{}'.format(index)](x))

    def _shortcut(self, x):
        return x

    def forward(self, x):
        h = functions.relu(self._apply(1, x))
        h = functions.relu(self._apply(2, h))
        return functions.relu(self._apply(3, h) + self._shortcut(x))


class BottleneckA(_Bottleneck):
    """The first block of a stage, which changes the shape: its shortcut has a convolution too."""

    def __init__(self, in_channels, mid_channels, out_channels, stride=2, initialW=None, downsample_fb=False):
        super().__init__()
        first, second = (1, stride) if downsample_fb else (stride, 1)
        with self.init_scope():
            self._add(1, in_channels, mid_channels, 1, first, initialW)
            self._add(2, mid_channels, mid_channels, 3, second, initialW)
            self._add(3, mid_channels, out_channels, 1, 1, initialW)
            self._add(4, in_channels, out_channels, 1, stride, initialW)

    def _shortcut(self, x):
        return self._apply(4, x)


class BottleneckB(_Bottleneck):
    """A block that keeps the shape."""

    def __init__(self, in_channels, mid_channels, initialW=None):
        super().__init__()
        with self.init_scope():
            self._add(1, in_channels, mid_channels, 1, 1, initialW)
            self._add(2, mid_channels, mid_channels, 3, 1, initialW)
            self._add(3, mid_channels, in_channels, 1, 1, initialW)


class BuildingBlock(Chain):
    """A stage: one `BottleneckA`, then `BottleneckB` until there are `n_layer` blocks."""

    def __init__(self, n_layer, in_channels, mid_channels, out_channels, stride, initialW=None, downsample_fb=False):
        super().__init__()
        with self.init_scope():
            self.a = BottleneckA(in_channels, mid_channels, out_channels, stride, initialW, downsample_fb)
            for index in range(1, n_layer):
                setattr(self, 'b{}'.format(index), BottleneckB(out_channels, mid_channels, initialW))
        self._forward = ['a'] + ['b{}'.format(index) for index in range(1, n_layer)]

    def forward(self, x):
        for name in self._forward:
            x = self[name](x)
        return x


class ResNetLayers(ImageModel):
    """A residual network. `pretrained_model` is the path of an npz file, 'auto' for the stored model, or None.

    `downsample_fb` puts the stride of 2 into convolutions of 3x3 instead of 1x1.
    """

    _default_features = 'pool5'
    _prepare = staticmethod(prepare)

    def __init__(self, pretrained_model, n_layers, downsample_fb=False):
        super().__init__()
        if n_layers not in _BLOCKS:
            raise ValueError('n_layers must be 50, 101 or 152, but it is {}'.format(n_layers))
        initialW = initializers.Zero() if pretrained_model else initializers.HeNormal(scale=1.0)
        options = {'initialW': initialW} if pretrained_model else {}
        with self.init_scope():
            self.conv1 = Convolution2D(3, 64, 7, 2, 3, initialW=initialW)
            self.bn1 = BatchNormalization(64)
            before = 64
            for stage, count in enumerate(_BLOCKS[n_layers]):
                width = 64 * 2 ** stage
                setattr(self, 'res{}'.format(stage + 2), BuildingBlock(
                    count, before, width, 4 * width, 1 if stage == 0 else 2, initialW, downsample_fb))
                before = 4 * width
            self.fc6 = Linear(2048, 1000, **options)
        if pretrained_model == 'auto':
            stem = 'ResNet-{}-model'.format(n_layers)
            self._load_stored(stem + '.npz', stem + '.caffemodel')
        elif pretrained_model:
            self._load(pretrained_model)

    @property
    def functions(self):
        stages = [('res{}'.format(stage), [self['res{}'.format(stage)]]) for stage in range(2, 6)]
        return ordered(('conv1', [self.conv1, self.bn1, functions.relu]), ('pool1', [max_pooling(3, 2)]), *stages,
                       ('pool5', [_global_average_pooling_2d]), ('fc6', [self.fc6]), ('prob', [functions.softmax]))

    def _copy_from_caffe(self, caffe):
        self.conv1.W.array[:] = caffe.conv1.W.array
        if getattr(caffe.conv1, 'b', None) is not None:
            self.conv1.b.array[:] = caffe.conv1.b.array
        _copy_normalization(self.bn1, caffe.bn_conv1, caffe.scale_conv1)
        deep = len(self.res4._forward) > 6
        for stage in range(2, 6):
            names = self['res{}'.format(stage)]._forward
            for index, name in enumerate(names):
                letters = name if deep and len(names) > 3 and stage in (3, 4) else 'abcdef'[index]
                _copy_block(self['res{}'.format(stage)][name], caffe, '{}{}'.format(stage, letters))
        self.fc6.copyparams(caffe.fc1000)


def _copy_normalization(target, statistics, scale):
    target.avg_mean[:] = statistics.avg_mean
    target.avg_var[:] = statistics.avg_var
    target.gamma.array[:] = scale.W.array
    target.beta.array[:] = scale.bias.b.array


def _copy_block(block, caffe, name):
    for index, branch in ((1, '2a'), (2, '2b'), (3, '2c'), (4, '1')):
        if not hasattr(block, 'conv{}'.format(index)):
            continue
        place = '{}_branch{}'.format(name, branch)
        block['conv{}'.format(index)].W.array[:] = caffe['res' + place].W.array
        _copy_normalization(block['bn{}'.format(index)], caffe['bn' + place], caffe['scale' + place])


class ResNet50Layers(ResNetLayers):
    """The residual network with 50 layers."""

    def __init__(self, pretrained_model='auto', downsample_fb=False):
        super().__init__(pretrained_model, 50, downsample_fb)


class ResNet101Layers(ResNetLayers):
    """The residual network with 101 layers."""

    def __init__(self, pretrained_model='auto', downsample_fb=False):
        super().__init__(pretrained_model, 101, downsample_fb)


class ResNet152Layers(ResNetLayers):
    """The residual network with 152 layers."""

    def __init__(self, pretrained_model='auto', downsample_fb=False):
        super().__init__(pretrained_model, 152, downsample_fb)
