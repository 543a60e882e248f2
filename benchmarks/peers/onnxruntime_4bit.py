"""Compares the speed of ONNX Runtime's MatMulNBits and Catenary's product of 4-bit blocks with vectors.

  python onnxruntime_4bit.py build/release/bin/bench_quantized [--rows 4096] [--columns 4096] [--vectors 1] [--rounds 5] [--threads N]

Both store [rows, columns] weights as 4 bits in blocks of 32 with a scale (float32 in MatMulNBits). Two forms are compared:
  accuracy_level 0: vectors stay float32, beside Q4_0
  accuracy_level 4: vectors are rounded to 8 bits and integers are multiplied, beside Q4_0 with CATENARY_INT8_PRODUCTS=1
The programs run alternately. The last line has the ratios of the best times. Needs onnxruntime, onnx and NumPy.
"""

import argparse
import os
import subprocess
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench")
parser.add_argument("--rows", type=int, default=4096)
parser.add_argument("--columns", type=int, default=4096)
parser.add_argument("--vectors", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=os.cpu_count())
arguments = parser.parse_args()
BLOCK = 32


def session(level):
    rows, columns = arguments.rows, arguments.columns
    generator = np.random.default_rng(0)
    blocks = generator.integers(0, 256, (rows, columns // BLOCK, BLOCK // 2), np.uint8)
    scales = generator.uniform(0.01, 0.02, (rows, columns // BLOCK)).astype(np.float32)
    node = helper.make_node("MatMulNBits", ["x", "w", "scales"], ["y"], domain="com.microsoft", K=columns, N=rows, bits=4, block_size=BLOCK,
                            accuracy_level=level)
    graph = helper.make_graph([node], "product", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [arguments.vectors, columns])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [arguments.vectors, rows])],
                              [numpy_helper.from_array(blocks, "w"), numpy_helper.from_array(scales, "scales")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def theirs(run, x):
    times = []
    for _ in range(60):
        start = time.perf_counter()
        run.run(None, {"x": x})
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def ours(rounded):
    environment = os.environ | {"CATENARY_NUM_THREADS": str(arguments.threads), "CATENARY_INT8_PRODUCTS": str(rounded)}
    told = subprocess.run([arguments.bench, str(arguments.rows), str(arguments.columns), str(arguments.vectors)], check=True, text=True,
                          stdout=subprocess.PIPE, env=environment).stdout
    return {line.split()[0] + ", x in 8 bits" * rounded: float(line.split()[3]) for line in told.splitlines()[1:]}


x = np.random.default_rng(1).normal(size=(arguments.vectors, arguments.columns)).astype(np.float32)
sessions = {level: session(level) for level in (0, 4)}
least = {}
for _ in range(arguments.rounds):
    told = {f"MatMulNBits, level {level}": theirs(run, x) for level, run in sessions.items()} | ours(0) | ours(1)
    print("  ".join(f"{name} {value:.3f}" for name, value in told.items()), flush=True)
    for name, value in told.items():
        least[name] = min(value, least.get(name, value))
print(f"onnxruntime {onnxruntime.__version__}, {arguments.threads} threads, ms: " + ", ".join(f"{n} {v:.3f}" for n, v in least.items()))
print(f"Q4_0 / MatMulNBits: {least['Q4_0'] / least['MatMulNBits, level 0']:.2f} with vectors of float32, "
      f"{least['Q4_0, x in 8 bits'] / least['MatMulNBits, level 4']:.2f} with vectors of 8 bits")
