"""PyTorch's fused attention beside ours: causal, forward alone and with backward, in turn.

  python torch_attention.py build/release/bin/bench_attention [--batch 1] [--heads 8] [--tokens 4096] [--size 64] [--rounds 3] [--dtype bfloat16]

Both compute with the same number of threads. The last lines have the ratio of the medians of all runs. PyTorch is needed.
"""

import argparse
import os
import statistics
import subprocess
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
arguments = parser.parse_args()
torch.set_num_threads(arguments.threads)
shape = arguments.batch, arguments.heads, arguments.tokens, arguments.size
q, k, v, seed = (torch.randn(shape, dtype=getattr(torch, arguments.dtype)) for _ in range(4))


def forward():
    with torch.no_grad():
        scaled_dot_product_attention(q, k, v, is_causal=True)


def backward():
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    scaled_dot_product_attention(*leaves, is_causal=True).backward(seed)


def theirs(compute):
    times = []
    for run in range(arguments.runs + 1):
        start = time.perf_counter()
        compute()
        if run:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def ours():
    told = subprocess.run([arguments.bench, *map(str, shape), str(arguments.runs)], check=True, text=True, stdout=subprocess.PIPE,
                          env=os.environ | {"CATENARY_NUM_THREADS": str(arguments.threads), "CATENARY_DTYPE": arguments.dtype}).stdout
    return {line.split()[0]: float(line.split()[2]) for line in told.splitlines()[1:]}


found = {"forward": [], "backward": []}
for _ in range(arguments.rounds):
    mine = ours()
    for name, compute in (("forward", forward), ("backward", backward)):
        found[name].append((mine[name], theirs(compute)))
        print(f"{name}: {found[name][-1][0]:.2f} ms, PyTorch {found[name][-1][1]:.2f}", flush=True)
for name, times in found.items():
    mine, peer = (statistics.median(column) for column in zip(*times))
    print(f"{name}: {mine:.2f} ms, PyTorch {torch.__version__} {peer:.2f}, ratio {mine / peer:.2f}")
