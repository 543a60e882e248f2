#!/usr/bin/env python3
"""Makes manifest.json and arrays.npz beside this script: linear algebra, polynomials, and NumPy functions that ../numpy leaves out.

Usage: make_vectors.py [FOLDER]

Needs NumPy 2.1 or newer and SciPy 1.15 or newer. ../numpy/make_numpy_reference.py describes the format.
"""
import json
import pathlib
import sys

import numpy as np
import scipy.linalg

np.seterr(all="ignore")
out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
rng = np.random.default_rng(12)
arrays, cases = {}, []
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}


def keep(x):
    key = f"a{len(arrays):04d}"
    arrays[key] = np.array(x, order="C", copy=True)
    return key


def encode(v):
    if isinstance(v, np.ndarray):
        return {"array": keep(v)}
    if isinstance(v, (tuple, list)):
        return [encode(e) for e in v]
    if isinstance(v, type) and issubclass(v, np.generic):
        return {"dtype": np.dtype(v).name}
    if isinstance(v, float) and not np.isfinite(v):
        return {"nan": 1} if np.isnan(v) else {"inf": 1 if v > 0 else -1}
    return v


def call(name, *args, numpy=None, **kwargs):
    function = numpy
    if function is None:
        function = np
        for part in name.split("."):
            function = getattr(function, part)
    results = function(*args, **kwargs)
    results = list(results) if isinstance(results, tuple) else [results]
    results = [np.asarray(r) for r in results]
    rtol = max([TOLERANCE.get(r.dtype.name, 0) for r in results])
    cases.append({"id": len(cases), "kind": "call", "function": name, "args": [encode(a) for a in args],
                  "kwargs": {k: encode(v) for k, v in kwargs.items()}, "results": [keep(r) for r in results], "rtol": rtol})


def refused(name, *args, **kwargs):
    cases.append({"id": len(cases), "kind": "error", "of": "call", "function": name, "args": [encode(a) for a in args],
                  "kwargs": {k: encode(v) for k, v in kwargs.items()}})


def normal(*shape, dtype=np.float64):
    return rng.normal(size=shape).astype(dtype)


def with_singular_values(m, n, values, dtype=np.float64):
    u, v = np.linalg.qr(rng.normal(size=(m, len(values))))[0], np.linalg.qr(rng.normal(size=(n, len(values))))[0]
    return ((u * values) @ v.T).astype(dtype)


for dtype in (np.float64, np.float32):
    for shape in ((3, 3), (5, 2), (2, 5), (1, 1), (1, 4), (4, 1), (2, 4, 3), (2, 1, 3, 3)):
        a = normal(*shape, dtype=dtype)
        call("linalg.svdvals", a)
        for mode in ("reduced", "complete", "r", "raw"):
            call("linalg.qr", a, mode=mode)
        call("linalg.pinv", a)
        call("linalg.matrix_rank", a)
        call("linalg.cond", a)
        for order in (2, -2, "nuc", "fro", 1, -np.inf):
            call("linalg.norm", a, order, axis=(-2, -1))
        call("linalg.norm", a, 2, axis=(-1, -2), keepdims=True)
    low = with_singular_values(6, 4, [3, 2], dtype)
    call("linalg.matrix_rank", low)
    call("linalg.matrix_rank", low, 2.5)
    call("linalg.matrix_rank", low, rtol=0.9)
    call("linalg.pinv", with_singular_values(6, 4, [3, 2, 1e-3, 1e-4], dtype), 1e-2)
    square = normal(4, 4, dtype=dtype)
    symmetric = square + square.T
    call("linalg.eigvalsh", symmetric)
    call("linalg.eigvalsh", np.tril(square), "L")
    call("linalg.eigvalsh", np.triu(normal(2, 5, 5, dtype=dtype)), UPLO="U")
    call("linalg.svd", symmetric, compute_uv=False, hermitian=True)
    call("linalg.pinv", symmetric, hermitian=True)
    call("linalg.matrix_rank", symmetric, hermitian=True)
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro"):
        call("linalg.cond", normal(2, 3, 3, dtype=dtype) + 3 * np.eye(3, dtype=dtype), p)
    for b in (normal(6, dtype=dtype), normal(6, 2, dtype=dtype)):
        call("linalg.lstsq", normal(6, 3, dtype=dtype), b)
        call("linalg.lstsq", normal(6, 8, dtype=dtype), b)
    call("linalg.lstsq", with_singular_values(6, 3, [2, 1, 1e-3], dtype), normal(6, dtype=dtype), 1e-2)
    call("linalg.multi_dot", [normal(3, 7, dtype=dtype), normal(7, 2, dtype=dtype), normal(2, 5, dtype=dtype), normal(5, 4, dtype=dtype)])
    call("linalg.multi_dot", [normal(3, dtype=dtype), normal(3, 4, dtype=dtype), normal(4, dtype=dtype)])
    call("linalg.multi_dot", [normal(2, 3, dtype=dtype), normal(3, dtype=dtype)])
    for options in ({}, {"lower": True}, {"trans": 1}, {"trans": 1, "lower": True, "unit_diagonal": True}):
        a = normal(5, 5, dtype=dtype) + 3 * np.eye(5, dtype=dtype)
        for b in (normal(5, dtype=dtype), normal(5, 3, dtype=dtype)):
            call("solve_triangular", a, b, numpy=scipy.linalg.solve_triangular, **options)
    # functions that skip NaN
    x = normal(4, 5, dtype=dtype)
    x.reshape(-1)[[1, 3, 7, 12, 13]] = np.nan
    for name in ("nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        for axis in (None, 0, 1, -1):
            call(name, x, axis=axis)
    call("nanargmax", x, axis=1, keepdims=True)
    y = x.copy()
    y[2] = np.nan
    for axis in (None, 0, 1, (0, 1)):
        call("nanquantile", y, 0.3, axis=axis)
        call("nanpercentile", y, [0.0, 12.5, 50.0, 99.0, 100.0], axis=axis, keepdims=True)
    call("percentile", normal(3, 5, dtype=dtype), [10.0, 37.5, 80.0], axis=1)
    for method in ("lower", "higher", "midpoint", "nearest", "linear"):
        call("nanquantile", y, 0.4, axis=0, method=method)
    refused("nanargmax", y, axis=1)
    # differences, products, sums
    call("ediff1d", x[0])
    call("ediff1d", normal(2, 3, dtype=dtype), to_end=np.array([7.0, 8.0], dtype), to_begin=1.5)
    for n, m in ((7, 3), (3, 7), (4, 4), (6, 2), (1, 5), (5, 1)):
        a, b = normal(n, dtype=dtype), normal(m, dtype=dtype)
        for mode in ("full", "same", "valid"):
            call("convolve", a, b, mode)
            call("correlate", a, b, mode)
    for left, right in ((3, 3), (2, 3), (3, 2), (2, 2)):
        call("cross", normal(4, left, dtype=dtype), normal(4, right, dtype=dtype))
    call("cross", normal(3, 4, dtype=dtype), normal(2, 4, 3, dtype=dtype), axisa=0, axisc=0)
    call("cross", normal(3, 5, dtype=dtype), normal(3, 1, dtype=dtype), axis=0)
    call("trapezoid", normal(4, 5, dtype=dtype))
    call("trapezoid", normal(4, 5, dtype=dtype), dx=0.25, axis=0)
    call("trapezoid", normal(4, 5, dtype=dtype), np.sort(normal(5, dtype=dtype)))
    call("trapezoid", normal(4, 5, dtype=dtype), np.sort(normal(4, 5, dtype=dtype), 0), axis=0)
    points = np.linspace(-1, 2, 9).astype(dtype)
    values = (points ** 3 - 2 * points + normal(9) / 10).astype(dtype)
    call("polyfit", points, values, 3)
    call("polyfit", points, values, 2, full=True)
    call("polyfit", points, np.stack([values, 2 * values + points], 1), 2, cov=True)
    call("polyfit", points, values, 1, w=np.linspace(1, 2, 9).astype(dtype), cov="unscaled")
    call("polyval", np.array([1, -2, 0.5], dtype), normal(2, 3, dtype=dtype))
    call("polyval", np.array([], dtype), normal(3, dtype=dtype))
    x, y = normal(40, dtype=dtype), normal(40, dtype=dtype)
    call("histogram2d", x, y, bins=4, range=[[-2, 2], [-1, 1.5]])
    call("histogram2d", x, y, 3)
    call("histogram2d", x, y, [3, 5], [[-3, 3], [-3, 3]], density=True)
    call("histogram2d", x, y, [np.array([-1, 0, 2], dtype), 2], [[-3, 3], [-1, 1]], weights=rng.integers(1, 5, 40).astype(dtype))

whole = rng.integers(-4, 5, (3, 4))
for name in ("linalg.svdvals", "linalg.pinv", "linalg.matrix_rank", "nancumsum", "nanargmin", "trapezoid"):
    call(name, whole)
call("nancumprod", whole.astype(np.int8), axis=1)
call("nancumsum", normal(4), dtype=np.float32)
call("nanquantile", whole, 0.25, axis=0)
call("convolve", whole[0], whole[1], "same")
call("convolve", np.array([True, False, True]), np.array([True, True]))
call("correlate", whole[0].astype(np.int16), normal(2))
call("cross", whole[:, :3], whole[:, 1:])
call("polyval", whole[0], whole)
call("polyval", whole[0], 2)
call("polyfit", np.arange(6), np.arange(6) ** 2 - 3 * np.arange(6) + 5, 2)
call("ediff1d", whole, to_begin=9)
call("histogram2d", np.arange(6.0), np.arange(6.0), bins=3)
call("linalg.matrix_rank", np.zeros((3, 3)))
call("linalg.matrix_rank", np.zeros(3))
call("linalg.matrix_rank", np.float64(2) * np.ones(3))
call("linalg.cond", np.array([[1.0, 2.0], [2.0, 4.0]]), 1)
for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 3, 3)):
    empty = np.zeros(shape)
    call("linalg.svdvals", empty)
    call("linalg.svd", empty)
    call("linalg.svd", empty, full_matrices=False)
    call("linalg.pinv", empty)
    for mode in ("reduced", "complete", "r"):
        call("linalg.qr", empty, mode=mode)
    call("linalg.matrix_rank", empty)
call("linalg.lstsq", np.zeros((0, 3)), np.zeros((0, 2)))
call("linalg.lstsq", np.zeros((3, 0)), np.ones(3))
call("linalg.lstsq", np.array([[1.0, 0], [0, 2], [0, 0]]), np.ones((3, 0)))

refused("linalg.svd", np.array([[1.0, np.nan], [0, 1]]))
refused("linalg.svd", np.ones(3))
refused("linalg.qr", np.ones((2, 2)), mode="whole")
refused("linalg.lstsq", np.ones((3, 2)), np.ones(2))
refused("linalg.cond", np.zeros((0, 3)))
refused("linalg.norm", np.ones((2, 2)), 3)
refused("linalg.norm", np.ones(3), "nuc")
refused("linalg.multi_dot", [np.ones((2, 2))])
refused("linalg.multi_dot", [np.ones((2, 3)), np.ones((2, 3))])
refused("linalg.eigvalsh", np.ones((2, 2)), UPLO="X")
refused("solve_triangular", np.zeros((2, 2)), np.ones(2))
refused("convolve", np.ones(3), np.ones(0))
refused("correlate", np.ones(3), np.ones(2), "some")
refused("cross", np.ones((2, 4)), np.ones((2, 3)))
refused("ediff1d", np.arange(3), to_end=1.5)
refused("polyfit", np.arange(3.0), np.arange(4.0), 1)
refused("polyfit", np.arange(3.0), np.arange(3.0), -1)
refused("histogram2d", np.ones(3), np.ones(4))
refused("histogram2d", np.ones(3), np.ones(3), bins=0)
refused("nanquantile", np.ones(3), 1.5)

out.mkdir(parents=True, exist_ok=True)
(out / "manifest.json").write_text(json.dumps({"numpy": np.__version__, "cases": cases}))
np.savez_compressed(out / "arrays.npz", **arrays)
print(len(cases), "cases")
