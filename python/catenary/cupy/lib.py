"""cupy.lib"""

import types

from catenary import _core


def as_strided(x, shape=None, strides=None):
    """A view of the memory of `x` with another shape and other strides, in bytes. No bounds are checked."""
    return _core.as_strided(x, shape, strides)


stride_tricks = types.SimpleNamespace(as_strided=as_strided, sliding_window_view=_core.sliding_window_view)
