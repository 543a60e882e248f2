"""Serves `cupy`, `cupyx`, `cupy_backends`, `chainer`, `chainermn` and `onnx_chainer` from `catenary`.

CATENARY_CHAINER=original leaves the last three to an installed Chainer.

catenary_hook.pth calls `install()` whenever an interpreter starts. To keep that fast, this module imports only `sys` until a program imports one
of the names below. CATENARY_PYTHON_HOOKS=0 disables all hooks. NumPy is never changed.
"""

import sys

SERVED = frozenset(('cupy', 'cupyx', 'cupy_backends'))
CHAINERS = frozenset(('chainer', 'chainerx', 'chainermn', 'onnx_chainer'))


def setting(name, *values):
    """Returns the value of an environment variable, or an empty string. Raises ValueError for a value that is not among `values`."""
    import os
    value = os.environ.get(name, '')
    if value and value not in values:
        raise ValueError('%s=%r: expected %s or %s' % (name, value, ', '.join(values[:-1]), values[-1]))
    return value


class Finder:
    """The import hook, an entry of sys.meta_path."""

    def __init__(self):
        self._serves = None  # is `cupy` ours? Decided at first use
        self._deciding = False
        self._owns = None  # are the names in CHAINERS ours?

    def find_spec(self, name, path=None, target=None):
        package, _, own = name.partition('.')
        if package in CHAINERS:
            return self._own(name, path) if self.owns() else None
        if package in SERVED:
            return self._alias(name)
        if package == 'catenary':
            if own.partition('.')[0] in CHAINERS:
                return self._alias_of(name) if self.owns() else None
            if own.startswith('cupyx.'):
                from catenary import _wheel
                return _wheel.find_spec(name)
        return None

    def serves(self):
        """Do the names in SERVED mean ours? Yes if no other CuPy is installed or CATENARY_CUPY=1."""
        if self._serves is None and not self._deciding:
            self._deciding = True  # the search for another CuPy asks all finders, including this one
            try:
                self._serves = self._decide()
            finally:
                self._deciding = False
        return bool(self._serves)

    def _decide(self):
        import importlib.util
        import os
        asked = setting('CATENARY_CUPY', '0', '1')
        loaded = sys.modules.get('cupy')
        if loaded is not None and loaded is not sys.modules.get('catenary.cupy'):
            return False
        try:
            other = importlib.util.find_spec('cupy') if loaded is None else None
        except (ImportError, ValueError):
            other = None
        if other is None or other.origin is None:  # a folder without __init__.py is not CuPy
            return True
        from catenary import _wheel
        if _wheel.is_bare(os.path.dirname(other.origin)):
            return True
        ours = asked == '1'
        says = ("`import cupy` gives Catenary's, as CATENARY_CUPY=1 asks; %s is not used" if ours else
                "`import cupy` gives %s; CATENARY_CUPY=1 gives Catenary's")
        sys.stderr.write('catenary: two CuPys are installed: ' + says % os.path.dirname(other.origin) + '\n')
        return ours

    def owns(self):
        """Do the names in CHAINERS mean ours? Yes, except with CATENARY_CHAINER=original."""
        if self._owns is None and not self._deciding:
            import os
            asked = setting('CATENARY_CHAINER', 'own', 'original')
            owns, other = 'chainer' not in sys.modules and asked != 'original', self._original()
            self._owns = owns
            if other is not None:
                says = ("`import chainer` gives Catenary's; CATENARY_CHAINER=original gives %s" if owns else
                        "`import chainer` gives %s, as CATENARY_CHAINER=original asks")
                sys.stderr.write('catenary: two Chainers are installed: ' + says % os.path.dirname(other.origin) + '\n')
        return bool(self._owns)

    def _original(self):
        """Returns the spec of an installed Chainer, or None."""
        import importlib.util
        if 'chainer' in sys.modules:
            return None
        self._deciding = True  # keeps this finder out of the search
        try:
            found = importlib.util.find_spec('chainer')
        except (ImportError, ValueError):
            found = None
        finally:
            self._deciding = False
        return found if found is not None and found.origin else None

    def _own(self, name, path):
        import importlib.util
        import os
        here = os.path.dirname(os.path.abspath(__file__))
        if name == 'chainerx':
            return importlib.util.spec_from_file_location(name, os.path.join(here, 'chainer', '_chainerx.py'))
        if name in CHAINERS:
            ours = os.path.join(here, name)
            return importlib.util.spec_from_file_location(name, os.path.join(ours, '__init__.py'), submodule_search_locations=[ours])
        from importlib.machinery import PathFinder
        found = PathFinder.find_spec(name, path)
        if found is None and name.startswith('chainer.'):
            from chainer import _paths
            found = _paths.spec_of(name)
        return found

    def _alias_of(self, name):
        """Returns the spec of catenary.X as another name of X."""
        real = name.partition('.')[2]
        import importlib.util
        found = importlib.util.find_spec(real)
        if found is None:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, AliasLoader(real), origin=found.origin, is_package=found.submodule_search_locations is not None)

    def _alias(self, name):
        if not self.serves():
            return None
        import importlib.util
        real = 'catenary.' + name
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError as error:
            if error.name == name:
                error.name = real  # else `from cupy import …` drops the message (_wheel.not_imported)
                raise
            if not real.startswith(str(error.name)):
                raise  # a dependency of our module is missing, or the module is CuPy's and absent
            found = None
        if found is None:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, AliasLoader(real), origin=found.origin,
                          is_package=found.submodule_search_locations is not None)


class Absent:
    """The last entry of sys.meta_path. For a name of CuPy's that no finder found, it raises an error that says where to look."""

    def find_spec(self, name, path=None, target=None):
        package, _, own = name.partition('.')
        # importlib.util.find_spec only asks whether the module exists
        if name == 'chainer' and sys._getframe(2).f_globals.get('__name__') != 'importlib.util':
            raise ModuleNotFoundError("chainer is not installed, but CATENARY_CHAINER=original asks for it. Without that variable, "
                                      "`import chainer` gives Catenary's", name=name)
        if package == 'catenary' and own.partition('.')[0] in SERVED:
            from catenary import _wheel
            if error := _wheel.not_imported(own):
                raise error
        return None


class AliasLoader:
    """Gives the module of another name: one object under two names, or `isinstance` fails between them."""

    def __init__(self, real):
        self.real = real

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        import importlib
        # the import system uses the entry in sys.modules afterwards
        name = module.__spec__.name
        sys.modules[name] = real = importlib.import_module(self.real)
        if name in SERVED:
            real.__name__ = name  # programs identify arrays by this name

    # runpy uses these for `python -m cupy.something`
    def get_code(self, name):
        import importlib.util
        return importlib.util.find_spec(self.real).loader.get_code(self.real)


def install(environ=None):
    """Installs the finder before all others and Absent behind them, once, unless CATENARY_PYTHON_HOOKS=0. Returns the finder, or None."""
    if environ is None:
        environ = sys.modules['os'].environ if 'os' in sys.modules else __import__('os').environ
    hooks = environ.get('CATENARY_PYTHON_HOOKS', '')
    if hooks == '0':
        return None
    if hooks not in ('', '1'):  # no exception, as this runs when Python starts
        sys.stderr.write('catenary: CATENARY_PYTHON_HOOKS=%r: expected 0 or 1\n' % hooks)
    for finder in sys.meta_path:
        if type(finder).__name__ == 'Finder' and type(finder).__module__ == __name__:
            return finder
    finder = Finder()
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(Absent())
    return finder
