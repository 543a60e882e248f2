"""ChainerMN over the library's own communicators, under the name `chainermn`: without mpi4py, by `catenary launch` or by MPI.

The finder (catenary._finder) puts this folder before the original's, which Chainer 7.8.1 brings: a module that is not here is the
original's, and calls these communicators. CATENARY_CHAINER=0 gives the original alone.
"""

if __name__ != 'chainermn':
    raise ImportError('%s: import this package as chainermn. Without CATENARY_CHAINER=0 and without another CuPy, that name leads to it' % __name__, name=__name__)

from catenary import _finder

try:
    import chainer
except ModuleNotFoundError as error:
    if error.name != 'chainer':
        raise
    raise ModuleNotFoundError('chainermn runs on Chainer %s, which is not installed. %s' % (_finder.CHAINER, _finder.HOW_TO_INSTALL),
                              name='chainer') from None

if chainer.__version__ != _finder.CHAINER:
    raise ImportError("Catenary's chainermn supports Chainer %s, but Chainer %s is installed; CATENARY_CHAINER=0 selects that version's own chainermn"
                      % (_finder.CHAINER, chainer.__version__), name='chainermn')

from chainermn import (communicators, datasets, extensions, functions, global_except_hook, iterators, links,  # noqa: E402
                       optimizers)
from chainermn.communicators import CommunicatorBase, create_communicator  # noqa: E402, F401
from chainermn.datasets import DataSizeError, scatter_dataset, scatter_index  # noqa: E402, F401
from chainermn.extensions import create_multi_node_checkpointer, create_multi_node_evaluator  # noqa: E402, F401
from chainermn.links import MultiNodeChainList  # noqa: E402, F401
from chainermn.optimizers import create_multi_node_optimizer  # noqa: E402, F401

__version__ = chainer.__version__


def _swap_grad(self, params, others):
    """Swaps gradients together with their loss scales, as double buffering mixes two iterations."""
    for (_, a), (_, b) in zip(params, others):
        scales = a._loss_scale, b._loss_scale
        a.grad, b.grad = b.grad, a.grad
        b._loss_scale, a._loss_scale = scales


optimizers._DoubleBufferingOptimizer.swap_grad = _swap_grad

global_except_hook._add_hook_if_enabled()
