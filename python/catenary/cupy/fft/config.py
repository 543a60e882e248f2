"""cupy.fft.config: CuPy's settings of transforms, of which the library's own have no need."""

from catenary.cupy.fft._cache import get_plan_cache, show_plan_cache_info  # noqa: F401

enable_nd_planning = True  # heeded by nothing: several axes are transformed one after the other
use_multi_gpus = False


def set_cufft_gpus(gpus):
    """Raises NotImplementedError: a transform is computed by one device."""
    raise NotImplementedError(f'set_cufft_gpus({gpus!r}): a transform is computed by the device that has the array, and not by several')


class set_cufft_callbacks:
    """Raises NotImplementedError: transforms take no callbacks."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError('set_cufft_callbacks: transforms take no callbacks; compute with the array before or after')
