#!/usr/bin/env python3
"""Compares the speed of PyTorch and CuPy, if this Python has them, with Catenary on the same device. Prints a row for each measurement.

  gpu_peers.py CATENARY DEVICE [PART…] [--divisor N]

CATENARY is the command `catenary`, which must lie beside `tensor_core` and `train_mnist`, for instance build/release/bin/catenary.
DEVICE is a device such as cuda:0. "cpu" compares on the CPU.

Without PART, all parts run:
  float32    copy, a chain of eight operations, a matrix product, a sort, an operation on ten numbers, and the convolutions of
             ResNet-50 in all three passes, with the vendor's library and with our own kernels (PyTorch only, CuPy has no convolutions)
  units      TFLOPS of a linear layer of 4096 and of 8192 in float16, bfloat16, and float32 with and without TF32, and the units that
             compute it. Goal: 97 % of PyTorch's TFLOPS.
  mixed      a training step of six layers of 4096 with 4096 images, and of ResNet-50 with 64 images, channels last: Catenary with
             16-bit parameters, PyTorch with autocast. Goal: PyTorch's time.
  attention  causal attention, 8 heads of 64, 4096 tokens, in float16 and bfloat16, forward alone and with its gradient, and the library
             that computes it. Goal: PyTorch's time.
  epoch      an epoch of train_mnist with its evaluation, batches of 100. PyTorch runs an eager loop on tensors in the memory of the card.
             Goal: a third of PyTorch's time.

--divisor N divides the sizes by N, for simulated devices.
"""
import argparse
import importlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time


def median_seconds(run, synchronize):
    """Measures like `catenary bench`: each measurement is long enough for the clock and includes the wait for the device."""

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


def printed_by(command, **environment):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout


class Catenary:
    def __init__(self, command, device):
        self.command, self.device, self.folder = command, device, pathlib.Path(command).parent

    def bench(self, what, size, *options, **environment):
        """Returns the rows of `catenary bench`. Without a size, the command uses its default sizes."""
        return json.loads(printed_by([self.command, "bench", what, "--device", self.device, "--json", *(["--size", size] if size else []), *options],
                                     **environment))["results"]

    def convolutions(self, size, providers=None):
        """Returns the rows of `catenary bench conv` that belong to ResNet-50. `size` reduces batch and image sizes."""
        rows = self.bench("conv", size, **({"CATENARY_GPU_DNN": providers} if providers else {}))
        return [row for row in rows if row["layer"].startswith("ResNet-50")]

    def linear(self, size, count, dtype, tf32):
        """Returns the TFLOPS of one F::linear and the units that computed it."""
        text = printed_by([self.folder / "tensor_core", "-n", size, "-c", count, "--dtype", dtype, *(["--tf32"] if tf32 else []), "-d", self.device])
        value = dict(re.findall(r"^(\S+|of the peak)\s+(.*)$", text, re.MULTILINE))
        return float(value["TFLOPS"]), value["units"]

    def epoch(self, options):
        """Returns the seconds of train_mnist's last epoch with its evaluation, from its log."""
        with tempfile.TemporaryDirectory() as out:
            printed_by([self.folder / "train_mnist", "-d", self.device, "--noplot", "-o", out, *options])
            log = json.loads(pathlib.Path(out, "log").read_text())
        return log[-1]["elapsed_time"] - (log[-2]["elapsed_time"] if len(log) > 1 else 0)


class Torch:
    def __init__(self, device):
        self.torch = torch = importlib.import_module("torch")
        self.where = "cpu" if device == "cpu" else "cuda:" + device.partition(":")[2]
        if self.where != "cpu" and not torch.cuda.is_available():
            raise RuntimeError("it sees no GPU")
        self.name = "PyTorch " + torch.__version__
        self.synchronize = (lambda: None) if self.where == "cpu" else torch.cuda.synchronize
        torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False  # full float32 precision, and the best algorithm

    def make(self, what, n):
        torch = self.torch
        x = torch.rand((n, n) if what == "gemm" else n, device=self.where)
        y = torch.rand_like(x)
        return {"copy": x.clone, "chain": lambda: torch.clamp_min(x * y + x, 0) * torch.tanh(x) - torch.sqrt(y) * x,
                "gemm": lambda: x @ y, "sort": lambda: torch.sort(x), "elementwise": lambda: torch.addcmul(x, x, y)}[what]

    def convolution(self, row):
        torch = self.torch
        order = torch.channels_last if row["order"] == "NHWC" else torch.contiguous_format
        groups, stride, pad = row["groups"], [row["stride"]] * 2, [row["window"] // 2] * 2
        x = torch.rand(row["images"], row["channels"], row["extent"], row["extent"], device=self.where).to(memory_format=order)
        w = torch.rand(row["outputs"], row["channels"] // groups, row["window"], row["window"], device=self.where).to(memory_format=order)

        def forward():
            return torch.nn.functional.conv2d(x, w, None, stride, pad, 1, groups)

        if row["pass"] == "forward":
            return torch.no_grad()(forward)
        gy = torch.ones_like(forward())
        wanted = [row["pass"] == "to_data", row["pass"] == "to_filter", False]
        return lambda: torch.ops.aten.convolution_backward(gy, x, w, None, stride, pad, [1, 1], False, [0, 0], groups, wanted)

    def linear(self, size, dtype, tf32):
        """Returns the TFLOPS of torch.nn.functional.linear."""
        torch = self.torch
        x, w = (torch.rand(size, size, device=self.where).sub(0.5).to(getattr(torch, dtype)) for _ in range(2))
        torch.backends.cuda.matmul.allow_tf32 = tf32
        seconds = median_seconds(lambda: torch.nn.functional.linear(x, w), self.synchronize)
        torch.backends.cuda.matmul.allow_tf32 = False
        return 2 * size ** 3 / seconds * 1e-12

    def attention(self, tokens, dtype, backward):
        torch = self.torch
        q, k, v, seed = (torch.randn(1, 8, tokens, 64, device=self.where, dtype=getattr(torch, dtype)) for _ in range(4))

        def forward(*leaves):
            return torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=True)

        if not backward:
            return torch.no_grad()(lambda: forward(q, k, v))
        return lambda: forward(*(x.detach().requires_grad_() for x in (q, k, v))).backward(seed)

    def step(self, net, optimizer, x, t, dtype):
        """Returns a training step under autocast. The loss is scaled for float16."""
        torch = self.torch
        kind = self.where.partition(":")[0]
        scaler = torch.amp.GradScaler(kind, enabled=dtype == torch.float16)

        def step():
            optimizer.zero_grad()
            with torch.autocast(kind, dtype=dtype):
                loss = torch.nn.functional.cross_entropy(net(x), t)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        return step

    def layers(self, *sizes):
        parts = []
        for inputs, outputs in zip(sizes, sizes[1:]):
            parts += [self.torch.nn.Linear(inputs, outputs), self.torch.nn.ReLU()]
        return self.torch.nn.Sequential(*parts[:-1]).to(self.where)

    def mlp(self, images, units, dtype):
        net = self.layers(784, *[units] * 5, 10)
        x, t = self.torch.rand(images, 784, device=self.where), self.torch.arange(images, device=self.where) % 10
        return self.step(net, self.torch.optim.SGD(net.parameters(), 0.01), x, t, dtype)

    def resnet50(self, images, extent, dtype):
        torch, nn = self.torch, self.torch.nn

        class Bottleneck(nn.Module):
            def __init__(self, inputs, middle, stride):
                super().__init__()
                outputs = 4 * middle
                self.main = nn.Sequential(
                    nn.Conv2d(inputs, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
                    nn.Conv2d(middle, middle, 3, stride, 1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
                    nn.Conv2d(middle, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
                self.shortcut = nn.Identity()
                if stride != 1 or inputs != outputs:
                    self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

            def forward(self, x):
                return torch.relu(self.main(x) + self.shortcut(x))

        parts, inputs = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
        for stage, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
            for i in range(count):
                parts.append(Bottleneck(inputs, middle, 2 if i == 0 and stage else 1))
                inputs = 4 * middle
        net = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)).to(self.where, memory_format=torch.channels_last)
        x = torch.rand(images, 3, extent, extent, device=self.where).contiguous(memory_format=torch.channels_last)
        t = torch.arange(images, device=self.where) % 10
        return self.step(net, torch.optim.SGD(net.parameters(), 0.01, momentum=0.9), x, t, dtype)

    def epoch(self, images, batch, units):
        """Returns the seconds of an epoch of 784-units-units-10 and its evaluation, in the usual eager style."""
        torch = self.torch
        functional = torch.nn.functional
        x, x_test = (torch.rand(n, 784, device=self.where) for n in (images, images // 6))
        t, t_test = (torch.randint(10, (len(a),), device=self.where) for a in (x, x_test))
        net = self.layers(784, units, units, 10)
        optimizer = torch.optim.Adam(net.parameters())

        def epoch():
            order = torch.randperm(len(x), device=self.where)
            for i in range(0, len(x), batch):
                chosen = order[i:i + batch]
                optimizer.zero_grad()
                functional.cross_entropy(net(x[chosen]), t[chosen]).backward()
                optimizer.step()
            with torch.no_grad():
                for i in range(0, len(x_test), batch):
                    y = net(x_test[i:i + batch])
                    functional.cross_entropy(y, t_test[i:i + batch]), (y.argmax(1) == t_test[i:i + batch]).float().mean()
            self.synchronize()

        epoch()
        start = time.perf_counter()
        epoch()
        return time.perf_counter() - start


class CuPy:
    def __init__(self, device):
        if device == "cpu":
            raise RuntimeError("it has no processor device")
        self.cupy = cupy = importlib.import_module("cupy")
        card = cupy.cuda.Device(int(device.partition(":")[2] or 0))
        card.use()
        self.name, self.synchronize = "CuPy " + cupy.__version__, card.synchronize
        self.add = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * y + x")

    def make(self, what, n):
        cupy = self.cupy
        x = cupy.random.rand(*((n, n) if what == "gemm" else (n,)), dtype="float32")
        y = cupy.random.rand(*x.shape, dtype="float32")
        return {"copy": x.copy, "chain": lambda: cupy.maximum(x * y + x, 0) * cupy.tanh(x) - cupy.sqrt(y) * x,
                "gemm": lambda: x @ y, "sort": lambda: cupy.sort(x), "elementwise": lambda: self.add(x, y)}[what]


def float32(ours, peers, divisor):
    work = [("copy", "copy", 1 << 26), ("chain of 8", "chain", 1 << 24), ("product", "gemm", 4096),
            ("sort", "sort", 10_000_000), ("x * y + x of 10", "elementwise", 10)]
    print(f"{'float32 on ' + ours.device:<20}{'size':>10}{'Catenary':>14}" + "".join(f"{peer.name:>24}{'ratio':>8}" for peer in peers))
    for label, what, size in work:
        size = max(10, size // divisor)
        own = ours.bench(what, size)[0]["seconds"]
        row = f"{label:<20}{size:>10}{own * 1e6:>11.2f} us"
        for peer in peers:
            theirs = median_seconds(peer.make(what, size), peer.synchronize)
            row += f"{theirs * 1e6:>21.2f} us{own / theirs:>8.2f}"
        print(row, flush=True)

    size = None if divisor == 1 else 1
    rows, own = ours.convolutions(size), None
    if ours.device.startswith(("cuda", "hip", "gpu")):
        own = ours.convolutions(size, "own")
    convolving = [peer for peer in peers if isinstance(peer, Torch)]
    print(f"\n{'convolutions of a ResNet-50':<56}{'Catenary':>14}{'own kernels':>14}{'share':>8}" +
          "".join(f"{peer.name:>24}{'ratio':>8}" for peer in convolving))
    for i, row in enumerate(rows):
        line = f"{row['layer'] + ' ' + row['shape'] + ' ' + row['order'] + ' ' + row['pass']:<56}{row['seconds'] * 1e6:>11.1f} us"
        line += f"{own[i]['seconds'] * 1e6:>11.1f} us{row['seconds'] / own[i]['seconds']:>8.2f}" if own else f"{'the same':>14}{'':>8}"
        for peer in convolving:
            theirs = median_seconds(peer.convolution(row), peer.synchronize)
            line += f"{theirs * 1e6:>21.1f} us{row['seconds'] / theirs:>8.2f}"
        print(line, flush=True)


def verdict(reached):
    return "" if reached else "  missed"


def units(ours, peers, divisor):
    torch = next((peer for peer in peers if isinstance(peer, Torch)), None)
    print(f"{'one linear layer on ' + ours.device:<32}{'TFLOPS':>10}{torch.name if torch else '':>24}{'of it':>10}  units (wanted: 97 % of it)")
    for size in (4096, 8192):
        size = max(16, size // divisor)
        for dtype, tf32 in (("float16", False), ("bfloat16", False), ("float32", False), ("float32", True)):
            rate, ran = ours.linear(size, 2 if divisor > 1 else 20, dtype, tf32)
            line = f"{dtype + (' as TF32' if tf32 else '') + ' ' + str(size):<32}{rate:>10.4g}"
            theirs = torch.linear(size, dtype, tf32) if torch else None
            line += f"{theirs:>24.4g}{rate / theirs:>10.1%}" if torch else f"{'':>34}"
            print(line + "  " + ran + verdict(not torch or rate >= 0.97 * theirs), flush=True)


def mixed(ours, peers, divisor):
    torch = next((peer for peer in peers if isinstance(peer, Torch)), None)
    images, units_of_layers, batch, extent = (4096, 4096, 64, 224) if divisor == 1 else (4, max(16, 4096 // divisor), 2, 32)  # PyTorch cannot normalize a single value
    print(f"{'a step of training on ' + ours.device:<44}{'Catenary':>14}{torch.name + ', autocast' if torch else '':>34}{'ratio':>8}  (wanted: 1)")
    for precision, dtype in (("mixed16", "float16"), ("mixed_bf16", "bfloat16")):
        if dtype == ("float16" if ours.device == "cpu" else "bfloat16" if divisor > 1 else ""):
            continue  # PyTorch's autocast lacks float16 on the CPU; simulated devices test one dtype
        for label, own, theirs in (
                (f"six layers of {units_of_layers}, {images} images", lambda: ours.bench("mlp", images, "--width", units_of_layers, "--dtype", precision),
                 lambda kind: torch.mlp(images, units_of_layers, kind)),
                (f"ResNet-50, {batch} images of {extent}", lambda: ours.bench("resnet50", batch, "--width", extent, "--dtype", precision),
                 lambda kind: torch.resnet50(batch, extent, kind))):
            seconds = own()[0]["seconds"]
            line = f"{label + ', ' + precision:<44}{seconds * 1e3:>11.2f} ms"
            if torch:
                peer = median_seconds(theirs(getattr(torch.torch, dtype)), torch.synchronize)
                line += f"{peer * 1e3:>31.2f} ms{seconds / peer:>8.2f}" + verdict(seconds <= peer)
            print(line, flush=True)


def attention(ours, peers, divisor):
    torch = next((peer for peer in peers if isinstance(peer, Torch)), None)
    tokens = max(16, 4096 // divisor)
    print(f"{f'attention of {tokens} tokens on {ours.device}':<40}{'Catenary':>14}{torch.name if torch else '':>24}{'ratio':>8}  library (wanted: 1)")
    for dtype in ("float16", "bfloat16"):
        for row in ours.bench("attention", tokens, "--dtype", dtype):
            line = f"{row['pass'] + ', ' + dtype:<40}{row['seconds'] * 1e6:>11.1f} us"
            theirs = median_seconds(torch.attention(tokens, dtype, row["pass"] == "backward"), torch.synchronize) if torch else None
            line += f"{theirs * 1e6:>21.1f} us{row['seconds'] / theirs:>8.2f}" if torch else f"{'':>32}"
            how = row.get("computation")
            print(line + "  " + (f"{how['library']}, {how['algorithm']}" if how else "own") + verdict(not torch or row["seconds"] <= theirs), flush=True)


def epoch(ours, peers, divisor):
    torch = next((peer for peer in peers if isinstance(peer, Torch)), None)
    batch, units_of_layers = (100, 1000) if divisor == 1 else (500, 10)
    own = ours.epoch(["-e", 3 if divisor == 1 else 1, "-b", batch, "-u", units_of_layers])
    line = f"an epoch of MNIST on {ours.device}: {own:.3f} s"
    if torch:
        theirs = torch.epoch(60_000, batch, units_of_layers)
        line += f", {torch.name}, eager: {theirs:.3f} s, {theirs / own:.2f} times as long (wanted: 3)" + verdict(theirs >= 3 * own)
    print(line, flush=True)


PARTS = {"float32": float32, "units": units, "mixed": mixed, "epoch": epoch, "attention": attention}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catenary")
    parser.add_argument("device")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--divisor", type=int, default=1)
    options = parser.parse_intermixed_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"unknown part '{part}'; expected some of: {', '.join(PARTS)}")
    peers = []
    for load in (Torch, CuPy):
        try:
            peers.append(load(options.device))
        except Exception as error:  # report why this peer cannot run and measure the others
            print(f"{load.__name__} cannot run here: {type(error).__name__}: {error}", flush=True)
    for part in options.parts or PARTS:
        PARTS[part](Catenary(options.catenary, options.device), peers, options.divisor)


if __name__ == "__main__":
    main()
