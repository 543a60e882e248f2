import chainer
import numpy

from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class PureNcclCommunicator(MpiCommunicatorBase):
    """A communicator that exchanges gradients in one buffer, between GPUs by NCCL or RCCL, and through the host for other devices."""

    _name = 'pure_nccl'

    def __init__(self, mpi_comm=None, name=None):
        super().__init__(mpi_comm, name)
        with self.config_scope():
            self.allreduce_grad_dtype = None
        self._by_dtype = {}

    def set_config(self, name, value=True, **kwargs):
        """Sets 'allreduce_grad_dtype', a floating dtype or None, or a setting of all communicators."""
        if name != 'allreduce_grad_dtype':
            return super().set_config(name, value, **kwargs)
        dtype = None if value is None else numpy.dtype(value)
        if dtype is not None and dtype.kind != 'f':
            raise ValueError('set_config: allreduce_grad_dtype is %s; expected float16, float32, float64 or None' % dtype)
        with self.config_scope():
            self.allreduce_grad_dtype = dtype

    def get_config(self, name=None):
        return self.allreduce_grad_dtype if name == 'allreduce_grad_dtype' else super().get_config(name)

    def finalize(self):
        """Waits until all ranks call it. The GPUs leave NCCL's group together."""
        for exchange in self._by_dtype.values():
            exchange.finalize()
        self._by_dtype.clear()
        super().finalize()

    def _exchange(self):
        dtype = self.allreduce_grad_dtype
        if dtype is None:
            dtype = numpy.dtype(chainer.get_dtype(map_mixed16=numpy.float16))
        if dtype not in self._by_dtype:
            self._by_dtype[dtype] = self._ranks.as_named('pure_nccl', dtype)
        return self._by_dtype[dtype]

    def _multi_node_mean_grad_async(self, model, zero_fill, stream):
        """Starts the exchange for a double-buffering optimizer. On a GPU it returns before the sums are done."""
        self.multi_node_mean_grad(model, zero_fill)
