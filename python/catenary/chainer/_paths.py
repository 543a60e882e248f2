"""Where the names of the original's deep modules lie here: `chainer.functions.math.sum` and so on."""

import importlib

from catenary import _core, _updates

# module -> (module here, its names)
_MODULES = {'chainer.links.model.classifier': ('chainer.links', ('Classifier',)),
            'chainer.links.connection.linear': ('chainer.links', ('Linear',)),
            'chainer.initializers.constant': ('chainer.initializers', ('Constant', 'Identity', 'NaN', 'One', 'Zero')),
            'chainer.initializers.normal': ('chainer.initializers', ('GlorotNormal', 'HeNormal', 'LeCunNormal', 'Normal')),
            'chainer.initializers.uniform': ('chainer.initializers', ('GlorotUniform', 'HeUniform', 'LeCunUniform', 'Uniform')),
            'chainer.initializers.orthogonal': ('chainer.initializers', ('Orthogonal',)),
            'chainer.initializers.sampling': ('chainer.initializers', ('DownsamplingConvFilter', 'UpsamplingDeconvFilter'))}


def _all():
    """Returns the table with the modules of functions and optimizers."""
    table = dict(_MODULES)
    for path in _core._chainer_rows():
        module, _, name = path.rpartition('.')
        table[module] = ('chainer.functions', (*table.get(module, (None, ()))[1], name))
    for module, name in _updates.OPTIMIZERS.items():
        table['chainer.optimizers.' + module] = ('chainer.optimizers._methods', (name, name + 'Rule'))
    packages = {name.rpartition('.')[0] for name in table} - {'chainer.functions', 'chainer.links', 'chainer.optimizers', 'chainer.initializers'}
    for package in packages - set(table):
        table[package] = ('', ())
    return table


_table = None


def find(name):
    """Returns the module here and the names of one of the original's deep modules, or None."""
    global _table
    if _table is None:
        _table = _all()
    return _table.get(name)


class Loader:
    """Fills a deep module with its names."""

    def __init__(self, home, names):
        self._home, self._names = home, names

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if self._home:
            home = importlib.import_module(self._home)
            for name in self._names:
                setattr(module, name, getattr(home, name))


def spec_of(name):
    """Returns the spec of one of the original's deep modules, or None."""
    from importlib.machinery import ModuleSpec
    found = find(name)
    if found is None:
        return None
    spec = ModuleSpec(name, Loader(*found), origin='catenary/chainer/_paths.py')
    if not found[0]:
        spec.submodule_search_locations = []
    return spec
