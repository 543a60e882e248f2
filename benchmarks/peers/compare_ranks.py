#!/usr/bin/env python3
"""Compares the speed of several processes of Catenary with other frameworks on the same work.

  compare_ranks.py BUILD [--ranks 2] [--rounds 3] [--peers mpi,torch,chainermn]

The work is an all-reduce of 7.2 MB and of 100 MB of float32, and an epoch of MNIST with its evaluation (784-1000-1000-10, Adam, batch 400
per rank, one thread each). The peers are:
  mpi        MPI_Allreduce alone (built with mpicxx)
  torch      PyTorch with gloo and DistributedDataParallel
  chainermn  ChainerMN's naive communicator on mpi4py
Their environments are in build/peers/<name>. Missing environments are made with pip.

Every round starts each program again. A figure is the median of all samples of all rounds. With 2 ranks and two or more rounds, the figures
are stored in benchmarks/results.
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
from compare import HERE, PACKAGES, TREE, environment_of, run, shown

PACKAGES["chainermn"] = PACKAGES["chainer"] + [["mpi4py", "openmpi"]]
MPIEXEC = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
# row, description, unit, factor from seconds to the unit, and goal: the largest ratio to the best peer
ROWS = [("M 7.2 MB", "all-reduce of 7.2 MB", "ms", 1e3, 1.05), ("M 100 MB", "all-reduce of 100 MB", "ms", 1e3, 1.05),
        ("M MNIST", "MNIST, batch 400 a rank, one thread each: an epoch and its evaluation", "s", 1, 0.5)]


def our_epochs(build, ranks, who):
    """Measures train_mnist_mn, as a user runs it, over three epochs. Its log holds the seconds since the start."""
    with tempfile.TemporaryDirectory() as folder:
        command = [build / "bin" / "catenary", "launch", "-n", ranks, build / "bin" / "train_mnist_mn", "-b", "400", "-e", "3", "-o", folder]
        lines, _, problem = run(command, {"CATENARY_DATA": str(TREE / "data"), "CATENARY_NUM_THREADS": "1"})
        if not problem:
            elapsed = json.loads(pathlib.Path(folder, "log").read_text())[-1]["elapsed_time"]
            lines = [{"row": "M MNIST", "who": who, "samples": [elapsed / 3]}]
        return lines, problem


def mpi_peer(folder):
    """Compiles the program that calls MPI_Allreduce alone. Returns its path, or None and the compiler's errors."""
    program = pathlib.Path(folder, "mpi_peer")
    done = subprocess.run(["mpicxx", "-O2", "-o", program, HERE / "mpi_peer.cpp"], capture_output=True, text=True)
    return (program, "") if done.returncode == 0 else (None, done.stderr.strip()[-160:])


def turns_of(build, ranks, peers, folder, problems):
    """Returns the programs to measure, in order: a name and a function that runs it."""
    mpiexec = ["mpiexec", *MPIEXEC, "-n", ranks]
    turns = [("Catenary, shared memory", lambda: run([build / "bin" / "catenary", "launch", "-n", ranks, build / "bin" / "bench_ranks", "json"])),
             ("Catenary, MPI", lambda: run([*mpiexec, build / "bin" / "bench_ranks", "json"])),
             ("Catenary", lambda: our_epochs(build, ranks, "Catenary")),
             ("Catenary, one rank", lambda: our_epochs(build, "1", "Catenary, one rank"))]
    if "mpi" in peers:
        program, problems["MPI"] = mpi_peer(folder)
        if program:
            turns.append(("MPI", lambda: run([*mpiexec, program])))
    if "torch" in peers:
        torch, problems["torch"] = environment_of("torch")
        if torch:
            turns.append(("torch", lambda: run([torch, HERE / "torch_ranks_peer.py", ranks], {"PEER_THREADS": "1"})))
    if "chainermn" in peers:
        chainer, problems["chainermn"] = environment_of("chainermn")
        if chainer:
            its_mpiexec = pathlib.Path(chainer).parent / "mpiexec"
            command = [its_mpiexec, *MPIEXEC, "-n", ranks, chainer, HERE / "chainermn_peer.py"]
            turns.append(("chainermn", lambda: run(command, {"PEER_THREADS": "1"})))
    return turns


def print_table(samples, ranks):
    print(f"| work, {ranks} ranks | who | median (smallest to largest) | Catenary over shared memory takes |\n|---|---|---|---|")
    for row, what, unit, scale, _ in ROWS:
        found = samples.get(row, {})
        medians = {who: statistics.median(of) for who, of in found.items()}
        ours = medians.get("Catenary, shared memory", medians.get("Catenary"))
        for who, median in sorted(medians.items(), key=lambda item: item[1]):
            spread = f"{shown(min(found[who]) * scale)} to {shown(max(found[who]) * scale)}"
            ratio = f"{ours / median:.2f} ×" if ours and median != ours else ""
            print(f"| {what} | {who} | {shown(median * scale)} {unit} ({spread}) | {ratio} |")


def rows_of_results(samples, ranks):
    """Returns the rows of results.py. For all-reduce, "Catenary" is shared memory, which users get without MPI."""
    found = []
    for row, work, unit, scale, goal in ROWS:
        figures = {"Catenary" if who == "Catenary, shared memory" else who: results.spread(of, scale) for who, of in samples.get(row, {}).items()}
        if "Catenary" in figures and len(figures) > 1:
            found.append(results.row(row, f"{work}, {ranks} ranks", unit, figures, goal))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="mpi,torch,chainermn")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    samples, problems = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        turns = turns_of(build, str(arguments.ranks), arguments.peers.split(","), folder, problems)
        for number in range(arguments.rounds):
            for who, measure in turns:
                print(f"round {number + 1} of {arguments.rounds}, {who}", file=sys.stderr, flush=True)
                lines, *_, problem = measure()
                problems[who] = problem or problems.get(who, "")
                for line in lines:
                    samples.setdefault(line["row"], {}).setdefault(line["who"], []).extend(line["samples"])
    info = subprocess.run([build / "bin" / "catenary", "info"], capture_output=True, text=True).stdout
    print("\n" + next((line.partition(":")[2].strip() for line in info.splitlines() if line.startswith("cpu:")), "processor unknown"))
    print_table(samples, arguments.ranks)
    if arguments.ranks == 2 and arguments.rounds > 1:
        print(f"\nKept in {results.record(rows_of_results(samples, 2)).relative_to(TREE)}")
    for who, problem in problems.items():
        if problem:
            print(f"\n{who} was not measured completely: {problem}")
    return 1 if any(problem and who.startswith("Catenary") for who, problem in problems.items()) else 0


if __name__ == "__main__":
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    sys.exit(main())
