"""The generated stubs of catenary._core: they list exactly the extension's names."""

import ast
import builtins
import json
import pathlib
import subprocess
import sys

import pytest

import catenary

PACKAGE = pathlib.Path(catenary.__file__).parent
MODULES = {'__init__': '_core', 'linalg': '_core.linalg'}
# runs in a new interpreter, as catenary.cupy adds attributes to ndarray
QUESTION = '''
import json
from catenary import _core
public = lambda thing: sorted(name for name in vars(thing) if not name.startswith('_'))
module = %s
print(json.dumps({name: public(value) if isinstance(value := getattr(module, name), type) else None
                  for name in public(module)}))
'''


def tree(name):
    return ast.parse((PACKAGE / '_core' / (name + '.pyi')).read_text())


def names(body):
    """Returns the names that a module or class defines, with their statements, the last one for overloads."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            found.update((target.id, node) for target in node.targets)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(((alias.asname or alias.name.partition('.')[0]), node) for alias in node.names)
    return found


@pytest.mark.parametrize('name', MODULES)
def test_a_stub_lists_the_extensions_names(name):
    result = subprocess.run([sys.executable, '-c', QUESTION % MODULES[name]], capture_output=True, text=True, check=True)
    members, stub = json.loads(result.stdout), names(tree(name).body)
    written = {what for what, node in stub.items() if not isinstance(node, (ast.Import, ast.ImportFrom))}
    assert written <= set(members) <= set(stub)
    for what, node in stub.items():
        if isinstance(node, ast.ClassDef):
            assert sorted(member for member in names(node.body) if not member.startswith('_')) == members[what], what


@pytest.mark.parametrize('name', MODULES)
def test_a_stub_uses_names_that_are_there(name):
    stub = tree(name)
    known = set(names(stub.body)) | set(vars(builtins))
    for node in ast.walk(stub):
        if isinstance(node, ast.ClassDef):
            known |= set(names(node.body))
    assert {node.id for node in ast.walk(stub) if isinstance(node, ast.Name)} <= known


def test_type_checkers_are_told_to_read_them():
    assert (PACKAGE / 'py.typed').exists()
