"""Checks of keyword arguments."""
import inspect


def check_unexpected_kwargs(kwargs, **unexpected):
    """Raises ValueError with the given text for each name of `unexpected` that is in `kwargs`."""
    found = [text for name, text in unexpected.items() if name in kwargs]
    if found:
        raise ValueError(_message(inspect.currentframe().f_back, '\n'.join(found)))


def _message(frame, text):
    return '{}\n(in {}, line {})'.format(text, frame.f_code.co_name, frame.f_lineno)


def _refuse(kwargs, frame):
    if kwargs:
        names = ', '.join("'{}'".format(name) for name in sorted(kwargs))
        raise TypeError('{}() got unexpected keyword argument(s) {}'.format(frame.f_code.co_name, names))


def parse_kwargs(kwargs, *name_and_values, **unexpected):
    """Returns the values of named keyword arguments, each with its default, and refuses all others."""
    check_unexpected_kwargs(kwargs, **unexpected)
    rest = dict(kwargs)
    values = tuple(rest.pop(name, default) for name, default in name_and_values)
    _refuse(rest, inspect.currentframe().f_back)
    return values


def assert_kwargs_empty(kwargs):
    """Raises TypeError that names the caller if there are keyword arguments."""
    _refuse(kwargs, inspect.currentframe().f_back)
