"""Errors of the library as the original's exceptions."""

from catenary import _core

_KINDS = {'index': IndexError, 'value': ValueError}


def raise_error(function, kind, message):
    """Raises InvalidType for shapes and dtypes, and IndexError or ValueError for others."""
    if kind in _KINDS:
        raise _KINDS[kind](message)
    from .utils import type_check
    raise type_check.InvalidType(message, 'the arguments of %s' % function)


if hasattr(_core, '_chainer_errors'):  # an extension of an earlier build has no such function
    _core._chainer_functions(own=True)
    _core._chainer_errors(raise_error)
