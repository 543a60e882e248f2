"""Sampling from a discrete distribution in constant time."""
import numpy

from .. import backend
from ..device_resident import DeviceResident


class WalkerAlias(DeviceResident):
    """Draws indices with probabilities proportional to `probs` by Walker's alias method.

    Each of the n cells holds a threshold and two indices. A draw picks a cell and one of its two indices.
    """

    def __init__(self, probs):
        super().__init__()
        share = numpy.array(probs, numpy.float32)
        share /= share.sum()
        count = len(share)
        threshold = numpy.empty(count, numpy.float32)
        values = numpy.zeros((count, 2), numpy.int32)
        open_cell = 0
        for cell, (p, index) in enumerate(sorted(zip(share, range(count)))):
            rest = p * count
            while rest > 1 and open_cell < cell:
                values[open_cell, 1] = index
                rest -= 1.0 - threshold[open_cell]
                open_cell += 1
            threshold[cell] = rest
            values[cell, 0] = index
        self.threshold = threshold
        self.values = values.ravel()

    @property
    def use_gpu(self):
        return self.device.xp is not numpy

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        self.threshold = visitor.visit_array(self.threshold)
        self.values = visitor.visit_array(self.values)

    def sample(self, shape):
        """Returns an int32 array of indices of `shape`."""
        xp = self.device.xp
        with backend.using_device(self.device):
            return self.sample_xp(xp, shape)

    def sample_xp(self, xp, shape):
        """Returns indices drawn with the generator of the array module `xp`."""
        draw = xp.random.uniform(0, 1, shape) * len(self.threshold)
        cell = draw.astype(numpy.int32)
        second = (self.threshold[cell] < draw - cell).astype(numpy.int32)
        return self.values[cell * 2 + second]

    sample_gpu = sample
