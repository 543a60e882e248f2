"""A trainer without a model."""

import math


def get_trainer_with_mock_updater(stop_trigger=(10, 'iteration'), iter_per_epoch=10, extensions=None):
    """Returns a trainer whose updater, a `unittest.mock.Mock`, only counts iterations. An epoch has `iter_per_epoch` of them."""
    from unittest import mock

    from ..training import Trainer
    check_available()
    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration = updater.epoch = updater.epoch_detail = 0
    updater.is_new_epoch = True
    updater.previous_epoch_detail = None

    def update():
        updater.iteration += 1
        updater.epoch = math.floor(updater.iteration / iter_per_epoch)
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.previous_epoch_detail = (updater.iteration - 1) / iter_per_epoch
        updater.is_new_epoch = math.floor(updater.previous_epoch_detail) != updater.epoch
    updater.update = update
    return Trainer(updater, stop_trigger, extensions=extensions)


def is_available():
    """Returns True, because every supported Python has `unittest.mock`."""
    return True


def check_available():
    """Raises RuntimeError if `unittest.mock` is missing."""


def get_error():
    """Returns why `unittest.mock` is missing: None."""
