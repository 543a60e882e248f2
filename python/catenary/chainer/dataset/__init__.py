"""Datasets' base classes, converters of batches, and the cache of downloads."""

from . import convert, dataset_mixin, download, iterator, tabular
from .convert import ConcatWithAsyncTransfer, Converter, concat_examples, converter, to_device
from .dataset_mixin import DatasetMixin
from .download import cache_or_load_file, cached_download, get_dataset_directory, get_dataset_root, set_dataset_root
from .iterator import Iterator
from .tabular.tabular_dataset import TabularDataset

__all__ = ['ConcatWithAsyncTransfer', 'Converter', 'DatasetMixin', 'Iterator', 'TabularDataset', 'cache_or_load_file', 'cached_download', 'concat_examples',
           'convert', 'converter', 'dataset_mixin', 'download', 'get_dataset_directory', 'get_dataset_root', 'iterator', 'set_dataset_root', 'tabular',
           'to_device']
