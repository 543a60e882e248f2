"""Decorators that repeat tests of random results."""

import functools


def repeat_with_success_at_least(times, min_success):
    """Repeats a test and requires a minimum number of passes."""
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
    """Repeats a test, which has to pass each time. `intensity`, CuPy's factor for long runs, is ignored."""
    return repeat_with_success_at_least(times, times)


def retry(times):
    """Repeats a test until it passes, up to a maximum number of runs."""
    return repeat_with_success_at_least(times, 1)
