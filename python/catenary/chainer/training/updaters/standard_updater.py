"""The updater of one model."""

import functools
import warnings

from ... import _old_api, backend
from ...backends import cuda
from ...dataset import convert
from ...device_resident import DeviceResidentsVisitor
from .._accessors import accessors
from ..updater import Updater


def _of_main_iterator(name):
    """Returns a property that reads an attribute of the main iterator."""
    return property(lambda self: getattr(self._iterators['main'], name))


class StandardUpdater(Updater):
    """Updates the parameters of an optimizer's target with each batch of an iterator.

    Iterators and optimizers may be dicts, of which 'main' is used. `device` is where the model is sent, and `input_device` (the same by default)
    where `converter` sends the batches. `loss_func` is the optimizer's target by default. `loss_scale` multiplies the loss of 16-bit models.
    `auto_new_epoch` calls the optimizers' `new_epoch` after each epoch.
    """

    def __init__(self, iterator, optimizer, converter=convert.concat_examples, device=None, loss_func=None, loss_scale=None, auto_new_epoch=True,
                 **kwargs):
        input_device = kwargs.pop('input_device', None)
        if kwargs:
            raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
        self._iterators = iterator if isinstance(iterator, dict) else {'main': iterator}
        self._optimizers = optimizer if isinstance(optimizer, dict) else {'main': optimizer}
        self.converter = converter
        self.loss_func = loss_func
        self.iteration = 0
        self.auto_new_epoch = auto_new_epoch
        self._device = convert._get_device(device)
        self._input_device = self._device if input_device is None else convert._get_device(input_device)
        self._loss_scale = loss_scale
        for each in self._optimizers.values():
            if self._device is not None:
                _send(each.target, self._device)
            if loss_scale is not None:
                each.set_loss_scale(loss_scale)
            if auto_new_epoch:
                each.use_auto_new_epoch = True

    @property
    def device(self):
        """The device of the model, or None if it stays where it is."""
        return self._device

    @property
    def input_device(self):
        """The device that the converter gets."""
        return self._input_device

    @property
    def loss_scale(self):
        """The factor of the loss: the argument, or the scale that the main optimizer chose for a 16-bit model, or None."""
        return getattr(self.get_optimizer('main'), '_loss_scale', None) if self._loss_scale is None else self._loss_scale

    @loss_scale.setter
    def loss_scale(self, scale):
        self._loss_scale = scale

    epoch = _of_main_iterator('epoch')
    epoch_detail = _of_main_iterator('epoch_detail')
    previous_epoch_detail = _of_main_iterator('previous_epoch_detail')
    is_new_epoch = _of_main_iterator('is_new_epoch')

    def finalize(self):
        """Finalizes the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()

    get_optimizer, get_all_optimizers = accessors('optimizer')
    get_iterator = accessors('iterator')[0]

    def update(self):
        self.update_core()
        self.iteration += 1

    def update_core(self):
        """Updates the parameters with the next batch. Subclasses may define another algorithm."""
        iterator, optimizer = self._iterators['main'], self._optimizers['main']
        arrays = convert._call_converter(self.converter, iterator.next(), self._input_device)
        call_with(functools.partial(optimizer.update, self.loss_func or optimizer.target), arrays)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)

    def serialize(self, serializer):
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer['iterator:' + name])
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer['optimizer:' + name])
            optimizer.target.serialize(serializer['model:' + name])
        self.iteration = serializer('iteration', self.iteration)


@_old_api.change_call
def call_with(function, arrays):
    """Calls a function with a converter's result: a tuple gives several arguments, and a dict named ones."""
    if isinstance(arrays, tuple):
        return function(*arrays)
    return function(**arrays) if isinstance(arrays, dict) else function(arrays)


class _FromHost(DeviceResidentsVisitor):
    """Sends the parts of a model that are on the host. Those on GPUs stay there, as models may be spread over several."""

    def __init__(self, device):
        self._device = device
        self.has_left_some = False

    def _stays(self, place):
        is_on_gpu = isinstance(place, cuda.GpuDevice)
        self.has_left_some |= is_on_gpu and place != self._device
        return is_on_gpu

    def visit_device_resident(self, device_resident):
        device_resident._device = self._device

    def visit_array(self, arr):
        return arr if self._stays(backend.get_device_from_array(arr)) else self._device.send(arr)

    def visit_variable(self, param):
        if not self._stays(param.device):
            param.to_device(self._device)


def _send(target, device):
    """Sends a model to a device."""
    if not (isinstance(device, cuda.GpuDevice) and any(isinstance(link.device, cuda.GpuDevice) for link in target.links())):
        target.to_device(device)
        return
    visitor = _FromHost(device)
    target.device_resident_accept(visitor)
    if visitor.has_left_some:
        warnings.warn(f'parts of the model stay on another GPU, although the updater is for {device}: send the model with to_device() if it should '
                      'move', FutureWarning, stacklevel=4)
