"""What `import chainerx` gives: ChainerX is not provided, and scripts that ask whether it is available learn that."""


def is_available():
    """Is False."""
    return False


class ndarray:
    """No array is of this class."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError('ChainerX is not provided: use NumPy or CuPy')


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    raise AttributeError('chainerx.%s: ChainerX is not provided; use NumPy or CuPy' % name)
