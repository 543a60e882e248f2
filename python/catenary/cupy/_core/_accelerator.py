"""Which of CUDA's libraries CuPy may use for reductions and products: kept, and heeded by nothing, as none is used."""

import numpy

ACCELERATOR_CUB, ACCELERATOR_CUTENSOR = 1, 2
_chosen = {}


def _setting(kind, default):
    return lambda *key: _chosen.get((kind, *map(numpy.dtype, key)), default), lambda *values: _chosen.update(
        {(kind, *map(numpy.dtype, values[:-1])): values[-1]})


get_routine_accelerators, set_routine_accelerators = _setting('routine', [])
get_reduction_accelerators, set_reduction_accelerators = _setting('reduction', [])
get_compute_type, set_compute_type = _setting('products', -1)
