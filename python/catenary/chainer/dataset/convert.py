"""Converters, which make arrays of the examples of a batch and send them to a device."""

import collections

import numpy

from .. import backend
from ..backends import _cpu, cuda
from ._batch import Batch


class Converter:
    """Base class of converters. An object is called with the list of a batch's examples and a device or None."""

    def __call__(self, batch, device):
        raise NotImplementedError(f'{type(self).__name__} has to define __call__(batch, device)')


class _ArbitraryCallableConverter(Converter):
    """A function as a converter."""

    def __init__(self, base_callable):
        if not callable(base_callable):
            raise TypeError(f'a converter has to be callable, not {type(base_callable).__name__}')
        self.base_callable = base_callable
        self.__doc__ = getattr(base_callable, '__doc__', None)

    def __call__(self, *args, **kwargs):
        return self.base_callable(*args, **kwargs)


def converter():
    """Returns a decorator that makes a converter of a function `f(batch, device)`.

    The function gets a `chainer.backend.Device` or None. Without the decorator it gets a number, as in Chainer 5.
    """
    return _ArbitraryCallableConverter


def _call_converter(converter, batch, device):
    """Calls a converter. One that is no `Converter` gets the device as a number: -1 for the CPU, else the GPU's."""
    if not isinstance(converter, Converter) and device is not None:
        if isinstance(device, _cpu.CpuDevice):
            device = -1
        elif isinstance(device, cuda.GpuDevice):
            device = device.device.id
        else:
            raise RuntimeError(f'{device} has no number for a converter without @chainer.dataset.converter(): add this decorator')
    return converter(batch, device)


def _get_device(device_spec):
    """Returns the device of an argument: None, a number (negative for the CPU) or anything that `chainer.get_device` takes."""
    if device_spec is None or isinstance(device_spec, backend.Device):
        return device_spec
    if isinstance(device_spec, (int, numpy.integer)):
        return _cpu.CpuDevice() if device_spec < 0 else cuda.GpuDevice.from_device_id(int(device_spec))
    return backend.get_device(device_spec)


def to_device(device, x):
    """Sends an array to a device. With None it stays where it is."""
    device = _get_device(device)
    return x if device is None else device.send(x)


def concat_examples_func(batch, device=None, padding=None):
    """Makes an array of each element of the examples.

    Examples are tuples, dicts or single arrays. The result is a tuple or dict of arrays, or one array. `padding` is the value that fills up
    examples of different shapes. A tuple or dict gives each element its own.
    """
    if not len(batch):
        raise ValueError('an empty batch has no arrays to concatenate')
    device = _get_device(device)
    columns = batch.columns() if type(batch) is Batch and padding is None else None
    if columns is not None:
        keys, arrays = columns
        if device is not None:
            arrays = [device.send(array) for array in arrays]
        return arrays[0] if keys is None else tuple(arrays) if keys == () else dict(zip(keys, arrays))
    first = batch[0]
    if isinstance(first, tuple):
        fills = padding if isinstance(padding, tuple) else [padding] * len(first)
        return tuple([_stack([example[i] for example in batch], fills[i], device) for i in range(len(first))])
    if isinstance(first, dict):
        fills = padding if isinstance(padding, dict) else dict.fromkeys(first, padding)
        return {key: _stack([example[key] for example in batch], fills[key], device) for key in first}
    return _stack(batch, padding, device)


concat_examples = converter()(concat_examples_func)


def _stack(arrays, padding, device):
    array = _concat_arrays(arrays, padding)
    return array if device is None else device.send(array)


def _concat_arrays(arrays, padding):
    """Stacks arrays along a new first axis on their own device."""
    first = arrays[0]
    if not backend.is_array(first):
        arrays = numpy.asarray(arrays)
        if padding is None:
            return arrays
        first = arrays[0]
    if padding is not None:
        return _concat_arrays_with_padding(arrays, padding)
    if isinstance(first, numpy.ndarray):
        return numpy.concatenate([array[None] for array in arrays])
    device = backend.get_device_from_array(first)
    with backend.using_device(device):
        return device.xp.stack(list(arrays))


def _concat_arrays_with_padding(arrays, padding):
    shape = [len(arrays), *map(max, zip(*(numpy.shape(array) for array in arrays)))]
    device = backend.get_device_from_array(arrays[0])
    with backend.using_device(device):
        result = device.xp.full(shape, padding, dtype=arrays[0].dtype)
        for row, array in enumerate(arrays):
            result[(row, *map(slice, array.shape))] = array
    return result


class Conveyor:
    """Sends arrays of one place in the examples to a GPU on a stream, through page-locked memory that is used again."""

    def __init__(self, device=None, stream=None):
        self.device = device
        self.stream = stream
        self._sent = collections.deque()
        self._free = []

    def put(self, array):
        """Starts to send an array."""
        if self.device is None or isinstance(self.device, _cpu.CpuDevice) or not isinstance(array, numpy.ndarray):
            self._sent.append((to_device(self.device, array), None))
            return
        with cuda.get_device_from_id(self.device.device.id):
            if self.stream is None:
                self.stream = cuda.Stream(non_blocking=True)
            pinned = self._pinned(array.nbytes)
            host = numpy.frombuffer(pinned[0], array.dtype, array.size).reshape(array.shape)
            host[...] = array
            sent = cuda.cupy.empty(array.shape, array.dtype)
            sent.set(host, self.stream)
        self._sent.append((sent, pinned))

    def _pinned(self, size):
        if self._free and self._free[-1][1] >= size:
            return self._free.pop()
        return cuda.cupy.cuda.alloc_pinned_memory(max(size, 1)), size

    def get(self, sync=True):
        """Returns the array that was put first."""
        array, pinned = self._sent.popleft()
        if pinned is not None:
            if sync:
                self.stream.synchronize()
            self._free.append(pinned)
        return array


class ConcatWithAsyncTransfer:
    """Concatenates examples as `concat_examples` does and sends the arrays to the GPU on a stream of its own.

    `stream` is the stream of the transfer, a new one by default. With a `compute_stream`, that stream waits for the transfer and the host does not.
    """

    def __init__(self, stream=None, compute_stream=None):
        self._stream = stream
        self.compute_stream = compute_stream
        self._device = None
        self._conveyors = {}

    def _conveyor(self, key):
        if key not in self._conveyors:
            self._conveyors[key] = Conveyor(self._device, self._stream)
        return self._conveyors[key]

    def __call__(self, batch, device=None, padding=None):
        if not len(batch):
            raise ValueError('an empty batch has no arrays to concatenate')
        self._prepare(_get_device(device))
        arrays = concat_examples_func(batch, None, padding)
        keyed = arrays.items() if isinstance(arrays, dict) else enumerate(arrays) if isinstance(arrays, tuple) else [(None, arrays)]
        keyed = list(keyed)
        for key, array in keyed:
            self._conveyor(key).put(array)
        wait = self.compute_stream is None
        sent = [self._conveyor(key).get(sync=wait) for key, _ in keyed]
        if not wait and self._stream is not None:
            event = cuda.cupy.cuda.Event()
            event.record(self._stream)
            self.compute_stream.wait_event(event)
        if isinstance(arrays, dict):
            return {key: array for (key, _), array in zip(keyed, sent)}
        return tuple(sent) if isinstance(arrays, tuple) else sent[0]

    def _prepare(self, device):
        if device is None or device == self._device:
            return
        if self._device is not None:
            raise RuntimeError(f'this converter sends to {self._device}: make another one for {device}')
        self._device = device
        if isinstance(device, cuda.GpuDevice) and self._stream is None:
            with cuda.get_device_from_id(device.device.id):
                self._stream = cuda.Stream(non_blocking=True)
