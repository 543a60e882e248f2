"""FunctionSet, the model of Chainer 1, and setup() of optimizers with tuples of arrays."""

from . import backend, link
from .variable import Parameter


class Arrays(tuple):
    """A tuple of arrays that knows the parameters which they belong to."""

    params = ()

    def __new__(cls, values, params):
        self = super().__new__(cls, values)
        self.params = tuple(params)
        return self

    def __add__(self, other):
        values = tuple(self) + tuple(other)
        return Arrays(values, self.params + other.params) if isinstance(other, Arrays) else values

    def __reduce__(self):
        return tuple, (tuple(self),)


class Collected:
    """The arrays of a link's parameters and gradients as tuples, in the order of their paths."""

    def _sorted(self):
        return [param for _, param in sorted(self.namedparams(), key=lambda pair: pair[0])]

    @property
    def parameters(self):
        """The arrays of the parameters."""
        params = self._sorted()
        return Arrays([param.array for param in params], params)

    @parameters.setter
    def parameters(self, arrays):
        for param, array in zip(self._sorted(), _as_many(arrays, self)):
            param.array = array

    @property
    def gradients(self):
        """The gradients of the parameters."""
        params = self._sorted()
        return Arrays([param.grad if param.is_initialized else None for param in params], params)

    @gradients.setter
    def gradients(self, arrays):
        for param, array in zip(self._sorted(), _as_many(arrays, self)):
            param.grad = array

    def collect_parameters(self):
        """Returns the arrays of the parameters and their gradients, for setup() of an optimizer."""
        return self.parameters, self.gradients

    def copy_parameters_from(self, params):
        """Copies arrays, which may be on another device, into the parameters."""
        for param, array in zip(self._sorted(), _as_many(params, self)):
            backend.copyto(param.array, array)


class FunctionSet(Collected, link.Chain):
    """A Chain whose links are set at any time."""

    def __setattr__(self, name, value):
        if not isinstance(value, link.Link) or '_children' not in self.__dict__:
            super().__setattr__(name, value)
            return
        if name in self._children:
            delattr(self, name)
        if not self.within_init_scope:
            self.add_link(name, value)
        else:
            super().__setattr__(name, value)

    def __getitem__(self, name):
        """Returns the attribute of this name."""
        return getattr(self, name)


class OfFunctions(Collected):
    """The base of links that were classes in chainer.functions: `gW` is the gradient of `W`, and so on."""

    def __getattr__(self, name):
        if name[:1] == 'g' and name[1:] in self.__dict__.get('_params', ()):
            return self.__dict__[name[1:]].grad
        raise AttributeError('%r object has no attribute %r' % (type(self).__name__, name))


def _as_many(arrays, owner):
    arrays, count = tuple(arrays), len(owner._sorted())
    if len(arrays) != count:
        raise ValueError('%d arrays for %d parameters' % (len(arrays), count))
    return arrays


class Parameters(link.Link):
    """A link with the parameters and gradients of a pair of tuples."""

    def __init__(self, params):
        super().__init__()
        for index, param in enumerate(params):
            name = '%05d' % index  # links sort their parameters by name
            self.__dict__[name] = param
            self._params.add(name)


def as_link(pair):
    """Returns a link for a pair of tuples of arrays, the parameters and the gradients."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(x, (tuple, list)) for x in pair)):
        raise TypeError('optimization target must be a link, or a pair of tuples with the parameters and their gradients, not %s' % type(pair))
    arrays, gradients = pair
    if isinstance(arrays, Arrays):
        return Parameters(arrays.params)
    if len(arrays) != len(gradients) or not all(backend.is_array(x) for x in (*arrays, *gradients)):
        raise TypeError('setup: as many gradients as parameters are expected, all of them arrays')
    params = [Parameter(array) for array in arrays]
    for param, gradient in zip(params, gradients):
        param.grad = gradient
    return Parameters(params)
