"""Compares PyTorch's fused attention with Catenary's: time and memory of causal attention, forward alone and with backward.

  python torch_attention.py build/release/bin/bench_attention [--batch 1] [--heads 8] [--tokens 4096] [--size 64] [--rounds 3] [--dtype bfloat16]

The programs run alternately with the same number of threads. The last lines show the medians of time and memory and their ratio. Memory is
the growth of the process at the peak beyond the operands, measured in a process that ran only a short sequence before. Needs PyTorch.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--tokens", type=int, default=4096)
parser.add_argument("--size", type=int, default=64)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--runs", type=int, default=7)
parser.add_argument("--dtype", default="float32")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--memory-of", choices=["forward", "backward"], help="only print the megabytes of one run of PyTorch")
arguments = parser.parse_args()
torch.set_num_threads(arguments.threads)
shape = arguments.batch, arguments.heads, arguments.tokens, arguments.size


def normal(shape):
    return [torch.randn(shape, dtype=getattr(torch, arguments.dtype)) for _ in range(4)]


def forward(q, k, v, seed):
    with torch.no_grad():
        scaled_dot_product_attention(q, k, v, is_causal=True)


def backward(q, k, v, seed):
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    scaled_dot_product_attention(*leaves, is_causal=True).backward(seed)


PASSES = {"forward": forward, "backward": backward}


def megabytes_of(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) / 1024


def memory_of(compute):
    """Returns the memory growth in MB. Call it once per process, because freed memory would hide the growth of a second call."""
    compute(*normal((1, 1, 64, arguments.size)))  # starts threads and makes other objects that live on
    operands = normal(shape)
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")  # resets the peak
    before = megabytes_of("VmRSS")
    compute(*operands)
    return megabytes_of("VmHWM") - before


def theirs(compute, operands):
    times = []
    for run in range(arguments.runs + 1):
        start = time.perf_counter()
        compute(*operands)
        if run:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def their_memory(name):
    return float(subprocess.run([sys.executable, *sys.argv, "--memory-of", name], check=True, text=True, stdout=subprocess.PIPE).stdout)


def ours():
    """Returns milliseconds and megabytes of each pass."""
    told = subprocess.run([arguments.bench, *map(str, shape), str(arguments.runs)], check=True, text=True, stdout=subprocess.PIPE,
                          env=os.environ | {"CATENARY_NUM_THREADS": str(arguments.threads), "CATENARY_DTYPE": arguments.dtype}).stdout
    return {line.split()[0]: (float(line.split()[2]), float(line.split()[3])) for line in told.splitlines()[1:]}


def main():
    operands = normal(shape)
    times, memory = ({name: [] for name in PASSES} for _ in range(2))
    for _ in range(arguments.rounds):
        mine = ours()
        for name, compute in PASSES.items():
            times[name].append((mine[name][0], theirs(compute, operands)))
            memory[name].append((mine[name][1], their_memory(name)))
            print(f"{name}: {times[name][-1][0]:.2f} ms, PyTorch {times[name][-1][1]:.2f}", flush=True)
    for what, unit in ((times, "ms"), (memory, "MB")):
        for name, found in what.items():
            mine, peer = (statistics.median(column) for column in zip(*found))
            print(f"{name}: {mine:.2f} {unit}, PyTorch {torch.__version__} {peer:.2f}, ratio {mine / peer:.2f}")


if arguments.memory_of:
    print(memory_of(PASSES[arguments.memory_of]))
else:
    main()
