"""cupy_backends: what CuPy's own modules take from CUDA, by the names under which cupy.cuda has it."""

import sys

from catenary.cupy._modules import make
from catenary.cupy.cuda import cublas, driver, runtime, stream


def _unused(library):
    """Returns the __getattr__ of a stand-in for an NVIDIA library that CuPy's modules import."""
    def __getattr__(name):
        raise AttributeError(f"cupy_backends.cuda.libs.{library}.{name} is not available: Catenary does not provide the interfaces of NVIDIA's libraries")
    return __getattr__


_modules = {'cuda': None, 'cuda.api': None, 'cuda.libs': None, 'cuda.api.driver': driver, 'cuda.api.runtime': runtime,
            'cuda.libs.cublas': cublas, 'cuda.libs.cusolver': make('catenary.cupy_backends.cuda.libs.cusolver', __getattr__=_unused('cusolver')),
            'cuda.libs.cusparse': make('catenary.cupy_backends.cuda.libs.cusparse', __getattr__=_unused('cusparse')), 'cuda.stream': stream}
for _name, _module in _modules.items():
    _parent, _, _last = f'{__name__}.{_name}'.rpartition('.')
    _module = _module or make(f'{__name__}.{_name}')
    setattr(sys.modules[_parent], _last, _module)
    sys.modules[f'{__name__}.{_name}'] = sys.modules[f'cupy_backends.{_name}'] = _module
