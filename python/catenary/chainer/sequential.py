"""Sequential: links and functions that are applied one after another."""

import ast
import copy as copies
import inspect

from .link import ChainList, Link


class Sequential(ChainList):
    """A list of links and functions. A call passes its arguments to the first and each result to the next one."""

    def __init__(self, *layers):
        super().__init__()
        self._layers = []
        for layer in layers:
            self.append(layer)

    def __getitem__(self, i):
        chosen = self._layers[i]
        return type(self)(*chosen) if isinstance(i, slice) else chosen

    def __contains__(self, item):
        return item in self._layers

    def __reversed__(self):
        return reversed(self._layers)

    def __iter__(self):
        return iter(self._layers)

    def __len__(self):
        return len(self._layers)

    def __setitem__(self, i, layer):
        if not callable(layer):
            raise ValueError('a layer must be a link or a function, not %s' % type(layer))
        self._layers[i] = layer
        self._gather()

    def __delitem__(self, i):
        del self._layers[i]
        self._gather()

    def _gather(self):
        self._children = [layer for layer in self._layers if isinstance(layer, Link)]
        self._name_all()

    def __add__(self, other):
        if isinstance(other, Sequential):
            return Sequential(*self, *other)
        raise ValueError('a Sequential can be added to another one only, not to %s' % type(other))

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError('a Sequential can be added to another one only, not to %s' % type(other))
        self.extend(other)
        return self

    def forward(self, *x):
        """Applies all layers."""
        if not self._layers:
            raise RuntimeError('the Sequential has no layers')
        for layer in self._layers:
            x = layer(*x) if isinstance(x, tuple) else layer(x)
        return x

    def insert(self, i, layer):
        """Inserts a link or a function."""
        if not callable(layer):
            raise ValueError('a layer must be a link or a function, not %s' % type(layer))
        if not -len(self._layers) <= i <= len(self._layers):
            raise IndexError('the index %d is out of range for %d layers' % (i, len(self._layers)))
        self._layers.insert(i, layer)
        self._gather()

    def append(self, layer):
        """Appends a link or a function."""
        self.insert(len(self._layers), layer)

    def extend(self, sequential):
        """Appends all layers of another Sequential."""
        for layer in list(sequential):
            self.append(layer)

    def remove(self, layer):
        """Removes the first of these layers."""
        self._layers.remove(layer)
        self._gather()

    def remove_by_layer_type(self, type_name):
        """Removes all layers whose class or function has this name."""
        kept = [layer for layer in self._layers if _name_of(layer) != type_name]
        self._layers = kept
        self._gather()

    def pop(self, i=-1):
        """Removes a layer and returns it."""
        layer = self._layers.pop(i)
        self._gather()
        return layer

    def clear(self):
        """Removes all layers."""
        self._layers = []
        self._gather()

    def index(self, layer, start=None, end=None):
        """Returns the index of a layer."""
        return self._layers.index(layer, 0 if start is None else start, len(self._layers) if end is None else end)

    def count(self, layer):
        """Returns how often a layer is in the list."""
        return self._layers.count(layer)

    def count_by_layer_type(self, type_name):
        """Returns how many layers have a class or function of this name."""
        return sum(_name_of(layer) == type_name for layer in self._layers)

    def _shared(self):
        own = type(self)()
        for layer in self._layers:
            own.append(layer.copy() if isinstance(layer, Link) else copies.copy(layer))
        return own

    def __getstate__(self):
        if any(getattr(layer, '__name__', None) == '<lambda>' for layer in self._layers):
            raise ValueError('a Sequential with a lambda cannot be pickled: define a function')
        return self.__dict__

    def copyparams(self, link, copy_persistent=True):
        if not isinstance(link, Sequential) or len(link) != len(self):
            raise ValueError('copyparams: a Sequential of %d layers is expected' % len(self))
        for own, other in zip(self._layers, link._layers):
            if isinstance(own, Link) or isinstance(other, Link):
                own.copyparams(other, copy_persistent)

    def flatten(self):
        """Returns a Sequential in which no layer is a Sequential."""
        layers = []
        for layer in self._layers:
            layers.extend(layer.flatten() if isinstance(layer, Sequential) else [layer])
        return Sequential(*layers)

    def __str__(self):
        lines = ['  (%d): %s,' % (i, str(layer).replace('\n', '\n  ') if isinstance(layer, Link) else _described(layer))
                 for i, layer in enumerate(self._layers)]
        return type(self).__name__ + '(' + ('\n' + '\n'.join(lines) + '\n' if lines else '') + ')'


def _name_of(layer):
    if isinstance(layer, Link):
        return type(layer).__name__
    return getattr(layer, '__name__', type(layer).__name__)


def _described(layer):
    """Returns the source of a lambda, the name of another function, and other callables in words."""
    name = getattr(layer, '__name__', None)
    if name is None:
        return str(layer)
    if name != '<lambda>':
        return name
    try:
        source = inspect.getsource(layer)
        return _lambda_in(source)
    except (OSError, TypeError, SyntaxError):
        return name


def _lambda_in(source):
    """Returns the first lambda in lines of source, which need not be a whole statement."""
    text = source.strip().rstrip(',')
    while text:
        try:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Lambda):
                    return ast.get_source_segment(text, node)
            raise SyntaxError('no lambda')
        except SyntaxError:
            start = text.find('lambda', 1 if text.startswith('lambda') else 0)
            text = text[start:] if not text.startswith('lambda') else text[:-1]
    raise SyntaxError('no lambda')
