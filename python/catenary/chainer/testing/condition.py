"""Tests that may fail sometimes."""

import functools
import unittest


def repeat_with_success_at_least(times, min_success):
    """Returns a decorator that runs a test up to `times` times until it has succeeded `min_success` times. Each run has its own setUp."""
    assert times >= min_success, 'a test cannot succeed more often than it runs'

    def decorate(test):
        @functools.wraps(test)
        def repeated(self, *args, **kwargs):
            successes, messages = 0, []
            for run in range(times):
                if successes >= min_success or successes + times - run < min_success:
                    break
                try:
                    _run(self, test, args, kwargs)
                    successes += 1
                except unittest.SkipTest:
                    raise
                except Exception as error:
                    messages.append(f'{type(error).__name__}: {error}')
            if successes < min_success:
                self.fail(f'{successes} of {times} runs succeeded, and {min_success} have to.\nfirst error message: {messages[0]}')
        return repeated
    return decorate


def _run(case, test, args, kwargs):
    if hasattr(case, 'setUp'):
        case.setUp()
    try:
        test(case, *args, **kwargs)
    finally:
        if hasattr(case, 'tearDown'):
            case.tearDown()


def repeat(times):
    """Returns a decorator for tests that have to succeed `times` times."""
    return repeat_with_success_at_least(times, times)


def retry(times):
    """Returns a decorator for tests that have to succeed once in `times` runs."""
    return repeat_with_success_at_least(times, 1)
