"""Writes a model of Chainer to an ONNX file."""

import os
import tempfile

import chainer

import catenary.onnx
from catenary._aside import written_aside

MINIMUM_OPSET_VERSION, MAXIMUM_OPSET_VERSION = 18, 23
_OPSET = 20


def _refuse(**options):
    for name, (given, default, instead) in options.items():
        if given is not default and given != default:
            raise NotImplementedError('onnx_chainer.export: %s=%r is not supported by Catenary: %s' % (name, given, instead))


def _named_arguments(args):
    """Returns a list of (keyword or None, variable)."""
    if isinstance(args, dict):
        pairs = list(args.items())
    elif isinstance(args, (list, tuple)):
        pairs = [(None, arg) for arg in args]
    elif isinstance(args, (chainer.Variable, *chainer.get_array_types())):
        pairs = [(None, args)]
    else:
        raise ValueError('onnx_chainer.export: args must be a list, tuple, dict, array or variable, not %s' % type(args).__name__)
    return [(key, chainer.as_variable(value)) for key, value in pairs]


def _names(given, keys, prefix):
    """Returns the names of inputs or outputs. `given` is a name, a list, a dict by key, or None."""
    if not given:
        return ['%s_%d' % (prefix, i) for i in range(len(keys))]
    if isinstance(given, str):
        given = [given]
    if len(given) != len(keys):
        raise ValueError('onnx_chainer.export: %d names are given for %d values' % (len(given), len(keys)))
    if isinstance(given, dict):
        missing = [key for key in keys if key not in given]
        if missing:
            raise ValueError('onnx_chainer.export: there is no name for %s' % ', '.join(map(str, missing)))
        return [given[key] for key in keys]
    return list(given)


def _dynamic_axes(shapes, arguments, names):
    """Returns the axes that have a name, or None, in `input_shapes`."""
    if shapes is None:
        return {}
    keys = [key for key, _ in arguments]
    if isinstance(shapes, dict):
        if set(shapes) != set(keys):
            raise ValueError('onnx_chainer.export: input_shapes has the keys %s, the arguments have %s' % (sorted(shapes), keys))
        shapes = [shapes[key] for key in keys]
    elif isinstance(shapes, tuple):
        shapes = [shapes]
    if len(shapes) != len(arguments):
        raise ValueError('onnx_chainer.export: %d input_shapes are given for %d arguments' % (len(shapes), len(arguments)))
    axes = {}
    for name, shape, (_, variable) in zip(names, shapes, arguments):
        if len(shape) != variable.ndim:
            raise ValueError('onnx_chainer.export: input shape %s does not fit an array of shape %s' % (shape, variable.shape))
        for axis, (extent, size) in enumerate(zip(shape, variable.shape)):
            if extent is None or isinstance(extent, str):
                axes.setdefault(name, {})[axis] = extent or '%s_%d' % (name, axis)
            elif extent != size:
                raise ValueError('onnx_chainer.export: input shape %s does not fit an array of shape %s: name the sizes that vary'
                                 % (shape, variable.shape))
    return axes


def _listed(outputs):
    """Returns the keys and variables of a model's outputs."""
    if isinstance(outputs, dict):
        return list(outputs), list(outputs.values())
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if not all(isinstance(y, chainer.Variable) for y in outputs):
        raise ValueError('onnx_chainer.export: all outputs must be variables')
    return list(range(len(outputs))), outputs


def export(model, args, filename=None, export_params=True, graph_name='Graph', save_text=False, opset_version=None, input_names=None,
           output_names=None, train=False, return_named_inout=False, external_converters=None, external_opset_imports=None, input_shapes=None,
           no_testcase=False):
    """Writes the computation `model(*args)` in test mode to an ONNX file, and returns it as `onnx.ModelProto`, or as bytes without the package onnx.

    `filename` is a path, a file open for writing bytes, or None. `opset_version` is from 18 to 23, by default 20. All sizes are fixed unless
    `input_shapes` gives a name, or None, for one: (('batch', 3, 224, 224),). With `return_named_inout`, returns the model and two dicts of variables.
    Raises ValueError for functions that cannot be exported, and NotImplementedError for export_params=False, save_text, train,
    external_converters and external_opset_imports.
    """
    _refuse(export_params=(export_params, True, 'the weights are always written'),
            graph_name=(graph_name, 'Graph', 'the graph has a fixed name'),
            save_text=(save_text, False, 'print the returned onnx.ModelProto'),
            train=(train, False, 'networks are exported in test mode'),
            external_converters=(external_converters or None, None, 'only functions in the list of the guide are exported'),
            external_opset_imports=(external_opset_imports or None, None, 'only operators of ai.onnx are written'))
    opset = _OPSET if opset_version is None else opset_version
    if not MINIMUM_OPSET_VERSION <= opset <= MAXIMUM_OPSET_VERSION:
        raise ValueError('onnx_chainer.export: opset_version %s is not supported, only %d to %d are: convert the file with onnx.version_converter'
                         % (opset, MINIMUM_OPSET_VERSION, MAXIMUM_OPSET_VERSION))
    arguments = _named_arguments(args)
    keys = [key for key, _ in arguments]
    named = _names(input_names, keys if isinstance(args, dict) else range(len(keys)), 'Input')
    axes = _dynamic_axes(input_shapes, arguments, named)

    def call(*variables):
        if isinstance(args, dict):
            return model(**dict(zip(keys, variables)))
        return model(*variables)

    with chainer.using_config('train', False):
        output_keys, outputs = _listed(call(*(variable for _, variable in arguments)))
    result_names = _names(output_names, output_keys, 'Output')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.onnx')
        catenary.onnx.export(path, _Function(model, lambda *xs: _listed(call(*xs))[1]), [variable.array for _, variable in arguments], opset=opset,
                             input_names=named, output_names=result_names, dynamic_axes=axes)
        with open(path, 'rb') as file:
            data = file.read()
    if hasattr(filename, 'write'):
        filename.write(data)
    elif filename is not None:
        with written_aside(filename) as new, open(new, 'wb') as file:
            file.write(data)
    exported = _model(data)
    if not return_named_inout:
        return exported
    return exported, dict(zip(named, (variable for _, variable in arguments))), dict(zip(result_names, outputs))


class _Function:
    """A call whose parameters are a link's."""

    def __init__(self, link, function):
        self.__self__ = link
        self.function = function

    def __call__(self, *variables):
        return self.function(*variables)


def _model(data):
    try:
        from onnx import load_from_string
    except ImportError:  # missing, or a folder of this name
        return data
    return load_from_string(data)


def convert_parameter(parameter, context):
    raise NotImplementedError('onnx_chainer.convert_parameter: Catenary has no converters: export writes all parameters')


class RetainInputHook(chainer.LinkHook):
    """A part of ONNX-Chainer's export, which the library's graph does not need."""

    def __init__(self):
        raise NotImplementedError('onnx_chainer.RetainInputHook: the library keeps the inputs of its graph: export without this hook')
