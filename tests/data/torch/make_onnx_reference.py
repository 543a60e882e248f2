#!/usr/bin/env python3
"""Writes ResNet-18 as PyTorch exports it, and PyTorch's gradients and losses of a training, as data of the test OnnxTraining.

    make_onnx_reference FOLDER

Needs a Python with the packages torch, onnx and onnxscript. FOLDER gets resnet18.onnx, without weights, and resnet18.json: for each parameter the norm of
the first gradient and eight of its elements, and the losses of 50 steps of SGD. The weights, images and labels are numbers that the test computes too.
"""

import json
import os
import sys

import numpy
import onnx
import torch

CLASSES, BATCH, SIZE, STEPS, RATE = 10, 4, 32, 50, 0.0002


def uniform(seed, count):
    """Returns numbers from -1 to 1: the mixed bits of consecutive integers."""
    z = (numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(seed << 32)) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    return ((z >> numpy.uint64(40)).astype(numpy.float64) / 2**23 - 1).astype(numpy.float32)


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(outputs)
        self.conv2 = torch.nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False), torch.nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(h + (x if self.downsample is None else self.downsample(x)))


class ResNet18(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(64)
        self.maxpool = torch.nn.MaxPool2d(3, 2, 1)
        for i, (inputs, outputs, stride) in enumerate(((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))):
            setattr(self, 'layer%d' % (i + 1), torch.nn.Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1)))
        self.fc = torch.nn.Linear(512, CLASSES)

    def forward(self, x):
        h = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        h = self.layer4(self.layer3(self.layer2(self.layer1(h))))
        return self.fc(h.mean((2, 3)))


def initialize(net):
    """Gives each parameter and statistic its numbers, which depend on its place in the order of names."""
    for seed, (name, value) in enumerate(sorted(net.state_dict().items())):
        if value.dtype != torch.float32:
            continue
        scale, shift = 0.1, 0.0
        if value.ndim > 1:
            scale = (6 / value[0].numel())**0.5
        elif name.endswith('weight') or name.endswith('running_var'):
            shift = 1.0
        value.copy_(torch.from_numpy(uniform(seed + 1, value.numel()) * numpy.float32(scale) + numpy.float32(shift)).reshape(value.shape))


def samples(gradient):
    flat = gradient.reshape(-1)
    return [float(flat[i * (flat.numel() - 1) // 7]) for i in range(8)]


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    net = ResNet18()
    initialize(net)
    x = torch.from_numpy(uniform(1000, BATCH * 3 * SIZE * SIZE)).reshape(BATCH, 3, SIZE, SIZE)
    t = torch.arange(BATCH) * 3 % CLASSES
    net.eval()  # PyTorch exports batch normalization with its statistics
    path = os.path.join(folder, 'resnet18.onnx')
    program = torch.onnx.export(net, (x,), None, dynamo=True, input_names=['x'], output_names=['y'], optimize=False)
    model = program.model_proto

    state = {name: tuple(value.shape) for name, value in net.state_dict().items() if value.dtype == torch.float32}
    for tensor in model.graph.initializer:
        if tensor.name not in state:
            continue
        assert tuple(tensor.dims) == state[tensor.name]
        tensor.ClearField('raw_data')
        tensor.ClearField('float_data')
        tensor.data_location = onnx.TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = 'location', tensor.name
    for node in model.graph.node:  # metadata with paths
        del node.metadata_props[:]
        node.doc_string = ''
    del model.graph.value_info[:]
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    onnx.save(model, path)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), t)
        loss.backward()
        if step == 0:
            gradients = {name: {'norm': float(p.grad.norm()), 'largest': float(p.grad.abs().max()), 'samples': samples(p.grad)}
                         for name, p in net.named_parameters()}
        optimizer.step()
        losses.append(float(loss))
    with open(os.path.join(folder, 'resnet18.json'), 'w') as file:
        shapes = {name: state.get(name) for name in sorted(net.state_dict())}
        json.dump({'rate': RATE, 'shapes': shapes, 'gradients': gradients, 'losses': losses}, file)
    print('%d nodes, losses %g to %g' % (len(model.graph.node), losses[0], losses[-1]))


if __name__ == '__main__':
    main()
