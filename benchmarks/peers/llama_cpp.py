"""Compares the speed of llama.cpp and `catenary generate` on one GGUF file: time per token and time of the prompt.

  build/release/bin/bench_random_llama model.gguf
  build/release/bin/catenary quantize model.gguf -o model-q4.gguf --kind Q4_0
  python llama_cpp.py build/release/bin/catenary path/to/llama-bench model-q4.gguf [--prompt 128] [--tokens 48] [--rounds 3]

llama-bench is a program of llama.cpp. Build it for this processor (-DGGML_NATIVE=ON).

llama.cpp multiplies quantised weights by activations that are rounded to 8 bits. `catenary generate` does the same unless --exact is given,
so both forms are measured. The programs run alternately, and the best round counts.
"""

import argparse
import json
import os
import re
import subprocess

import results

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("catenary")
parser.add_argument("llama_bench")
parser.add_argument("model")
parser.add_argument("--prompt", type=int, default=128)
parser.add_argument("--tokens", type=int, default=48)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--record", metavar="KIND", help="stores the results in benchmarks/results, as rows of this kind of weights (for instance Q4_0)")
arguments = parser.parse_args()


def theirs():
    """Returns the seconds of the prompt and of one token."""
    told = subprocess.run([arguments.llama_bench, "-m", arguments.model, "-t", str(arguments.threads), "-p", str(arguments.prompt), "-n",
                           str(arguments.tokens), "-r", "1", "-o", "json"], check=True, text=True, stdout=subprocess.PIPE).stdout
    rates = {bool(row["n_prompt"]): row["avg_ts"] for row in json.loads(told)}
    return arguments.prompt / rates[True], 1 / rates[False]


def ours(*options):
    prompt = " ".join(str(1 + i % 500) for i in range(arguments.prompt))
    told = subprocess.run([arguments.catenary, "generate", arguments.model, "--ids", "--prompt", prompt, "-n", str(arguments.tokens),
                           "--temperature", "0", "--verbose", *options], check=True, text=True, capture_output=True,
                          env=os.environ | {"CATENARY_NUM_THREADS": str(arguments.threads)}).stderr
    found = re.search(r"of prompt in ([\d.]+) s .* more at ([\d.]+) tokens/s", told)
    return float(found[1]), 1 / float(found[2])


ways = {"llama.cpp": theirs, "ours": ours, "ours, --exact": lambda: ours("--exact")}
least = {}
for _ in range(arguments.rounds):
    for name, way in ways.items():
        told = way()
        least[name] = tuple(map(min, told, least.get(name, told)))
        print(f"{name}: {arguments.prompt} tokens of prompt {told[0]:.3f} s, a token {1e3 * told[1]:.1f} ms", flush=True)
for name, (prompt, token) in least.items():
    print(f"best round, {name}: prompt {prompt:.3f} s ({prompt / least['llama.cpp'][0]:.2f} of llama.cpp's), "
          f"token {1e3 * token:.1f} ms ({token / least['llama.cpp'][1]:.2f})")
if arguments.record:
    names = {"ours": "Catenary", "ours, --exact": "Catenary, --exact"}
    rows = []
    for place, (row, work, unit, scale) in enumerate((("prompt", f"{arguments.prompt} tokens of prompt", "s", 1), ("token", "a token", "ms", 1e3))):
        figures = {names.get(name, name): [round(scale * told[place], 3)] for name, told in least.items()}
        rows.append(results.row(f"L {row} {arguments.record}", f"TinyLlama's shape, {arguments.record}: {work}", unit, figures, 1.0, dtype=arguments.record))
    print(f"stored in {results.record(rows)}")
