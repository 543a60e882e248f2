"""Differentiable functions: the library's, under the original's names and arguments."""

from . import _rows
from .simplified_dropconnect import simplified_dropconnect  # noqa: F401

globals().update(_rows.functions())
mean = average  # noqa: F821
