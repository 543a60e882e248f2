"""Datasets: combinations of others, files, and well-known ones that are downloaded."""

from . import (cifar, concatenated_dataset, dict_dataset, fashion_mnist, image_dataset, kuzushiji_mnist, mnist, pickle_dataset, ptb, sub_dataset, svhn,
               text_dataset, transform_dataset, tuple_dataset)
from .cifar import get_cifar10, get_cifar100
from .concatenated_dataset import ConcatenatedDataset
from .dict_dataset import DictDataset
from .fashion_mnist import get_fashion_mnist, get_fashion_mnist_labels
from .image_dataset import ImageDataset, LabeledImageDataset, LabeledZippedImageDataset, MultiZippedImageDataset, ZippedImageDataset
from .kuzushiji_mnist import get_kuzushiji_mnist, get_kuzushiji_mnist_labels
from .mnist import get_mnist
from .pickle_dataset import PickleDataset, PickleDatasetWriter, open_pickle_dataset, open_pickle_dataset_writer
from .ptb import get_ptb_words, get_ptb_words_vocabulary
from .sub_dataset import (SubDataset, get_cross_validation_datasets, get_cross_validation_datasets_random, split_dataset, split_dataset_n,
                          split_dataset_n_random, split_dataset_random)
from .svhn import get_svhn
from .text_dataset import TextDataset
from .transform_dataset import TransformDataset
from .tuple_dataset import TupleDataset

__all__ = [name for name in dir() if not name.startswith('_')]
