#!/usr/bin/env python3
"""Times PyTorch and CuPy, as far as this Python has them, beside Catenary on the same device, and prints a row for each
piece of work: copy, a chain of eight operations, a product, a sort, and one operation on ten numbers.

  gpu_peers.py CATENARY DEVICE [DIVISOR]  e.g. build/release/bin/catenary cuda:0; "cpu" compares on the processor

CATENARY is the command `catenary`. DIVISOR divides the sizes, for devices that are simulated.
"""
import importlib
import json
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

    return "PyTorch " + torch.__version__, make, (lambda: None) if where == "cpu" else torch.cuda.synchronize


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

    return "CuPy " + cupy.__version__, make, card.synchronize


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
          "".join(f"{name:>24}{'ratio':>8}" for name, _, _ in peers))
    for label, what, size in work:
        own = ours(catenary, device, what, size)
        row = f"{label:<20}{size:>10}{own * 1e6:>11.2f} us"
        for _, make, synchronize in peers:
            theirs = median_seconds(make(what, size), synchronize)
            row += f"{theirs * 1e6:>21.2f} us{own / theirs:>8.2f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
