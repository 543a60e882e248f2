"""cupy.cuda.cublas: constants, and batched LU factors and inverses. For products call cupy.matmul."""

from catenary.cupy import _pointer_calls

CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C = 0, 1, 2
CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER = 0, 1


class CUBLASError(RuntimeError):
    """Raised if a matrix library fails."""


def _factors(dtype):
    def getrfBatched(handle, n, a_array, lda, pivots, info, batch):
        """Computes LU factors of matrices in Fortran order, in place. All arguments except n, lda and batch are addresses of arrays."""
        _pointer_calls.getrf(dtype, n, a_array, lda, pivots, info, batch)
    return getrfBatched


def _inverses(dtype):
    def getriBatched(handle, n, a_array, lda, pivots, c_array, ldc, info, batch):
        """Computes inverses of matrices from their LU factors. All arguments except n, lda, ldc and batch are addresses of arrays."""
        _pointer_calls.getri(dtype, n, a_array, lda, pivots, c_array, ldc, info, batch)
    return getriBatched


sgetrfBatched, dgetrfBatched = _factors('f4'), _factors('f8')
sgetriBatched, dgetriBatched = _inverses('f4'), _inverses('f8')
