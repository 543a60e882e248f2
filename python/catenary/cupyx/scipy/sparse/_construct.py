"""The names by which CuPy's own modules know what makes matrices of parts, which is ours."""

from catenary.cupyx.scipy.sparse._construction import (  # noqa: F401
    block_diag, bmat, diags, eye, hstack, identity, kron, kronsum, rand, random, spdiags, vstack)
