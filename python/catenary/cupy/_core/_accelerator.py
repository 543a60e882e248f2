"""Which of CUDA's libraries CuPy may use for reductions and products: kept, and heeded by nothing, as none is used."""

from catenary.cupy._util import setting

ACCELERATOR_CUB, ACCELERATOR_CUTENSOR = 1, 2
get_routine_accelerators, set_routine_accelerators = setting([])
get_reduction_accelerators, set_reduction_accelerators = setting([])
get_compute_type, set_compute_type = setting(-1)
