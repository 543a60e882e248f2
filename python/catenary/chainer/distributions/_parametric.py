"""The base of distributions with parameters. Parameters and moments are declared as formulas."""

import numpy

from .. import functions as F
from ..distribution import Distribution
from ..utils import cache
from ..variable import as_variable


class formula(cache.cached_property):
    """A property of a distribution, given as a function of the distribution. It is computed once."""

    def __set_name__(self, owner, name):
        if self.func.__name__ == '<lambda>':
            self.func.__name__ = name


class Parameter(formula):
    """A parameter: the variable that the constructor got, or else the value of a formula of the other parameters."""

    def __init__(self, func=None, event_ndim=0):
        super().__init__(func or (lambda distribution: None))
        self.event_ndim = event_ndim

    def __set_name__(self, owner, name):
        self.name = name
        super().__set_name__(owner, name)

    def __get__(self, obj, cls):
        if obj is not None and self.name in obj._given:
            return obj._given[self.name]
        return super().__get__(obj, cls)


class Parametric(Distribution):
    """A distribution whose class declares its parameters as `Parameter`. `_params` names those that `params` returns."""

    event_shape = ()
    _params = ()

    def __init__(self, **given):
        given = {name: as_variable(value) for name, value in given.items()}
        ndims = {name: getattr(type(self), name).event_ndim for name in given}
        batches = [variable.shape[:variable.ndim - ndims[name]] for name, variable in given.items()]
        self._batch_shape = numpy.broadcast_shapes(*batches)
        self._given = {}
        for (name, variable), batch in zip(given.items(), batches):
            shape = self._batch_shape + variable.shape[len(batch):]
            self._given[name] = variable if variable.shape == shape else F.broadcast_to(variable, shape)

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def params(self):
        return {name: getattr(self, name) for name in self._params}

    def _event(self, x):
        """Returns events, which may be numbers, as a variable with the dtype of the parameters."""
        dtype = next(iter(self._given.values())).dtype
        if isinstance(x, (int, float, numpy.generic)):
            x = self.xp.asarray(x, dtype)
        return F.cast(as_variable(x), dtype)


class LocationScale(Parametric):
    """A distribution that shifts and scales a standard one by `loc` and `scale`."""

    support = 'real'
    _params = ('loc', 'scale')
    loc = Parameter()
    scale = Parameter()
    _log_scale = formula(lambda d: F.log(d.scale))

    def __init__(self, loc, scale):
        super().__init__(loc=loc, scale=scale)

    def _standard(self, x):
        return (self._event(x) - self.loc) / self.scale


def one_of(kind, first, second, **given):
    """Returns the parameters that are not None, which have to be all names of `first` or all of `second`, each a string of names."""
    unknown = set(given) - set(f'{first} {second}'.split())
    if unknown:
        raise TypeError('%s got an unexpected argument: %s' % (kind, ', '.join(sorted(unknown))))
    given = {name: value for name, value in given.items() if value is not None}
    if sorted(given) not in (sorted(first.split()), sorted(second.split())):
        raise ValueError('%s needs either %s or %s, but it got %s' % (kind, first.replace(' ', ', '), second.replace(' ', ', '),
                                                                    ', '.join(given) or 'none of them'))
    return given
