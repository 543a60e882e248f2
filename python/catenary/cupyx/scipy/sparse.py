"""cupyx.scipy.sparse is not there."""

raise ImportError('cupyx.scipy.sparse is not available: there are no sparse matrices')
