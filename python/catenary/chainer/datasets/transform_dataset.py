"""A dataset whose examples a function makes of another one's."""

from ..dataset.dataset_mixin import DatasetMixin


class TransformDataset(DatasetMixin):
    """Applies `transform` to each example of a dataset when it is fetched."""

    def __init__(self, dataset, transform):
        self._transform, self._dataset = transform, dataset

    def __len__(self):
        return len(self._dataset)

    def get_example(self, i):
        return self._transform(self._dataset[i])
