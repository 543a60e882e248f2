"""Texts for messages of errors."""


def _format_array_props(arrays):
    return ', '.join('None' if array is None else '{} {}.{} {}'.format(
        array.dtype, type(array).__module__, type(array).__name__, array.shape) for array in arrays)
