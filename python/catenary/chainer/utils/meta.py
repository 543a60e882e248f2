"""Methods that subclasses must not override."""
import warnings


def final(*args, **kwargs):
    """Marks a method as final. ``action`` is the warning class to use instead of an error."""
    if args:
        method, = args
        return _mark(method, None)
    action = kwargs.pop('action', None)
    if kwargs:
        raise TypeError('unexpected argument: {}'.format(', '.join(kwargs)))
    return lambda method: _mark(method, action)


def _mark(method, action):
    method._final_action = (action,)
    return method


class _EnableFinal(type):
    def __new__(cls, name, bases, members):
        for key in members:
            for base in bases:
                mark = getattr(getattr(base, key, None), '_final_action', None)
                if mark is None:
                    continue
                text = 'method {!r} of {} is final: {} overrides it'.format(key, base.__name__, name)
                if mark[0] is None:
                    raise TypeError(text)
                warnings.warn(text, mark[0], stacklevel=2)
        return super().__new__(cls, name, bases, members)


def enable_final(base=(), meta_base=()):
    """Returns a base class whose final methods cannot be overridden."""
    base = base if isinstance(base, (tuple, list)) else (base,)
    meta_base = meta_base if isinstance(meta_base, (tuple, list)) else (meta_base,)
    meta = type('_EnableFinal', (_EnableFinal,) + tuple(meta_base), {})
    return meta('enable_final', tuple(base), {})
