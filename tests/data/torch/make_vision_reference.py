"""Computes scores of MobileNet-V2 and of a U-Net with PyTorch (float64, evaluation mode), with weights from a formula.

Usage: python make_vision_reference.py OUT_DIR

mobilenet_v2.npz  width 0.5, 10 classes, images of 3 x 64 x 64
unet.npz          4 channels, halved twice, 3 classes, images of 3 x 16 x 24

y holds the scores. Parameters have the names of catenary::links and are numbered in alphabetic order.
Element i of parameter k, with s = sin(0.7 i + k):
  W        s sqrt(2 / inputs of an output)
  gamma    1 + s / 2
  b, beta  s / 2
Images are sin(1.7 i). Running means are 0, running variances 1, eps is 2e-5.
"""
import math
import os
import sys

import numpy as np
import torch
from torch.nn.functional import conv2d, conv_transpose2d, max_pool2d, relu, relu6


class Net:
    """Layers that record the names and shapes of their parameters in a first call, and use values of the formula afterwards."""

    def __init__(self):
        self.shapes = {}
        self.values = None

    def parameter(self, name, *shape):
        if self.values is None:
            self.shapes[name] = shape
            return torch.ones(shape, dtype=torch.float64)
        return self.values[name]

    def conv(self, name, x, out, size, stride=1, groups=1, bias=False):
        W = self.parameter(name + "/W", out, x.shape[1] // groups, size, size)
        b = self.parameter(name + "/b", out) if bias else None
        return conv2d(x, W, b, stride, size // 2, 1, groups)

    def grow(self, name, x, out):
        return conv_transpose2d(x, self.parameter(name + "/W", x.shape[1], out, 2, 2), self.parameter(name + "/b", out), 2)

    def norm(self, name, x):
        gamma, beta = (self.parameter(name + part, x.shape[1]) for part in ("/gamma", "/beta"))
        return x / math.sqrt(1 + 2e-5) * gamma[:, None, None] + beta[:, None, None]

    def linear(self, name, x, out):
        return x @ self.parameter(name + "/W", out, x.shape[1]).T + self.parameter(name + "/b", out)

    def run(self, f, *shape):
        x = torch.sin(1.7 * torch.arange(math.prod(shape), dtype=torch.float64)).reshape(shape)
        self.values = None
        f(self, x)
        self.values = {}
        for k, name in enumerate(sorted(self.shapes)):
            shape = self.shapes[name]
            s = torch.sin(0.7 * torch.arange(math.prod(shape), dtype=torch.float64) + k).reshape(shape)
            inputs = shape[0] if "grow" in name else math.prod(shape[1:])
            self.values[name] = s * math.sqrt(2 / inputs) if name.endswith("/W") else 1 + s / 2 if name.endswith("/gamma") else s / 2
        return f(self, x)


def mobilenet_v2(net, x):
    width = lambda channels: max(8, (channels // 2 + 4) // 8 * 8)  # half the width, as a multiple of 8; none loses 10 % or more
    h = relu6(net.norm("first_bn", net.conv("first", x, width(32), 3, 2)))
    number = 0
    for expansion, channels, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            name, wide, inside = str(number), h, h.shape[1] * expansion
            if expansion > 1:
                wide = relu6(net.norm(name + "/expand_bn", net.conv(name + "/expand", h, inside, 1)))
            wide = relu6(net.norm(name + "/depthwise_bn", net.conv(name + "/depthwise", wide, inside, 3, stride if i == 0 else 1, inside)))
            y = net.norm(name + "/project_bn", net.conv(name + "/project", wide, width(channels), 1))
            h = h + y if y.shape == h.shape else y
            number += 1
    h = relu6(net.norm("last_bn", net.conv("last", h, 1280, 1)))
    return net.linear("fc", h.mean((2, 3)), 10)


def unet(net, x):
    def level(name, h, channels):
        for i in "12":
            h = relu(net.norm(f"{name}/bn{i}", net.conv(f"{name}/conv{i}", h, channels, 3)))
        return h

    levels = [level("down0", x, 4)]
    for i in (1, 2):
        levels.append(level(f"down{i}", max_pool2d(levels[-1], 2), 4 << i))
    h = levels[-1]
    for i in (1, 0):
        h = level(f"up{i}", torch.cat([levels[i], net.grow(f"grow{i}", h, 4 << i)], 1), 4 << i)
    return net.conv("last", h, 3, 1, bias=True)


for model, shape in ((mobilenet_v2, (2, 3, 64, 64)), (unet, (2, 3, 16, 24))):
    net = Net()
    y = net.run(model, *shape).numpy()
    print(model.__name__, sum(map(math.prod, net.shapes.values())), "parameters", np.abs(y).max(), y.ravel()[:6])
    np.savez_compressed(os.path.join(sys.argv[1], model.__name__ + ".npz"), y=y)
