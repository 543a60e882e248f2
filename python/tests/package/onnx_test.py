"""Runs ONNX files from Python. The files are written field by field, so no ONNX package is needed."""

import struct

import numpy
import pytest

import catenary.onnx
from catenary import cupy


def varint(value):
    data = b''
    while value >= 128:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def field(number, value):
    """Returns an integer, or a string or message of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value(name, shape, dtype=1):
    extents = b''.join(field(1, field(2, n) if isinstance(n, str) else field(1, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, extents)))


def node(kind, inputs, outputs):
    return b''.join(field(1, x) for x in inputs) + b''.join(field(2, y) for y in outputs) + field(3, 'n') + field(4, kind)


def written(tmp_path, *kinds):
    """Writes y = relu(x @ w + a), where w is [3, 2] of 0.5, or other last operators."""
    w = field(1, 3) + field(1, 2) + field(2, 1) + field(8, 'w') + field(9, struct.pack('<6f', *[0.5] * 6))
    nodes = [node('MatMul', ['x', 'w'], ['m']), node('Add', ['m', 'a'], ['s']), *(node(kind, ['s'], ['y']) for kind in kinds or ['Relu'])]
    graph = b''.join(field(1, n) for n in nodes) + field(2, 'g') + field(5, w)
    graph += field(11, value('x', ['batch', 3])) + field(11, value('a', [2])) + field(12, value('y', ['batch', 2]))
    path = tmp_path / 'model.onnx'
    path.write_bytes(field(1, 10) + field(7, graph) + field(8, field(2, 20)))
    return path


def test_models_compute_with_arrays_of_both_libraries(tmp_path):
    model = catenary.onnx.load(written(tmp_path))
    assert model.inputs == [('x', 'float32', ('batch', '3')), ('a', 'float32', ('2',))]
    assert model.outputs == [('y', 'float32', ('batch', '2'))]
    assert model.operators == {'Add': 1, 'MatMul': 1, 'Relu': 1}
    for count in (1, 4):
        x, a = numpy.arange(count * 3, dtype='f').reshape(count, 3) - 4, numpy.array([1, -1], 'f')
        expected = numpy.maximum(x @ numpy.full((3, 2), 0.5, 'f') + a, 0)
        by_numpy, = model(x, a=a)
        assert isinstance(by_numpy, numpy.ndarray)
        numpy.testing.assert_allclose(by_numpy, expected, rtol=1e-6)
        by_cupy, = model(cupy.asarray(x), cupy.asarray(a))
        assert isinstance(by_cupy, cupy.ndarray)
        numpy.testing.assert_allclose(by_cupy.get(), expected, rtol=1e-6)
    model.parameters['w'][...] = 0
    numpy.testing.assert_array_equal(model(x, a)[0], numpy.broadcast_to([1, 0], (4, 2)))


def test_wrong_inputs_and_files_are_refused(tmp_path):
    model = catenary.onnx.load(written(tmp_path))
    x, a = numpy.zeros((1, 3), 'f'), numpy.zeros(2, 'f')
    for wrong, named in [((x,), {}), ((x, a, a), {}), ((x,), {'b': a}), ((x, a), {'x': x})]:
        with pytest.raises(TypeError, match='the model has the inputs x, a, given %d arrays' % len(wrong)):
            model(*wrong, **named)
    with pytest.raises(ValueError, match=r"node 'n' \(MatMul\): "):
        model(numpy.zeros((1, 4), 'f'), a)
    with pytest.raises(ValueError, match=r"operators are not supported in opset 20: StringSplit \(node 'n' \(StringSplit\)\)"):
        catenary.onnx.load(written(tmp_path, 'StringSplit'))
    with pytest.raises((OSError, ValueError), match='none.onnx'):
        catenary.onnx.load(tmp_path / 'none.onnx')
