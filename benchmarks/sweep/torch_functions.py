"""Measures the cases of functions.cpp with PyTorch: torch_functions.py [--dtype bfloat16] [NAME…]

Prints a line of JSON for each case and pass, with the least time in seconds. OMP_NUM_THREADS sets the number of threads.
"""

import json
import os
import sys
import time

import torch
import torch.nn.functional as F

CASES = {}


def case(name, *shapes):
    """Registers a function of tensors with these shapes."""
    def add(f):
        CASES[name] = shapes, f
    return add


def convolutions():
    def add(name, x, w, f, **options):
        case(name, x, w, (w[0],))(lambda x, w, b: f(x, w, b, **options))
    add("conv1d 16x64x1000 k5", (16, 64, 1000), (64, 64, 5), F.conv1d, padding=2)
    add("conv1d dilated 4x64x8000 k3 d8", (4, 64, 8000), (64, 64, 3), F.conv1d, padding=8, dilation=8)
    add("conv1d depthwise 8x256x1000 k31", (8, 256, 1000), (256, 1, 31), F.conv1d, padding=15, groups=256)
    add("conv2d 16x64x56x56 k3", (16, 64, 56, 56), (64, 64, 3, 3), F.conv2d, padding=1)
    add("conv2d 8x3x224x224 k7 s2", (8, 3, 224, 224), (64, 3, 7, 7), F.conv2d, stride=2, padding=3)
    add("conv2d 1x1 16x256x28x28 to 64", (16, 256, 28, 28), (64, 256, 1, 1), F.conv2d)
    add("conv2d depthwise 16x128x28x28 k3", (16, 128, 28, 28), (128, 1, 3, 3), F.conv2d, padding=1, groups=128)
    add("conv2d depthwise k7 8x96x56x56", (8, 96, 56, 56), (96, 1, 7, 7), F.conv2d, padding=3, groups=96)
    add("conv2d grouped32 8x256x28x28 k3", (8, 256, 28, 28), (256, 8, 3, 3), F.conv2d, padding=1, groups=32)
    add("conv2d dilated 4x128x32x32 d2", (4, 128, 32, 32), (128, 128, 3, 3), F.conv2d, padding=2, dilation=2)
    add("conv3d 2x16x16x32x32 k3", (2, 16, 16, 32, 32), (32, 16, 3, 3, 3), F.conv3d, padding=1)
    case("deconv2d 16x128x16x16 k4 s2 to 64", (16, 128, 16, 16), (128, 64, 4, 4), (64,))(
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1))
    case("linear 128x1024 to 1024", (128, 1024), (1024, 1024), (1024,))(F.linear)


def normalizations():
    for name, x in (("8x128x768", (8, 128, 768)), ("10x64", (10, 64)), ("64x10000", (64, 10000))):
        case("layer_norm " + name, x, x[-1:], x[-1:])(lambda x, g, b: F.layer_norm(x, g.shape, g, b))
    case("rms_norm 8x128x768", (8, 128, 768), (768,))(lambda x, g: F.rms_norm(x, (768,), g))
    image = (8, 64, 56, 56)
    case("group_norm 8x64x56x56 g32", image, (64,), (64,))(lambda x, g, b: F.group_norm(x, 32, g, b))
    case("instance_norm 8x64x56x56", image, (64,), (64,))(lambda x, g, b: F.instance_norm(x, None, None, g, b))
    for name, x in (("16x64x56x56", (16, 64, 56, 56)), ("128x512", (128, 512))):
        case("batch_norm " + name, x, x[1:2], x[1:2])(lambda x, g, b: F.batch_norm(x, None, None, g, b, True))
    case("lrn 8x64x28x28", (8, 64, 28, 28))(lambda x: F.local_response_norm(x, 5))
    case("normalize 512x256", (512, 256))(F.normalize)


def losses():
    case("softmax 1024x1000", (1024, 1000))(lambda x: F.softmax(x, 1))
    case("softmax 8x8x128x128", (8, 8, 128, 128))(lambda x: F.softmax(x, 3))
    case("softmax 16x50257", (16, 50257))(lambda x: F.softmax(x, 1))
    case("softmax axis1 16x21x64x64", (16, 21, 64, 64))(lambda x: F.softmax(x, 1))
    case("log_softmax 1024x1000", (1024, 1000))(lambda x: F.log_softmax(x, 1))
    case("log_softmax axis1 16x21x64x64", (16, 21, 64, 64))(lambda x: F.log_softmax(x, 1))
    case("logsumexp 1024x1000", (1024, 1000))(lambda x: torch.logsumexp(x, 1))
    rows, pixels, bits = torch.randint(1000, (512,)), torch.randint(21, (4, 64, 64)), torch.randint(2, (512, 100))
    case("cross_entropy 512x1000", (512, 1000))(lambda x: F.cross_entropy(x, rows))
    case("cross_entropy 4x21x64x64", (4, 21, 64, 64))(lambda x: F.cross_entropy(x, pixels))
    case("sigmoid_cross_entropy 512x100", (512, 100))(lambda x: F.binary_cross_entropy_with_logits(x, bits.to(x.dtype)))
    case("mse 512x1000", (512, 1000), (512, 1000))(F.mse_loss)
    case("huber 512x1000", (512, 1000), (512, 1000))(lambda a, b: F.huber_loss(a, b, reduction="none").sum(1))
    labels, lengths = torch.randint(1, 40, (16, 20)), (torch.full((16,), 100), torch.full((16,), 20))
    case("ctc T100 n16 c40 l20", *[(16, 40)] * 100)(
        lambda *x: F.ctc_loss(F.log_softmax(torch.stack(x), 2), labels, *lengths))


def activations():
    functions = {"gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": F.elu,
                 "softplus": F.softplus, "relu": F.relu, "leaky_relu": F.leaky_relu, "tanh": torch.tanh,
                 "sigmoid": torch.sigmoid, "dropout": lambda x: F.dropout(x, 0.5, True)}
    for name, f in functions.items():
        case(name + " 1024x1024", (1024, 1024))(f)
    case("prelu 16x64x28x28", (16, 64, 28, 28), (64,))(F.prelu)


def images():
    small, large = (8, 64, 28, 28), (16, 64, 56, 56)
    case("bilinear 8x64x28x28 to 56", small)(lambda x: F.interpolate(x, (56, 56), mode="bilinear"))
    case("bilinear 8x64x28x28 to 17", small)(lambda x: F.interpolate(x, (17, 17), mode="bilinear"))
    case("nearest 8x64x28x28 to 56", small)(lambda x: F.interpolate(x, (56, 56), mode="nearest"))
    case("unpooling 8x64x28x28 x2", small)(lambda x: F.interpolate(x, scale_factor=2, mode="nearest"))
    case("grid_sample 8x16x64x64", (8, 16, 64, 64), (8, 64, 64, 2))(
        lambda x, grid: F.grid_sample(x, grid * 0.5, align_corners=True))
    case("max_pool2d 16x64x56x56 k3 s2", large)(lambda x: F.max_pool2d(x, 3, 2, 1))
    case("max_pool2d 16x64x56x56 k2", large)(lambda x: F.max_pool2d(x, 2))
    case("avg_pool2d 16x64x56x56 k2", large)(lambda x: F.avg_pool2d(x, 2))
    case("avg_pool2d global 16x512x7x7", (16, 512, 7, 7))(lambda x: F.avg_pool2d(x, 7))
    case("pad 16x64x56x56 1", large)(lambda x: F.pad(x, (1, 1, 1, 1)))
    case("depth2space 8x64x32x32 r2", (8, 64, 32, 32))(lambda x: F.pixel_shuffle(x, 2))
    case("im2col 8x32x28x28 k3", (8, 32, 28, 28))(lambda x: F.unfold(x, 3, padding=1))
    case("im2col 8x32x56x56 k3 s2", (8, 32, 56, 56))(lambda x: F.unfold(x, 3, padding=1, stride=2))


def arrays():
    case("attention 8x8x128x64", *[(8, 8, 128, 64)] * 3)(F.scaled_dot_product_attention)
    words = torch.randint(30000, (32, 128))
    case("embedding 30000x256, 32x128", (30000, 256))(lambda w: F.embedding(words, w))
    case("matmul batch 64x64x64", *[(64, 64, 64)] * 2)(torch.matmul)
    case("concat 4 of 64x256", *[(64, 256)] * 4)(lambda *x: torch.cat(x, 1))
    case("cumsum 512x1000", (512, 1000))(lambda x: x.cumsum(1))
    case("max axis1 512x1000", (512, 1000))(lambda x: x.amax(1))
    case("sum 16x64x56x56 to 64", (16, 64, 56, 56))(lambda x: x.sum((0, 2, 3)))


def recurrent():
    def add(name, module, gates, steps, n, inputs, units):
        shapes = [(gates * units, inputs), (gates * units, units), (gates * units,), (gates * units,), (steps, n, inputs)]
        network = module(inputs, units)
        names = [key for key, _ in network.named_parameters()]

        def f(*given):
            return torch.func.functional_call(network, dict(zip(names, given)), given[-1:])[0]
        case(name, *shapes)(f)
    add("lstm 256 T50 n32 in128", torch.nn.LSTM, 4, 50, 32, 128, 256)
    add("lstm 64 T100 n8 in32", torch.nn.LSTM, 4, 100, 8, 32, 64)
    add("gru 256 T50 n32 in128", torch.nn.GRU, 3, 50, 32, 128, 256)
    add("rnn 256 T50 n32 in128", torch.nn.RNN, 1, 50, 32, 128, 256)


def least_seconds(work):
    work()
    least, total, runs = 1e9, 0, 0
    while runs < 200 and (total < 0.3 or runs < 5):
        start = time.perf_counter()
        work()
        least, total, runs = min(least, time.perf_counter() - start), total + time.perf_counter() - start, runs + 1
    return least


def measure(name, dtype):
    shapes, f = CASES[name]
    inputs = [(torch.randn(shape) * 0.1).to(dtype).requires_grad_() for shape in shapes]
    with torch.no_grad():
        gy = torch.randn_like(f(*inputs))
        forward = least_seconds(lambda: f(*inputs))

    def with_backward():
        for x in inputs:
            x.grad = None
        f(*inputs).backward(gy)
    for part, seconds in (("forward", forward), ("with backward", least_seconds(with_backward))):
        print(json.dumps({"row": f"{name} {part}", "who": "PyTorch", "samples": [seconds]}), flush=True)


def main():
    names, dtype = sys.argv[1:], torch.float32
    if names[:1] == ["--dtype"]:
        dtype, names = getattr(torch, names[1]), names[2:]
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    for register in (convolutions, normalizations, losses, activations, images, arrays, recurrent):
        register()
    for name in CASES:
        if not names or any(part in name for part in names):
            try:
                measure(name, dtype)
            except (RuntimeError, NotImplementedError) as error:  # some functions have no 16-bit form
                print(f"{name}: {error}", file=sys.stderr)


main()
