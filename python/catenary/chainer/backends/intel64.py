"""Asks for iDeep, which is not provided."""


def is_ideep_available():
    """Is False."""
    return False


def check_ideep_available():
    """Raises RuntimeError."""
    raise RuntimeError('iDeep is not provided')


def should_use_ideep(level):
    """Is False."""
    return False
