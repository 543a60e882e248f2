"""VGG with 16 and 19 layers."""
from .... import functions, initializers
from ...connection.convolution import Convolution2D
from ...connection.linear import Linear
from ._base import ImageModel, _import_error, available, max_pooling, ordered, prepare_image  # noqa: F401

_URL = 'https://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/{}'


def prepare(image, size=(224, 224)):
    """Returns an image as VGG takes it: (channels, height, width) in BGR without the mean colour."""
    return prepare_image(image, size, [103.939, 116.779, 123.68])


class VGGLayers(ImageModel):
    """VGG. `pretrained_model` is the path of an npz file, 'auto' for the stored model, or None."""

    _default_features = 'fc7'
    _prepare = staticmethod(prepare)

    def __init__(self, pretrained_model='auto', n_layers=16):
        super().__init__()
        if n_layers not in (16, 19):
            raise ValueError('n_layers must be 16 or 19, but it is {}'.format(n_layers))
        deep = 3 if n_layers == 16 else 4
        self._groups = (2, 2, deep, deep, deep)
        zero = initializers.Zero()
        options = {'initialW': zero if pretrained_model else initializers.Normal(0.01), 'initial_bias': zero}
        with self.init_scope():
            for group, count in enumerate(self._groups, 1):
                for index in range(1, min(count, 3) + 1):
                    self._add_convolution(group, index, options)
            self.fc6 = Linear(512 * 7 * 7, 4096, **options)
            self.fc7 = Linear(4096, 4096, **options)
            self.fc8 = Linear(4096, 1000, **options)
            for group in (3, 4, 5) if deep == 4 else ():
                self._add_convolution(group, 4, options)
        stem = 'VGG_ILSVRC_{}_layers'.format(n_layers)
        if pretrained_model == 'auto':
            caffemodel = stem + '.caffemodel'
            self._load_stored(stem + '.npz', caffemodel, _URL.format(caffemodel))
        elif pretrained_model:
            self._load(pretrained_model)

    def _add_convolution(self, group, index, options):
        """Adds a convolution. The original makes the fourth ones of VGG19 last, which decides their random values."""
        after = min(32 * 2 ** group, 512)
        before = after if index > 1 else 3 if group == 1 else min(16 * 2 ** group, 512)
        setattr(self, 'conv{}_{}'.format(group, index), Convolution2D(before, after, 3, 1, 1, **options))

    @property
    def functions(self):
        pairs = []
        for group, count in enumerate(self._groups, 1):
            names = ['conv{}_{}'.format(group, index) for index in range(1, count + 1)]
            pairs += [(name, [self[name], functions.relu]) for name in names]
            pairs.append(('pool{}'.format(group), [max_pooling(2, 2)]))
        pairs += [(name, [self[name], functions.relu, functions.dropout]) for name in ('fc6', 'fc7')]
        return ordered(*pairs, ('fc8', [self.fc8]), ('prob', [functions.softmax]))

    def _copy_from_caffe(self, caffe):
        for link in self.children():
            link.copyparams(caffe[link.name])


class VGG16Layers(VGGLayers):
    """VGG with 16 layers."""

    def __init__(self, pretrained_model='auto'):
        super().__init__(pretrained_model, 16)


class VGG19Layers(VGGLayers):
    """VGG with 19 layers."""

    def __init__(self, pretrained_model='auto'):
        super().__init__(pretrained_model, 19)
