"""CuPy's modules with few names, which are all created when `catenary.cupy` is imported."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy.exceptions

from catenary import _core
from catenary.cupy import _functions, _util, _cublas
from catenary.cupy._launch_errors import CUDADriverError


def make(name, **names):
    """Creates a module that can be imported as `name`."""
    module = sys.modules[name] = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(names)
    return module


def _texture(name):
    if name.startswith('_'):
        raise AttributeError(f'module cupy.cuda.texture has no attribute {name!r}')

    def refuse(*args, **kwargs):
        raise NotImplementedError(f'{name}: textures are not supported; pass an array to the kernel')
    return refuse


def _legacy_sign(x):
    """Returns NumPy 1's sign: of a complex number the sign of its real part, or of its imaginary part if the real part is 0."""
    sign = _core.ufuncs['sign']
    if x.dtype.kind != 'c':
        return sign(x)
    return _core.where(x.real != 0, sign(x.real), sign(x.imag)).astype(x.dtype)


_get_limit, _set_limit = _util.setting(2048)

_stride_tricks = make('catenary.cupy.lib.stride_tricks', as_strided=_core.as_strided, sliding_window_view=_functions.shapes.sliding_window_view)

for _name, _names in {
        'exceptions': {'RankWarning': getattr(numpy.exceptions, 'RankWarning', getattr(numpy, 'RankWarning', None)),
                       **{name: getattr(numpy.exceptions, name) for name in numpy.exceptions.__all__}},
        'lib': {'__path__': [], 'as_strided': _core.as_strided, 'stride_tricks': _stride_tricks},
        'util': {name: getattr(_util, name) for name in ('PerformanceWarning', 'clear_memo', 'memoize')},
        '_math': {'__path__': []},
        '_math.misc': {'_legacy_sign': _legacy_sign},
        '_core._cub_reduction': {'_CUB_REDUCE_SIZE_THRESHOLD': 128},
        '_core._routines_linalg': {'COMPUTE_TYPE_' + name: number for number, name in enumerate(
            ('DEFAULT', 'PEDANTIC', 'FP16', 'FP32', 'FP64', 'BF16', 'TF32'), -1)},
        # solvers choose by the matrix, so these settings have no effect
        'cublas': {'get_batched_gesv_limit': _get_limit, 'set_batched_gesv_limit': _set_limit, **{
            name: getattr(_cublas, name) for name in ('iamax', 'iamin', 'asum', 'axpy', 'dot', 'dotu', 'dotc', 'nrm2', 'scal')}},
        'cuda.cub': {'available': False},
        'cuda.cutensor': {'available': False},
        'cuda.driver': {'CUDADriverError': CUDADriverError, 'get_build_version': lambda: 12000,
                        'ctxGetCurrent': lambda: 1 + _core.getDevice()},  # a number in place of its context
        'cuda.function': {},
        # ranges have no effect, as no profiler sees them
        'cuda.nvtx': {'RangePush': lambda message, id_color=-1: None, 'RangePop': lambda: None,
                      'RangePushC': lambda message, color=0: None, 'Mark': lambda message, id_color=-1: None},
        'cuda.profiler': {'start': lambda: None, 'stop': lambda: None},
        'cuda.texture': {'__getattr__': _texture}}.items():
    make(f'catenary.cupy.{_name}', **_names)
