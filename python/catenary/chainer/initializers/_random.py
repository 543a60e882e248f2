"""Random initializers."""

import numpy

from .. import backend
from ..initializer import Initializer, get_fans
from ._constant import _check_dtype


class _Random(Initializer):
    """Fills an array with numbers from a generator, by default the array module's. Subclasses define _draw."""

    def __init__(self, scale=1.0, dtype=None, rng=None):
        self.scale = scale
        self.rng = rng
        super().__init__(dtype)

    def __call__(self, array):
        if self.dtype is not None:
            _check_dtype(self, array)
        device = backend.get_device_from_array(array)
        with backend.using_device(device):
            array[...] = device.send(numpy.asarray(self._drawn(device, array))) if self.rng is not None else self._drawn(device, array)

    def _drawn(self, device, array):
        raise NotImplementedError

    def _normal(self, device, array, scale):
        return self._spread(device, array, 'normal', {'loc': 0.0, 'scale': scale})

    def _uniform(self, device, array, scale):
        return self._spread(device, array, 'uniform', {'low': -scale, 'high': scale})

    def _spread(self, device, array, name, arguments):
        generator = device.xp.random if self.rng is None else self.rng
        if self.rng is None and device.xp is not numpy:
            arguments['dtype'] = numpy.float32 if array.dtype == numpy.float16 else array.dtype
        return getattr(generator, name)(size=array.shape, **arguments).astype(array.dtype)


class Normal(_Random):
    """Draws from a normal distribution with a standard deviation."""

    def __init__(self, scale=0.05, dtype=None, **kwargs):
        super().__init__(scale, dtype, kwargs.pop('rng', None))
        _no_more(kwargs)

    def _drawn(self, device, array):
        return self._normal(device, array, self.scale)


class Uniform(_Random):
    """Draws from a uniform distribution between -scale and scale."""

    def __init__(self, scale=0.05, dtype=None, **kwargs):
        super().__init__(scale, dtype, kwargs.pop('rng', None))
        _no_more(kwargs)

    def _drawn(self, device, array):
        return self._uniform(device, array, self.scale)


def _no_more(kwargs):
    if kwargs:
        raise TypeError('unexpected argument %s' % ', '.join(kwargs))


class _ByFans(_Random):
    """Draws with a spread that follows the number of inputs or outputs of each unit."""

    def __init__(self, scale=1.0, dtype=None, **kwargs):
        super().__init__(scale, dtype, kwargs.pop('rng', None))
        _no_more(kwargs)

    def _deviation(self, shape):
        raise NotImplementedError

    def _drawn(self, device, array):
        return self._normal(device, array, self.scale * self._deviation(array.shape))


class LeCunNormal(_ByFans):
    """Draws from a normal distribution with the deviation scale / sqrt(inputs)."""

    def _deviation(self, shape):
        return numpy.sqrt(1.0 / get_fans(shape)[0])


class GlorotNormal(_ByFans):
    """Draws from a normal distribution with the deviation scale * sqrt(2 / (inputs + outputs))."""

    def _deviation(self, shape):
        return numpy.sqrt(2.0 / sum(get_fans(shape)))


class HeNormal(_ByFans):
    """Draws from a normal distribution with the deviation scale * sqrt(2 / fan), where fan counts inputs or outputs."""

    def __init__(self, scale=1.0, dtype=None, fan_option='fan_in', **kwargs):
        if fan_option not in ('fan_in', 'fan_out'):
            raise ValueError('fan_option must be fan_in or fan_out, not %r' % (fan_option,))
        self.fan_option = fan_option
        super().__init__(scale, dtype, **kwargs)

    def _deviation(self, shape):
        return numpy.sqrt(2.0 / get_fans(shape)[self.fan_option == 'fan_out'])


class _UniformByFans(_ByFans):
    """The same, uniform between -s and s."""

    def _drawn(self, device, array):
        return self._uniform(device, array, self.scale * self._deviation(array.shape))


class LeCunUniform(_UniformByFans):
    """Draws uniformly up to scale * sqrt(3 / inputs)."""

    def _deviation(self, shape):
        return numpy.sqrt(3.0 / get_fans(shape)[0])


class GlorotUniform(_UniformByFans):
    """Draws uniformly up to scale * sqrt(6 / (inputs + outputs))."""

    def _deviation(self, shape):
        return numpy.sqrt(6.0 / sum(get_fans(shape)))


class HeUniform(_UniformByFans):
    """Draws uniformly up to scale * sqrt(6 / inputs)."""

    def _deviation(self, shape):
        return numpy.sqrt(6.0 / get_fans(shape)[0])


_MODES = ('auto', 'projection', 'embedding', 'basis')


class Orthogonal(_Random):
    """Makes the rows (or columns, whichever are fewer) of a matrix orthogonal. An array with more axes is a matrix of its first axis."""

    def __init__(self, scale=1.1, dtype=None, mode='auto', **kwargs):
        if mode not in _MODES:
            raise ValueError('mode must be one of %s, not %r' % (', '.join(_MODES), mode))
        self.mode = mode
        super().__init__(scale, dtype, kwargs.pop('rng', None))
        _no_more(kwargs)

    def _drawn(self, device, array):
        rows = array.shape[0] if array.shape else 1
        columns = int(numpy.prod(array.shape[1:], dtype=numpy.int64))
        if (self.mode == 'projection' and rows > columns or self.mode == 'embedding' and rows < columns
                or self.mode == 'basis' and rows != columns):
            raise ValueError('Orthogonal: the mode %s does not fit %d rows and %d columns' % (self.mode, rows, columns))
        if array.size == 0:
            raise ValueError('Orthogonal: an array of the shape %s has no elements' % (array.shape,))
        if array.ndim == 0:
            return device.xp.asarray(self.scale * (2 * numpy.random.randint(2) - 1), array.dtype)
        wide = rows <= columns
        generator = device.xp.random if self.rng is None else self.rng
        square = generator.normal(size=(columns, rows) if wide else (rows, columns))
        xp = device.xp if self.rng is None else numpy
        q, r = xp.linalg.qr(square.astype(numpy.float64))
        q = q * xp.sign(xp.diagonal(r))  # without it the distribution is not uniform
        return ((q.T if wide else q) * self.scale).reshape(array.shape).astype(array.dtype)
