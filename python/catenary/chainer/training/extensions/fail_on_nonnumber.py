"""An end of trainings that diverge."""

from ... import backend
from .. import extension


class FailOnNonNumber(extension.Extension):
    """Raises RuntimeError when a parameter is NaN or infinite."""

    def __call__(self, trainer):
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams():
                if param.array is None:
                    continue
                xp = backend.get_array_module(param.array)
                with backend.using_device(param.device):
                    is_finite = bool(xp.isfinite(param.array).all())
                if not is_finite:
                    raise RuntimeError(f'the parameter {path} of optimizer {name!r} is not finite: the training diverges. Lower the learning rate, or '
                                       'clip gradients')
