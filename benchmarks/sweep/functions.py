#!/usr/bin/env python3
"""Compares the time of each function of networks with PyTorch's.

    functions.py BUILD [NAME…] [--threads 1] [--rounds 3] [--dtype bfloat16] [--python build/peers/torch/bin/python] [--limit 1.2]

BUILD is the build folder, for instance build/release. A NAME is a part of a case's name, so that a share of the cases can run. Each round
runs both programs, and a figure is the least time of all rounds, because other work on the machine only adds time. The figures replace the
previous ones of this kind of processor in benchmarks/results/functions. At the end, the script lists the rows above the limit, and those that
are more than 5 % slower than their previous figure. --python names an interpreter with PyTorch; without it, the environment of
benchmarks/peers/compare.py is used.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "benchmarks/peers"))

import results  # noqa: E402

FOLDER = results.FOLDER / "functions"


def measured(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "CATENARY_NUM_THREADS": str(threads)}
    lines = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {entry["row"]: entry["samples"][0] for entry in map(json.loads, lines)}


def rounds(options):
    """Returns the least milliseconds of each row, for each program."""
    arguments = (["--dtype", options.dtype] if options.dtype else []) + options.names
    programs = {"Catenary": [options.build / "bin/bench_functions", *arguments],
                "PyTorch": [options.python, TREE / "benchmarks/sweep/torch_functions.py", *arguments]}
    least = {}
    for _ in range(options.rounds):
        for who, command in programs.items():
            for name, seconds in measured(command, options.threads).items():
                figures = least.setdefault(name, {})
                figures[who] = min(figures.get(who, 1e9), float(f"{1e3 * seconds:.4g}"))
    return least


def previous():
    found = results.read(FOLDER).get(results.processor(), [])
    return {results.key(entry): entry["figures"]["Catenary"][0] for entry in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype")
    parser.add_argument("--python", default=TREE / "build/peers/torch/bin/python")
    parser.add_argument("--limit", type=float, default=1.2)
    options = parser.parse_args()
    before, rows, above, slower = previous(), [], [], []
    for name, figures in rounds(options).items():
        row = results.row(f"{name}, {options.threads} threads", name, "ms", {who: [ms] for who, ms in figures.items()},
                          wanted=1.0, dtype=options.dtype or "float32")
        rows.append(row)
        ours, theirs, earlier = figures["Catenary"], figures.get("PyTorch"), before.get(results.key(row))
        ratio = ours / theirs if theirs else float("nan")
        print(f"{name:52}{ours:10.4g}{theirs or float('nan'):10.4g}{ratio:8.2f}", flush=True)
        above += [f"{name}: {ratio:.2f}"] if ratio > options.limit else []
        slower += [f"{name}: {ours:.4g} ms, before {earlier:.4g} ms"] if earlier and ours > 1.05 * earlier else []
    print(results.record(rows, folder=FOLDER))
    for title, found in ((f"above {options.limit} of PyTorch's time", above), ("slower than before", slower)):
        print(f"{title}: {len(found)}", *found, sep="\n  ")


main()
