"""An iterator over the batches of an NVIDIA DALI pipeline."""

from ..dataset.iterator import Iterator


class DaliIterator(Iterator):
    """Runs a DALI pipeline once a batch, and returns its outputs, which a converter of the user's turns into arrays."""

    def __init__(self, pipeline, repeat=True):
        try:
            import nvidia.dali  # noqa: F401
        except ImportError as error:
            raise RuntimeError('DaliIterator needs NVIDIA DALI: install the package nvidia-dali for your CUDA version') from error
        self.pipeline = pipeline
        self._repeat = repeat
        self._is_built = False
        self.reset()

    def reset(self):
        self.current_position = 0
        self.epoch = 0
        self.is_new_epoch = False
        self._previous_epoch_detail = -1.

    def _build(self):
        if not self._is_built:
            self.pipeline.build()
            self._is_built = True
        return next(iter(self.pipeline.epoch_size().values()))

    @property
    def batch_size(self):
        return self.pipeline.batch_size

    @property
    def repeat(self):
        return self._repeat

    @property
    def epoch_detail(self):
        return self.epoch + self.current_position / self._build()

    @property
    def previous_epoch_detail(self):
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    def __next__(self):
        if not self._repeat and self.epoch > 0:
            raise StopIteration
        size = self._build()
        self._previous_epoch_detail = self.epoch_detail
        outputs = self.pipeline.run()
        position = self.current_position + self.batch_size
        self.is_new_epoch = position >= size
        if self.is_new_epoch:
            self.epoch += 1
            position = position - size if self._repeat else 0
        self.current_position = position
        return outputs

    next = __next__

    def serialize(self, serializer):
        for name in ('current_position', 'epoch', 'is_new_epoch'):
            setattr(self, name, serializer(name, getattr(self, name)))
        try:
            self._previous_epoch_detail = serializer('previous_epoch_detail', self._previous_epoch_detail)
        except KeyError:
            detail = self.epoch_detail
            self._previous_epoch_detail = max(detail - self.batch_size / self._build(), 0.) if detail > 0 else -1.
