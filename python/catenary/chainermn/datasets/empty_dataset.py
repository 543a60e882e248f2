"""Datasets for ranks whose input comes from other ranks."""

import chainer


def create_empty_dataset(dataset):
    """Returns a dataset of the same length whose examples are empty tuples."""
    return chainer.datasets.TransformDataset(dataset, _nothing)


def _nothing(_):
    return ()
