"""A framework for neural networks with Chainer's interface, on the library's graph.

Deep modules and rarely needed parts are imported when a script first uses them.
"""

import importlib as _importlib

if __name__ != 'chainer':
    raise ImportError('catenary.chainer is served as `chainer`: unset CATENARY_CHAINER and CATENARY_PYTHON_HOOKS', name=__name__)

from . import _backend, backends, configuration, types  # noqa: E402
from ._dtypes import get_dtype, mixed16  # noqa: E402
from .backends import cuda  # noqa: E402
from .backends.cuda import should_use_cudnn, should_use_cudnn_tensor_core  # noqa: E402
from .configuration import config, global_config, using_config  # noqa: E402
from . import backend  # noqa: E402
from .backend import get_array_module, get_array_types, get_cpu_array_types, get_device, is_arrays_compatible, using_device  # noqa: E402
from . import variable  # noqa: E402
from .variable import Parameter, Variable, as_array, as_variable  # noqa: E402
from . import _old_api  # noqa: E402
from .function_node import FunctionNode, get_function_hooks, grad  # noqa: E402
from ._backprop import backprop as backward  # noqa: E402
from .function import Function, FunctionAdapter, force_backprop_mode, no_backprop_mode  # noqa: E402
from .function_hook import FunctionHook  # noqa: E402
from . import _errors, _operators, initializers  # noqa: E402
from .initializer import Initializer  # noqa: E402
from .device_resident import DeviceResident, DeviceResidentsVisitor  # noqa: E402
from .link import Chain, ChainList, Link, LinkHook  # noqa: E402
from .sequential import Sequential  # noqa: E402
from .serializer import AbstractSerializer, Deserializer, Serializer  # noqa: E402
from . import reporter  # noqa: E402
from .reporter import DictSummary, Reporter, Summary, get_current_reporter, report, report_scope  # noqa: E402
from .optimizer import GradientMethod, Optimizer, UpdateRule  # noqa: E402

__version__ = '7.8.1'
disable_experimental_feature_warning = False
_old_api.change_variable(Variable)

# names that are imported at first use -> (module, attribute or None)
_LATER = {name: (name, None) for name in (
    'computational_graph', 'dataset', 'datasets', 'device_resident', 'distributions', 'exporters', 'function', 'function_hook', 'function_hooks',
    'function_node', 'functions', 'gradient_check', 'initializer', 'iterators', 'link', 'link_hook', 'link_hooks', 'links', 'memory_layouts',
    'optimizer', 'optimizer_hooks', 'optimizers', 'sequential', 'serializer', 'serializers', 'testing', 'training', 'utils')}
_LATER.update({
    'Distribution': ('distribution', 'Distribution'), 'cross_entropy': ('distribution', 'cross_entropy'),
    'kl_divergence': ('distribution', 'kl_divergence'), 'register_kl': ('distribution', 'register_kl'), 'distribution': ('distribution', None),
    'print_runtime_info': ('_runtime_info', 'print_runtime_info'),
    'FunctionSet': ('function_set', 'FunctionSet'), 'function_set': ('function_set', None), 'ON': ('flag', 'ON'), 'OFF': ('flag', 'OFF'),
    'AUTO': ('flag', 'AUTO'), 'Flag': ('flag', 'Flag'), 'flag': ('flag', None), '_runtime_info': ('_runtime_info', None),
    'basic_math': ('functions.math.basic_math', None), 'get_compute_mode': ('configuration', '_compute_mode'),
    'DebugMode': ('_debug', 'DebugMode'), 'is_debug': ('_debug', 'is_debug'), 'set_debug': ('_debug', 'set_debug'),
})
_ABSENT = {'chainerx': 'ChainerX', **dict.fromkeys(('graph_optimizations', 'static_code', 'static_graph'), 'static graphs')}


def __getattr__(name):
    if name in _LATER:
        module, attribute = _LATER[name]
        try:
            found = _importlib.import_module('chainer.' + module)
        except ModuleNotFoundError as error:
            if error.name != 'chainer.' + module:
                raise
            raise AttributeError('module %r has no attribute %r' % (__name__, name)) from None
        value = globals()[name] = found if attribute is None else getattr(found, attribute)
        return value
    if name in _ABSENT:
        raise AttributeError('chainer.%s: %s are not provided' % (name, _ABSENT[name]))
    raise AttributeError('module %r has no attribute %r' % (__name__, name))


def __dir__():
    return sorted({*globals(), *_LATER})
