"""Writes models in Caffe's files."""

import contextlib
import math
import os

import numpy

from .. import functions
from ..backends import _cpu
from ..configuration import using_config
from ..links.caffe._messages import Message
from ..utils import conv
from ..variable import Parameter, VariableNode, as_array, as_variable

_PROTOTXT, _CAFFEMODEL = 'chainer_model.prototxt', 'chainer_model.caffemodel'


class _Layer:
    """A layer of Caffe: its type, the variables or nodes it reads, its parameters (the name of a message and fields) and its arrays."""

    def __init__(self, kind, inputs, message='', fields=None, blobs=(), after=None):
        self.kind, self.inputs, self.message, self.fields, self.blobs, self.after = kind, inputs, message, fields or {}, blobs, after
        self.shape = None  # that of the output, if the function has options that Caffe has not


# ---- functions whose arrays the graph does not keep: they are noted when they are called

def _linear(x, W, b=None, n_batch_axes=1):
    if n_batch_axes != 1:
        raise ValueError('Caffe has no linear function with n_batch_axes = %d' % n_batch_axes)
    return _Layer('InnerProduct', [x], 'inner_product_param', {'num_output': len(W), 'bias_term': b is not None}, _given(W, b))


def _given(*arrays):
    return [array for array in arrays if array is not None]


def _both(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _sizes(**pairs):
    """Returns the fields of sizes of two dimensions."""
    return {'%s_%s' % (name, axis): int(size) for name, pair in pairs.items() for axis, size in zip('hw', _both(pair))}


def _convolution(x, W, b=None, stride=1, pad=0, cover_all=False, *, dilate=1, groups=1):
    return _windows('Convolution', conv.get_conv_outsize, x, W, b, stride, pad, dilate, groups, W.shape[0])


def _deconvolution(x, W, b=None, stride=1, pad=0, outsize=None, *, dilate=1, groups=1):
    return _windows('Deconvolution', conv.get_deconv_outsize, x, W, b, stride, pad, dilate, groups, W.shape[1] * groups)


def _windows(kind, outsize, x, W, b, stride, pad, dilate, groups, channels):
    """Returns the layer of a convolution or a deconvolution."""
    stride, pad, dilate = map(_both, (stride, pad, dilate))
    fields = {'num_output': channels, 'bias_term': b is not None, 'group': groups, **_sizes(kernel=W.shape[2:], stride=stride, pad=pad)}
    if dilate != (1, 1):
        fields['dilation'] = list(dilate)
    layer = _Layer(kind, [x], 'convolution_param', fields, _given(W, b))
    layer.shape = tuple(outsize(*sizes, d=d) for *sizes, d in zip(x.shape[2:], W.shape[2:], stride, pad, dilate))
    return layer


def _normalization(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    scale = _Layer('Scale', [], 'scale_param', {'axis': 1, 'bias_term': True}, [gamma, beta])
    fields = {'use_global_stats': True, 'eps': float(eps)}
    return _Layer('BatchNorm', [x], 'batch_norm_param', fields, [mean, var, numpy.ones(1, numpy.float32)], scale)


_NOTED = {'linear': _linear, 'convolution_2d': _convolution, 'deconvolution_2d': _deconvolution,
          'fixed_batch_normalization': _normalization}


@contextlib.contextmanager
def _noting(notes):
    """Notes the layers of the functions that are called, by the nodes of their results."""
    originals = {name: getattr(functions, name) for name in _NOTED}

    def noted(name):
        def function(*args, **kwargs):
            y = originals[name](*args, **kwargs)
            notes[y.node] = y, _NOTED[name](*args, **kwargs)
            shape = notes[y.node][1].shape
            if shape not in (None, y.shape[2:]):
                raise ValueError('Caffe has no %s with an output of %s instead of %s' % (name, y.shape[2:], shape))
            return y
        return function
    try:
        for name in _NOTED:
            setattr(functions, name, noted(name))
        yield
    finally:
        for name, original in originals.items():
            setattr(functions, name, original)


# ---- functions of which the graph keeps all

def _pooling(kind):
    def layer(inputs, given):
        fields = {'pool': kind, **_sizes(kernel=given['size'], stride=given['stride'], pad=given['pad'])}
        wide = [math.ceil((size + 2 * pad - kernel) / stride) + 1 for size, pad, kernel, stride
                in zip(inputs[0].shape[2:], given['pad'], given['size'], given['stride'])]
        if wide != list(given['windows'][2:]):
            fields['round_mode'] = 1
        return _Layer('Pooling', inputs, 'pooling_param', fields)
    return layer


def _softmax(inputs, given):
    if given['axis'] != 1:
        raise ValueError('softmax of axis %d cannot be exported: CaffeFunction reads axis 1 only' % given['axis'])
    return _Layer('Softmax', inputs)


def _response(inputs, given):
    fields = {'local_size': given['n'], 'k': given['k'], 'alpha': given['alpha'] * given['n'], 'beta': given['beta']}
    return _Layer('LRN', inputs, 'lrn_param', fields)


def _eltwise(operation):
    return lambda inputs, given: _Layer('Eltwise', inputs, 'eltwise_param', {'operation': operation})


_OF_GRAPH = {
    'ReLU': lambda inputs, given: _Layer('ReLU', inputs), 'Sigmoid': lambda inputs, given: _Layer('Sigmoid', inputs),
    'LeakyReLU': lambda inputs, given: _Layer('ReLU', inputs, 'relu_param', {'negative_slope': given['slope']}),
    'Softmax': _softmax, 'LocalResponseNormalization': _response, 'MaxPoolingND': _pooling(0), 'AveragePoolingND': _pooling(1),
    'Concat': lambda inputs, given: _Layer('Concat', inputs, 'concat_param', {'axis': given['axis']}),
    'Reshape': lambda inputs, given: _Layer('Reshape', inputs, 'reshape_param', {'shape': {'dim': list(given['shape'])}}),
    '_ * _': _eltwise(0), '_ + _': _eltwise(1), 'Maximum': _eltwise(2)}


def _layer_of(node, notes):
    """Returns the layer that computes a variable's node, or None if no function computed it."""
    if node in notes:
        return notes[node][1]
    function = node.creator_node
    if function is None:
        return None
    if function.label not in _OF_GRAPH:
        raise ValueError('the function %s cannot be exported to Caffe. These can: %s, and %s when they are called as chainer.functions.NAME'
                         % (function.label, ', '.join(_OF_GRAPH), ', '.join(_NOTED)))
    return _OF_GRAPH[function.label](list(function.inputs), function.attributes)


def _in_order(outputs, notes, names):
    """Returns pairs of nodes and layers from the inputs, which have names, to the outputs."""
    found, done = [], set(names)
    waiting = [(node, None) for node in reversed(outputs)]
    while waiting:
        node, layer = waiting.pop()
        if node in done:
            continue
        if layer is not None:
            done.add(node)
            found.append((node, layer))
            continue
        layer = _layer_of(node, notes)
        if layer is None:
            raise ValueError('a variable of shape %s is neither an argument of the model nor computed from them' % (node.shape,))
        layer.inputs = [x if isinstance(x, VariableNode) else as_variable(x).node for x in layer.inputs]
        waiting.append((node, layer))
        waiting += [(earlier, None) for earlier in reversed(layer.inputs)]
    return found


# ---- files

def _fill(message, fields):
    for name, value in fields.items():
        if isinstance(value, dict):
            _fill(getattr(message, name), value)
        else:
            setattr(message, name, value)


class _Net:
    """The message of a model. The values of layers are added after its text is made."""

    def __init__(self, name, model):
        self.message = Message('NetParameter')
        self.message.name = name
        self.values = []
        self._links = {id(param): path.strip('/').rpartition('/')[0] for path, param in model.namedparams()}
        self._used = {}

    def _name(self, layer):
        """Returns a name that no layer has: that of the link whose parameter the layer has, or one of its type."""
        links = [self._links[id(blob)] for blob in layer.blobs if isinstance(blob, Parameter) and self._links.get(id(blob))]
        name = links[0] if links else layer.kind
        self._used[name] = count = self._used.get(name, 0) + 1
        return name if count == 1 and links else '%s_%d' % (name, count)

    def add_input(self, name, shape):
        layer = self.message.layer.add()
        _fill(layer, {'name': name, 'type': 'Input', 'top': [name]})
        layer.input_param.shape.add().dim = list(shape)

    def add(self, layer, bottoms):
        """Adds a layer and returns the name of its output."""
        name = self._name(layer)
        message = self.message.layer.add()
        _fill(message, {'name': name, 'type': layer.kind, 'bottom': bottoms, 'top': [name]})
        if layer.message:
            _fill(getattr(message, layer.message), layer.fields)
        self.values.append((message, layer.blobs))
        return name if layer.after is None else self.add(layer.after, [name])

    def add_values(self):
        for message, blobs in self.values:
            for values in blobs:
                values = _cpu.to_numpy(as_array(values))
                _fill(message.blobs.add(), {'shape': {'dim': list(values.shape)}, 'data': values.astype(numpy.float32).ravel()})


def export(model, args, directory=None, export_params=True, graph_name='Graph'):
    """Writes a model in evaluation mode as files of Caffe, chainer_model.prototxt and chainer_model.caffemodel, and returns its message.

    Args:
        model: a Chain.
        args: the list of variables with which the model is called. They are named data, data_1, and so on.
        directory: the folder of the files, or None for no files.
        export_params: whether chainer_model.caffemodel is written.
        graph_name: the name of the model.
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError('args must be a list of variables, not %s' % type(args))
    inputs, notes = [as_variable(x) for x in args], {}
    with using_config('train', False), using_config('enable_backprop', True), _noting(notes):
        outputs = model(*inputs)
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    outputs = [y.node for y in (outputs if isinstance(outputs, (tuple, list)) else (outputs,))]
    net = _Net(graph_name, model)
    names = {x.node: 'data_%d' % i if i else 'data' for i, x in enumerate(inputs)}
    for x in inputs:
        net.add_input(names[x.node], x.shape)
    for node, layer in _in_order(outputs, notes, names):
        names[node] = net.add(layer, [names[earlier] for earlier in layer.inputs])
    text = str(net.message)
    net.add_values()
    if directory is not None:
        with open(os.path.join(directory, _PROTOTXT), 'w') as file:
            file.write(text)
        if export_params:
            with open(os.path.join(directory, _CAFFEMODEL), 'wb') as file:
                file.write(net.message.SerializeToString())
    return net.message
