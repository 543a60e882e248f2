"""Meanings that later versions changed. CATENARY_CHAINER_API=1 gives those of Chainer 1."""

import functools
import os


def is_asked():
    """Does the program ask for the meanings of Chainer 1?"""
    word = os.environ.get('CATENARY_CHAINER_API', '7')
    if word not in ('', '1', '7'):
        raise ValueError('CATENARY_CHAINER_API must be 1 or 7, not %r' % word)
    return word == '1'


def change_variable(cls):
    """Makes len() of a variable its number of elements."""
    if is_asked():
        cls.__len__ = lambda self: self.size


def change_call(call_with):
    """Lets updaters and evaluators pass variables to the model, not arrays."""
    if not is_asked():
        return call_with
    from .variable import Variable

    @functools.wraps(call_with)
    def of_version_1(function, arrays):
        def with_variables(*args, **kwargs):
            return function(*map(Variable, args), **{name: Variable(array) for name, array in kwargs.items()})
        return call_with(with_variables, arrays)
    return of_version_1


def change_functions(functions):
    """split_axis returns a single part as a variable, not as a tuple."""
    if not is_asked():
        return
    split_axis = functions['split_axis']

    @functools.wraps(split_axis, updated=())
    def of_version_1(x, indices_or_sections, axis, force_tuple=False):
        parts = split_axis(x, indices_or_sections, axis)
        return parts if force_tuple or len(parts) > 1 else parts[0]
    functions['split_axis'] = of_version_1
