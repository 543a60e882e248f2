"""Models of Caffe."""

from .caffe_function import CaffeFunction  # noqa: F401
