"""Functions with parameters."""
import importlib

from .. import _old_arguments
from .activation import Maxout, PReLU, SimplifiedDropconnect, Swish  # noqa: F401
from .connection.convolution import (  # noqa: F401
    Convolution1D, Convolution2D, Convolution3D, ConvolutionND, Deconvolution1D, Deconvolution2D, Deconvolution3D,
    DeconvolutionND, DeformableConvolution2D, DepthwiseConvolution2D, DilatedConvolution2D, LocalConvolution2D,
    MLPConvolution2D)
from .connection.inception import Inception, InceptionBN  # noqa: F401
from .connection.linear import Bias, Bilinear, EmbedID, Highway, Linear, Parameter, Scale  # noqa: F401
from .loss import BinaryHierarchicalSoftmax, BlackOut, CRF1d, NegativeSampling  # noqa: F401
from .model.classifier import Classifier  # noqa: F401
from .normalization import (  # noqa: F401
    BatchNormalization, BatchRenormalization, DecorrelatedBatchNormalization, GroupNormalization, LayerNormalization)
from .rnn.gates import (  # noqa: F401
    GRU, LSTM, StatefulGRU, StatefulMGU, StatefulPeepholeLSTM, StatefulZoneoutLSTM, StatelessGRU, StatelessLSTM,
    StatelessMGU)
from .rnn.n_step import (  # noqa: F401
    NStepLSTMBase as _NStepLSTMBase, NStepRNNBase as _NStepRNNBase,
    NStepBiGRU, NStepBiLSTM, NStepBiRNNReLU, NStepBiRNNTanh, NStepGRU, NStepLSTM, NStepRNNReLU, NStepRNNTanh)
from .rnn.tree_lstm import ChildSumTreeLSTM, NaryTreeLSTM  # noqa: F401
from .theano import TheanoFunction  # noqa: F401

_old_arguments.accept_all({**globals(), 'NStepRNNBase': _NStepRNNBase, 'NStepLSTMBase': _NStepLSTMBase})
_LATER = {
    'GoogLeNet': 'model.vision.googlenet', 'VGG16Layers': 'model.vision.vgg', 'VGG19Layers': 'model.vision.vgg',
    'ResNet50Layers': 'model.vision.resnet', 'ResNet101Layers': 'model.vision.resnet',
    'ResNet152Layers': 'model.vision.resnet', 'caffe': 'caffe'}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError("module '{}' has no attribute '{}'".format(__name__, name))
    module = importlib.import_module('.' + _LATER[name], __name__)
    value = module if name == _LATER[name] else _old_arguments.accept(name, getattr(module, name))
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_LATER])
