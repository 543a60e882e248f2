"""ndimage.label in odd shapes and with several structures, compared with flooding."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)


def components(mask, structure):
    """Labels components by flooding."""
    labels, count = numpy.zeros(mask.shape, 'i'), 0
    steps = [numpy.subtract(p, 1) for p in numpy.argwhere(structure)]
    for start in zip(*numpy.nonzero(mask)):
        if labels[start]:
            continue
        count, queue = count + 1, [start]
        labels[start] = count
        while queue:
            at = queue.pop()
            for step in steps:
                near = tuple(numpy.add(at, step))
                if all(0 <= k < n for k, n in zip(near, mask.shape)) and mask[near] and not labels[near]:
                    labels[near] = count
                    queue.append(near)
    return labels, count


@pytest.mark.parametrize('shape', [(1,), (50,), (1, 9), (17, 23), (5, 6, 7), (2, 3, 4, 5)], ids=str)
def test_label(shape):
    full = numpy.ones((3,) * len(shape))
    corners = numpy.indices(full.shape).sum(0) % 2 == len(shape) % 2
    for share in (0.3, 0.6, 0.9):
        mask = G.random(shape) < share
        for structure in (None, full, corners):
            window = numpy.abs(numpy.indices(full.shape) - 1).sum(0) <= 1 if structure is None else structure
            labels, count = ndimage.label(cupy.asarray(mask * 3), structure)
            expected = components(mask, window)
            assert count == expected[1]
            same(labels, expected[0])


def test_label_of_a_spiral():
    n = 31
    mask = numpy.zeros((n, n), bool)
    mask[::4], mask[1:4, 0] = True, True
    for k in range(0, n - 4, 4):
        mask[k:k + 5, 0 if k // 4 % 2 else n - 1] = True
    labels, count = ndimage.label(cupy.asarray(mask))
    assert (int(count), labels.get().tolist()) == (components(mask, ndimage_cross())[1], components(mask, ndimage_cross())[0].tolist())


def ndimage_cross():
    return numpy.abs(numpy.indices((3, 3)) - 1).sum(0) <= 1
