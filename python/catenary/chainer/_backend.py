"""Devices: the place of arrays and the module (NumPy or CuPy) that computes with them."""


class Device:
    """The base of devices. Devices are equal if they name the same place."""

    xp = None
    supported_array_types = ()
    name = None

    def __str__(self):
        return self.name

    def __ne__(self, other):
        return not self == other

    def __eq__(self, other):
        raise NotImplementedError

    __hash__ = None

    def create_context(self):
        """Returns a context in which this device is current."""
        return self

    def __enter__(self):
        raise RuntimeError('a device is not a context manager: use `with chainer.using_device(device)`')

    def __exit__(self, *error):
        raise RuntimeError('a device is not a context manager: use `with chainer.using_device(device)`')

    def send(self, arrays):
        """Copies an array, or a tuple, list or dict of arrays, to this device. Arrays that are here already are returned as they are."""
        return convert(arrays, self.send_array)

    def send_array(self, array):
        raise NotImplementedError

    def use(self):
        """Makes this device current."""

    def is_array_supported(self, array):
        """Is this an array of this device?"""
        return isinstance(array, self.supported_array_types)


def convert(arrays, function):
    """Applies a function to an array, or to each in a tuple, list or dict. An array that occurs twice is converted once."""
    return _converted(arrays, function, {})


def _converted(x, function, made):
    """Converts the arrays that are not in `made` yet. A function that refers to itself would keep the arrays until the garbage collector runs."""
    if isinstance(x, (tuple, list)):
        items = [_converted(item, function, made) for item in x]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, dict):
        return {key: _converted(value, function, made) for key, value in x.items()}
    if x is not None and id(x) not in made:
        made[id(x)] = function(x)
    return None if x is None else made[id(x)]
