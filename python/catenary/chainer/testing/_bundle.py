"""Decorators that make several test cases of one."""

import sys


class _ParameterizedTestCaseBundle:
    """The test cases that a decorator made, which an outer decorator multiplies."""

    def __init__(self, cases):
        self.cases = cases


def make_decorator(generate):
    """Returns a decorator of test cases. `generate(base)` yields the name and the members of each class to derive from `base`.

    The classes become names of the module, so that test runners find them. The decorated name stands for the bundle of them.
    """
    def decorate(target):
        if not isinstance(target, _ParameterizedTestCaseBundle):
            return _ParameterizedTestCaseBundle(_derive(target, generate))
        cases = []
        for base in target.cases:
            vars(sys.modules[base.__module__]).pop(base.__name__, None)
            cases += _derive(base, generate)
        return _ParameterizedTestCaseBundle(cases)
    return decorate


def _derive(base, generate):
    module, cases = sys.modules[base.__module__], []
    for name, members, marks in generate(base):
        case = type(name, (base,), {'__module__': base.__module__, **members})
        for mark in marks:
            case = mark(case)
        setattr(module, name, case)
        cases.append(case)
    return cases


def visit(target, change):
    """Applies a function to a class, or to each one of a bundle."""
    if isinstance(target, _ParameterizedTestCaseBundle):
        for case in target.cases:
            change(case)
    else:
        change(target)
    return target
