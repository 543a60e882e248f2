"""Marks of tests by the hardware and libraries that they need."""

import os
import unittest

_gpu_limit = int(os.environ.get('CHAINER_TEST_GPU_LIMIT', '-1'))


def _pytest():
    """Returns pytest, or None if it is not installed."""
    try:
        import pytest
        return pytest
    except ImportError:
        return None


def _mark(name, item, skipped=''):
    pytest = _pytest()
    if pytest is None:
        return unittest.skip(skipped or f'a test marked {name} needs pytest')(item)
    item = getattr(pytest.mark, name)(item)
    return pytest.mark.skip(reason=skipped)(item) if skipped else item


def gpu(f):
    """Marks a test that needs a GPU."""
    return multi_gpu(1)(_mark('gpu', f))


def multi_gpu(gpu_num):
    """Returns a decorator for tests that need several GPUs."""
    def mark(item):
        pytest = _pytest()
        if pytest is not None:
            item = pytest.mark.multi_gpu(item) if gpu_num > 1 else item
            item = pytest.mark.gpu(item)
        if 0 <= _gpu_limit < gpu_num:
            reason = f'CHAINER_TEST_GPU_LIMIT allows {_gpu_limit} GPUs, and the test needs {gpu_num}'
            return unittest.skip(reason)(item) if pytest is None else pytest.mark.skip(reason=reason)(item)
        return item
    return mark


def cudnn(f):
    """Marks a test that needs a GPU and cuDNN."""
    return _mark('cudnn', gpu(f))


def slow(f):
    """Marks a slow test."""
    return _mark('slow', f)


def chainerx(f):
    """Skips a test of ChainerX, which is not provided."""
    return _mark('chainerx', f, 'ChainerX is not provided')


def ideep(f):
    """Skips a test of iDeep, which is not provided."""
    return _mark('ideep', f, 'iDeep is not provided')


def is_available():
    """Returns whether pytest is installed."""
    return _pytest() is not None


def check_available():
    """Raises RuntimeError if pytest is not installed."""
    if not is_available():
        raise RuntimeError('marks of tests need pytest: python -m pip install pytest')


def get_error():
    """Returns the error of importing pytest, or None."""
    try:
        import pytest  # noqa: F401
    except ImportError as error:
        return error
    return None
