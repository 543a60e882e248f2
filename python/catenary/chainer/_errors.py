"""Errors of the library as the original's exceptions."""

from catenary import _core


def raise_invalid_type(function, message):
    """Raises InvalidType with the expected and the actual facts of a message."""
    from .utils import type_check
    expected, _, actual = message.removeprefix(function + ': ').rpartition(', not ')
    raise type_check.invalid(function, expected or actual, actual if expected else '')


if hasattr(_core, '_chainer_errors'):  # an extension of an earlier build has no such function
    _core._chainer_errors(raise_invalid_type)
