"""Which of CUDA's libraries CuPy may use for reductions and products: kept, and heeded by nothing, as none is used."""

import numpy

ACCELERATOR_CUB, ACCELERATOR_CUTENSOR = 1, 2
_NAMES = {'cub': ACCELERATOR_CUB, 'cutensor': ACCELERATOR_CUTENSOR}
_chosen = {'routine': [], 'reduction': []}
_compute_types = {}


def _of(kind):
    def get():
        """What was chosen."""
        return list(_chosen[kind])

    def set(accelerators):
        """Chooses by names ('cub', 'cutensor') or by numbers."""
        unknown = [x for x in accelerators if x not in _NAMES and x not in _NAMES.values()]
        if unknown:
            raise ValueError(f'accelerators: expected cub or cutensor, not {unknown[0]!r}')
        _chosen[kind] = [_NAMES.get(x, x) for x in accelerators]
    return get, set


get_routine_accelerators, set_routine_accelerators = _of('routine')
get_reduction_accelerators, set_reduction_accelerators = _of('reduction')


def get_compute_type(dtype):
    """What set_compute_type was given for this dtype, or the default."""
    return _compute_types.get(numpy.dtype(dtype), -1)


def set_compute_type(dtype, compute_type):
    """How exactly products of matrices have to be computed at least; they are as exact as for the strictest."""
    _compute_types[numpy.dtype(dtype)] = compute_type
