"""Handles calls that the extension's functions reject.

NumPy arrays and lists become arrays where CuPy accepts them, and `where=` and `initial=` of reductions are computed here. Otherwise a TypeError
names the function, the argument and the given value.
"""

import functools

import numpy

from catenary import _core
from catenary.cupy import _structured, _where_reductions
from catenary.cupy._array import asarray, ndarray

# Arguments that CuPy's functions pass to asarray, for functions that the extension defines itself.
_TAKEN = {'isclose': 'a b', 'cross': 'a b', 'cond': 'x', 'resize': 'a', 'append': 'arr values', 'take': 'indices', 'put': 'ind v', 'choose': 'a',
          'tile': 'A', 'around': 'a', 'extract': 'condition', 'place': 'mask vals', 'fftshift': 'x', 'ifftshift': 'x', 'tril': 'm', 'triu': 'm',
          'unwrap': 'p', 'ediff1d': 'to_end to_begin', 'repeat': 'repeats', 'searchsorted': 'v', 'percentile': 'q', 'quantile': 'q',
          'diff': 'a prepend append', 'cov': 'a y', 'corrcoef': 'a y', 'linspace': 'start stop'}
_WORDS = {'catenary._core.ndarray': 'a cupy.ndarray', 'float': 'a number', 'int': 'an integer', 'bool': 'a bool', 'str': 'a string', 'None': 'None',
          'complex': 'a number', 'tuple[int, ...]': 'a tuple of integers', 'collections.abc.Sequence[int]': 'a sequence of integers',
          'collections.abc.Sequence[catenary._core.ndarray]': 'a sequence of cupy.ndarray', 'bytes': 'bytes'}


class _Parameter:
    """A parameter of a signature in nanobind's notation."""

    def __init__(self, text, by_keyword_only):
        before, _, self.default = text.partition(' = ')
        self.name, _, kinds = before.partition(': ')
        self.kinds = _split(kinds, ' | ')
        self.by_keyword_only = by_keyword_only

    def expected(self):
        """Describes the accepted kinds in words: 'an integer or None'."""
        words = list(dict.fromkeys(_WORDS.get(kind, kind.rpartition('.')[2]) for kind in self.kinds))
        return words[0] if len(words) < 2 else ', '.join(words[:-1]) + ' or ' + words[-1]

    def takes(self, value):
        return not self.kinds or any(_is(kind, value) for kind in self.kinds)


def _split(text, by):
    """Splits a text at separators outside of brackets and quotes."""
    parts, depth, quote, begin, i = [], 0, '', 0, 0
    while i < len(text):
        letter = text[i]
        if quote:
            quote = '' if letter == quote else quote
        elif letter in '\'"':
            quote = letter
        elif letter in '[(':
            depth += 1
        elif letter in '])':
            depth -= 1
        elif depth == 0 and text.startswith(by, i):
            parts.append(text[begin:i])
            begin = i + len(by)
        i += 1
    return parts + [text[begin:]] if text[begin:] else parts


def _is(kind, value):
    """Does the value fit this annotation? Unknown annotations accept every value."""
    if kind == 'None':
        return value is None
    if kind == 'catenary._core.ndarray':
        return isinstance(value, ndarray)
    if kind in ('float', 'complex'):
        return isinstance(value, (int, float, numpy.number, numpy.bool_)) or kind == 'complex' and isinstance(value, complex)
    if kind == 'int':
        return isinstance(value, (int, numpy.integer)) and -2 ** 63 <= value < 2 ** 64
    if kind == 'bool':
        return isinstance(value, bool)
    if kind in ('str', 'bytes'):
        return isinstance(value, str if kind == 'str' else (bytes, bytearray))
    if kind in ('tuple[int, ...]', 'collections.abc.Sequence[int]'):
        return isinstance(value, (list, tuple, numpy.ndarray)) and all(isinstance(x, (int, numpy.integer)) for x in value)
    if kind == 'collections.abc.Sequence[catenary._core.ndarray]':
        return isinstance(value, (list, tuple)) and all(isinstance(x, ndarray) for x in value)
    if kind.startswith('catenary._core.'):
        return type(value).__name__ == kind.rpartition('.')[2]
    return True


@functools.lru_cache(None)
def _signature(function):
    """Returns (parameters of the first signature, whether it accepts *args, whether it accepts **kwargs)."""
    text = function.__nb_signature__[0][0]
    inside, parameters, only, more = text[text.index('(') + 1:text.rindex(')', 0, text.rfind(' -> ') if ' -> ' in text else None)], [], False, set()
    for part in _split(inside, ', '):
        if part in ('*', '/'):
            only = only or part == '*'
        elif part.startswith('*'):
            more.add('**' if part.startswith('**') else '*')
            only = True
        else:
            parameters.append(_Parameter(part, only))
    return parameters, more


def _said(value):
    """Describes a given value in words."""
    if isinstance(value, numpy.ndarray):
        return f'a numpy.ndarray of {value.dtype} and shape {value.shape}; numpy.ndarray is not converted implicitly, use cupy.asarray'
    if isinstance(value, ndarray):
        return f'a cupy.ndarray of {value.dtype} and shape {value.shape}'
    text = ' '.join(repr(value).split())
    return f'{type(value).__name__} {text if len(text) <= 60 else text[:57] + "..."}' if value is not None else 'None'


def _listed(names):
    names = [repr(name) for name in names if name != 'self']
    return ', '.join(names[:-1]) + ' and ' + names[-1] if len(names) > 1 else names[0] if names else 'no arguments'


def _bound(name, parameters, more, args, keywords):
    """Returns {parameter: value} of a call. Raises TypeError if no signature fits."""
    places = [p for p in parameters if not p.by_keyword_only]
    if len(args) > len(places) and '*' not in more:
        of_methods = len(places) > 0 and places[0].name == 'self'
        raise TypeError(f'{name}: takes at most {len(places) - of_methods} positional arguments ({_listed(p.name for p in places)}), '
                        f'given {len(args) - of_methods}')
    values = {p: value for p, value in zip(places, args)}
    known = {p.name: p for p in parameters}
    for key, value in keywords.items():
        if key not in known:
            if '**' in more:
                continue
            raise TypeError(f'{name}: unexpected keyword argument {key!r}, given {_said(value)}; expected {_listed(known)}')
        if known[key] in values:
            raise TypeError(f'{name}: argument {key!r} is given twice, by its place and by its name')
        values[known[key]] = value
    for p in parameters:
        if p not in values and not p.default:
            raise TypeError(f'{name}: argument {p.name!r} is missing; expected {p.expected()}')
    return values


def _converted(name, values):
    """Returns the call's keywords with arrays in place of arguments that CuPy converts, or None if nothing changes."""
    taken = _TAKEN.get(name, '').split()
    fit = {p: asarray(value) if p.name in taken and not p.takes(value) and isinstance(value, (numpy.ndarray, list, tuple, int, float, complex, numpy.generic))
           else value for p, value in values.items()}
    return None if all(fit[p] is values[p] for p in values) else {p.name: value for p, value in fit.items()}


def answer(function, args, keywords, error):
    """Returns the result of a call that was rejected with this error, or raises a TypeError that says how to correct it."""
    name = type(args[0]).__name__ if function.__name__ == '__init__' and args else function.__name__.strip('_') or function.__name__
    parameters, more = _signature(function)
    if any(isinstance(a, _structured.StructuredArray) for a in args[:1]) or _structured.is_structured(keywords.get('dtype', next(iter(args[1:2]), None))):
        made = _structured.answer(name, {p.name: value for p, value in _bound(name, parameters, more, args, keywords).items()})
        if made is not None:
            return made
    if str(error).startswith('dtype '):
        raise TypeError(f'{name}: {error}') from None
    if {'where', 'initial'} & keywords.keys() and name in _where_reductions.REDUCTIONS and not {'where', 'initial'} & {p.name for p in parameters}:
        own = {key: keywords.pop(key) for key in ('where', 'initial') if key in keywords}
        a, *others = ((p.name, value) for p, value in _bound(name, parameters, more, args, keywords).items())
        return _where_reductions.reduced(name, a[1], **dict(others), **own)
    values = _bound(name, parameters, more, args, keywords)
    again = _converted(name, values)
    if again is not None:
        return function(**again)
    for p, value in values.items():
        if not p.takes(value):
            raise TypeError(f'{name}: argument {p.name!r} must be {p.expected()}, given {_said(value)}') from None
    given = ', '.join(f'{p.name} = {_said(value)}' for p, value in values.items() if p.name != 'self')
    raise TypeError(f'{name}: an argument has the wrong type or a value out of range; given {given}') from None
