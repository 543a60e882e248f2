"""A plugin of pytest for CuPy's own tests: names of CuPy's insides that files of tests import before any test runs. A test that
calls one of them fails."""

import sys
import types

from catenary.cupy import fft
from catenary.cupy.testing import _loops


def _absent(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f'{name} is of the insides of CuPy')
    return call


_loops._wraps_partial = _loops._wraps_partial_xp
_fft = types.ModuleType('cupy.fft._fft')
for _name in ('_default_fft_func', '_fft', '_fftn', '_size_last_transform_axis', '_convert_fft_type', '_exec_fft', '_nd_plan_is_possible'):
    setattr(_fft, _name, _absent(_name))
fft._fft = sys.modules['cupy.fft._fft'] = sys.modules['catenary.cupy.fft._fft'] = _fft
