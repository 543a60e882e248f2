"""The flag `volatile` of Chainer 1: a function of a variable that is ON keeps no graph, and its results are ON."""

import functools

from .configuration import using_config


class Flag:
    """ON, OFF or AUTO. Booleans and the names 'on', 'off' and 'auto' are converted."""

    _made = {}

    def __new__(cls, name=None):
        if isinstance(name, Flag):
            return name
        name = {True: 'on', False: 'off'}.get(name, name) if isinstance(name, (bool, str)) else name
        if name not in ('on', 'off', 'auto'):
            raise ValueError('a flag is on, off or auto, not %r' % (name,))
        if name not in cls._made:
            cls._made[name] = super().__new__(cls)
            cls._made[name]._name = name
        return cls._made[name]

    def __reduce__(self):
        return Flag, (self._name,)

    def __eq__(self, other):
        try:
            return self is Flag(other)
        except ValueError:
            return False

    def __hash__(self):
        return hash(self._name)

    def __bool__(self):
        return self._name == 'on'

    def __repr__(self):
        return self._name.upper()

    __str__ = __repr__


ON, OFF, AUTO = Flag('on'), Flag('off'), Flag('auto')


def aggregate_flags(flags):
    """Returns the flag of a function's results. AUTO yields to the others, and ON and OFF exclude each other."""
    found = set(map(Flag, flags)) - {AUTO}
    if len(found) > 1:
        raise ValueError('the flags ON and OFF exclude each other')
    return found.pop() if found else AUTO


def of(variable):
    """Returns the flag of a variable."""
    from .variable import Parameter
    return variable.__dict__.get('_volatile', AUTO if isinstance(variable, Parameter) else OFF)


def mark(variable, flag):
    """Sets the flag of a variable."""
    variable.__dict__['_volatile'] = flag = Flag(flag)
    if flag is ON:
        _watch()


# ---- functions of variables that are ON

def _is_on(value):
    if isinstance(value, (tuple, list)):
        return any(map(_is_on, value))
    return getattr(value, '__dict__', {}).get('_volatile') is ON


def _marked(result):
    from .variable import Variable
    if isinstance(result, Variable):
        result.__dict__['_volatile'] = ON
    elif isinstance(result, (tuple, list)):
        for value in result:
            _marked(value)
    elif isinstance(result, dict):
        _marked(list(result.values()))
    return result


def _watched(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        if not _is_on(args) and not (kwargs and _is_on(list(kwargs.values()))):
            return function(*args, **kwargs)
        with using_config('enable_backprop', False):
            return _marked(function(*args, **kwargs))
    return call


_OPERATORS = ['__%s__' % name for name in (
    'neg abs add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv pow rpow matmul rmatmul getitem').split()]


@functools.lru_cache(None)
def _watch():
    """Makes functions look at the flags. Programs without a variable that is ON never call this."""
    from catenary import _core
    from . import function, function_node, functions, link, variable
    for name, value in list(vars(functions).items()):
        if isinstance(value, _core._Call):
            setattr(functions, name, _watched(value))
    for name in _OPERATORS:
        setattr(variable.Variable, name, _watched(getattr(variable.Variable, name)))
    for owner, name in ((function_node.FunctionNode, 'apply'), (function.Function, '__call__'), (link.Link, '__call__')):
        setattr(owner, name, _watched(getattr(owner, name)))
