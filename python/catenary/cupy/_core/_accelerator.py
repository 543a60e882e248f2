"""CuPy's setting which CUDA libraries to use for reductions and products. It is stored without effect, as none is used."""

from catenary.cupy._util import setting

ACCELERATOR_CUB, ACCELERATOR_CUTENSOR = 1, 2
get_routine_accelerators, set_routine_accelerators = setting([])
get_reduction_accelerators, set_reduction_accelerators = setting([])
get_compute_type, set_compute_type = setting(-1)
