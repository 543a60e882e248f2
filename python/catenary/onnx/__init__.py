"""Runs ONNX models on every device, `catenary.onnx.load(path)(x)`, and writes networks of chainer, `catenary.onnx.export(path, net, [x])`.

Training an ONNX model needs the C++ class `onnx::Model`. docs/guide/onnx.md lists the supported operators and functions.
"""

import numpy

from catenary import _core, cupy

__all__ = ['Model', 'export', 'load']


class Model:
    """The network in an ONNX file, on the current device.

    Raises ValueError with the names of all unsupported operators, and FileNotFoundError or ValueError for a file that cannot be read.
    """

    def __init__(self, path):
        self._model = _core._OnnxModel(str(path), cupy.empty(0))

    @property
    def inputs(self):
        """A list of (name, dtype, shape). A size in a shape is the text of a number, a name such as 'batch', or '?'."""
        return self._model.inputs()

    @property
    def outputs(self):
        """A list of (name, dtype, shape), like `inputs`."""
        return self._model.outputs()

    @property
    def operators(self):
        """A dict of the operators in the file and how often it has each."""
        return self._model.operators()

    @property
    def parameters(self):
        """A dict of the floating initializers by name. The arrays are the model's own: writing into them changes the model."""
        return self._model.parameters()

    def __call__(self, *inputs, **named):
        """Returns the list of outputs for the inputs, which are in the model's order or named.

        If all inputs are NumPy arrays, the outputs are NumPy arrays. cupy arrays, and arrays of other libraries that support DLPack, give cupy arrays.
        Raises TypeError for a wrong number or name of inputs, and ValueError with the node's name if a node fails.
        """
        names = [name for name, _, _ in self.inputs]
        given = dict(zip(names, inputs))
        unknown = [name for name in named if name not in names or name in given]
        if len(inputs) > len(names) or unknown or len(given) + len(named) != len(names):
            raise TypeError('the model has the inputs %s, given %d arrays%s' % (
                ', '.join(names), len(inputs), ' and ' + ', '.join(named) if named else ''))
        given.update(named)
        arrays = [given[name] for name in names]
        outputs = self._model.run([_on_device(x) for x in arrays])
        if all(isinstance(x, (numpy.ndarray, numpy.generic)) for x in arrays):
            return [cupy.asnumpy(y) for y in outputs]
        return outputs


def _on_device(x):
    if isinstance(x, cupy.ndarray) or not hasattr(x, '__dlpack__') or isinstance(x, (numpy.ndarray, numpy.generic)):
        return cupy.asarray(x)
    return cupy.from_dlpack(x)


def load(path):
    """Returns the Model in an ONNX file."""
    return Model(path)


def export(path, function, args, *, opset=20, input_names=(), output_names=(), dynamic_axes=None):
    """Writes a link of chainer, or a function of variables, to an ONNX file.

    `args` is a list of arrays. The function is called twice in test mode, with variables that have their elements in other orders and, along dynamic
    axes, other sizes. It returns a variable, or a list or tuple of variables. A link's parameters keep their names, such as 'l1/W'.

    `dynamic_axes` names sizes by input and axis: {'x': {0: 'batch'}}. By default the first axis of every input is dynamic; {} fixes all sizes.
    Raises ValueError, and writes no file, for functions that cannot be exported, and for arrays that depend on the inputs but were not computed by
    functions of variables. Needs Catenary's `chainer` (CATENARY_CHAINER is not `original`).
    """
    import chainer
    if not issubclass(chainer.Variable, _core._VariableBase):
        raise RuntimeError("catenary.onnx.export needs Catenary's chainer: unset CATENARY_CHAINER")

    def parameters():
        link = function if isinstance(function, chainer.Link) else getattr(function, '__self__', None)
        if not isinstance(link, chainer.Link):
            return []
        return [(name[1:], parameter) for name, parameter in link.namedparams(include_uninit=False)]

    def call(*variables):
        with chainer.using_config('train', False), chainer.force_backprop_mode():
            outputs = function(*variables)
        return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]

    _core._export_onnx(str(path), parameters, call, list(args), opset, list(input_names), list(output_names), dynamic_axes)
