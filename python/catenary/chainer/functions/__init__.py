"""Differentiable functions: the library's, under the original's names and arguments."""

from . import _rows

globals().update(_rows.functions())
mean = average  # noqa: F821
