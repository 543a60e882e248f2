"""Shared parts of the peers' scripts: threads, MNIST, timing, and the JSON line for each measurement.

A script is called as `script.py TASKS` with letters such as "BEH", and prints {"row": …, "who": …, "samples": […]}.
"""

import gzip
import json
import os
import pathlib
import sys
import time

THREADS = int(os.environ.get("PEER_THREADS", os.cpu_count()))
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", "POCL_MAX_PTHREAD_COUNT"):
    os.environ.setdefault(name, str(THREADS))

import numpy as np  # noqa: E402  (NumPy reads the number of threads when it is imported)

PRODUCTS = ((1445, 1012, 1076), (2048, 2048, 2048), (100, 1000, 784))  # m, n, k
CHAIN = 16 << 20
KEYS = 10_000_000


def mnist():
    folder = pathlib.Path(__file__).parents[2] / "data" / "mnist"

    def read(name):
        data = gzip.decompress((folder / (name + ".gz")).read_bytes())
        axes = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
        return np.frombuffer(data, np.uint8, offset=4 + 4 * len(axes)).reshape(axes)

    images = [read(part + "-images-idx3-ubyte").reshape(-1, 784).astype(np.float32) / 255 for part in ("train", "t10k")]
    labels = [read(part + "-labels-idx1-ubyte").astype(np.int64) for part in ("train", "t10k")]
    return images[0], labels[0], images[1], labels[1]


def seconds(work, runs=5, warm=1, inner=1):
    """Returns `runs` times in seconds, each the mean of `inner` calls, after `warm` runs that do not count."""
    found = []
    for i in range(warm + runs):
        start = time.perf_counter()
        for _ in range(inner):
            work()
        found.append((time.perf_counter() - start) / inner)
    return found[warm:]


def report(who, row, samples):
    print(json.dumps({"row": row, "who": who, "samples": samples}), flush=True)


def gflops(samples, m, n, k):
    return [2e-9 * m * n * k / s for s in samples]


def run(tasks):
    """Runs the functions in {"A": function, …} whose letters the command line names."""
    for letter in sys.argv[1] if len(sys.argv) > 1 else "".join(tasks):
        if letter in tasks:
            tasks[letter]()
