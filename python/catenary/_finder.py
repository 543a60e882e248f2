"""Serves `cupy`, `cupyx`, `cupy_backends`, `chainer`, `chainermn` and `onnx_chainer` from `catenary`, and makes Chainer 7.8.1 importable on a current Python.

Which `chainer` is served, CATENARY_CHAINER says: `own` is the package catenary/chainer, `original` an installed Chainer, and so do `0`
and `1`. Without it, an installed Chainer is used, and ours where there is none.

catenary_hook.pth calls `install()` whenever an interpreter starts. To keep that fast, this module imports only `sys` until a program imports one
of the names below. CATENARY_PYTHON_HOOKS=0 disables all hooks. NumPy is never changed.
"""

import sys

SERVED = frozenset(('cupy', 'cupyx', 'cupy_backends'))
CHAINER = '7.8.1'
# Modules of Chainer that catenary._precision changes, so that 16-bit models train as in the library.
TRAINING = frozenset(('chainer.optimizer', 'chainer.variable', 'chainer.training.updaters.standard_updater'))
HOW_TO_INSTALL = ("Chainer 7.8.1 runs on Catenary as it is. Its setup needs a setuptools that has pkg_resources, and pip 25.3 or later:\n"
                  "  python -m pip install -U pip; echo 'setuptools<82' >c.txt; python -m pip install --build-constraint c.txt chainer==7.8.1")

# Modules of Chainer that use names removed from Python or NumPy, or warn without need: the SHA-256 of the source, and the replacements. Both texts of
# a pair have equally many lines, so that tracebacks show the right ones.
PATCHES = {
    'chainer._environment_check': (
        'c7d1eaf0c5e1464abfb79f6fec532af073b79b70890311384afe68153047838c',
        (('import numpy.distutils.system_info\n', '\n'),
         ('import pkg_resources\n', 'from catenary import _requirements as pkg_resources\n'),
         ("numpy.distutils.system_info.get_info('blas_opt')", 'None'))),
    # it warns at each start that cuDNN is missing, which Catenary does not need
    'chainer.backends.cuda': (
        '3e2994a6a5cc58cebc03389f7042aaa06d0a89e59fd4ae68390ad2b9d5247027',
        (("os.environ.get('CHAINER_CUDNN', '1')) == 0",
          "os.environ.get('CHAINER_CUDNN', '1')) == 0 or hasattr(cupy, 'catenary_version')"),)),
    'chainer.functions.array.as_strided': (
        '978b0e4dfbbac98ff17411505e7a117a01d07701bd74c23016ecb2a4ed972d85',
        (("np.sctypes['int']", '(np.int8, np.int16, np.int32, np.int64)'),
         ("np.sctypes['float']", '(np.float16, np.float32, np.float64)'))),
    'chainer.functions.array.resize_images': (
        '70a2f6e51cc18dbde51d5e38b9b3960669c0bb8c9ff04662ce19a24a8518b282',
        (('numpy.float)', 'float)'),)),
    'chainer.testing.helper': (
        'e89b72b6f2f2bb9a8aea6c4aa76a8c07c1a1ee7aa18ba980e4c945f17512793f',
        (('import pkg_resources\n', 'from catenary import _requirements as pkg_resources\n'),)),
}


_CHAINERS = ('0', '1', 'own', 'original')


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
        self._grafts = None
        self._owns = None  # is `chainer` ours?
        self._chainermn = None  # is `chainermn` ours?

    def find_spec(self, name, path=None, target=None):
        package = name.partition('.')[0]
        if package in ('chainer', 'chainerx') and self.owns():
            return self._own(name, path)
        if name.startswith('catenary.chainer.') or name == 'catenary.chainer':
            return self._own_alias(name)
        if package == 'chainer' and self.grafts():
            return self._grafted(name, path)
        if name in TRAINING and self.is_ours():
            return self._trained(name, path)
        if package in SERVED:
            return self._alias(name)
        if package == 'chainermn':
            return self._ranks(name, path)
        if package == 'onnx_chainer' and (self.owns() or self.grafts()):
            return self._ours(name, path)
        if name == 'catenary.chainermn' or name.startswith('catenary.chainermn.'):
            return self._ranks_alias(name)
        if name.startswith('catenary.cupyx.'):
            from catenary import _wheel
            return _wheel.find_spec(name)
        if name in PATCHES:
            return self._patched(name, path)
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
        """Is `chainer` the package catenary/chainer? Yes with CATENARY_CHAINER=own, and without that variable where no Chainer is installed."""
        if self._owns is None and not self._deciding:
            import os
            asked = setting('CATENARY_CHAINER', *_CHAINERS)
            if 'chainer' in sys.modules or asked not in ('', 'own'):
                self._owns = False
                return False
            other = self._original('chainer')
            self._owns = asked == 'own' or other is None
            if self._owns and other is not None:
                sys.stderr.write('catenary: two Chainers are installed: `import chainer` gives Catenary\'s, as CATENARY_CHAINER=own asks; '
                                 '%s is not used\n' % os.path.dirname(other.origin))
        return bool(self._owns)

    def _original(self, package):
        """Returns the spec of an installed package that is not ours, or None."""
        import importlib.util
        self._deciding = True  # keeps this finder out of the search
        try:
            found = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            found = None
        finally:
            self._deciding = False
        return found if found is not None and found.origin else None

    def _own(self, name, path):
        import importlib.util
        import os
        ours = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'chainer')
        if name == 'chainerx':
            return importlib.util.spec_from_file_location(name, os.path.join(ours, '_chainerx.py'))
        if name == 'chainer':
            return importlib.util.spec_from_file_location(name, os.path.join(ours, '__init__.py'), submodule_search_locations=[ours])
        from importlib.machinery import PathFinder
        found = PathFinder.find_spec(name, path)
        if found is None and name.startswith('chainer.'):
            from chainer import _paths
            found = _paths.spec_of(name)
        return found

    def _own_alias(self, name):
        return self._alias_of(name) if self.owns() else None

    def _alias_of(self, name):
        """Returns the spec of catenary.X as another name of X."""
        real = name.partition('.')[2]
        import importlib.util
        found = importlib.util.find_spec(real)
        if found is None:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, AliasLoader(real), origin=found.origin, is_package=found.submodule_search_locations is not None)

    def grafts(self):
        """Are Chainer's variables and functions to be the library's? Where CATENARY_CHAINER=1 says so."""
        if self._grafts is None:
            self._grafts = setting('CATENARY_CHAINER', *_CHAINERS) == '1'
        return self._grafts

    def is_ours(self):
        """Does Chainer run on the library? Yes if `cupy` is Catenary's or CATENARY_CHAINER=1, and no with CATENARY_CHAINER=0."""
        asked = setting('CATENARY_CHAINER', *_CHAINERS)
        return asked != '0' and (asked == '1' or self.serves())

    def _trained(self, name, path):
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            from catenary import _precision
            spec.loader = _precision.loader(spec.loader)
        return spec

    def _grafted(self, name, path):
        spec = self._patched(name, path) if name in PATCHES else None
        from catenary import _chainer
        if name == 'chainer':
            _check_version(path)
        if not _chainer.takes(name):
            return spec
        if spec is None:
            from importlib.machinery import PathFinder
            spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _chainer.loader(spec.loader)
        return spec

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

    def brings_chainermn(self):
        """Is `chainermn` the package catenary/chainermn? Where Chainer runs on the library."""
        if self._chainermn is None and not self._deciding:
            self._chainermn = 'chainermn' not in sys.modules and (self.owns() or self.is_ours())
        return bool(self._chainermn)

    def _ranks(self, name, path):
        return self._ours(name, path) if self.brings_chainermn() else None

    def _ours(self, name, path):
        """Returns the spec of a package of ours, or of a module in it."""
        if '.' not in name:
            import importlib.util
            import os
            ours = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
            return importlib.util.spec_from_file_location(name, os.path.join(ours, '__init__.py'), submodule_search_locations=[ours])
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, path)

    def _ranks_alias(self, name):
        return self._alias_of(name) if self.brings_chainermn() else None

    def _patched(self, name, path):
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path)
        if spec is None or not spec.has_location:
            return spec
        spec.loader = _patching_loader(name, spec.origin)
        spec.cached = None
        return spec


class Absent:
    """The last entry of sys.meta_path. For a name of CuPy's that no finder found, it raises an error that says where to look."""

    def find_spec(self, name, path=None, target=None):
        package, _, own = name.partition('.')
        # importlib.util.find_spec only asks whether the module exists
        if name == 'chainer' and sys._getframe(2).f_globals.get('__name__') != 'importlib.util':
            raise ModuleNotFoundError('%s is not installed. %s' % (name, HOW_TO_INSTALL), name=name)
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


def patched_source(name, source, where):
    """Returns the source (bytes) of a module in PATCHES with its replacements. Raises ImportError if it is not Chainer 7.8.1's."""
    import hashlib
    digest, edits = PATCHES[name]
    source = source.replace(b'\r\n', b'\n')
    if hashlib.sha256(source).hexdigest() != digest:
        raise ImportError(
            'Chainer %s cannot be imported by this Python and NumPy (%s). Catenary repairs only the imports of Chainer %s. '
            'Scripts of older versions run on it, except for the changes in https://docs.chainer.org/en/stable/upgrade.html. %s'
            % (_chainer_version(), where, CHAINER, HOW_TO_INSTALL), name=name, path=where)
    text = source.decode()
    for old, new in edits:
        text = text.replace(old, new)
    return text.encode()


def _chainer_version():
    version = getattr(sys.modules.get('chainer._version'), '__version__', None)
    if version is None:
        import importlib.metadata
        try:
            version = importlib.metadata.version('chainer')
        except importlib.metadata.PackageNotFoundError:
            version = 'of an unknown version'
    return version


def _check_version(path):
    """Raises ImportError if the installed Chainer is not the version whose modules are replaced."""
    import os
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec('chainer', path)
    if spec is None or spec.origin is None:
        return
    with open(os.path.join(os.path.dirname(spec.origin), '_version.py')) as file:
        text = file.read()
    if "'%s'" % CHAINER not in text:
        raise ImportError("CATENARY_CHAINER=1 supports only Chainer %s, but another version is installed in %s. %s"
                          % (CHAINER, os.path.dirname(spec.origin), HOW_TO_INSTALL), name='chainer')


def _patching_loader(name, path):
    from importlib.machinery import SourceFileLoader

    class PatchingLoader(SourceFileLoader):
        def get_code(self, fullname):
            # compiled each time, as a .pyc beside the source would be used for the original
            source = patched_source(fullname, self.get_data(self.path), self.path)
            return self.source_to_code(source, self.path)

    return PatchingLoader(name, path)


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
