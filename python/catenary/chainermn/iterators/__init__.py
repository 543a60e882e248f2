"""Iterators whose batches are the same on several ranks."""

from chainermn.iterators.multi_node_iterator import create_multi_node_iterator  # noqa: F401
from chainermn.iterators.synchronized_iterator import create_synchronized_iterator  # noqa: F401
