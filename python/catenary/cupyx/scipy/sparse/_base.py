"""CuPy's module name for the base of sparse matrices. Modules of CuPy's wheel import it and get Catenary's classes."""

from catenary.cupyx.scipy.sparse._construction import issparse, isspmatrix  # noqa: F401
from catenary.cupyx.scipy.sparse._spbase import _spbase, sparray, spmatrix  # noqa: F401
