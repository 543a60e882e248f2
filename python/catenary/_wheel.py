"""Runs the pure Python modules of `cupyx` from an installed wheel of CuPy on Catenary's arrays and kernels.

The modules are found by their files. CuPy itself is never imported and none of its compiled modules is loaded. Catenary's own modules and names
take precedence. docs/guide/python.md lists the modules that run.
"""

import functools
import os
import sys

TESTED = ('14.2.0',)
# Dependencies without which `import cupy` of a wheel fails. If one is missing, only the wheel's Python modules can be meant.
_NEEDS = ('cuda.pathfinder',)
# The packages whose modules may come from the wheel.
_UNDER = ('cupyx.scipy', 'cupyx.signal')
# Modules that define sparse classes, which Catenary defines elsewhere. Loading them would create a second class of each name.
_OURS = {'cupyx.scipy.sparse._' + name for name in ('compressed', 'construct', 'coo', 'csc', 'data', 'dia', 'index')}
_HERE = os.path.dirname(os.path.abspath(__file__))


def is_under(module):
    """Does this module, by its name in CuPy, belong to a package whose modules may come from the wheel?"""
    return any(module == package or module.startswith(package + '.') for package in _UNDER)


def version_of(folder):
    """Returns the version of the CuPy whose package `cupy` is in this folder, or None if it is not CuPy."""
    import re
    try:
        with open(os.path.join(folder, '_version.py')) as file:
            found = re.search(r"^__version__ = '(.+)'", file.read(), re.M)
    except OSError:
        return None
    return found and found[1]


def is_bare(folder):
    """Is a tested version of CuPy installed in this folder without its dependencies, so that it cannot be imported?"""
    import importlib.util
    if version_of(folder) not in TESTED:
        return False
    for name in _NEEDS:
        try:
            if importlib.util.find_spec(name) is None:
                return True
        except ImportError:
            return True
    return False


@functools.lru_cache(None)
def _installed():
    """Returns (folder of the installed `cupyx` of a CuPy, its version), or None."""
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec('cupyx')
    if spec is None or not spec.origin:
        return None
    folder = os.path.dirname(spec.origin)
    version = version_of(os.path.join(os.path.dirname(folder), 'cupy'))
    return (folder, version) if version else None


def _served():
    """Does `cupy` mean ours? The wheel's modules import it by that name."""
    finder = next((f for f in sys.meta_path if type(f).__name__ == 'Finder' and type(f).__module__ == 'catenary._finder'), None)
    return finder is not None and finder.serves()


def is_used():
    """Is there a wheel whose modules are used?"""
    return _served() and _installed() is not None and _installed()[1] in TESTED


def place(module):
    """Returns (file of a module of the wheel, by its name in CuPy; its folder, or None if it is not a package). Returns None without a usable wheel,
    and if there is no such Python module."""
    if not is_under(module) or module in _OURS or not is_used():
        return None
    path = os.path.join(_installed()[0], *module.split('.')[1:])
    if os.path.isfile(os.path.join(path, '__init__.py')):
        return os.path.join(path, '__init__.py'), path
    return (path + '.py', None) if os.path.isfile(path + '.py') else None


def headers():
    """Returns the folder of the wheel's headers, which kernels of its modules include, or None without a wheel."""
    return os.path.join(os.path.dirname(_installed()[0]), 'cupy', '_core', 'include') if is_used() else None


def _loader(name, file):
    from importlib.machinery import SourceFileLoader

    class Loader(SourceFileLoader):
        def exec_module(self, module):
            own = name.partition('.')[2]
            sys.modules[own] = module  # modules that it imports refer to it by that name
            try:
                super().exec_module(module)
            except BaseException:
                sys.modules.pop(own, None)
                raise

    return Loader(name, file)


def find_spec(name):
    """Returns the spec of a module `catenary.cupyx.…`: ours, whose path continues into the wheel's folder, or the wheel's. Raises ModuleNotFoundError
    for modules of the wheel that cannot be used."""
    from importlib.machinery import PathFinder
    from importlib.util import spec_from_file_location
    parts = name.split('.')[1:]
    module = '.'.join(parts)
    spec = PathFinder.find_spec(name, [os.path.join(_HERE, *parts[:-1])])
    file, folder = place(module) or (None, None)
    if spec is not None:
        if is_under(module) and not parts[-1].startswith('_'):  # a package in CuPy: importing an absent name asks for a module, whose error names the remedy
            spec.submodule_search_locations = [*(spec.submodule_search_locations or ()), *([folder] if folder else ())]
        return spec
    if file:
        return spec_from_file_location(name, file, loader=_loader(name, file), submodule_search_locations=folder and [folder])
    if says := refusal(module):
        raise ModuleNotFoundError(says, name=module)
    return None


def _parsed(file):
    import ast
    with open(file, encoding='utf-8') as text:
        return ast, ast.parse(text.read())


def _all_of(module):
    """Returns __all__ of a module of the wheel."""
    ast, tree = _parsed(place(module)[0])
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', None) == '__all__']
    return ast.literal_eval(lists[0]) if lists else []


@functools.lru_cache(None)
def exported(module):
    """Maps each name that a package of the wheel imports from its modules to (module, name there), by parsing its source."""
    file = (place(module) or (None,))[0]
    found = {}
    if file and file.endswith('__init__.py'):
        ast, tree = _parsed(file)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module != module and is_under(node.module):
                for alias in node.names:
                    names = _all_of(node.module) if alias.name == '*' and place(node.module) else [alias.name]
                    found.update({(alias.asname or name) if alias.name != '*' else name: (node.module, name) for name in names})
    return found


def attribute(module, name):
    """Returns the wheel's attribute of a module that is ours. Raises AttributeError with the remedy if there is none."""
    import importlib
    if not name.startswith('_'):
        source = exported(module).get(name)
        try:
            found = importlib.import_module('catenary.' + source[0]) if source else None
            if hasattr(found, source[1] if source else ''):  # otherwise that module is ours and lacks the name
                return getattr(found, source[1])
            if place(f'{module}.{name}'):
                return importlib.import_module(f'catenary.{module}.{name}')
        except ImportError as error:
            raise AttributeError(f'{module}.{name} of CuPy {_installed()[1]} does not run here: {error}') from error
    raise absent(module, name)


def absent(module, name):
    """Returns the AttributeError of a name that a module lacks, which says where to look."""
    from catenary import _names
    return _names.absent(module, name, _advice_for(f'{module}.{name}'))


def not_imported(name):
    """Returns the ModuleNotFoundError of `import name` if CuPy has that name, else None."""
    from catenary import _names
    return _names.not_imported(name, _advice_for(name))


def refusal(module):
    """Returns why a module of the wheel is not used, or None if the wheel has no such module."""
    if not is_used() or not is_under(module):
        return None
    if module in _OURS:
        return f'{module} of CuPy {_installed()[1]} is not loaded: sparse matrices are Catenary\'s own classes, of which there is one each'
    import glob
    if glob.glob(os.path.join(_installed()[0], *module.split('.')[1:]) + '.*.so'):
        return f'{module} of CuPy {_installed()[1]} is not loaded: it is compiled for CUDA, and only Python modules of CuPy\'s run here'
    parent, _, name = module.rpartition('.')
    if name in exported(parent):
        try:
            attribute(parent, name)
        except AttributeError as error:
            return str(error)
    return None


def getter(module):
    """Returns the __getattr__ of one of our modules, which finds further names in the wheel. `module` is its name in CuPy."""
    def __getattr__(name):
        return attribute(module, name)
    return __getattr__


def _advice_for(name):
    """Returns advice() for a name that the wheel would provide, else None."""
    return _advice() if is_under(name) and not is_used() else None


def _advice():
    """Returns which wheel to install and how, or why the installed one is not used."""
    found = _installed()
    if found and found[1] not in TESTED:
        return (f'CuPy {found[1]} is installed in {os.path.dirname(found[0])}, and the modules of CuPy {" or ".join(TESTED)} alone are known to run '
                f'on Catenary:\n  pip install --no-deps cupy-cuda12x=={TESTED[-1]}')
    return (f'it runs on Catenary by the Python modules of CuPy {TESTED[-1]}, where its wheel is installed without its dependencies:\n'
            f'  pip install --no-deps cupy-cuda12x=={TESTED[-1]}')
