"""The import hook: which cupy a program gets, patches of Chainer's sources, `python -m catenary`, the data sets.

Each test starts interpreters on a copy of the pure Python files with a small `catenary.cupy`, so that it needs neither the extension nor Chainer.
Only tests of the data sets use the installed package.
"""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[2]
FILES = ['_finder.py', '_names.py', '_wheel.py', 'names.txt', '_requirements.py', '_data.py', '__main__.py', '_children/sitecustomize.py']


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
    ('CATENARY_CUPY', 'yes', 'import cupy'), ('CATENARY_CUPY', '\udcff', 'import cupy'), ('CATENARY_CHAINER', 'ours', 'import chainer'), ('CATENARY_CHAINER', 'True', 'import cupy, chainer')])
def test_unknown_values_of_variables_are_named(site, name, value, code):
    _, error = run(site, code, status=1, **{name: value})
    assert error.splitlines()[-1] == f'ValueError: {name}={value!r}: expected ' + ('0 or 1' if name == 'CATENARY_CUPY' else '0, 1, own or original')


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


def fake_chainer(site, text):
    """Makes a Chainer whose testing.helper has this text, with the digest that the hook expects."""
    folder = site / 'chainer' / 'testing'
    folder.mkdir(parents=True)
    (site / 'chainer' / '__init__.py').write_text('')
    (site / 'chainer' / '_version.py').write_text("__version__ = '6.0.0'\n")
    (folder / '__init__.py').write_text('')
    (folder / 'helper.py').write_text(text)
    return hashlib.sha256(text.encode()).hexdigest()


TEXT = 'import sys\nimport pkg_resources\n\n\ndef fails():\n    raise KeyError(pkg_resources.__name__)\n'


def test_a_patched_module_keeps_its_lines(site):
    digest = fake_chainer(site, TEXT)
    out, _ = run(site, '''
import catenary._finder as finder, traceback
finder.PATCHES['chainer.testing.helper'] = (%r, finder.PATCHES['chainer.testing.helper'][1])
from chainer.testing import helper
try:
    helper.fails()
except KeyError as error:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    print(error, frame.lineno, frame.line, frame.filename.endswith('helper.py'))''' % digest)
    assert out == "'catenary._requirements' 6 raise KeyError(pkg_resources.__name__) True\n"


# The relevant lines of chainer/backends/cuda.py
CUDNN = '''import os, warnings
import cupy
_cudnn_disabled_by_user = int(os.environ.get('CHAINER_CUDNN', '1')) == 0
def check_cuda_available():
    if not _cudnn_disabled_by_user:
        warnings.warn('cuDNN is not enabled.')
'''


@pytest.mark.parametrize('version, warns', [("catenary_version = '0'", False), ('', True)])
def test_chainer_does_not_warn_of_cudnn_with_our_cupy(site, version, warns):
    """Only another CuPy causes the warning, and the user's CHAINER_CUDNN still counts."""
    folder = site / 'chainer' / 'backends'
    folder.mkdir(parents=True)
    for name, text in (('__init__', ''), ('cuda', CUDNN)):
        (folder / (name + '.py')).write_text(text)
    (site / 'chainer' / '__init__.py').write_text('')
    with open(site / 'catenary/cupy/__init__.py', 'a') as file:
        file.write(version + '\n')
    program = '''
import catenary._finder as finder
finder.PATCHES['chainer.backends.cuda'] = (%r, finder.PATCHES['chainer.backends.cuda'][1])
from chainer.backends import cuda
cuda.check_cuda_available()''' % hashlib.sha256(CUDNN.encode()).hexdigest()
    assert ('cuDNN is not enabled' in run(site, program)[1]) == warns
    assert run(site, program, CHAINER_CUDNN='0')[1] == ''


def test_another_text_is_refused_with_the_version(site):
    fake_chainer(site, TEXT)
    _, err = run(site, 'import chainer._version, chainer.testing.helper', status=1)
    assert 'ImportError: Chainer 6.0.0' in err and 'chainer/testing/helper.py' in err
    assert 'Chainer 6.0.0 cannot be imported' in err and 'chainer==7.8.1' in err and 'upgrade.html' in err
    assert 'CATENARY_PYTHON_HOOKS' not in err  # without the hook that version cannot be imported, either


def test_every_patch_keeps_the_number_of_lines():
    sys.path.insert(0, str(PYTHON))
    try:
        from catenary import _finder
    finally:
        sys.path.pop(0)
    for _, edits in _finder.PATCHES.values():
        for old, new in edits:
            assert old.count('\n') == new.count('\n')


def test_requirements(site):
    out, _ = run(site, '''
from catenary import _requirements as r
import numpy
def says(*wanted):
    try:
        return r.WorkingSet().require(*wanted)[0].version == numpy.__version__
    except r.ResolutionError as error:
        return type(error).__name__
    except ValueError as error:
        return 'ValueError'
print(says('numpy'), says('numpy>=1.10,<99'), says('numpy>99'), says('numpy!=1.2.*'), says('numpy==99.*'))
print(says('numpy~=99.1'), says('no-such-thing'), says('numpy is good'), says('cupy'))
import cupy
print(r.WorkingSet().require('cupy>=7')[0].version)
try:
    r.require('cupy')
except r.DistributionNotFound:
    print('not a distribution')''', after=[pathlib.Path(numpy.__file__).parent.parent])
    assert out == ('True True VersionConflict True VersionConflict\n'
                   'VersionConflict DistributionNotFound ValueError DistributionNotFound\n14.2.0\n'
                   'not a distribution\n')


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


@pytest.fixture
def chainers(tmp_path):
    """Makes a folder with a small Chainer and its chainermn, and adds our chainermn to the site."""
    def write(root, texts):
        for name, text in texts.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    write(tmp_path / 'chainer', {
        'chainer/__init__.py': "__version__ = '7.8.1'\n", 'chainermn/__init__.py': 'which = "original"\n', 'chainermn/a.py': 'which = "original"\n', 'chainermn/b/__init__.py': 'which = "original"\n',
        'chainermn/b/c.py': 'which = "original"\n', 'chainermn/b/d.py': 'which = "original"\n'})
    write(tmp_path / 'site', {'catenary/chainermn/__init__.py': 'which = "ours"\n', 'catenary/chainermn/a.py': 'which = "ours"\n',
                              'catenary/chainermn/b/__init__.py': 'which = "ours"\n', 'catenary/chainermn/b/c.py': 'which = "ours"\n'})
    return tmp_path / 'chainer'


WHICH = '''
import chainermn, chainermn.b.c
from chainermn import a
print(chainermn.which, a.which, chainermn.b.which, chainermn.b.c.which)'''


def test_chainermn_is_ours(site, chainers):
    out, err = run(site, WHICH + '''
import catenary.chainermn.b.c
assert catenary.chainermn is chainermn and catenary.chainermn.b.c is chainermn.b.c
assert chainermn.__name__ == chainermn.__spec__.name == 'chainermn' and chainermn.b.c.__package__ == 'chainermn.b'
try:
    import chainermn.b.d
except ModuleNotFoundError as error:
    assert error.name == 'chainermn.b.d'  # the original's modules are not mixed in''', path=[chainers])
    assert (out, err) == ('ours ours ours ours\n', '')


def test_chainermn_is_the_originals_where_it_is_asked_for_or_another_cupy_is_used(site, chainers, other):
    theirs = 'original original original original\n'
    assert run(site, WHICH, path=[chainers], CATENARY_CHAINER='0')[0] == theirs
    assert run(site, WHICH, path=[chainers], hook=False)[0] == theirs
    assert run(site, WHICH, path=[chainers, other])[0] == theirs
    assert run(site, WHICH, path=[chainers, other], CATENARY_CHAINER='1')[0] == 'ours ours ours ours\n'
    assert run(site, WHICH, path=[chainers, other], CATENARY_CUPY='1')[0] == 'ours ours ours ours\n'


def test_without_chainer_chainermn_names_the_remedy(site):
    (site / 'catenary/chainermn').mkdir()
    shutil.copy(PYTHON / 'catenary/chainermn/__init__.py', site / 'catenary/chainermn/__init__.py')
    out, _ = run(site, '''
try:
    import chainermn
except ModuleNotFoundError as error:
    print(error.name, str(error).count(chr(10)), error)''', CATENARY_CHAINER='original')
    assert out.startswith('chainer 1 chainermn runs on Chainer 7.8.1') and 'pip install' in out


def test_another_version_of_chainer_is_named(site, chainers):
    shutil.copy(PYTHON / 'catenary/chainermn/__init__.py', site / 'catenary/chainermn/__init__.py')
    (chainers / 'chainer/__init__.py').write_text("__version__ = '6.7.0'\n")
    out, _ = run(site, '''
try:
    import chainermn
except ImportError as error:
    print(error)''', path=[chainers])
    assert '7.8.1' in out and '6.7.0' in out and 'CATENARY_CHAINER=0' in out


OWN = 'import chainer, chainer.part, catenary.chainer; print(chainer.which, chainer.part.which, catenary.chainer is chainer)'


@pytest.fixture
def own_chainer(site, tmp_path):
    """Adds a small package of ours to the site, and makes a folder with an installed one."""
    for folder, which in ((site / 'catenary' / 'chainer', 'ours'), (tmp_path / 'installed' / 'chainer', 'theirs')):
        folder.mkdir(parents=True)
        for name in ('__init__.py', 'part.py'):
            (folder / name).write_text('which = %r\n' % which)
    return tmp_path / 'installed'


def test_our_chainer_is_served_where_there_is_no_other(site, own_chainer):
    assert run(site, OWN) == ('ours ours True\n', '')


def test_the_variable_chooses_between_two_chainers(site, own_chainer):
    out, err = run(site, OWN, path=[own_chainer], CATENARY_CHAINER='own')
    assert out == 'ours ours True\n'
    assert err.count('\n') == 1 and 'two Chainers' in err and str(own_chainer) in err
    for asked in ('', 'original', '0'):
        out, err = run(site, 'import chainer, chainer.part; print(chainer.which, chainer.part.which)', path=[own_chainer], CATENARY_CHAINER=asked)
        assert (out, err) == ('theirs theirs\n', '')


def test_a_chainer_that_is_asked_for_and_not_installed_is_named(site, own_chainer):
    assert 'not installed' in run(site, 'import chainer', status=1, CATENARY_CHAINER='original')[1]
