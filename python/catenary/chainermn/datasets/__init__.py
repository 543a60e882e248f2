"""Parts of a dataset for each rank."""

from chainermn.datasets.empty_dataset import create_empty_dataset  # noqa: F401
from chainermn.datasets.scatter import DataSizeError, scatter_dataset, scatter_index  # noqa: F401
