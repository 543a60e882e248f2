"""CuPy's module name for functions that construct sparse matrices. Modules of CuPy's wheel import it and get Catenary's functions."""

from catenary.cupyx.scipy.sparse._construction import (  # noqa: F401
    block_diag, bmat, diags, eye, hstack, identity, kron, kronsum, rand, random, spdiags, vstack)
