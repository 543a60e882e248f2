"""ChainerMN over the library's own communicators, under the name `chainermn`: without mpi4py, by `catenary launch` or by MPI.

CATENARY_CHAINER=0 gives the package that Chainer 7.8.1 brings.
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

global_except_hook._add_hook_if_enabled()
