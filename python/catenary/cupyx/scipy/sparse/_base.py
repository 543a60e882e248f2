"""The names by which CuPy's own modules know what sparse matrices have in common, which is ours."""

from catenary.cupyx.scipy.sparse._building import issparse, isspmatrix  # noqa: F401
from catenary.cupyx.scipy.sparse._matrix import _spbase, sparray, spmatrix  # noqa: F401
