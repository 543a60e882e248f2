"""`python -m catenary names [MODULE]`: lists which of CuPy's names are available.

names.txt lists them by module, together with names of NumPy's that CuPy lacks. scripts/cupy_names writes it.
"""

import functools
import os
import sys

CUPY = '14.2.0'
OF_SCIPYS_UFUNCS = 'catenary.cupyx.scipy.special'  # the module whose functions accept arrays from SciPy's ufuncs
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'names.txt')


def read(text):
    """Parses a text such as names.txt to {module: (available names, absent names)}."""
    found = {}
    for line in text.split('\n'):
        if line.startswith('#') or not line.strip():
            continue
        if not line.startswith(' '):
            names = found[line.strip()] = (set(), set())
            continue
        words = line.split()
        if words[0] in ('here:', 'absent:'):
            kind = names[words.pop(0) == 'absent:']
        kind.update(words)
    return found


@functools.lru_cache(None)
def known():
    """Returns the contents of names.txt: {module: (available names, absent names)}."""
    with open(_FILE) as file:
        return read(file.read())


def here(module):
    """Returns the public names of a module."""
    return known()[module][0]


def absent(module, name, advice=None):
    """Returns the AttributeError of a name that a module lacks, which says where to look. `advice` says how CuPy's wheel would provide the name."""
    if name in known().get(module, ((), ()))[1]:
        return AttributeError(f'module {module!r} has no attribute {name!r} here, though CuPy has: {_look(module, advice)}')
    return AttributeError(f'module {module!r} has no attribute {name!r}')


def not_imported(name, advice=None):
    """Returns the ModuleNotFoundError of `import name`, or of `from cupy import gcd` (for which Python imports catenary.cupy.gcd), if CuPy has that
    name, else None."""
    module, _, last = name.rpartition('.')
    if name not in known() and last not in known().get(module, ((), ()))[1]:
        return None
    # with the name that Python imports, `from … import` would replace the message
    return ModuleNotFoundError(f'{name} is not here, though CuPy has it: {_look(module, advice)}', name=name)


def _look(module, advice):
    if advice:
        return f'{advice}    # `python -m catenary names {module}` lists the names available without it, see docs/reference/cupy.md of Catenary'
    return f'`python -m catenary names {module}` lists the available names, and docs/reference/cupy.md of Catenary explains the differences'


def getter(module):
    """Returns the __getattr__ of a module without further names."""
    def __getattr__(name):
        raise absent(module, name)
    return __getattr__


def main(arguments):
    """Runs `python -m catenary names` with these arguments."""
    for module in arguments or known():
        if module not in known():
            sys.exit('python -m catenary names: unknown module %r; expected one of %s' % (module, ', '.join(known())))
        names, gone = known()[module]
        print('%s: %d of %d are here' % (module, len(names), len(names) + len(gone)))
        if arguments:
            print(*['  ' + name for name in sorted(names)] + ['- ' + name for name in sorted(gone)], sep='\n')
