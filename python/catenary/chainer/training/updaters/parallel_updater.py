"""The updater of one model on several devices."""

from ... import backend
from ...dataset import convert
from .standard_updater import StandardUpdater, call_with


class ParallelUpdater(StandardUpdater):
    """Splits each batch among copies of the model on several devices and adds up their gradients.

    `devices` is a dict of the devices of the copies. 'main' is that of the optimizer's model. `models` is a dict of the models if they
    exist. The other arguments are `StandardUpdater`'s.
    """

    def __init__(self, iterator, optimizer, converter=convert.concat_examples, models=None, devices=None, loss_func=None, loss_scale=None,
                 auto_new_epoch=True):
        options = {'loss_func': loss_func, 'loss_scale': loss_scale, 'auto_new_epoch': auto_new_epoch}
        super().__init__(iterator, optimizer, converter, **options)
        if models is None:
            if devices is None:
                raise ValueError('a ParallelUpdater needs models or devices')
            devices = {name: convert._get_device(device) for name, device in devices.items()}
            models = self._copies(devices)
        elif devices is None:
            devices = {name: model.device for name, model in models.items()}
        self._devices = {name: convert._get_device(device) for name, device in devices.items()}
        self._models = models

    def _copies(self, devices):
        if 'main' not in devices:
            raise KeyError("the dict of devices needs the key 'main'")
        optimizer = self._optimizers['main']
        names = [name for name in devices if name != 'main']
        models = {name: optimizer.target.copy() for name in names}
        models['main'] = optimizer.target
        for name, model in models.items():
            model.cleargrads()
            if devices[name] is not None:
                with backend.using_device(devices[name]):
                    model.to_device(devices[name])
        return models

    def connect_trainer(self, trainer):
        """Lets the trainer report the values of all copies."""
        optimizer = self.get_optimizer('main')
        for name, model in self._models.items():
            if model is not optimizer.target:
                trainer.reporter.add_observer(name, model)

    def update_core(self):
        iterator, optimizer = self.get_iterator('main'), self.get_optimizer('main')
        batch = list(iterator.next())
        main = self._models['main']
        others = {name: model for name, model in self._models.items() if name != 'main'}
        names = list(self._models)
        for model in self._models.values():
            model.cleargrads()
        for number, name in enumerate(names):
            part = batch[number::len(names)]
            if part:
                self._backward(name, part)
        for model in others.values():
            main.addgrads(model)
        optimizer.update()
        for model in others.values():
            model.copyparams(main)
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(auto=True)

    def _backward(self, name, examples):
        model, device = self._models[name], self._devices[name]
        with backend.using_device(model.device if device is None else device):
            arrays = convert._call_converter(self.converter, examples, device)
            loss = call_with(self.loss_func or model, arrays)
            scale = self.loss_scale
            loss.backward() if scale is None else loss.backward(loss_scale=scale)
