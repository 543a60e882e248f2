"""The name by which CuPy's own modules know this class, which is ours."""

from catenary.cupyx.scipy.sparse._construction import isspmatrix_csr  # noqa: F401
from catenary.cupyx.scipy.sparse._formats import csr_matrix


def _is_csr(x):
    return isinstance(x, csr_matrix)
