"""cupy.cuda.cublas: constants; products are cupy.matmul's."""

CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C = 0, 1, 2
CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER = 0, 1


class CUBLASError(RuntimeError):
    """A library of matrix products that failed."""
