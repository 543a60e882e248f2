"""Runs a kernel two ways: as C++ with carray.cuh by the host's compiler, and as OpenCL C by PoCL."""

import numpy

from catenary.cupy import _cuda, _host
from catenary.cupy._translator import opencl as _opencl, translate as _translate
from catenary.cupy._translator.reader import REGISTER
import opencl


class Argument:
    """An argument for a parameter: an array with any strides, or a number."""

    def __init__(self, name, dtype, kind, value, out=False):
        self.name, self.dtype, self.kind, self.out, self.value = name, dtype, kind, out, value

    def parameter(self):
        if self.kind == 'scalar':
            return _translate.Parameter(self.name, self.dtype, 'scalar')
        return _translate.Parameter(self.name, self.dtype, self.kind, self.value.ndim,
                                    self.value.flags.c_contiguous, self.out)


def buffer_of(array):
    """Returns (flat memory of an array, offset of its first element)."""
    base = array
    while base.base is not None and isinstance(base.base, numpy.ndarray):
        base = base.base
    flat = base.reshape(-1) if base.flags.c_contiguous else base.T.reshape(-1)
    at = (array.__array_interface__['data'][0] - flat.__array_interface__['data'][0]) // array.itemsize
    return flat, at


def list_of(arguments, extents):
    """Returns (arguments of the kernel, buffers among them)."""
    values = []
    for a in arguments:
        if a.kind == 'scalar':
            kind = {'bool': 'uint8', 'float16': 'float32'}.get(a.dtype, a.dtype)
            values.append(numpy.dtype(kind).type(a.value))
            continue
        flat, at = buffer_of(a.value)
        strides = [numpy.int64(s // a.value.itemsize) for s in a.value.strides]
        values += [flat, numpy.int64(at)]
        if a.kind == 'raw':
            values += [numpy.int64(n) for n in a.value.shape] + strides
        elif not a.value.flags.c_contiguous:
            values += strides
    return values + [numpy.int64(n) for n in extents]


def run_on_host(text, name, values):
    """Compiles a C++ text with the host's compiler and calls the kernel once, as a loop of one work-item."""
    function = _host.function(text, _translate.entry(name), name)
    function.launch(1, 1, [numpy.uint64(v.ctypes.data) if isinstance(v, numpy.ndarray) else v for v in values])


def elementwise(device, arguments, operation, types, shape, name='kernel_of_test', group=4, **more):
    """Runs an elementwise operation with both compilers on copies of the arrays. Returns both outputs."""
    results = []
    parameters = [a.parameter() for a in arguments]
    for way in (_cuda, _translate):
        copies = [Argument(a.name, a.dtype, a.kind, copy_of(a.value) if a.kind != 'scalar' else a.value, a.out)
                  for a in arguments]
        text = way.elementwise(name, parameters, operation, types, ndim=len(shape), group=group, **more)
        extents = list(shape) + [int(numpy.prod(shape, dtype=numpy.int64))]
        values = list_of(copies, extents)
        if way is _cuda:
            run_on_host(text, name, values)
        elif extents[-1]:
            device.run(with_library(text), name, values, 3, group)
        results.append([c.value for c in copies if c.out])
    return results


def reduction(device, arguments, expressions, types, shape, rows, name='kernel_of_test', group=4, chunks=1, **more):
    """Runs a reduction with both compilers. The last argument is the output, and the elements have the axes of `shape`."""
    results = []
    parameters = [a.parameter() for a in arguments]
    kind = more.get('reduce_type') or arguments[-1].dtype
    for way in (_cuda, _translate):
        copies = [Argument(a.name, a.dtype, a.kind, copy_of(a.value) if a.kind != 'scalar' else a.value, a.out)
                  for a in arguments]
        text = way.reduction(name, parameters, *expressions, types, ndim=len(shape), group=group, **more)
        outs = arguments[-1].value.size
        of_class = kind not in REGISTER
        partial = numpy.zeros(max(outs * chunks, 1) * (2 if of_class else 1), 'i8' if of_class else {'float16': 'float32'}.get(kind, kind))
        for stage in ([0] if chunks == 1 else [1, 2]):
            values = list_of(copies, []) + [partial, numpy.int64(0)] + [
                numpy.int64(n) for n in list(shape) + [outs, rows, chunks, stage]]
            if way is _cuda:
                run_on_host(text, name, values)
            else:
                device.run(with_library(text), name, values, 3, group)
        results.append(copies[-1].value)
    return results


def with_library(text):
    return opencl.library_prelude() + text if _opencl.of_library(text) else text


def copy_of(array):
    """Returns a copy with the layout of the array in new memory."""
    flat, at = buffer_of(array)
    flat = flat.copy()
    return numpy.ndarray(array.shape, array.dtype, flat, at * array.itemsize if flat.size else 0, array.strides)
