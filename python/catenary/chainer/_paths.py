"""Where the names of the original's deep modules lie here: `chainer.functions.math.sum` and so on."""

import importlib

from catenary import _core

from . import _updates

# module -> (module here, its names)
_MODULES = {'chainer.functions.caffe': ('chainer.links.caffe', ('CaffeFunction',)),
            'chainer.initializers.constant': ('chainer.initializers', ('Constant', 'Identity', 'NaN', 'One', 'Zero')),
            'chainer.initializers.normal': ('chainer.initializers', ('GlorotNormal', 'HeNormal', 'LeCunNormal', 'Normal')),
            'chainer.initializers.uniform': ('chainer.initializers', ('GlorotUniform', 'HeUniform', 'LeCunUniform', 'Uniform')),
            'chainer.initializers.orthogonal': ('chainer.initializers', ('Orthogonal',)),
            'chainer.initializers.sampling': ('chainer.initializers', ('DownsamplingConvFilter', 'UpsamplingDeconvFilter'))}

_LINKS = """activation.maxout Maxout, activation.prelu PReLU, activation.simplified_dropconnect SimplifiedDropconnect, activation.swish Swish,
connection.bias Bias, connection.bilinear Bilinear, connection.convolution_2d Convolution2D, connection.convolution_nd Convolution1D Convolution3D
ConvolutionND, connection.deconvolution_2d Deconvolution2D, connection.deconvolution_nd Deconvolution1D Deconvolution3D DeconvolutionND,
connection.deformable_convolution_2d DeformableConvolution2D, connection.depthwise_convolution_2d DepthwiseConvolution2D,
connection.dilated_convolution_2d DilatedConvolution2D, connection.embed_id EmbedID, connection.highway Highway, connection.inceptionbn InceptionBN,
connection.local_convolution_2d LocalConvolution2D, connection.mlp_convolution_2d MLPConvolution2D, connection.parameter Parameter,
connection.scale Scale, loss.black_out BlackOut, loss.crf1d CRF1d, loss.hierarchical_softmax BinaryHierarchicalSoftmax,
loss.negative_sampling NegativeSampling, normalization.batch_normalization BatchNormalization, normalization.batch_renormalization
BatchRenormalization, normalization.decorrelated_batch_normalization DecorrelatedBatchNormalization, normalization.group_normalization
GroupNormalization, normalization.layer_normalization LayerNormalization, rnn.gru GRU StatefulGRU StatelessGRU, rnn.lstm LSTM StatelessLSTM,
rnn.mgu StatefulMGU StatelessMGU, rnn.n_step_gru NStepBiGRU NStepGRU, rnn.n_step_lstm NStepBiLSTM NStepLSTM, rnn.n_step_rnn NStepBiRNNReLU
NStepBiRNNTanh NStepRNNReLU NStepRNNTanh, rnn.peephole StatefulPeepholeLSTM, rnn.zoneoutlstm StatefulZoneoutLSTM,
theano.theano_function TheanoFunction"""
_MODULES.update({'chainer.links.' + module: ('chainer.links', tuple(names))
                 for module, *names in map(str.split, _LINKS.split(','))})
_MODULES.update({'chainer.optimizer_hooks.' + module: ('chainer.optimizer_hooks', (name,)) for module, name in (
    ('gradient_clipping', 'GradientClipping'), ('gradient_hard_clipping', 'GradientHardClipping'), ('gradient_lars', 'GradientLARS'),
    ('gradient_noise', 'GradientNoise'), ('lasso', 'Lasso'), ('weight_decay', 'WeightDecay'))})


def _all():
    """Returns the table with the modules of functions and optimizers."""
    table = dict(_MODULES)
    for path in _core._chainer_rows():
        module, _, name = path.rpartition('.')
        table[module] = ('chainer.functions', (*table.get(module, (None, ()))[1], name))
    for module, name in _updates.OPTIMIZERS.items():
        table['chainer.optimizers.' + module] = ('chainer.optimizers._methods', (name, name + 'Rule'))
    packages = {name.rpartition('.')[0] for name in table} - {'chainer.functions', 'chainer.links', 'chainer.optimizers', 'chainer.initializers'}
    for package in packages - set(table):
        table[package] = ('', ())
    return table


_table = None


def find(name):
    """Returns the module here and the names of one of the original's deep modules, or None."""
    global _table
    if _table is None:
        _table = _all()
    return _table.get(name)


# classes of functions that scripts derive from or make: module -> (module here, names)
_CLASSES = {'chainer.functions.array.as_strided': ('chainer.functions._strides', ('_stride_array', 'AsStrided')),
            'chainer.functions.math.identity': ('chainer.functions._unusual', ('Identity',)),
            'chainer.functions.array.flip': ('chainer.functions._unusual', ('_flip',)),
            'chainer.functions.noise.dropout': ('chainer.functions._unusual', ('Dropout',))}


def _package(name):
    """Returns the function that imports a submodule of a deep package when it is first asked for."""
    def get(attribute):
        if find('%s.%s' % (name, attribute)) is None:
            raise AttributeError('module %r has no attribute %r' % (name, attribute))
        return importlib.import_module('%s.%s' % (name, attribute))
    return get


class Loader:
    """Fills a deep module with its names."""

    def __init__(self, home, names):
        self._home, self._names = home, names

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if not self._home:
            module.__getattr__ = _package(module.__name__)
            return
        for home, names in ((self._home, self._names), _CLASSES.get(module.__name__, ('chainer', ()))):
            home = importlib.import_module(home)
            for name in names:
                setattr(module, name, getattr(home, name))


def spec_of(name):
    """Returns the spec of one of the original's deep modules, or None."""
    from importlib.machinery import ModuleSpec
    found = find(name)
    if found is None:
        return None
    spec = ModuleSpec(name, Loader(*found), origin='catenary/chainer/_paths.py')
    if not found[0]:
        spec.submodule_search_locations = []
    return spec
