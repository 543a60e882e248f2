"""Names for annotations."""

import typing

import numpy

NdArray = numpy.ndarray
AbstractInitializer = typing.Any
ScalarValue = typing.Union[float, int, bool, numpy.generic]
InitializerSpec = typing.Any
Shape = typing.Tuple[int, ...]
ShapeSpec = typing.Union[int, typing.Sequence[int]]
DTypeSpec = typing.Any
ChainerxIndex = typing.Any
ArrayTypes = (numpy.ndarray,)
