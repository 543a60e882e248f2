"""CuPy's module name for csr matrices. Modules of CuPy's wheel import it and get Catenary's class."""

from catenary.cupyx.scipy.sparse._construction import isspmatrix_csr  # noqa: F401
from catenary.cupyx.scipy.sparse._formats import csr_matrix


def _is_csr(x):
    return isinstance(x, csr_matrix)
