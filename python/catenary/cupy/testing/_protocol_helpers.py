"""Objects with a device-array protocol."""

from types import SimpleNamespace


def DummyObjectWithCudaArrayInterface(a, ver=3, include_strides=False, mask=None, stream=None):
    """Has the __cuda_array_interface__ of an array, or of (shape, strides, typestr, descr, address)."""
    described = a if isinstance(a, tuple) else (a.shape, a.strides, a.dtype.str, a.dtype.descr, a.data.ptr)
    shape, strides, typestr, descr, address = described
    interface = {'shape': shape, 'typestr': typestr, 'descr': descr, 'data': (address, False), 'version': ver}
    if include_strides or (include_strides is False and not getattr(a, '_c_contiguous', True)):
        interface['strides'] = strides
    elif include_strides is None:
        interface['strides'] = None if getattr(a, '_c_contiguous', True) else strides
    if mask is not None:
        interface['mask'] = mask
    if stream is not None:
        interface['stream'] = stream
    return SimpleNamespace(__cuda_array_interface__=interface, owner=a)


DummyObjectWithCuPyGetNDArray = lambda a: SimpleNamespace(__cupy_get_ndarray__=lambda: a)  # noqa: E731
