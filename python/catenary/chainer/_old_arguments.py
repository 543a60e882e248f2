"""Arguments of Chainer 1 that later versions dropped: most are settings now, and hold in the scope of one call.

One table names the functions, links and calls of links. Functions of the library ask it only about arguments which they do not take.
"""

import contextlib
import functools
import math

from .configuration import using_config

# argument -> functions
_N_STEP = ' n_step_lstm n_step_bilstm n_step_gru n_step_bigru n_step_rnn n_step_birnn'
_FUNCTIONS = {
    'use_cudnn': 'relu sigmoid tanh softmax log_softmax spatial_transformer_grid spatial_transformer_sampler convolution_2d convolution_nd '
                 'deconvolution_2d deconvolution_nd dilated_convolution_2d softmax_cross_entropy sigmoid_cross_entropy batch_normalization '
                 'fixed_batch_normalization average_pooling_2d average_pooling_nd max_pooling_2d max_pooling_nd spatial_pyramid_pooling_2d' + _N_STEP,
    'deterministic': 'convolution_2d deconvolution_2d',
    'train': 'dropout zoneout' + _N_STEP,
}
# function -> position and name of an argument that may be positional
_POSITIONS = {'dropout': (2, 'train'), 'zoneout': (3, 'train'), 'relu': (1, 'use_cudnn'), 'sigmoid': (1, 'use_cudnn'), 'tanh': (1, 'use_cudnn')}

# argument -> links whose constructor takes it. Subclasses inherit it from NStepRNNBase.
_LINKS = {
    'use_cudnn': 'Convolution2D ConvolutionND Deconvolution2D DeconvolutionND DilatedConvolution2D MLPConvolution2D BatchNormalization NStepRNNBase',
    'deterministic': 'Convolution2D Deconvolution2D',
    'wscale': 'Linear Convolution2D Deconvolution2D DilatedConvolution2D MLPConvolution2D Maxout',
    'bias': 'Linear Convolution2D Deconvolution2D DilatedConvolution2D',
    'train': 'StatefulZoneoutLSTM',
}
# argument -> links that take it when they are called
_CALLS = {
    'test': 'BatchNormalization InceptionBN VGG16Layers VGG19Layers ResNet50Layers ResNet101Layers ResNet152Layers',
    'train': 'NStepRNNBase NStepLSTMBase GoogLeNet',
}
_INITIALIZERS = {'MLPConvolution2D': 'conv_init'}

# The links that were classes in chainer.functions, with the names of positional arguments where these have changed.
_CONVOLUTION = ('in_channels', 'out_channels', 'ksize', 'stride', 'pad', 'wscale', 'bias', 'nobias')
_FILTERS = ('use_cudnn', 'initialW', 'initial_bias', 'deterministic')
PARAMETRIC = {
    'BatchNormalization': None, 'Bilinear': None, 'BinaryHierarchicalSoftmax': None, 'EmbedID': None, 'Inception': None, 'InceptionBN': None,
    'NegativeSampling': None, 'PReLU': None, 'Parameter': None,
    'Convolution2D': (*_CONVOLUTION, *_FILTERS), 'Deconvolution2D': (*_CONVOLUTION, 'outsize', *_FILTERS),
    'Linear': ('in_size', 'out_size', 'wscale', 'bias', 'nobias', 'initialW', 'initial_bias'),
}


def _by_name(table):
    found = {}
    for argument, names in table.items():
        for name in names.split():
            found.setdefault(name, set()).add(argument)
    return found


_functions, _links, _calls = map(_by_name, (_FUNCTIONS, _LINKS, _CALLS))


@contextlib.contextmanager
def _scope(old):
    """Sets the settings that the arguments stand for."""
    with contextlib.ExitStack() as stack:
        for name, value in old.items():
            if name == 'use_cudnn':
                stack.enter_context(using_config('use_cudnn', 'auto' if value else 'never'))
            elif name == 'deterministic':
                stack.enter_context(using_config('cudnn_deterministic', bool(value)))
            else:
                stack.enter_context(using_config('train', bool(value) == (name == 'train')))
        yield


def _taken(kwargs, names):
    """Removes the arguments with these names and returns them."""
    return {name: kwargs.pop(name) for name in names & set(kwargs)}


# ---- functions

def of_function(name, args, kwargs):
    """Returns the scope, arguments and keyword arguments of a call without the old arguments, or None if there are none."""
    names = _functions.get(name)
    if names is None:
        return None
    kwargs = dict(kwargs)
    old = _taken(kwargs, names)
    position, argument = _POSITIONS.get(name, (0, ''))
    if position and len(args) == position + 1 and argument not in old:
        old[argument], args = args[-1], args[:-1]
    return (_scope(old), args, kwargs) if old else None


def parametric(name):
    """Returns one of the links that were classes in chainer.functions, or None."""
    if name not in PARAMETRIC:
        return None
    from . import function_set, links
    cls, names = getattr(links, name), PARAMETRIC[name]
    members = {'__module__': 'chainer.functions', '__doc__': 'links.%s with the arguments and attributes of Chainer 1.' % name}
    if names is not None:
        def __init__(self, *args, **kwargs):
            named = dict(zip(names, args))
            if len(args) > len(names) or named.keys() & kwargs.keys():
                raise TypeError('%s takes these arguments, each once: %s' % (name, ', '.join(names)))
            cls.__init__(self, **named, **kwargs)
        members['__init__'] = __init__
    return type(name, (function_set.OfFunctions, cls), members)


# ---- links

class _Scaled:
    """An initializer whose values are multiplied by a factor."""

    def __init__(self, initializer, factor):
        from . import initializers
        self._initializer, self._factor = initializers._get_initializer(initializer), factor

    @property
    def dtype(self):
        return getattr(self._initializer, 'dtype', None)

    def __call__(self, array):
        self._initializer(array)
        array *= self._factor


def _convert(name, old, kwargs):
    """Moves wscale and bias to the initializers, and returns the arguments that are settings."""
    key = _INITIALIZERS.get(name, 'initialW')
    wscale, bias = old.pop('wscale', 1), old.pop('bias', None)
    if wscale != 1:
        kwargs[key] = _Scaled(kwargs.get(key), math.sqrt(wscale))
    if bias is not None and kwargs.get('initial_bias') is None:
        kwargs['initial_bias'] = bias
    return old


def _constructor(init, name, names):
    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        old = _convert(name, _taken(kwargs, names), kwargs) if kwargs else None
        init(self, *args, **kwargs)
        if old:
            self._old_settings = old
    return __init__


def _call(forward, names):
    @functools.wraps(forward)
    def call(self, *args, **kwargs):
        settings = self.__dict__.get('_old_settings')
        if kwargs or settings:
            old = {**(settings or {}), **_taken(kwargs, names)}
            if old:
                with _scope(old):
                    return forward(self, *args, **kwargs)
        return forward(self, *args, **kwargs)
    return call


def _extract(method, names):
    @functools.wraps(method)
    def extract(self, images, layers=None, size=(224, 224), **kwargs):
        old = _taken(kwargs, names | {'volatile'})
        if not old:
            return method(self, images, layers, size, **kwargs)
        from . import flag
        keeps = flag.Flag(old.pop('volatile', flag.OFF)) is not flag.ON
        with _scope(old or {'test': True}), using_config('enable_backprop', keeps):
            return self(self._batch(images, size), layers=[self._default_features] if layers is None else layers, **kwargs)
    return extract


def accept(name, cls):
    """Makes a class of links take its old arguments. Returns the class."""
    in_constructor, in_call = _links.get(name, set()), _calls.get(name, set())
    if in_constructor:
        cls.__init__ = _constructor(cls.__init__, name, in_constructor)
    if in_call or in_constructor - {'wscale', 'bias'}:
        cls.forward = _call(cls.forward, in_call)
    if in_call and hasattr(cls, 'extract'):
        cls.extract = _extract(cls.extract, in_call)
    return cls


def accept_all(classes):
    """Makes classes of links take their old arguments. Subclasses inherit them."""
    for name in sorted({*_links, *_calls} & set(classes)):
        accept(name, classes[name])
