"""ChainerMN over the library's own communicators, under the name `chainermn`: without mpi4py, by `catenary launch` or by MPI."""

if __name__ != 'chainermn':
    raise ImportError('catenary.chainermn is served as `chainermn`: unset CATENARY_CHAINER and CATENARY_PYTHON_HOOKS', name=__name__)

import chainer  # noqa: E402
from chainermn import (communicators, datasets, extensions, functions, global_except_hook, iterators, links,  # noqa: E402
                       optimizers)
from chainermn.communicators import CommunicatorBase, create_communicator  # noqa: E402, F401
from chainermn.datasets import DataSizeError, scatter_dataset, scatter_index  # noqa: E402, F401
from chainermn.extensions import create_multi_node_checkpointer, create_multi_node_evaluator  # noqa: E402, F401
from chainermn.links import MultiNodeChainList  # noqa: E402, F401
from chainermn.optimizers import create_multi_node_optimizer  # noqa: E402, F401

__version__ = chainer.__version__

global_except_hook._add_hook_if_enabled()
