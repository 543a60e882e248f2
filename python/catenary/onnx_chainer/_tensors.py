"""Writes arrays as TensorProtos."""

import numpy

_TYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'bool': 9, 'float16': 10, 'float64': 11, 'uint32': 12,
          'uint64': 13, 'complex64': 14, 'complex128': 15}


def _varint(value):
    data = bytearray()
    while value >= 128:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def _bytes(field, data):
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def encoded(name, array):
    """Returns the TensorProto of an array."""
    array = numpy.asarray(array)
    head = b''.join(_varint(1 << 3) + _varint(size) for size in array.shape) + _varint(2 << 3) + _varint(_TYPES[array.dtype.name])
    return head + _bytes(8, name.encode()) + _bytes(9, numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder('<')).tobytes())


def write(path, name, array):
    with open(path, 'wb') as file:
        file.write(encoded(name, array))
