"""The names by which CuPy's own modules know what sparse matrices have in common, which is ours."""

from catenary.cupyx.scipy.sparse._construction import issparse, isspmatrix  # noqa: F401
from catenary.cupyx.scipy.sparse._spbase import _spbase, sparray, spmatrix  # noqa: F401
