#!/usr/bin/env python3
"""Times PyTorch and CuPy, as far as this Python has them, beside Catenary on the same device, and prints a row for each
piece of work: copy, a chain of eight operations, a product, a sort, one operation on ten numbers, and the convolutions
of a ResNet-50 in all three passes, which PyTorch has and CuPy has not: by the vendor's library and by our own kernels.

  gpu_peers.py CATENARY DEVICE [DIVISOR]  e.g. build/release/bin/catenary cuda:0; "cpu" compares on the processor

CATENARY is the command `catenary`. DIVISOR divides the sizes, for devices that are simulated.
"""
import importlib
import json
import os
import statistics
import subprocess
import sys
import time


def median_seconds(run, synchronize):
    """As `catenary bench` measures: each measurement is long enough for the clock, and ends when the device is done."""

    def measure(repeats):
        synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        synchronize()
        return (time.perf_counter() - start) / repeats

    measure(1)
    repeats = int(min(max(0.02 / max(measure(1), 1e-9), 1), 1000))
    times, end = [], time.perf_counter() + 1
    while len(times) < 5 or (len(times) < 51 and time.perf_counter() < end):
        times.append(measure(repeats))
    return statistics.median(times)


def ours(catenary, device, what, size):
    printed = subprocess.run([catenary, "bench", what, "--device", device, "--size", str(size), "--json"],
                             check=True, capture_output=True, text=True).stdout
    return json.loads(printed)["results"][0]["seconds"]


def our_convolutions(catenary, device, size, providers=None):
    """The rows of `catenary bench conv` that are a ResNet-50's; size cuts images and sides, None leaves them."""
    printed = subprocess.run([catenary, "bench", "conv", "--device", device, "--json", *(["--size", str(size)] if size else [])],
                             check=True, capture_output=True, text=True,
                             env={**os.environ, **({"CATENARY_GPU_DNN": providers} if providers else {})}).stdout
    return [row for row in json.loads(printed)["results"] if row["layer"].startswith("ResNet-50")]


def torch_work(device):
    torch = importlib.import_module("torch")
    where = "cpu" if device == "cpu" else "cuda:" + device.partition(":")[2]
    if where != "cpu" and not torch.cuda.is_available():
        raise RuntimeError("it sees no GPU")

    def make(what, n):
        x = torch.rand((n, n) if what == "gemm" else n, device=where)
        y = torch.rand_like(x)
        return {"copy": x.clone, "chain": lambda: torch.clamp_min(x * y + x, 0) * torch.tanh(x) - torch.sqrt(y) * x,
                "gemm": lambda: x @ y, "sort": lambda: torch.sort(x), "elementwise": lambda: torch.addcmul(x, x, y)}[what]

    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False  # all bits of float32, its best algorithm

    def convolution(row):
        order = torch.channels_last if row["order"] == "NHWC" else torch.contiguous_format
        groups, stride, pad = row["groups"], [row["stride"]] * 2, [row["window"] // 2] * 2
        x = torch.rand(row["images"], row["channels"], row["extent"], row["extent"], device=where).to(memory_format=order)
        w = torch.rand(row["outputs"], row["channels"] // groups, row["window"], row["window"], device=where).to(memory_format=order)

        def forward():
            return torch.nn.functional.conv2d(x, w, None, stride, pad, 1, groups)

        if row["pass"] == "forward":
            return torch.no_grad()(forward)
        gy = torch.ones_like(forward())
        wanted = [row["pass"] == "to_data", row["pass"] == "to_filter", False]
        return lambda: torch.ops.aten.convolution_backward(gy, x, w, None, stride, pad, [1, 1], False, [0, 0], groups, wanted)

    return "PyTorch " + torch.__version__, make, convolution, (lambda: None) if where == "cpu" else torch.cuda.synchronize


def cupy_work(device):
    if device == "cpu":
        raise RuntimeError("it has no processor device")
    cupy = importlib.import_module("cupy")
    card = cupy.cuda.Device(int(device.partition(":")[2] or 0))
    card.use()
    add = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * y + x")

    def make(what, n):
        x = cupy.random.rand(*((n, n) if what == "gemm" else (n,)), dtype="float32")
        y = cupy.random.rand(*x.shape, dtype="float32")
        return {"copy": x.copy, "chain": lambda: cupy.maximum(x * y + x, 0) * cupy.tanh(x) - cupy.sqrt(y) * x,
                "gemm": lambda: x @ y, "sort": lambda: cupy.sort(x), "elementwise": lambda: add(x, y)}[what]

    return "CuPy " + cupy.__version__, make, None, card.synchronize


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    catenary, device = sys.argv[1:3]
    smaller = int(sys.argv[3]) if len(sys.argv) == 4 else 1
    work = [("copy", "copy", 1 << 26), ("chain of 8", "chain", 1 << 24), ("product", "gemm", 4096),
            ("sort", "sort", 10_000_000), ("x * y + x of 10", "elementwise", 10)]
    work = [(label, what, max(10, size // smaller)) for label, what, size in work]
    peers = []
    for load in (torch_work, cupy_work):
        try:
            peers.append(load(device))
        except Exception as error:  # whatever keeps it from running here is said, and the others are measured
            print(f"{load.__name__[:-5]} is not measured: {type(error).__name__}: {error}", flush=True)
    print(f"{'float32 on ' + device:<20}{'size':>10}{'Catenary':>14}" +
          "".join(f"{name:>24}{'ratio':>8}" for name, *_ in peers))
    for label, what, size in work:
        own = ours(catenary, device, what, size)
        row = f"{label:<20}{size:>10}{own * 1e6:>11.2f} us"
        for _, make, _, synchronize in peers:
            theirs = median_seconds(make(what, size), synchronize)
            row += f"{theirs * 1e6:>21.2f} us{own / theirs:>8.2f}"
        print(row, flush=True)

    size = None if smaller == 1 else 1
    ours_of_all, own = our_convolutions(catenary, device, size), None
    if device.startswith(("cuda", "hip", "gpu")):
        own = our_convolutions(catenary, device, size, "own")
    with_convolutions = [(name, make, synchronize) for name, _, make, synchronize in peers if make]
    print(f"\n{'convolutions of a ResNet-50':<56}{'Catenary':>14}{'own kernels':>14}{'share':>8}" +
          "".join(f"{name:>24}{'ratio':>8}" for name, *_ in with_convolutions))
    for i, row in enumerate(ours_of_all):
        line = f"{row['layer'] + ' ' + row['shape'] + ' ' + row['order'] + ' ' + row['pass']:<56}{row['seconds'] * 1e6:>11.1f} us"
        line += f"{own[i]['seconds'] * 1e6:>11.1f} us{row['seconds'] / own[i]['seconds']:>8.2f}" if own else f"{'the same':>14}{'':>8}"
        for _, make, synchronize in with_convolutions:
            theirs = median_seconds(make(row), synchronize)
            line += f"{theirs * 1e6:>21.1f} us{row['seconds'] / theirs:>8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
