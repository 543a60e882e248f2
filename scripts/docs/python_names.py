"""Prints the public names of an installed catenary as JSON: module, name, kind, signatures, docstring, members.

Run by scripts/make_docs with the interpreter that has the package: docstrings of the extension exist at run time only.
"""

import importlib
import inspect
import json
import os
import re

import numpy

os.environ['CATENARY_CUPY_CPU'] = '1'

from catenary import _core, _names  # noqa: E402

OURS = ('catenary', 'cupy', 'cupyx')


def split(doc, name):
    """The signatures at the beginning of a docstring of nanobind's, and the text after them."""
    lines = doc.split('\n') if isinstance(doc, str) else []
    signatures = []
    while lines and re.match(r'%s\(.*\)( -> .*)?$' % re.escape(name), lines[0]):
        signatures.append(lines.pop(0))
    return signatures, inspect.cleandoc('\n'.join(lines))


def signature_of(value, name):
    try:
        return name + re.sub(r' at 0x[0-9a-f]+', '', str(inspect.signature(value)))
    except (TypeError, ValueError):
        return name + '(*args, **kwargs)'


def of_numpy(value, name):
    """Is the docstring NumPy's own, copied by functools.wraps?"""
    text = getattr(value, '__doc__', None)
    return bool(text) and name in numpy.__all__ and text == getattr(numpy, name).__doc__


def members(value):
    """The methods and attributes of a class of ours."""
    found = []
    for name in sorted(dir(value)):
        if name.startswith('_') or hasattr(object, name):
            continue
        member = inspect.getattr_static(value, name)
        owner = getattr(member, '__objclass__', value)
        if getattr(owner, '__module__', '').split('.')[0] in OURS:
            found.append(entry(getattr(value, name, member), name, member))
    return found


def entry(value, name, static=None):
    kind = 'class' if inspect.isclass(value) else 'function' if callable(value) else 'data'
    if static is not None:
        kind = 'method' if callable(value) and not isinstance(static, property) else 'attribute'
    owner = getattr(value, '__module__', None) or type(value).__module__
    if kind == 'attribute':
        value, owner = static, 'catenary'
    result = {'name': name, 'kind': kind, 'owner': owner, 'signatures': [], 'text': '', 'members': []}
    if owner.split('.')[0] not in OURS or isinstance(value, (int, float, str, tuple)):
        return result
    if of_numpy(value, name):
        value_text = 'Like ``numpy.%s``.' % name
    else:
        value_text = getattr(value, '__doc__', '')
    result['signatures'], result['text'] = split(value_text, getattr(value, '__name__', name))
    if not result['text'] and kind != 'attribute' and name in numpy.__all__:
        result['text'] = 'Like ``numpy.%s``.' % name
    result['signatures'] = [name + text[text.index('('):] for text in result['signatures']]
    if kind in ('function', 'method') and not result['signatures']:
        result['signatures'] = [signature_of(value, name)]
    if kind == 'class' and static is None:
        result['members'] = members(value)
    return result


def modules():
    for name in sorted(_names.known()):
        names = sorted(_names.here(name))
        if names:
            module = importlib.import_module(name)
            found = [(each, getattr(module, each)) for each in names]
            yield {'module': name, 'text': inspect.getdoc(module) or '',
                   'names': [entry(value, each) for each, value in found if not inspect.ismodule(value)]}


def chainer():
    """Chainer's functions that run on the library's graph, with their parameters."""
    return {path: list(parameters) for path, parameters in _core._chainer_rows().items()}


def classes():
    """The classes and functions of `chainer` itself, and its links, optimizers and extensions."""
    from chainer.training import extensions
    import chainer
    modules = chainer, chainer.links, chainer.optimizers, chainer.iterators, chainer.datasets, extensions
    return sorted(f'{module.__name__}.{name}' for module in modules for name in dir(module) if not name.startswith('_')
                  and (inspect.isclass(getattr(module, name)) or inspect.isfunction(getattr(module, name))))


print(json.dumps({'modules': list(modules()), 'chainer': chainer(), 'classes': classes()}))
