"""A progress bar of a training."""

import sys

from .. import extension
from . import util


class ProgressBar(extension.Extension):
    """Prints a progress bar of the whole training and of the epoch every `update_interval` iterations.

    `training_length` is the length and its unit, by default that of the stop trigger.
    """

    def __init__(self, training_length=None, update_interval=100, bar_length=50, out=sys.stdout):
        self._bar, self._bar_length, self._out = None, bar_length, out
        self._update_interval, self._training_length = update_interval, training_length

    def __call__(self, trainer):
        if self._training_length is None:
            stop = trainer.stop_trigger
            if not hasattr(stop, 'get_training_length'):
                raise TypeError('the stop trigger has no length of training: give training_length to ProgressBar')
            self._training_length = stop.get_training_length()
        if self._bar is None:
            self._bar = _TrainingBar(trainer, self._training_length, self._bar_length, self._out)
        if trainer.updater.iteration % self._update_interval == 0:
            self._bar.update()

    def finalize(self):
        if self._bar is not None:
            self._bar.close()


class _TrainingBar(util.ProgressBar):
    def __init__(self, trainer, length, bar_length, out):
        super().__init__(bar_length, out)
        self._trainer = trainer
        self._length, self._unit = length
        self._updater = trainer.updater

    def get_lines(self):
        iteration, epoch = self._updater.iteration, self._updater.epoch_detail
        speed, epochs = self.update_speed(iteration, epoch)
        is_iterations = self._unit == 'iteration'
        done, rate = (iteration, speed) if is_iterations else (epoch, epochs)
        left = (self._length - done) / rate if rate else 0.
        return [f'     total {util.bar(min(done / self._length, 1.), self._bar_length)}\n',
                f'this epoch {util.bar(epoch - int(epoch), self._bar_length)}\n',
                f'{iteration:10} iter, {int(epoch)} epoch / {self._length} {self._unit}s\n', util.speed_line(speed, max(left, 0.))]
