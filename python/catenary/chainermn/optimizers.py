"""Optimizers that exchange gradients with the other ranks before each update."""

import chainer


class _MultiNodeOptimizer:
    """Wraps an optimizer: its attributes are the optimizer's, and update() averages the gradients of all ranks first.

    The first update(), and each after new parameters have appeared, copies rank 0's parameters to all ranks instead.
    """

    def __init__(self, actual_optimizer, communicator, zero_fill):
        for name, value in (('communicator', communicator), ('actual_optimizer', actual_optimizer), ('zero_fill', zero_fill), ('_known', None)):
            object.__setattr__(self, name, value)

    def setup(self, link):
        self.actual_optimizer.setup(link)
        return self

    def is_changed(self, target):
        """Returns whether the model has other parameters than at the last call."""
        names = [name for name, param in sorted(target.namedparams()) if param.array is not None]
        before = self._known
        object.__setattr__(self, '_known', names)
        return names != before

    def _lossfun(self, lossfun, args, kwargs):
        """Computes the gradients of a loss function, if there is one."""
        if lossfun is None:
            return
        optimizer = self.actual_optimizer
        target = optimizer.target
        cleared = getattr(optimizer, '_use_cleargrads', True)
        loss = lossfun(*args, **kwargs)
        if cleared:
            target.cleargrads()
        else:
            target.zerograds()
        loss.backward(loss_scale=optimizer._loss_scale)

    def update(self, lossfun=None, *args, **kwds):
        """Computes gradients, averages them over all ranks, and updates the parameters."""
        self._lossfun(lossfun, args, kwds)
        target = self.actual_optimizer.target
        if self.is_changed(target):
            self.communicator.bcast_data(target)
            return
        self.communicator.multi_node_mean_grad(target, self.zero_fill)
        self.actual_optimizer.update(None)

    def __getattr__(self, name):
        return getattr(self.actual_optimizer, name)

    def __setattr__(self, name, value):
        setattr(self.actual_optimizer, name, value)


class _DoubleBufferingOptimizer(_MultiNodeOptimizer):
    """Updates with the gradients of the iteration before, whose exchange runs while the next ones are computed."""

    def __init__(self, actual_optimizer, communicator, zero_fill):
        super().__init__(actual_optimizer, communicator, zero_fill)
        object.__setattr__(self, 'communicated_target', None)
        object.__setattr__(self, 'needs_update', False)

    def _begin(self, target):
        """Copies the parameters of rank 0, and makes the second set of gradients."""
        self.wait()
        self.communicator.bcast_data(target)
        other = target.copy('copy')
        other.cleargrads()
        object.__setattr__(self, 'communicated_target', other)
        object.__setattr__(self, 'needs_update', False)

    def update(self, lossfun=None, *args, **kwds):
        """Computes gradients, starts their exchange, and updates the parameters by those of the iteration before."""
        self._lossfun(lossfun, args, kwds)
        target = self.actual_optimizer.target
        if self.is_changed(target):
            self._begin(target)
            return
        self.wait()
        _swap(target, self.communicated_target)
        self.communicator._multi_node_mean_grad_async(self.communicated_target, self.zero_fill, None)
        if self.needs_update:
            self.actual_optimizer.update(None)
        object.__setattr__(self, 'needs_update', True)

    def wait(self):
        """Waits for the exchange in progress."""
        if chainer.cuda.available:
            chainer.cuda.Stream.null.synchronize()


def _swap(first, second):
    """Swaps the gradients of two models together with their loss scales."""
    others = dict(second.namedparams())
    for name, a in first.namedparams():
        b = others[name]
        scales = a._loss_scale, b._loss_scale
        a.grad, b.grad = b.grad, a.grad
        b._loss_scale, a._loss_scale = scales


def create_multi_node_optimizer(actual_optimizer, communicator, double_buffering=False, zero_fill=True):
    """Returns an optimizer that averages gradients over all ranks before each update (chainermn.create_multi_node_optimizer).

    double_buffering: the exchange overlaps the next iteration, whose gradients are then one iteration old. It needs pure_nccl.
    zero_fill: a missing gradient counts as zeros. Raises ValueError for double buffering with another communicator.
    """
    if not double_buffering:
        return _MultiNodeOptimizer(actual_optimizer, communicator, zero_fill)
    from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator
    if not isinstance(communicator, PureNcclCommunicator):
        raise ValueError('double buffering needs the communicator pure_nccl, not %s' % type(communicator).__name__)
    return _DoubleBufferingOptimizer(actual_optimizer, communicator, zero_fill)
