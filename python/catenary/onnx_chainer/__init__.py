"""ONNX-Chainer over `catenary.onnx.export`, under the name `onnx_chainer`, where Chainer's graph is the library's.

`export` and `export_testcase` take ONNX-Chainer's arguments. Options that need ONNX-Chainer's own converters raise NotImplementedError. The package
`onnx` is not needed: without it, `export` returns the file's bytes instead of an `onnx.ModelProto`.
"""

from onnx_chainer.export import MAXIMUM_OPSET_VERSION, MINIMUM_OPSET_VERSION, convert_parameter, export
from onnx_chainer.export_testcase import export_testcase

__all__ = ['MAXIMUM_OPSET_VERSION', 'MINIMUM_OPSET_VERSION', 'convert_parameter', 'export', 'export_testcase']
