"""Runs the benchmarks of array functions with NumPy. compare.py starts it."""

import work
import numpy as np

generator = np.random.default_rng(0)


def products():
    for m, n, k in work.PRODUCTS:
        a, b = generator.random((m, k), np.float32), generator.random((k, n), np.float32)
        work.report("NumPy", f"F {m}x{n}x{k}", work.gflops(work.seconds(lambda: a @ b, 15, 3), m, n, k))


def moves():
    keys = generator.random(work.KEYS, np.float32)
    work.report("NumPy", "H sort", work.seconds(lambda: np.sort(keys), 3))
    work.report("NumPy", "H argsort", work.seconds(lambda: np.argsort(keys), 3))
    square = generator.random((4096, 4096), np.float32)
    for axis in (0, 1):
        work.report("NumPy", f"H sum {axis}", work.seconds(lambda: square.sum(axis), 9))
    work.report("NumPy", "H transpose", work.seconds(lambda: square.T.copy(), 3))
    table, rows = generator.random((100_000, 64), np.float32), generator.integers(0, 100_000, 1_000_000)
    work.report("NumPy", "H gather", work.seconds(lambda: table[rows], 5))
    flat = generator.random(1_000_000, np.float32)
    work.report("NumPy", "H argmax", work.seconds(lambda: flat.argmax(), 15, inner=10))
    work.report("NumPy", "H argmax rows", work.seconds(lambda: flat.reshape(1000, 1000).argmax(1), 15, inner=10))


work.run({"F": products, "H": moves})
