"""Errors of the library as the original's exceptions."""

from catenary import _core

_KINDS = {'index': IndexError, 'value': ValueError}
# functions whose errors of shapes or indexes are ValueErrors
_VALUE_ERRORS = frozenset((
    ('moveaxis', 'shape'), ('permutate', 'index'), ('scatter_add', 'shape'), ('select_item', 'index'), ('softmax_cross_entropy', 'index'),
    ('squeeze', 'shape'), ('tensordot', 'shape')))


def raise_error(function, kind, message):
    """Raises InvalidType for shapes and dtypes, and IndexError or ValueError for others."""
    is_value = (function, kind) in _VALUE_ERRORS or kind == 'shape' and function[-3:] in ('_1d', '_3d') and 'must have' in message
    if is_value and 'out of bounds' not in message or 'duplicate value in axes' in message:
        raise ValueError(message)
    if message.startswith('a result is NaN'):  # in debug mode
        raise RuntimeError(message)
    if function in ('[]', 'get_item', 'scatter_add') and kind == 'index':
        kind = 'value' if 'single ellipsis' in message else 'shape' if 'too many indices' in message else kind
    if kind in _KINDS:
        raise _KINDS[kind](message)
    from .utils import type_check
    raise type_check.InvalidType(message, 'the arguments of %s' % function)


if hasattr(_core, '_chainer_errors'):  # an extension of an earlier build has no such function
    _core._chainer_errors(raise_error)
