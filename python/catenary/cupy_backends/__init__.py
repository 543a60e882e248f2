"""cupy_backends: what CuPy's own modules take from CUDA, by the names under which cupy.cuda has it."""

import sys

from catenary.cupy._modules import make
from catenary.cupy.cuda import cublas, driver, runtime, stream

_modules = {'cuda': None, 'cuda.api': None, 'cuda.libs': None, 'cuda.api.driver': driver, 'cuda.api.runtime': runtime,
            'cuda.libs.cublas': cublas, 'cuda.stream': stream}
for _name, _module in _modules.items():
    _parent, _, _last = f'{__name__}.{_name}'.rpartition('.')
    _module = _module or make(f'{__name__}.{_name}')
    setattr(sys.modules[_parent], _last, _module)
    sys.modules[f'{__name__}.{_name}'] = sys.modules[f'cupy_backends.{_name}'] = _module
