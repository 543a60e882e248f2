"""Test cases with parameters."""

import functools
import inspect
import itertools
import types

from . import _bundle


def product(parameter):
    """Returns all combinations of values as a list of dicts. `parameter` is a dict of lists, or a list of lists of dicts.

    A key such as 'a,b' has a list of pairs.
    """
    if isinstance(parameter, list):
        return product_dict(*parameter)
    return product_dict(*[_values_to_dicts(names, values) for names, values in sorted(parameter.items())])


def product_dict(*parameters):
    """Returns all combinations of a dict of each list, merged."""
    return [{key: value for part in parts for key, value in part.items()} for parts in itertools.product(*parameters)]


# Chainer's conftest.py puts the pairwise variant in the place of `product_dict`.
_product_dict_orig = product_dict


def _pairwise_product_dict(*parameters):
    """Returns so many combinations that every two dicts of different lists meet once."""
    lists = [list(part) for part in parameters]
    if len(lists) <= 2 or not all(lists):
        return _product_dict_orig(*lists)
    return [{key: value for part, index in zip(lists, indices) for key, value in part[index].items()}
            for indices in _covering_indices([len(part) for part in lists])]


def _covering_indices(sizes):
    """Yields tuples of indices such that each pair of indices of two axes occurs."""
    left = {(a, i, b, j) for a, b in itertools.combinations(range(len(sizes)), 2) for i in range(sizes[a]) for j in range(sizes[b])}
    while left:
        first = min(left)
        chosen = {first[0]: first[1], first[2]: first[3]}
        for axis in range(len(sizes)):
            if axis not in chosen:
                chosen[axis] = max(range(sizes[axis]), key=lambda index: sum(_pair(axis, index, *other) in left for other in chosen.items()))
        row = tuple([chosen[axis] for axis in range(len(sizes))])
        left -= {(a, row[a], b, row[b]) for a, b in itertools.combinations(range(len(sizes)), 2)}
        yield row


def _pair(axis, index, other_axis, other_index):
    return (axis, index, other_axis, other_index) if axis < other_axis else (other_axis, other_index, axis, index)


def _text(value):
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, types.FunctionType):
        return value.__name__
    text = repr(value)
    return text if len(text) <= 100 else text[:45] + '...' + text[-45:]


def _make_class_name(base_class_name, i_param, param):
    shown = ', '.join(f'{key}={_text(value)}' for key, value in sorted(param.items()))
    name = f'{base_class_name}_param_{i_param}'
    return f'{name}_{{{shown[:500]}}}' if shown else name


class _Parameter:
    """A parameter as an attribute of a test case. Functions stay functions: they do not become methods."""

    def __init__(self, value):
        self.value = value

    def __get__(self, instance, owner):
        return self.value


def _noted(method, param):
    """Returns a test method whose errors name the parameters."""
    @functools.wraps(method)
    def test(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            if hasattr(error, 'add_note'):
                error.add_note('Test parameters:\n' + ''.join(f'  {key}: {value!r}\n' for key, value in sorted(param.items())))
            raise
    return test


def _cases(params):
    def generate(base):
        methods = [name for name in dir(base) if name.startswith('test') and inspect.isfunction(getattr(base, name))]
        for number, param in enumerate(params):
            members = {key: _Parameter(value) if hasattr(type(value), '__get__') else value for key, value in param.items()}
            members.update({name: _noted(getattr(base, name), param) for name in methods if name not in members})
            yield _make_class_name(base.__name__, number, param), members, ()
    return generate


def parameterize(*params):
    """Returns a decorator that makes a test case with the attributes of each dict."""
    params = list(params)
    return _bundle.make_decorator(_cases(params))


def _values_to_dicts(names, values):
    names = [name.strip() for name in names.split(',')]
    return [dict(zip(names, row if len(names) > 1 else [row])) for row in values]


def from_pytest_parameterize(names, values):
    """Returns `pytest.mark.parametrize`'s arguments as a list of dicts."""
    return _values_to_dicts(names, values)


def parameterize_pytest(names, values):
    """Returns a decorator like `pytest.mark.parametrize`, whose names become attributes of the test cases."""
    return parameterize(*_values_to_dicts(names, values))
