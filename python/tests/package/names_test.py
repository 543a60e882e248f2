"""Public names follow names.txt, errors for absent names say where to look, and cupy does not import cupyx."""

import ast
import importlib
import importlib.util
import pathlib
import subprocess
import sys

import pytest

import catenary
from catenary import _names

PACKAGE = pathlib.Path(catenary.__file__).parent
OURS = {'cupy': {'catenary_version', 'util', 'cudnn'}}  # beside CuPy's


def has(module, name):
    try:
        getattr(importlib.import_module(module), name)
        return True
    except (AttributeError, ImportError):
        return False


@pytest.mark.parametrize('module', _names.known())
def test_the_list_equals_the_modules_names(module):
    names, gone = _names.known()[module]
    assert {name for name in names | gone if has(module, name)} == names, 'run scripts/cupy_names'


@pytest.mark.parametrize('module', _names.known())
def test_absent_names_do_not_become_modules(module):
    for name in _names.known()[module][1]:
        with pytest.raises(ImportError):
            importlib.import_module(f'{module}.{name}')


def test_public_names_are_in_the_list():
    import cupy
    import cupyx
    public = {name for name in vars(cupy) if not name.startswith('_')}
    assert public <= _names.here('cupy') | OURS['cupy']
    for name in ('relu', 'sigmoid', 'zeta', 'frexp_mantissa', 'modf_fraction', 'softplus', 'erf', 'rsqrt', 'logsumexp', 'Stream'):
        assert not hasattr(cupy, name), name
    assert cupyx.scipy.special.zeta and cupyx.rsqrt  # where CuPy has them


@pytest.mark.parametrize('module', ['cupy.fft', 'cupy.linalg', 'cupyx.scipy.fft', 'cupyx.scipy.fftpack', 'cupyx.scipy.special'])
def test_a_module_has_nothing_public_beside(module):
    assert {name for name in vars(importlib.import_module(module)) if not name.startswith('_')} <= _names.here(module)


@pytest.mark.parametrize('module, name', [
    ('cupy', 'disp'), ('cupy.cuda', 'Graph'), ('cupy.testing', 'numpy_cupy_raises'), ('cupyx', 'tools'),
    ('cupyx.scipy', 'stats'), ('cupyx.scipy.linalg', 'dft'), ('cupyx.scipy.signal', 'lombscargle')])
def test_absent_names_name_the_command(module, name):
    with pytest.raises(AttributeError, match=f'python -m catenary names {module}`.*docs/reference/cupy.md'):
        getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="has no attribute 'never_heard_of'$"):
        importlib.import_module(module).never_heard_of


@pytest.mark.parametrize('module', ['cupy.cuda.nccl', 'cupyx.distributed', 'cupyx.scipy.stats', 'cupyx.scipy.spatial.distance'])
def test_a_module_that_is_absent_says_where_to_look(module):
    parent = next(parent for parent in ('cupy.cuda', 'cupyx.scipy', 'cupy', 'cupyx') if module.startswith(parent + '.'))
    for statement in (f'import {module}', f'import {module} as m', f'from {module} import anything'):
        with pytest.raises(ModuleNotFoundError, match=f'python -m catenary names {parent}.*docs/reference/cupy.md'):
            exec(statement, {})


def test_an_import_from_a_package_says_where_to_look():
    for statement in ('from cupy import who', 'from cupyx import tools', 'from cupyx.scipy import stats'):
        with pytest.raises(ImportError, match='(?s)is not here, though CuPy has it: .*docs/reference/cupy.md'):
            exec(statement, {})
    for module in ('cupyx.scipy.foo', 'cupy.never_heard_of'):
        with pytest.raises(ModuleNotFoundError, match=f"^No module named '{module}'$"):
            importlib.import_module(module)
        assert importlib.util.find_spec(module) is None
    with pytest.raises(ImportError, match='^cannot import name'):
        exec('from cupyx import never_heard_of', {})


def test_the_command():
    def run(*arguments):
        return subprocess.run([sys.executable, '-m', 'catenary', 'names', *arguments], capture_output=True, text=True)
    names, gone = _names.known()['cupyx.scipy.linalg']
    assert f'\ncupyx.scipy.linalg: {len(names)} of {len(names | gone)} are here\n' in run().stdout
    shown = run('cupyx.scipy.linalg').stdout
    assert '\n  lu_solve\n' in shown and '\n- dft\n' in shown
    assert run('cupy.nothing').returncode == 1 and "unknown module 'cupy.nothing'; expected one of cupy, " in run('cupy.nothing').stderr


def test_the_command_may_be_read_in_part():
    done = subprocess.run(['bash', '-c', f'set -o pipefail; {sys.executable} -m catenary names cupy | true'], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')


def test_cupy_does_not_refer_to_cupyx():
    """cupyx builds on cupy. cupy neither imports cupyx nor names it in strings."""
    for path in (PACKAGE / 'cupy').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            words = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and \
                not node.value.strip().count(' ') else []
            words += [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            words += [node.module or ''] if isinstance(node, ast.ImportFrom) else []
            assert not any('cupyx' in word for word in words), f'{path}:{node.lineno}'
    done = subprocess.run([sys.executable, '-c', 'import sys, catenary.cupy\ncatenary.cupy.show_config()\n'
                           'print([name for name in sys.modules if "cupyx" in name])'], capture_output=True, text=True)
    assert 'CuPy Version' in done.stdout and done.stdout.endswith('[]\n'), done.stdout + done.stderr
