"""The import hook: which cupy and which chainer a program gets, `python -m catenary`, the data sets.

Each test starts interpreters on a copy of the pure Python files with a small `catenary.cupy`, so that it needs neither the extension nor Chainer.
Only tests of the data sets use the installed package.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[2]
FILES = ['_finder.py', '_names.py', '_wheel.py', 'names.txt', '_data.py', '__main__.py', '_children/sitecustomize.py']


@pytest.fixture
def site(tmp_path):
    """Makes a folder with a package `catenary` whose cupy is a stub."""
    root = tmp_path / 'site'
    for name in FILES:
        (root / 'catenary' / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PYTHON / 'catenary' / name, root / 'catenary' / name)
    texts = {
        'catenary/__init__.py': '',
        'catenary/cupy/__init__.py': "__version__ = '14.2.0'\nmine = True\nclass ndarray: pass\n",
        'catenary/cupy/cuda/__init__.py': 'from catenary.cupy import ndarray\n',
        'catenary/cupy/cuda/runtime.py': 'marker = object()\n',
        'catenary/cupy/broken.py': 'import no_such_module_anywhere\n',
        'catenary/cupyx/__init__.py': 'import catenary.cupy\n',
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(site, code, *, hook=True, path=(), after=(), status=0, **environment):
    """Runs code in a new interpreter. Returns its standard output and error."""
    if hook:
        code = 'from catenary._finder import install; install()\n' + code
    # without site, as an installed catenary's .pth would run first
    result = subprocess.run([sys.executable, '-S', '-c', code], capture_output=True, text=True, env={
        'PATH': os.environ['PATH'], 'PYTHONPATH': os.pathsep.join(str(p) for p in (*path, site, *after)), **environment})
    assert result.returncode == status, result.stderr
    return result.stdout, result.stderr


@pytest.fixture
def other(tmp_path):
    """Makes a folder with another library's cupy."""
    (tmp_path / 'other' / 'cupy').mkdir(parents=True)
    (tmp_path / 'other' / 'cupy' / '__init__.py').write_text('mine = False\n')
    (tmp_path / 'other' / 'cupy' / 'cuda.py').write_text('')
    return tmp_path / 'other'


def test_without_another_cupy_ours_is_served(site):
    out, err = run(site, 'import cupy; print(cupy.mine)')
    assert (out, err) == ('True\n', '')


def test_submodules_are_one_object_under_both_names(site):
    out, _ = run(site, '''
import cupy.cuda.runtime, cupyx
from cupy.cuda import ndarray
import catenary.cupy.cuda.runtime, catenary.cupyx, sys
assert cupy is catenary.cupy and cupyx is catenary.cupyx
assert cupy.cuda.runtime is catenary.cupy.cuda.runtime
assert sys.modules['cupy.cuda'] is sys.modules['catenary.cupy.cuda']
assert ndarray is catenary.cupy.ndarray
assert cupy.__spec__.name == 'catenary.cupy' and cupy.__name__ == 'cupy'
import importlib
assert importlib.reload(cupy) is catenary.cupy
print('same')''')
    assert out == 'same\n'


def test_nothing_is_imported_before_it_is_asked_for(site):
    out, _ = run(site, '''
import sys
from catenary._finder import install
before = set(sys.modules)
install()
import json
print(sorted(name for name in sys.modules if name.startswith(('catenary.c', 'importlib.util', 'hashlib'))))''',
                 hook=False)
    assert out == '[]\n'


def test_a_missing_submodule_is_named_as_the_user_wrote_it(site):
    out, _ = run(site, '''
for name in ('cupy.nothing', 'cupy_backends', 'cupy.nothing.below'):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)''')
    assert out == ("No module named 'cupy.nothing'\nNo module named 'cupy_backends'\nNo module named 'cupy.nothing'\n")


def test_an_import_error_inside_a_module_is_not_hidden(site):
    out, _ = run(site, '''
try:
    import cupy.broken
except ModuleNotFoundError as error:
    print(error.name)''')
    assert out == 'no_such_module_anywhere\n'


def test_another_cupy_comes_first_and_one_line_says_so(site, other):
    out, err = run(site, 'import cupy, cupy.cuda; print(cupy.mine, cupy.cuda.__name__)', path=[other])
    assert out == 'False cupy.cuda\n'
    assert err.count('\n') == 1 and 'two CuPys' in err and 'CATENARY_CUPY=1' in err and str(other) in err


def test_the_variable_prefers_ours(site, other):
    out, err = run(site, 'import cupy, cupy.cuda; print(cupy.mine, cupy.cuda.__name__)', path=[other], CATENARY_CUPY='1')
    assert out == 'True catenary.cupy.cuda\n'
    assert err.count('\n') == 1 and "gives Catenary's" in err


def test_a_cupy_that_is_loaded_stays(site, other):
    out, err = run(site, 'import cupy\nfrom catenary._finder import install\ninstall()\nimport cupy.cuda\n'
                   'print(cupy.mine, cupy.cuda.__name__)', path=[other], hook=False)
    assert (out, err) == ('False cupy.cuda\n', '')


def test_a_folder_named_cupy_is_no_cupy(site, tmp_path):
    (tmp_path / 'work' / 'cupy').mkdir(parents=True)
    out, err = run(site, 'import cupy; print(cupy.mine)', path=[tmp_path / 'work'])
    assert (out, err) == ('True\n', '')


def test_hooks_can_be_turned_off(site):
    _, err = run(site, 'import cupy', status=1, CATENARY_PYTHON_HOOKS='0')
    assert "No module named 'cupy'" in err


@pytest.mark.parametrize('name, value, code', [
    ('CATENARY_CUPY', 'yes', 'import cupy'), ('CATENARY_CUPY', '\udcff', 'import cupy'), ('CATENARY_CHAINER', 'ours', 'import chainer'), ('CATENARY_CHAINER', '1', 'import chainer'), ('CATENARY_CHAINER', 'True', 'import cupy, chainermn')])
def test_unknown_values_of_variables_are_named(site, name, value, code):
    _, error = run(site, code, status=1, **{name: value})
    assert error.splitlines()[-1] == f'ValueError: {name}={value!r}: expected ' + ('0 or 1' if name == 'CATENARY_CUPY' else 'own or original')


def test_unknown_values_of_the_hooks_are_told_when_python_starts(site):
    output, error = run(site, 'import cupy; print(cupy.mine)', CATENARY_PYTHON_HOOKS='no')
    assert (output, error) == ('True\n', "catenary: CATENARY_PYTHON_HOOKS='no': expected 0 or 1\n")


def test_installing_twice_is_installing_once(site):
    out, _ = run(site, '''
import sys
from catenary._finder import install
print(install() is install(), sum(type(f).__name__ == 'Finder' for f in sys.meta_path))''')
    assert out == 'True 1\n'


def test_the_pth_line_installs_and_survives_the_package(site, tmp_path):
    line = (PYTHON / 'site' / 'catenary_hook.pth').read_text()
    assert line.count('\n') == 1
    out, err = run(site, line + "import sys; print(type(sys.meta_path[0]).__module__)", hook=False)
    assert (out, err) == ('catenary._finder\n', '')
    out, err = run(tmp_path / 'nowhere', line + 'print(1)', hook=False)
    assert (out, err) == ('1\n', '')
    name, function = (PYTHON / 'site' / 'catenary_hook.start').read_text().strip().split(':')
    out, _ = run(site, 'import %s as m; print(m.%s().__class__.__name__)' % (name, function), hook=False)
    assert out == 'Finder\n'


def test_run_a_script(site, tmp_path):
    script = tmp_path / 'script.py'
    (tmp_path / 'beside.py').write_text('value = 5\n')
    script.write_text('''
import multiprocessing, subprocess, sys
def child(queue):
    import cupy
    queue.put(cupy.mine)
if __name__ == '__main__':
    import cupy, beside
    context = multiprocessing.get_context('spawn')
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    spawned = queue.get()
    process.join()
    code = 'import cupy; print(cupy.mine)'
    other = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout.strip()
    print(sys.argv[1:], beside.value, cupy.mine, spawned, other)
''')
    result = subprocess.run([sys.executable, '-m', 'catenary', str(script), 'a', '-b'], capture_output=True, text=True,
                            env={'PATH': os.environ['PATH'], 'PYTHONPATH': str(site)})
    assert result.stdout == "['a', '-b'] 5 True True True\n", result.stderr
    module = subprocess.run([sys.executable, '-m', 'catenary', '-m', 'beside'], cwd=tmp_path, capture_output=True,
                            text=True, env={'PATH': os.environ['PATH'], 'PYTHONPATH': str(site)})
    assert (module.returncode, module.stderr) == (0, '')


@pytest.mark.parametrize('arguments, says', [
    (['nothing.py'], 'there is no file nothing.py'), (['-x'], 'unknown option -x'), (['-m'], 'the name of a module'),
    (['generat'], 'a command: bench, cache, '), (['data', 'mnist', 'cifar'], 'data mnist: unexpected argument cifar')])
def test_unknown_scripts_and_arguments(site, tmp_path, arguments, says):
    result = subprocess.run([sys.executable, '-m', 'catenary'] + arguments, cwd=tmp_path, capture_output=True, text=True,
                            env={'PATH': os.environ['PATH'], 'PYTHONPATH': str(site)})
    assert result.returncode == 1 and says in result.stderr and 'Traceback' not in result.stderr


def test_an_existing_sitecustomize_still_runs(site, tmp_path):
    (tmp_path / 'sitecustomize.py').write_text("import builtins; builtins.customized = True\n")
    (tmp_path / 'script.py').write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import cupy; print(customized, cupy.mine)'])\n")
    result = subprocess.run([sys.executable, '-m', 'catenary', str(tmp_path / 'script.py')], capture_output=True,
                            text=True, env={'PATH': os.environ['PATH'], 'PYTHONPATH': '%s%s%s' % (
                                tmp_path, os.pathsep, site)})
    assert (result.stdout, result.stderr) == ('True True\n', '')


def data(tmp_path, **environment):
    return subprocess.run([sys.executable, '-m', 'catenary', 'data', 'mnist'], capture_output=True, text=True, cwd=tmp_path,
                          env={'PATH': os.environ['PATH'], 'CHAINER_DATASET_ROOT': str(tmp_path / 'cache'), **environment})


def test_mnist_for_chainer(tmp_path):
    shipped = PYTHON.parent / 'data'
    result = data(tmp_path)
    folder = tmp_path / 'cache' / 'pfnet' / 'chainer' / 'mnist'
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(folder / 'train.npz'), str(folder / 'test.npz')]
    assert sorted(p.name for p in folder.iterdir()) == ['test.npz', 'train.npz']
    for name, kind, n in (('train.npz', 'train', 60000), ('test.npz', 't10k', 10000)):
        with numpy.load(folder / name) as file:
            x, y = file['x'], file['y']
        assert (x.shape, x.dtype, y.shape, y.dtype) == ((n, 784), numpy.uint8, (n,), numpy.uint8)
        images = gzip.decompress((shipped / 'mnist' / (kind + '-images-idx3-ubyte.gz')).read_bytes())
        labels = gzip.decompress((shipped / 'mnist' / (kind + '-labels-idx1-ubyte.gz')).read_bytes())
        assert x.tobytes() == images[16:] and y.tobytes() == labels[8:]


def test_damaged_and_missing_data(tmp_path):
    (tmp_path / 'mnist').mkdir()
    result = data(tmp_path, CATENARY_DATA=str(tmp_path))
    assert result.returncode == 1 and 'the file is missing' in result.stderr and str(tmp_path) in result.stderr
    assert 'Traceback' not in result.stderr
    (tmp_path / 'mnist' / 'train-images-idx3-ubyte.gz').write_bytes(b'short')
    result = data(tmp_path, CATENARY_DATA=str(tmp_path))
    assert result.returncode == 1 and 'short or altered' in result.stderr
    assert not list((tmp_path / 'cache').rglob('*.npz'))


NAMES = ('chainer', 'chainermn', 'onnx_chainer')
WHICH = """
import chainer, chainer.part, chainermn, chainermn.part, onnx_chainer
print(chainer.which, chainer.part.which, chainermn.which, chainermn.part.which, onnx_chainer.which)"""
OURS, THEIRS = (' '.join([which] * 5) + '\n' for which in ('ours', 'theirs'))


@pytest.fixture
def installed(site, tmp_path):
    """Adds small packages of ours to the site, and makes a folder with installed ones."""
    for folder, which in ((site / 'catenary', 'ours'), (tmp_path / 'installed', 'theirs')):
        for package in NAMES:
            (folder / package).mkdir(parents=True)
            for name in ('__init__.py', 'part.py'):
                (folder / package / name).write_text('which = %r\n' % which)
    return tmp_path / 'installed'


def test_our_chainer_is_served_where_there_is_no_other(site, installed):
    out, err = run(site, WHICH + """
import catenary.chainer, catenary.chainermn.part, catenary.onnx_chainer
assert catenary.chainer is chainer and catenary.chainermn.part is chainermn.part and catenary.onnx_chainer is onnx_chainer
assert chainermn.__name__ == chainermn.__spec__.name == 'chainermn' and chainermn.part.__package__ == 'chainermn'""")
    assert (out, err) == (OURS, '')


def test_the_variable_chooses_between_two_chainers(site, installed):
    for asked in ('', 'own'):
        out, err = run(site, WHICH, path=[installed], CATENARY_CHAINER=asked)
        assert (out, err) == (OURS, "catenary: two Chainers are installed: `import chainer` gives Catenary's; CATENARY_CHAINER=original gives %s\n"
                              % (installed / 'chainer'))
    out, err = run(site, WHICH, path=[installed], CATENARY_CHAINER='original')
    assert (out, err) == (THEIRS, 'catenary: two Chainers are installed: `import chainer` gives %s, as CATENARY_CHAINER=original asks\n'
                          % (installed / 'chainer'))
    assert run(site, WHICH, path=[installed], hook=False) == (THEIRS, '')


def test_modules_of_both_chainers_are_not_mixed(site, installed):
    (installed / 'chainermn' / 'more.py').write_text('')
    assert "No module named 'chainermn.more'" in run(site, 'import chainermn.more', path=[installed], status=1)[1]


def test_a_chainer_that_is_loaded_stays(site, installed):
    out, err = run(site, 'import chainer\nfrom catenary._finder import install\ninstall()\nimport chainer.part, chainermn\n'
                   'print(chainer.part.which, chainermn.which)', path=[installed], hook=False)
    assert (out, err) == ('theirs theirs\n', '')


def test_a_chainer_that_is_asked_for_and_not_installed_is_named(site, installed):
    err = run(site, 'import importlib.util; assert importlib.util.find_spec("chainer") is None; import chainer', status=1, CATENARY_CHAINER='original')[1]
    assert 'ModuleNotFoundError: chainer is not installed, but CATENARY_CHAINER=original asks for it' in err
