"""No modules of the package import each other in a circle, at the top or inside functions."""

import ast
import graphlib
import pathlib

import catenary

PACKAGE = pathlib.Path(catenary.__file__).parent


def sources():
    """Returns {module: file}. The package `chainer` is left out: links, functions and variables call each other."""
    files = sorted(file for file in PACKAGE.rglob('*.py') if file.relative_to(PACKAGE).parts[0] != 'chainer')
    names = ('.'.join(('catenary', *file.relative_to(PACKAGE).with_suffix('').parts)).removesuffix('.__init__') for file in files)
    return dict(zip(names, files))


def imported(module, file, modules):
    """Yields the modules that a file imports. The packages that contain the module do not count: their finished namespaces are used by calls."""
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{file}:{node.lineno}: a relative import'
            names = [f'{node.module}.{alias.name}' if f'{node.module}.{alias.name}' in modules else node.module for alias in node.names]
        else:
            continue
        yield from (name for name in names if name in modules and name != module and not module.startswith(name + '.'))


def test_no_circles():
    modules = sources()
    assert len(modules) > 100
    graph = {module: set(imported(module, file, modules)) for module, file in modules.items()}
    assert graph['catenary._wheel'] == {'catenary._names'}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        raise AssertionError('a circle of imports: ' + ' <- '.join(error.args[1])) from None
