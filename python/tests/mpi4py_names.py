"""A pytest plugin for ChainerMN's own tests on machines without mpi4py: the subset of mpi4py that they use, over our communicator. Tests of ChainerX
are skipped."""

import socket
import sys
import types


class Status:
    source = tag = -1

    def Get_source(self):
        return self.source

    def Get_tag(self):
        return self.tag


def _made():
    from chainermn.communicators._mpi import Comm
    from catenary import _core
    mpi = types.ModuleType('mpi4py.MPI')
    mpi.Comm = Comm
    mpi.COMM_WORLD = Comm(_core.Communicator.create('naive', []))
    mpi.Get_processor_name = socket.gethostname
    mpi.Status = Status
    package = types.ModuleType('mpi4py')
    package.MPI = mpi
    package.__path__ = []
    return package


def pytest_configure(config):
    try:
        import mpi4py.MPI  # noqa: F401
    except ImportError:
        package = _made()
        sys.modules.update({'mpi4py': package, 'mpi4py.MPI': package.MPI})


def pytest_collection_modifyitems(config, items):
    left = [item for item in items if not getattr(item, 'callspec', None) or not item.callspec.params.get('use_chx')]
    left = [item for item in left if '_chx' not in item.name]
    chosen = set(left)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = left
