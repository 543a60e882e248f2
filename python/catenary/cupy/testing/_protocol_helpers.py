"""Objects that are arrays of a device by a protocol."""

from types import SimpleNamespace

DummyObjectWithCudaArrayInterface = lambda a, *_: SimpleNamespace(  # noqa: E731
    __cuda_array_interface__=a.__cuda_array_interface__)
DummyObjectWithCuPyGetNDArray = lambda a: SimpleNamespace(__cupy_get_ndarray__=lambda: a)  # noqa: E731
