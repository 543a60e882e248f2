#!/usr/bin/env python3
"""Compares the speed of one process of Catenary with other frameworks on the same work.

  compare.py BUILD [--rows ABCDEFGH] [--rounds 3] [--peers torch,jax,numpy,onnxruntime,tinygrad,chainer] [--opencl] [--dtype bfloat16|mixed16]

BUILD is the build folder, for instance build/release. Each peer has a virtual environment in build/peers/<name>. Missing environments are
made with pip, and peers that cannot be installed are listed below the table.

Every round starts each program again, and Catenary before and after the peers. A figure is the median of all samples of all rounds. With two or more
rounds, the figures replace the previous ones of this kind of processor in benchmarks/results (results.py). Afterwards, run
scripts/make_measurements to update the pages.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import results

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]

# The packages of each peer. Each list is one call of pip.
PACKAGES = {
    "torch": [["torch", "numpy"]],
    "jax": [["jax[cpu]", "numpy"]],
    "numpy": [["numpy"]],
    "onnxruntime": [["onnxruntime", "onnx", "numpy"]],
    "tinygrad": [["tinygrad", "numpy"]],
    # needs Python 3.11 or older, old build tools and an old NumPy
    "chainer": [["setuptools<60", "wheel", "numpy==1.23.5"], ["numpy==1.23.5", "chainer==7.8.1", "--no-build-isolation"]],
}

# row, description, unit, factor from a sample to the unit, and goal: the largest ratio to the best peer
ROWS = [
    ("A", "MNIST, 784-1000-1000-10, batch 100, Adam: an epoch and the evaluation, with Trainer; mean of 3", "s", 1, 0.80),
    ("B", "784-4096×5-10, batch 1024, SGD: a step", "ms", 1e3, 0.98),
    ("C CNN step", "CNN of two convolutions, MNIST, batch 100, Adam: a step", "ms", 1e3, 0.65),
    ("C CNN inference", "CNN of two convolutions, MNIST, batch 100: inference", "ms", 1e3, 0.75),
    ("C ResNet-18 step", "ResNet-18 for 32×32, batch 32, SGD with momentum: a step", "ms", 1e3, 0.75),
    ("C ResNet-18 inference", "ResNet-18 for 32×32, batch 32: inference", "ms", 1e3, 0.70),
    ("C MLP inference", "784-1000-1000-10, batch 100: inference", "ms", 1e3, 0.95),
    ("D", "LSTM 2×650, batch 20, 35 steps, 10,000 words: a step", "ms", 1e3, 0.85),
    ("E", "`relu(x*a+b)*sigmoid(x)+tanh(x)`, 16 Mi elements", "ms", 1e3, 0.60),
    ("F 1445x1012x1076", "matmul 1445×1012×1076", "GFLOP/s", 1, 0.97),
    ("F 2048x2048x2048", "matmul 2048³", "GFLOP/s", 1, 0.97),
    ("F 100x1000x784", "matmul 100×1000×784", "GFLOP/s", 1, 0.97),
    ("G deferred", "add of two 10-element variables, deferred", "µs", 1e6, 1),
    ("G computed", "add of two 10-element variables, each computed at once", "µs", 1e6, 1),
    ("G ten layers", "ten layers of 10×10 and tanh, forward and backward", "µs", 1e6, 1),
    ("H sort", "sort of 10 M float32", "ms", 1e3, 1),
    ("H argsort", "argsort of 10 M float32", "ms", 1e3, 0.2),
    ("H sum 0", "sum of 4096² over axis 0", "ms", 1e3, 0.6),
    ("H sum 1", "sum of 4096² over axis 1", "ms", 1e3, 1),
    ("H transpose", "transposed copy of 4096²", "ms", 1e3, 0.45),
    ("H gather", "gather of 1 M rows of 64 from 100 k", "ms", 1e3, 0.9),
    ("H argmax", "argmax of 1 M float32", "µs", 1e6, 1),
    ("H argmax rows", "argmax of 1000×1000 over axis 1", "µs", 1e6, 1),
]


# The goal of rows B and C in 16 bits, against PyTorch's autocast.
GOAL_16 = 0.9

# --dtype: Catenary's precision, and the dtype of PyTorch's autocast.
PRECISIONS = {"float32": ("float32", "float32"), "bfloat16": ("mixed_bf16", "bfloat16"), "mixed16": ("mixed16", "float16")}

# For rows C and D, malloc of the peers keeps freed pages. Catenary's pool does so anyway, and the peers are fastest
# this way.
KEEPS_PAGES = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}


def environment_of(peer):
    """Returns the Python of a peer's environment, which is made if it is missing. Returns None and the reason if that fails."""
    folder = TREE / "build" / "peers" / peer
    python = folder / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", f"import {peer}"], capture_output=True).returncode == 0:
        return python, ""
    print(f"making build/peers/{peer} …", file=sys.stderr, flush=True)
    for step in [[sys.executable, "-m", "venv", folder], *([python, "-m", "pip", "install", "-q", *packages] for packages in PACKAGES[peer])]:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1][:160]
    return python, ""


def run(command, environment=None):
    """Returns the JSON lines that a program prints, its peak memory in MB, and the last line of its errors if it failed."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors, cwd=TREE,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        errors.seek(0)
        lines = [json.loads(line) for line in output.read().splitlines() if line.startswith("{")]
        problem = "" if status == 0 else (errors.read().strip().splitlines() or ["it gave no reason"])[-1][:160]
    return lines, usage.ru_maxrss / 1024, problem


def our_epoch(build, device):
    """Measures row A with train_mnist, as a user runs it, over three epochs. Its log holds the seconds since the start."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "train_mnist", "-e", "3", "-o", folder, "-d", device]
        lines, memory, problem = run(command, {"CATENARY_DATA": str(TREE / "data")})
        if problem:
            return lines, memory, problem
        elapsed = json.loads(pathlib.Path(folder, "log").read_text())[-1]["elapsed_time"]
    return [{"row": "A", "who": "Catenary", "samples": [elapsed / 3]}], memory, ""


def shown(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


class Table:
    def __init__(self, goal=None):
        self.goal = goal   # replaces the goal of every row
        self.samples = {}  # row -> program -> samples
        self.memory = {}   # program -> peak memory of row A in MB
        self.problems = {}

    def add(self, who, lines, memory, problem, of_row_a=False):
        for line in lines:
            self.samples.setdefault(line["row"], {}).setdefault(line["who"], []).extend(line["samples"])
        if of_row_a and not problem:
            self.memory[who] = max(memory, self.memory.get(who, 0))
        if problem:
            self.problems[who] = problem

    def print(self):
        print("| work | Catenary | peers | ratio to the best | wanted |\n|---|---|---|---|---|")
        floor = statistics.median(self.samples.get("A floor", {}).get("Catenary", [0]))
        for row, what, unit, scale, goal in ROWS:
            goal = self.goal or goal
            found = self.samples.get(row, {})
            if "Catenary" not in found:
                continue
            faster = unit == "GFLOP/s"
            medians = {who: statistics.median(samples) for who, samples in found.items()}
            ours = medians.pop("Catenary")
            spread = f"{shown(min(found['Catenary']) * scale)} to {shown(max(found['Catenary']) * scale)}"
            ratio, verdict = "", ""
            if medians:
                best = (max if faster else min)(medians.values())
                ratio = f"{ours / best:.2f}"
                met = ours / best >= goal if faster else ours / best <= goal
                verdict = f"{'≥' if faster else '≤'} {goal:.2f}{'' if met else ', missed'}"
            if row == "A" and floor:
                verdict += f"; ≤ 1.12 × the floor of {floor:.2f} s: {ours / floor:.2f}"
            peers = ", ".join(f"{who} {shown(value * scale)}" for who, value in sorted(medians.items(), key=lambda item: item[1]))
            print(f"| {row[0]}. {what} | {shown(ours * scale)} {unit} ({spread}) | {peers} | {ratio} | {verdict} |")
        if self.memory:
            print("\nMemory at the peak of row A: " + ", ".join(f"{who} {mb:.0f} MB" for who, mb in self.memory.items()) + ".")
        for who, problem in self.problems.items():
            print(f"\n{who} was not measured completely: {problem}")


    def rows(self, device, dtype):
        """Returns the rows of results.py that were measured beside a peer."""
        found = []
        for row, work, unit, scale, goal in ROWS:
            figures = {who: results.spread(samples, scale) for who, samples in self.samples.get(row, {}).items()}
            if "Catenary" in figures and len(figures) > 1:
                found.append(results.row(row, work, unit, figures, self.goal or goal, device, dtype))
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rows", default="ABCDEFGH", help="the letters of the rows to measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="torch,jax,numpy,onnxruntime", help="a list of torch, jax, numpy, onnxruntime, chainer, tinygrad")
    parser.add_argument("--opencl", action="store_true", help="compare Catenary on opencl:0 with tinygrad on OpenCL, rows A, C and E")
    parser.add_argument("--dtype", default="float32", choices=list(PRECISIONS),
                        help="compare rows B and C in 16 bits: bfloat16 (mixed_bf16) or mixed16 (float16) with PyTorch's autocast to that dtype")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    peers = ["tinygrad"] if arguments.opencl else [name for name in arguments.peers.split(",") if name]
    device = "opencl:0" if arguments.opencl else "cpu"
    half = arguments.dtype != "float32"
    precision, their_dtype = PRECISIONS[arguments.dtype]
    if half:
        peers, arguments.rows = ["torch"], "".join(letter for letter in arguments.rows if letter in "BC")
    rows = "".join(letter for letter in arguments.rows if letter in "ACE") if arguments.opencl else arguments.rows
    unknown = [name for name in peers if name not in PACKAGES]
    if unknown or arguments.rounds < 1:
        parser.error(f"unknown peers {unknown}: expected some of {list(PACKAGES)}" if unknown else "--rounds: expected 1 or more")

    table = Table(GOAL_16 if half else None)
    pythons = {}
    for peer in peers:
        python, problem = environment_of(peer)
        if python:
            pythons[peer] = python
        else:
            table.problems[peer] = problem
    for number in range(arguments.rounds):
        for letter in rows:
            print(f"round {number + 1} of {arguments.rounds}, row {letter}", file=sys.stderr, flush=True)
            turns = [None, *pythons, None]  # None is Catenary
            for turn, peer in enumerate(turns):
                if peer:
                    command = [pythons[peer], HERE / f"{peer}_peer.py", letter]
                    table.add(peer, *run(command, {"PEER_DTYPE": their_dtype, **(KEEPS_PAGES if letter in "CD" else {})}), of_row_a=letter == "A")
                    continue
                if letter == "A":
                    table.add("Catenary", *our_epoch(build, device), of_row_a=True)
                if letter != "A" or turn == 0:
                    table.add("Catenary", *run([build / "bin" / "bench_targets", letter, device, "json", precision]))
    info = subprocess.run([build / "bin" / "catenary", "info"], capture_output=True, text=True).stdout
    ours = next((line.partition(":")[2].strip() for line in info.splitlines() if line.startswith("cpu:")), "processor unknown")
    print(f"\n{ours}; {device}; {arguments.dtype}; {arguments.rounds} rounds; median (smallest to largest sample).\n")
    table.print()
    if arguments.rounds > 1:
        print(f"\nKept in {results.record(table.rows(device, arguments.dtype)).relative_to(TREE)}; run scripts/make_measurements to update the pages.")
    return 1 if any(who == "Catenary" for who in table.problems) else 0


if __name__ == "__main__":
    sys.exit(main())
