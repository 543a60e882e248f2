"""Models of Caffe as chains."""

import contextlib
import functools
import operator
import warnings

import numpy

from ... import functions as F
from ...configuration import using_config
from ...link import Chain
from ...utils import argument
from .. import BatchNormalization, Convolution2D, Deconvolution2D, Linear, Scale
from ._messages import Message, caffe_pb  # noqa: F401

# types of layers in files of 2014 -> their names
_OLD_TYPES = {3: 'Concat', 4: 'Convolution', 5: 'Data', 6: 'Dropout', 8: 'Flatten', 14: 'InnerProduct', 15: 'LRN', 17: 'Pooling', 18: 'ReLU',
              19: 'Sigmoid', 20: 'Softmax', 21: 'SoftmaxWithLoss', 22: 'Split', 25: 'Eltwise', 33: 'Slice', 39: 'Deconvolution'}
_SOURCES = frozenset(('Data', 'DummyData', 'HDF5Data', 'ImageData', 'Input', 'MemoryData', 'WindowData', 5, 9, 12, 24, 29, 32))


def blob_array(blob):
    """Returns the values of a blob as a float32 array of its shape. An old blob has the shape (num, channels, height, width)."""
    shape = list(blob.shape.dim) if blob.HasField('shape') else [blob.num, blob.channels, blob.height, blob.width]
    values = numpy.asarray(blob.data if len(blob.data) else blob.double_data, numpy.float32)
    return values.reshape(shape) if numpy.prod(shape) == values.size else values


def _pair(param, one, suffixed, default):
    """Returns a size of two dimensions, or one number if both have it in common: fields `one`, `suffixed`_h and `suffixed`_w."""
    if param.HasField(suffixed + '_h') or param.HasField(suffixed + '_w'):
        return getattr(param, suffixed + '_h'), getattr(param, suffixed + '_w')
    value = getattr(param, one)
    if not isinstance(value, (list, numpy.ndarray)):
        return value
    return default if len(value) == 0 else value[0] if len(set(value)) == 1 else tuple(value)


def _grouped(weight, groups):
    """Returns the weight of a convolution of one group that equals that of several: zeros join the channels of different groups."""
    if groups == 1:
        return weight
    rows, columns = len(weight) // groups, weight.shape[1]
    whole = numpy.zeros((len(weight), columns * groups, *weight.shape[2:]), weight.dtype)
    for i in range(groups):
        whole[i * rows:(i + 1) * rows, i * columns:(i + 1) * columns] = weight[i * rows:(i + 1) * rows]
    return whole


def _axis_of(param, old):
    return getattr(param, old) if param.HasField(old) and not param.HasField('axis') else param.axis


class CaffeFunction(Chain):
    """A model that Caffe trained, read from a .caffemodel file. Layers with parameters are links of their names.

    `layers` lists (name, names of inputs, names of outputs) in the order of computation, `forwards` has a function for each name, and `split_map`
    maps copies of variables to the variables. Layers of unknown types, which are skipped, raise a warning.
    """

    def __init__(self, model_path):
        super().__init__()
        with open(model_path, 'rb') as file:
            net = Message('NetParameter').ParseFromString(file.read())
        self.forwards, self.split_map, self.layers = {}, {}, []
        for layer in net.layer or net.layers:
            kind = _OLD_TYPES.get(layer.type, layer.type) if isinstance(layer.type, int) else layer.type
            if kind in _SOURCES:
                continue
            setup = _SETUPS.get(kind)
            if setup is None:
                warnings.warn('CaffeFunction skips the layer %s, whose type %s is not supported' % (layer.name, kind), stacklevel=2)
            else:
                setup(self, layer)

    def _add(self, layer, function, link=None):
        """Adds a layer, and its link if it has one."""
        if link is not None:
            with self.init_scope():
                setattr(self, layer.name, link)
        self.forwards[layer.name] = function
        self.layers.append((layer.name, list(layer.bottom), list(layer.top)))

    def _add_link(self, layer, link, **options):
        self._add(layer, lambda *xs: self[layer.name](*xs, **options), link)

    def forward(self, inputs, outputs, disable=(), **kwargs):
        """Returns a tuple of the variables named in `outputs`.

        Args:
            inputs: variables by name.
            outputs: names of variables.
            disable: names of layers to skip.
        """
        argument.check_unexpected_kwargs(kwargs, train='train is not an argument any more: use chainer.using_config("train", ...)')
        argument.assert_kwargs_empty(kwargs)
        variables = dict(inputs)
        for name, bottoms, tops in self.layers:
            sources = [self._source(bottom, variables) for bottom in bottoms]
            if name in disable or not tops or any(source not in variables for source in sources):
                continue
            results = self.forwards[name](*[variables[source] for source in sources])
            variables.update(zip(tops, results if isinstance(results, (tuple, list)) else (results,)))
        return tuple([variables[self._source(name, variables)] for name in outputs])

    def _source(self, name, variables):
        return name if name in variables else self._source(self.split_map[name], variables) if name in self.split_map else name


def _convolution(link_class):
    def setup(function, layer):
        param, blob = layer.convolution_param, layer.blobs[0]
        shape = list(blob.shape.dim) if len(blob.shape.dim) else [blob.num, blob.channels]
        if len(shape) != 4:
            shape = [*shape[:2], *_both(_pair(param, 'kernel_size', 'kernel', 1))]
        weight = _grouped(blob_array(blob).reshape(shape), param.group)
        channels = weight.shape[:2] if link_class is Deconvolution2D else weight.shape[1::-1]
        options = {'initialW': weight, 'nobias': not param.bias_term}
        if param.bias_term:
            options['initial_bias'] = blob_array(layer.blobs[1]).ravel()
        if len(param.dilation):
            options['dilate'] = _both(list(param.dilation))
        stride, pad = _pair(param, 'stride', 'stride', 1), _pair(param, 'pad', 'pad', 0)
        function._add_link(layer, link_class(*channels, weight.shape[2:], stride, pad, **options))
    return setup


def _both(size):
    """Returns the sizes of two dimensions for one or two numbers."""
    return tuple(size) if isinstance(size, (tuple, list)) and len(size) == 2 else (size[0],) * 2 if isinstance(size, (tuple, list)) else (size,) * 2


def _inner_product(function, layer):
    param = layer.inner_product_param
    if param.axis != 1:
        raise RuntimeError('the layer %s: InnerProduct supports axis 1 only, not %d' % (layer.name, param.axis))
    blob = layer.blobs[0]
    shape = list(blob.shape.dim) if blob.HasField('shape') else [blob.num, blob.channels, blob.height, blob.width]
    if len(shape) not in (2, 4):
        raise RuntimeError('the layer %s: the weight of InnerProduct must have 2 or 4 axes, not %d' % (layer.name, len(shape)))
    weight = blob_array(blob).reshape(shape[-2:])
    weight = weight.T if param.transpose else weight
    bias = blob_array(layer.blobs[1]).ravel() if param.bias_term else None
    function._add_link(layer, Linear(weight.shape[1], weight.shape[0], nobias=bias is None, initialW=weight, initial_bias=bias))


def _lrn(function, layer):
    param = layer.lrn_param
    if param.norm_region != 0:
        raise RuntimeError('the layer %s: LRN supports ACROSS_CHANNELS only' % layer.name)
    options = {'n': param.local_size, 'k': param.k, 'alpha': param.alpha / param.local_size, 'beta': param.beta}
    function._add(layer, lambda x: F.local_response_normalization(x, **options))


def _pooling(function, layer):
    param = layer.pooling_param
    if param.pool > 1:
        raise RuntimeError('the layer %s: stochastic pooling is not supported' % layer.name)
    name = 'average_pooling_2d' if param.pool else 'max_pooling_2d'
    options = {'stride': _pair(param, 'stride', 'stride', 1), 'pad': _pair(param, 'pad', 'pad', 0)}
    if param.round_mode and not param.pool:
        options['cover_all'] = False
    if param.global_pooling:
        function._add(layer, lambda x: getattr(F, name)(x, x.shape[2:], stride=1, pad=0))
    else:
        ksize = _pair(param, 'kernel_size', 'kernel', 1)
        function._add(layer, lambda x: getattr(F, name)(x, ksize, **options))


def _relu(function, layer):
    slope = layer.relu_param.negative_slope
    function._add(layer, (lambda x: F.leaky_relu(x, slope=slope)) if slope else (lambda x: F.relu(x)))


def _reshape(function, layer):
    sizes = list(layer.reshape_param.shape.dim)
    function._add(layer, lambda x: F.reshape(x, shape=[size or x.shape[i] for i, size in enumerate(sizes)]))


def _batch_norm(function, layer):
    mean, variance, *factor = map(blob_array, layer.blobs)
    scale = numpy.float32(1 / factor[0].ravel()[0] if factor and factor[0].ravel()[0] else 1)
    param = layer.batch_norm_param
    link = BatchNormalization(mean.size, decay=param.moving_average_fraction, eps=param.eps, use_gamma=False, use_beta=False)
    link.avg_mean[...], link.avg_var[...] = mean.ravel() * scale, variance.ravel() * scale

    def normalize(x):
        with using_config('train', False) if param.use_global_stats else contextlib.nullcontext():
            return function[layer.name](x, finetune=False)
    function._add(layer, normalize, link)


def _eltwise(function, layer):
    operation, weights = layer.eltwise_param.operation, list(layer.eltwise_param.coeff)

    def add(*xs):
        if weights:
            assert len(weights) == len(xs), 'the layer %s has %d factors for %d inputs' % (layer.name, len(weights), len(xs))
            xs = [weight * x for weight, x in zip(weights, xs)]
        return functools.reduce(operator.add, xs)
    function._add(layer, (lambda *xs: functools.reduce(operator.mul, xs), add, lambda *xs: functools.reduce(F.maximum, xs))[operation])


def _scale(function, layer):
    param, blobs = layer.scale_param, [blob_array(blob) for blob in layer.blobs]
    if len(layer.bottom) == 1:
        link = Scale(param.axis, blobs[0].shape, param.bias_term, blobs[0].shape if param.bias_term else None)
        link.W.array[...] = blobs[0]
    else:
        link = Scale(param.axis, bias_term=param.bias_term, bias_shape=blobs[0].shape if param.bias_term else None)
    if param.bias_term:
        link.bias.b.array[...] = blobs[-1]
    function._add_link(layer, link)


def _slice(function, layer):
    param = layer.slice_param
    axis = _axis_of(param, 'slice_dim')
    parts = list(param.slice_point) or len(layer.top)
    function._add(layer, lambda x: F.split_axis(x, indices_or_sections=parts, axis=axis))


def _softmax(function, layer):
    _check_axis(layer)
    setting = {1: 'never', 2: 'always'}.get(layer.softmax_param.engine, 'auto')

    def softmax(x):
        with using_config('use_cudnn', setting):
            return F.softmax(x)
    function._add(layer, softmax)


def _loss(function, layer):
    _check_axis(layer)
    function._add(layer, lambda *xs: F.softmax_cross_entropy(*xs))


def _check_axis(layer):
    if layer.softmax_param.axis != 1:
        raise RuntimeError('the layer %s: softmax supports axis 1 only, not %d' % (layer.name, layer.softmax_param.axis))


def _split(function, layer):
    function.split_map.update({top: layer.bottom[0] for top in layer.top})


def _concat(function, layer):
    axis = _axis_of(layer.concat_param, 'concat_dim')
    function._add(layer, lambda *xs: F.concat(xs, axis=axis))


def _dropout(function, layer):
    ratio = layer.dropout_param.dropout_ratio
    function._add(layer, lambda x: F.dropout(x, ratio=ratio))


_SETUPS = {
    'BatchNorm': _batch_norm, 'Concat': _concat, 'Convolution': _convolution(Convolution2D), 'Deconvolution': _convolution(Deconvolution2D),
    'Dropout': _dropout, 'Eltwise': _eltwise, 'Flatten': lambda function, layer: function._add(layer, lambda x: F.reshape(x, (len(x), -1))),
    'InnerProduct': _inner_product, 'LRN': _lrn, 'Pooling': _pooling, 'ReLU': _relu, 'Reshape': _reshape, 'Scale': _scale,
    'Sigmoid': lambda function, layer: function._add(layer, lambda x: F.sigmoid(x)), 'Slice': _slice, 'Softmax': _softmax,
    'SoftmaxWithLoss': _loss, 'Split': _split}
