#!/usr/bin/env python3
"""Writes strides.txt: the strides that NumPy gives the results of random operations on views (order K).

    make_strides.py > strides.txt

A line is `operation [axes] | operand | … > result`. An operand is its shape, strides and offset in a buffer, counted in elements.
A result is its shape and strides. The strides of axes of size 1, and all strides of an empty array, have no meaning and are written as 0.
"""
import random

import numpy as np

random.seed(13)


def words(numbers):
    return ",".join(str(n) for n in numbers) or "-"


def view_of(shape, dtype):
    """Returns a view with this shape on a new buffer: permuted axes, gaps, negative steps, repeated elements."""
    order = list(range(len(shape)))
    how = random.random()
    if how < 0.3:
        order.reverse()
    elif how < 0.7:
        random.shuffle(order)
    steps = [random.choice([1, 1, 1, 1, 2, -1]) for _ in shape]
    extents = [1 if random.random() < 0.08 else max(n, 1) * abs(s) for n, s in zip(shape, steps)]
    base = np.zeros([extents[a] for a in order], dtype)
    view = base.transpose(np.argsort(order)) if shape else base
    view = view[tuple(slice(None, None, s) for s in steps) + (...,)]
    view = view[tuple(slice(0, n) for n in shape) + (...,)]
    view = np.broadcast_to(view, shape)
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // base.itemsize
    return view, f"{words(view.shape)} {words(s // base.itemsize for s in view.strides)} {offset if view.size else 0}"


def told(result):
    size = result.itemsize
    return f"{words(result.shape)} {words(s // size if n > 1 and result.size else 0 for n, s in zip(result.shape, result.strides))}"


def shape_for_broadcast(shape):
    part = [1 if random.random() < 0.15 else n for n in shape]
    return part[random.choice([0, 0, 0, 0, 1]):] if part else part


lines = []
while len(lines) < 400:
    shape = [random.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(random.choice([0, 1, 2, 2, 3, 3, 3, 4, 4]))]
    if shape and random.random() < 0.05:
        shape[random.randrange(len(shape))] = 0
    kind = random.choice(["negative", "add", "add", "add", "where", "where", "astype", "copy", "zeros_like", "sum", "sum", "keepdims"])
    count = {"add": 2, "where": 3}.get(kind, 1)
    views = [
        view_of(shape_for_broadcast(shape) if count > 1 else shape, np.bool_ if kind == "where" and i == 0 else np.float32)
        for i in range(count)
    ]
    arrays, names = [v for v, _ in views], [n for _, n in views]
    if kind == "negative":
        result = -arrays[0]
    elif kind == "add":
        result = arrays[0] + arrays[1]
    elif kind == "where":
        result = np.where(arrays[0], arrays[1], arrays[2])
    elif kind == "astype":
        result = arrays[0].astype(np.float16)
    elif kind == "copy":
        result = np.copy(arrays[0])
    elif kind == "zeros_like":
        result = np.zeros_like(arrays[0])
    else:
        if not shape:
            continue
        axes = sorted(random.sample(range(len(shape)), random.randint(1, len(shape))))
        result = arrays[0].sum(axis=tuple(axes), keepdims=kind == "keepdims")
        kind += " " + words(axes)
    lines.append(f"{kind} | " + " | ".join(names) + f" > {told(np.asarray(result))}")
print("\n".join(lines))
