"""A plugin of pytest: arrays are made on the library's own device of the processor, which compiles no kernels."""

from catenary import _core

_core.Device('cpu').use()
