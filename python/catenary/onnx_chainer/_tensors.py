"""Writes arrays as TensorProtos."""

import numpy
from chainer.links.caffe._messages import sized, varint

from catenary._aside import written_aside

_TYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'bool': 9, 'float16': 10, 'float64': 11, 'uint32': 12,
          'uint64': 13, 'complex64': 14, 'complex128': 15}


def encoded(name, array):
    """Returns the TensorProto of an array."""
    array = numpy.asarray(array)
    head = b''.join(varint(1 << 3) + varint(size) for size in array.shape) + varint(2 << 3) + varint(_TYPES[array.dtype.name])
    return head + sized(8, name.encode()) + sized(9, numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder('<')).tobytes())


def write(path, name, array):
    with written_aside(path) as new, open(new, 'wb') as file:
        file.write(encoded(name, array))
