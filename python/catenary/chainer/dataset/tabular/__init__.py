"""Datasets with named columns. `TabularDataset`'s methods give views of a dataset, which copy nothing."""

from . import tabular_dataset
from ._sources import from_data
from ._views import DelegateDataset

__all__ = ['DelegateDataset', 'from_data', 'tabular_dataset']
