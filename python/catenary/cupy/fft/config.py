"""cupy.fft.config: CuPy's settings of transforms, which have no effect on the library's own transforms."""

import sys
import types
import warnings

from catenary.cupy.fft._cache import get_plan_cache, show_plan_cache_info  # noqa: F401

use_multi_gpus = False


class _Config(types.ModuleType):
    _enable_nd_planning = True

    def _planning(self):
        warnings.warn('enable_nd_planning is deprecated, as in CuPy 14, and has no effect: axes are transformed one after another', DeprecationWarning, stacklevel=2)
        return self._enable_nd_planning

    def _set_planning(self, value):
        self._planning()
        type(self)._enable_nd_planning = value

    enable_nd_planning = property(_planning, _set_planning)


sys.modules[__name__].__class__ = _Config


def set_cufft_gpus(gpus):
    """Raises NotImplementedError: a transform is computed by one device."""
    raise NotImplementedError(f'set_cufft_gpus({gpus!r}): a transform runs only on the device of its array')


class set_cufft_callbacks:
    """Raises NotImplementedError: transforms take no callbacks."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError('set_cufft_callbacks: callbacks are not supported; compute before or after the transform')
