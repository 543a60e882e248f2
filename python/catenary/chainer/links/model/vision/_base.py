"""The common part of models of images: named layers, preparation of images, prediction and stored parameters."""
import collections
import os

import numpy

from .... import functions
from ....configuration import using_config
from ....link import Chain
from ....utils import argument, imgproc
from ....variable import Variable

try:
    from PIL import Image
    available = True
    _import_error = None
except ImportError as error:
    available = False
    _import_error = error

_OLD = {
    'test': 'test is not an argument any more: use chainer.using_config("train", ...)',
    'volatile': 'volatile is not an argument any more: use chainer.using_config("enable_backprop", ...)',
}


def prepare_image(image, size, mean):
    """Returns an image as (channels, height, width) in the order blue, green, red, without the mean.

    The image is Pillow's, or an array (height, width), (height, width, channels) or (channels, height, width).
    """
    from .... import get_dtype
    if not available:
        raise ImportError('Pillow is required to prepare images: {}'.format(_import_error))
    dtype = get_dtype()
    if isinstance(image, numpy.ndarray):
        if image.ndim == 3 and image.shape[0] in (1, 3):
            image = image.transpose(1, 2, 0)
        if image.ndim == 3 and image.shape[2] == 1:
            image = image[:, :, 0]
        image = Image.fromarray(image.astype(numpy.uint8))
    image = image.convert('RGB')
    if size:
        image = image.resize(size)
    pixels = numpy.asarray(image, dtype=dtype)[:, :, ::-1]
    pixels = pixels - numpy.array(mean, dtype=dtype)
    return pixels.transpose((2, 0, 1))


class ImageModel(Chain):
    """A model whose layers have names. Subclasses give ``functions`` and ``_prepare(image, size)``."""

    _last = 'prob'

    @property
    def functions(self):
        """Returns an ordered dictionary from names of layers to lists of functions."""
        raise NotImplementedError(type(self).__name__ + ' has no functions')

    @property
    def available_layers(self):
        """The names of layers that ``forward`` and ``extract`` compute."""
        return list(self.functions)

    def _load(self, npz):
        """Fills the parameters from a file that ``save_npz`` wrote."""
        from ....serializers import load_npz
        load_npz(npz, self)

    def _load_stored(self, npz, caffemodel, url=None):
        """Fills the parameters from the stored model of this name in the folder of data sets.

        The caffemodel is read where the npz is missing, and fetched from `url` where both are missing.
        """
        from ....dataset import download
        root = download.get_dataset_directory('pfnet/chainer/models/')
        path = os.path.join(root, npz)
        if not os.path.exists(path):
            self.convert_caffemodel_to_npz(self._find_caffemodel(root, caffemodel, url), path)
        self._load(path)

    @staticmethod
    def _find_caffemodel(root, name, url):
        from ....dataset import download
        if url is not None:
            return download.cached_download(url)
        path = os.path.join(root, name)
        if not os.path.exists(path):
            raise IOError('the pretrained model {} does not exist. Put the caffemodel there, give the path of an npz, '
                          'or pass pretrained_model=None'.format(path))
        return path

    @classmethod
    def convert_caffemodel_to_npz(cls, path_caffemodel, path_npz):
        """Converts parameters of Caffe into a file for ``pretrained_model``."""
        from ...caffe import CaffeFunction
        from ....serializers import save_npz
        model = cls(pretrained_model=None)
        model._copy_from_caffe(CaffeFunction(path_caffemodel))
        save_npz(path_npz, model, compression=False)


    def forward(self, x, layers=None, **kwargs):
        """Returns a dictionary from the names in `layers` to variables; 'prob' is the default."""
        layers = [self._last] if layers is None else layers
        argument.check_unexpected_kwargs(kwargs, **_OLD)
        argument.assert_kwargs_empty(kwargs)
        wanted, found, h = set(layers), {}, x
        for name, steps in self.functions.items():
            if not wanted:
                break
            h = self._run(name, steps, h, found, wanted)
            if name in wanted:
                wanted.discard(name)
                found[name] = h
        return found

    def _run(self, name, steps, h, found, wanted):
        for step in steps:
            h = step(h)
        return h

    def extract(self, images, layers=None, size=(224, 224), **kwargs):
        """Prepares images and returns the given layers for them, without training and without a graph."""
        layers = [self._default_features] if layers is None else layers
        argument.check_unexpected_kwargs(kwargs, **_OLD)
        argument.assert_kwargs_empty(kwargs)
        with using_config('train', False), using_config('enable_backprop', False):
            return self(self._batch(images, size), layers=layers)

    def _batch(self, images, size):
        x = numpy.stack([self._prepare(image, size) for image in images])
        return Variable(self.xp.asarray(x))

    def predict(self, images, oversample=True):
        """Returns probabilities of classes, as means over ten crops of each image with `oversample`."""
        x = numpy.stack([self._prepare(image, (256, 256)) for image in images])
        if oversample:
            x = imgproc.oversample(x, crop_dims=(224, 224)).astype(x.dtype)
        else:
            x = x[:, :, 16:240, 16:240]
        with using_config('train', False), using_config('enable_backprop', False):
            y = self(Variable(self.xp.asarray(x)), layers=[self._last])[self._last]
            if oversample:
                y = functions.average(functions.reshape(y, (-1, 10) + y.shape[1:]), axis=1)
        return y


def ordered(*pairs):
    return collections.OrderedDict(pairs)


def max_pooling(ksize, stride, **options):
    """Returns a function that pools maxima."""
    def _max_pooling_2d(x):
        return functions.max_pooling_2d(x, ksize, stride, **options)

    return _max_pooling_2d
