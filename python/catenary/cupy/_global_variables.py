"""Global variables of RawModule texts (`__device__`, `__constant__`), on every device."""

import functools
import re

from catenary import _core
from catenary.cupy import _cuda, _host
from catenary.cupy._launcher import Launcher, refusals
from catenary.cupy._translator import opencl, translate


@functools.lru_cache(64)
def has_variables(code, name, constants):
    with refusals(code, name):
        return _cuda.has_variables(code, name, constants)


def no_variable(name):
    return _core.CUDARuntimeError('RawModule.get_global: the text has no variable %r outside functions' % name)


class Variables:
    """A text with global variables and the kernels that share them. On each device they are initialised when the first kernel or variable is used."""

    def __init__(self, code, names):
        self._code, self._names, self._modules = code, names, {}

    def kernel(self, name, device):
        """Returns a kernel in the form of RawKernel._make."""
        module = self._module(device)
        if _core.backend_of(device) != 'opencl':
            with refusals(self._code, name):
                kinds, made = _cuda.of_module(*module[1:], name)
            return Launcher(module[1], name, True, True, entry=made, function=module[0].get_function(made)), kinds, None
        with refusals(self._code, name):
            text, kinds, dynamic = translate.raw(self._code, name, float64=device.info['has_f64'], of_module=True)
        launcher = Launcher(text, name, opencl.of_library(text), entry=translate.entry(name))
        launcher.variables = module[0]
        return launcher, kinds, dynamic

    def memory(self, name, device):
        """Returns the bytes of a variable. Raises CUDARuntimeError if there is none of this name."""
        module = self._module(device)
        if not re.search(r'\b%s\b' % re.escape(name.rpartition('::')[2]), self._code) or _core.backend_of(device) == 'opencl' and name not in module[1]:
            raise no_variable(name)
        if _core.backend_of(device) != 'opencl':
            with device:
                return module[0].get_global(_cuda.symbol(name))
        at, size = module[1][name]
        return module[0][at:at + size]

    def _module(self, device):
        backend = _core.backend_of(device)
        key = device.name if backend in ('opencl', 'cpu') else backend  # on CUDA and HIP each device has its own variables
        if key not in self._modules:
            self._modules[key] = self._in_opencl(device) if backend == 'opencl' else self._compiled(backend)
        return self._modules[key]

    def _compiled(self, backend):
        """Returns (the compiled module, its text, the arguments for _cuda.of_module)."""
        with refusals(self._code, 'RawModule'):
            text, found = _cuda.module(self._code, self._names)
        if backend == 'cpu':
            return _host.Module(text, [made[0] for made in found.values() if isinstance(made, tuple)]), text, found
        return _core._RawModule(text), text, found

    def _in_opencl(self, device):
        """Returns (memory of the variables, offset and size of each)."""
        with refusals(self._code, 'RawModule'):
            places, size, text = translate.begin(self._code, 'RawModule', float64=device.info['has_f64'])
        with device:
            memory = _core.full((size,), 0, 'u1')
            if text is not None:
                Launcher(text, 'RawModule', opencl.of_library(text), entry=translate.entry('RawModule'))(1, 1, [memory])
        device.synchronize()  # other streams may be using it
        return memory, places
