"""cupyx.scipy.sparse: coo, csr and csc matrices, of the library's own operations."""

from catenary import _wheel
from catenary.cupy._util import submodule
from catenary.cupyx.scipy.sparse._matrix import spmatrix  # noqa: F401
from catenary.cupyx.scipy.sparse._building import (  # noqa: F401
    block_diag, bmat, diags, eye, find, hstack, identity, issparse, isspmatrix, isspmatrix_coo, isspmatrix_csc, isspmatrix_csr, kron, kronsum, rand,
    random, spdiags, tril, triu, vstack)
from catenary.cupyx.scipy.sparse._formats import coo_matrix, csc_matrix, csr_matrix  # noqa: F401

for _class in (spmatrix, coo_matrix, csr_matrix, csc_matrix):
    _class.__module__ = 'cupyx.scipy.sparse'  # by which programs find what joins and multiplies them


class SparseWarning(Warning):
    """What SparseEfficiencyWarning is a kind of."""


class SparseEfficiencyWarning(SparseWarning):
    """Given where the result of sparse matrices is not sparse."""


def __getattr__(name):
    if name == 'linalg':
        return submodule(f'{__name__}.{name}')
    return _wheel.attribute('cupyx.scipy.sparse', name)
