"""npz: NumPy's files of several arrays."""

import pickletools

import numpy

from catenary._aside import written_aside

from .. import backend
from ..backends import _cpu, cuda
from ..serializer import Deserializer, Serializer


class DictionarySerializer(Serializer):
    """Saves values into a dict of NumPy arrays."""

    def __init__(self, target=None, path=''):
        self.path, self.target = path, {} if target is None else target

    def __getitem__(self, key):
        return DictionarySerializer(self.target, '%s%s/' % (self.path, key.strip('/')))

    def __call__(self, key, value):
        key = key.lstrip('/')
        self.target[self.path + key] = (_cpu.to_numpy(value) if isinstance(value, cuda.ndarray)
                                        else numpy.asarray(value))
        return value


def serialize(obj):
    """Returns the values of an object as a dict of NumPy arrays."""
    saved = DictionarySerializer()
    saved.save(obj)
    return saved.target


def save_npz(file, obj, compression=True):
    """Saves an object to a file (a name or a file object). A file of this name is replaced when the new one is complete."""
    if hasattr(file, 'write'):
        _save(file, obj, compression)
    else:
        with written_aside(file) as new, open(new, 'wb') as opened:
            _save(opened, obj, compression)


def _save(file, obj, compression):
    (numpy.savez_compressed if compression else numpy.savez)(file, **serialize(obj))


class NpzDeserializer(Deserializer):
    """Loads values from a file of save_npz, or from a dict of arrays."""

    def __init__(self, npz, path='', strict=True, ignore_names=None):
        self.npz, self.path, self.strict = npz, path, strict
        names = [] if ignore_names is None else ignore_names
        self.ignore_names = names if isinstance(names, (list, tuple)) else [names]
        for name in self.ignore_names:
            if not isinstance(name, str) and not callable(name):
                raise ValueError('ignore_names holds strings and functions, not %s' % type(name))

    def __getitem__(self, key):
        return NpzDeserializer(self.npz, self.path + key.strip('/') + '/', self.strict, self.ignore_names)

    def _is_ignored(self, key):
        return any(key == name if isinstance(name, str) else name(key) for name in self.ignore_names)

    def __call__(self, key, value):
        key = self.path + key.lstrip('/')
        if not self.strict and key not in self.npz or self._is_ignored(key):
            return value
        dataset = self.npz[key]
        if dataset.dtype == object and dataset[()] is None:
            return None
        if value is None:
            return dataset
        if isinstance(value, numpy.ndarray):
            numpy.copyto(value, dataset)
        elif isinstance(value, cuda.ndarray):
            backend.copyto(value, numpy.asarray(dataset, dtype=value.dtype))
        else:
            kind, own = type(value), numpy.asarray(value).dtype
            value = numpy.asarray(dataset)
            if own.kind in 'iu' and value.dtype.kind in 'iuf' and not numpy.can_cast(value.dtype, own, 'same_kind'):
                raise TypeError('%s: %s in the file does not fit %s' % (key, value.dtype, own))
            try:
                value = kind(value)
            except TypeError:
                value = kind(value.item()) if value.ndim == 0 else value
        return value


class _WithoutCode:
    """The arrays of an npz file, without arrays of Python objects. Those are pickles, which can run any code.

    Chainer saves None as such an array. It is recognised by its bytes, and nothing is unpickled.
    """

    def __init__(self, npz):
        self._npz, self.files = npz, npz.files

    def __contains__(self, name):
        return name in self._npz

    def __getitem__(self, name):
        try:
            return self._npz[name]
        except ValueError:
            if not self._holds_objects(name):
                raise
        if self._is_none(name):
            return numpy.asarray(None)
        raise ValueError('load_npz: %s is an array of Python objects, which the file holds as a pickle. It is not loaded, because a pickle can run any '
                         'code; expected numbers, strings or None' % name)

    def _opened(self, name):
        """Returns the shape and dtype of an array, and the bytes that follow."""
        with self._npz.zip.open(name + '.npy') as file:
            version = numpy.lib.format.read_magic(file)
            read = numpy.lib.format.read_array_header_1_0 if version == (1, 0) else numpy.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            return shape, dtype, file.read(4096)

    def _holds_objects(self, name):
        return name + '.npy' in self._npz.zip.namelist() and self._opened(name)[1].hasobject

    def _is_none(self, name):
        """Does the pickle end with the list [None] as the elements of an array without axes?"""
        shape, _, content = self._opened(name)
        try:
            steps = [step.name for step, _, _ in pickletools.genops(content) if 'PUT' not in step.name and step.name != 'MEMOIZE']
        except ValueError:
            return False
        return shape == () and 'EMPTY_LIST' in steps and steps[steps.index('EMPTY_LIST'):] == ['EMPTY_LIST', 'NONE', 'APPEND', 'TUPLE', 'BUILD', 'STOP']


def load_npz(file, obj, path='', strict=True, ignore_names=None):
    """Loads an object from a file of save_npz. Without `strict`, values that are missing in the file keep their value.

    Arrays of Python objects other than None raise ValueError, because they are pickles.
    """
    with numpy.load(file, allow_pickle=False) as npz:
        NpzDeserializer(_WithoutCode(npz), path=path, strict=strict, ignore_names=ignore_names).load(obj)
