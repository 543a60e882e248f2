"""Writers of models in the files of other frameworks."""

from . import caffe  # noqa: F401
