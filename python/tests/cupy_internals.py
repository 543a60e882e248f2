"""A pytest plugin for CuPy's own tests: defines internal names of CuPy that test files import at their top. A test that calls one of them fails."""

import importlib.util
import sys
import types

from catenary.cupy import fft
from catenary.cupy.testing import _loops
import catenary.cupy.cuda
import catenary.cupyx
import catenary.cupyx.scipy


def _absent(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f'{name} is of the insides of CuPy')
    return call


_loops._wraps_partial = _loops._wraps_partial_xp
_fft = types.ModuleType('cupy.fft._fft')
for _name in ('_default_fft_func', '_fft', '_fftn', '_size_last_transform_axis', '_convert_fft_type', '_exec_fft', '_nd_plan_is_possible'):
    setattr(_fft, _name, _absent(_name))
fft._fft = sys.modules['cupy.fft._fft'] = sys.modules['catenary.cupy.fft._fft'] = _fft

# CuPy's results match one version of NumPy and of SciPy, so tests of later changes are skipped
_helper = types.ModuleType('cupy.testing._helper')
_BASELINES = {'numpy': '2.3', 'scipy': '1.14'}


def _version(text):
    return tuple(int(part) for part in text.split('.')[:3] if part.isdigit())


def _is_after_baseline(**cutoff):
    (package, version), = cutoff.items()
    return _version(version) > _version(_BASELINES[package])


def _skip_if_after_baseline(*, reason='', **cutoff):
    import importlib.metadata
    import pytest
    (package, version), = cutoff.items()
    installed = _version(importlib.metadata.version(package))
    return pytest.mark.skipif(_is_after_baseline(**cutoff) and installed >= _version(version), reason=reason)


_helper.is_after_baseline, _helper.skip_if_after_baseline = _is_after_baseline, _skip_if_after_baseline
sys.modules['cupy.testing._helper'] = sys.modules['catenary.cupy.testing._helper'] = _helper
catenary.cupyx.scipy._scipy_available = importlib.util.find_spec('scipy') is not None
_cusolver = types.ModuleType('cupy.cuda.cusolver')
_cusolver._getVersion = lambda: (0, 0, 0)
catenary.cupy.cuda.cusolver = sys.modules['cupy.cuda.cusolver'] = _cusolver
catenary.cupyx.cusparse.getVersion = lambda: 0  # of tests that ask which mistakes of NVIDIA's library are known
