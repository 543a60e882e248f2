"""Passes the arguments of a link to code that several links share."""
import types


def arguments(variables):
    """Returns the arguments of an ``__init__`` as attributes, from its ``locals()``."""
    return types.SimpleNamespace(**{name: value for name, value in variables.items() if name not in ('self', '__class__')})
