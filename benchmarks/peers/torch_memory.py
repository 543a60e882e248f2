"""torch_memory.py resnet18|resnet50: does the work of bench_memory in PyTorch and prints the peak memory of the process in MB."""

import resource
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy, relu


def normalized(inputs, outputs, size, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """Convolutions (outputs, size, stride), each with batch normalization, and a shortcut that adds the input."""

    def __init__(self, inputs, *convolutions):
        super().__init__()
        parts, channels, stride = [], inputs, 1
        for outputs, size, step in convolutions:
            parts += [normalized(channels, outputs, size, step), nn.ReLU(inplace=True)]
            channels, stride = outputs, stride * step
        self.parts = nn.Sequential(*parts[:-1])
        self.shortcut = normalized(inputs, channels, 1, stride) if stride != 1 or inputs != channels else nn.Identity()

    def forward(self, x):
        return relu(self.parts(x) + self.shortcut(x), inplace=True)


def resnet18():
    blocks, inputs = [], 64
    for outputs in (64, 128, 256, 512):
        blocks += [Block(inputs, (outputs, 3, 1 if inputs == outputs else 2), (outputs, 3, 1)), Block(outputs, (outputs, 3, 1), (outputs, 3, 1))]
        inputs = outputs
    return nn.Sequential(normalized(3, 64, 3), nn.ReLU(inplace=True), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def resnet50():
    blocks, inputs = [], 64
    for count, middle in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for i in range(count):
            blocks.append(Block(inputs, (middle, 1, 2 if i == 0 and middle > 64 else 1), (middle, 3, 1), (4 * middle, 1, 1)))
            inputs = 4 * middle
    return nn.Sequential(normalized(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, ceil_mode=True), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


torch.set_num_threads(2)
torch.manual_seed(0)
small = sys.argv[1] == "resnet18"
net = resnet18() if small else resnet50()
x = torch.randn(32, 3, 32, 32) if small else torch.randn(8, 3, 224, 224)
t = torch.randint(0, 10 if small else 1000, (len(x),))
optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(2):
    optimizer.zero_grad()
    cross_entropy(net(x), t).backward()
    optimizer.step()
print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB, {start // 1024} MB of it before the first step")
