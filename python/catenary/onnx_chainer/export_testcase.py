"""Writes a model with its inputs, outputs and gradients."""

import os

import chainer

from onnx_chainer import _tensors
from onnx_chainer.export import export


def export_testcase(model, args, out_dir, output_grad=False, **kwargs):
    """Writes model.onnx, and its inputs and outputs as TensorProtos in test_data_set_0, to a folder.

    With `output_grad`, also writes the parameters' gradients of the sum of all outputs as gradient_0.pb and so on.
    """
    os.makedirs(os.path.join(out_dir, 'test_data_set_0'), exist_ok=True)
    _, inputs, outputs = export(model, args, os.path.join(out_dir, 'model.onnx'), return_named_inout=True, no_testcase=True, **kwargs)

    def write(kind, number, name, array):
        _tensors.write(os.path.join(out_dir, 'test_data_set_0', '%s_%d.pb' % (kind, number)), name, chainer.backends.cuda.to_cpu(array))

    for kind, variables in (('input', inputs), ('output', outputs)):
        for i, (name, variable) in enumerate(variables.items()):
            write(kind, i, name, variable.array)
    if not output_grad:
        return
    model.cleargrads()
    sum(chainer.functions.sum(y) for y in outputs.values()).backward()
    for i, (name, parameter) in enumerate(model.namedparams()):
        if parameter.grad is not None:
            write('gradient', i, name[1:], parameter.grad)
