"""Tests of what comes by chance: run several times."""

import functools


def repeat_with_success_at_least(times, min_success):
    """Runs a test so many times, of which so many have to pass."""
    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            passed, error = 0, None
            for left in range(times, 0, -1):
                if passed == min_success or passed + left < min_success:
                    break
                try:
                    test(*args, **kwargs)
                    passed += 1
                except AssertionError as e:
                    error = e
            if passed < min_success:
                raise error
        return run
    return decorate


def repeat(times, intensity=None):
    """Runs a test so many times, each of which has to pass. `intensity`, what CuPy multiplies them by in long runs, is
    not asked for."""
    return repeat_with_success_at_least(times, times)


def retry(times):
    """Runs a test until it passes, so many times at most."""
    return repeat_with_success_at_least(times, 1)
