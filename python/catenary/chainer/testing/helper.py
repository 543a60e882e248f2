"""Requirements, patches and warnings of tests."""

import contextlib
import re
import sys
import unittest
import warnings

from catenary._installed import installed


def run_module(name, file):
    """Runs the tests of a file that is the main program."""
    if name == '__main__':
        import pytest
        sys.exit(pytest.main([file, '-vvs', '-x', '--pdb']))


def _missing(requirements):
    """Returns the requirements that are not met. Catenary's cupy meets those of CuPy."""
    return [requirement for requirement in requirements if not re.match('cupy\\b', requirement) and not installed(requirement)]


def with_requires(*requirements):
    """Returns a decorator that skips a test unless all requirements, such as 'numpy>=1.18', are met."""
    missing = _missing(requirements)
    return unittest.skipIf(missing, 'needs ' + ', '.join(missing))


def without_requires(*requirements):
    """Returns a decorator that skips a test if all requirements are met."""
    return unittest.skipIf(not _missing(requirements), 'needs that this is not installed: ' + ', '.join(requirements))


@contextlib.contextmanager
def assert_warns(expected):
    """Raises AssertionError if the block does not warn with the category `expected`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        yield
    if not any(issubclass(warning.category, expected) for warning in caught):
        raise AssertionError(f'{expected.__name__} was not triggered')


def patch(target, *args, **kwargs):
    """Returns `unittest.mock.patch(target, …)`. The mock calls the original function unless another behaviour is given.

    A function that a class defines as a method is called with the instance.
    """
    from unittest import mock
    if 'wraps' in kwargs and kwargs.get('autospec'):
        kwargs['side_effect'] = kwargs.pop('wraps')
    return mock.patch(target, *args, **kwargs)
