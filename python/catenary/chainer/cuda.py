"""The old name of chainer.backends.cuda."""

import sys

from .backends import cuda

sys.modules[__name__] = cuda
