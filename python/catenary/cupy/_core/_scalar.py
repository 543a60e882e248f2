"""Names of dtypes in CUDA C++."""

import numpy

_NAMES = {'bool': 'bool', 'int8': 'signed char', 'int16': 'short', 'int32': 'int', 'int64': 'long long', 'uint8': 'unsigned char',
          'uint16': 'unsigned short', 'uint32': 'unsigned int', 'uint64': 'unsigned long long', 'float16': 'float16', 'float32': 'float',
          'float64': 'double', 'complex64': 'thrust::complex<float>', 'complex128': 'thrust::complex<double>'}


def get_typename(dtype):
    """Returns the kernel type of a dtype. Raises ValueError for an unsupported one."""
    name = numpy.dtype(dtype).name
    if name not in _NAMES:
        raise ValueError('dtype %s is not supported in kernels' % name)
    return _NAMES[name]
