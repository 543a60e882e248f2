"""cupyx.scipy.sparse: coo, csr, csc and dia matrices and arrays, of the library's own operations."""

from catenary import _wheel
from catenary.cupy._util import submodule
from catenary.cupyx.scipy.sparse._spbase import _spbase, sparray, spmatrix  # noqa: F401
from catenary.cupyx.scipy.sparse._construction import (  # noqa: F401
    block_array, block_diag, bmat, diags, diags_array, eye, eye_array, find, hstack, identity, issparse, isspmatrix, isspmatrix_coo, isspmatrix_csc,
    isspmatrix_csr, isspmatrix_dia, kron, kronsum, matrix_transpose, permute_dims, rand, random, random_array, spdiags, swapaxes, tril, triu, vstack)
from catenary.cupyx.scipy.sparse._formats import (  # noqa: F401
    coo_array, coo_matrix, csc_array, csc_matrix, csr_array, csr_matrix, dia_array, dia_matrix)
from catenary.cupyx.scipy.sparse._sparse_utils import SparseEfficiencyWarning, SparseWarning  # noqa: F401

for _class in (sparray, spmatrix, *spmatrix._classes.values()):
    _class.__module__ = 'cupyx.scipy.sparse'  # so that programs find the functions that join and multiply them


def __getattr__(name):
    if name == 'linalg':
        return submodule(f'{__name__}.{name}')
    return _wheel.attribute('cupyx.scipy.sparse', name)
