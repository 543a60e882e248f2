"""Declares the arguments of links as text, so that a family of links shares one way of storing them."""
import functools
import inspect
import types


def takes(text):
    """Decorates an ``__init__(self, a)``: callers pass the arguments of the signature `text`, which are attributes of `a`.

    ``inspect.signature`` shows the declared arguments. Wrong arguments raise TypeError as those of any function do.
    """
    signature = inspect.signature(eval('lambda self, %s: None' % text))  # only texts of this package are declared

    def decorate(build):
        @functools.wraps(build)
        def __init__(self, *args, **kwargs):
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            build(self, types.SimpleNamespace(**dict(list(bound.arguments.items())[1:])))
        __init__.__signature__ = signature
        return __init__
    return decorate
