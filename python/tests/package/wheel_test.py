"""`cupyx` uses the Python modules of an installed wheel of CuPy: search, precedence, and errors.

A small fake wheel stands for CuPy's. scripts/cupy_tests --cupyx runs the real one.
"""

import importlib
import os
import pathlib
import subprocess
import sys

import pytest

from catenary import _wheel

VERSION = _wheel.TESTED[-1]
FILES = {
    'cupy/__init__.py': 'raise ImportError("CuPy itself is not to be imported")\n',
    'cupy/_version.py': f"__version__ = '{VERSION}'\n",
    'cupyx/__init__.py': 'raise ImportError("this is not to be imported")\n',
    'cupyx/scipy/__init__.py': 'raise ImportError("this is not to be imported")\n',
    'cupyx/scipy/stats/__init__.py': 'from cupyx.scipy.stats._made import spread  # NOQA\n',
    'cupyx/scipy/stats/_made.py': 'import cupy\nfrom cupyx.scipy.special import expit\n\n\ndef spread(x):\n    return expit(cupy.max(x) - cupy.min(x))\n',
    'cupyx/scipy/linalg/__init__.py': 'from cupyx.scipy.linalg._made import dft, kron, helmert as leslie  # NOQA\nfrom cupyx.scipy.linalg._more import *  # NOQA\n',
    'cupyx/scipy/linalg/_made.py': '''from cupy import _core
from cupy._core import internal
from cupy._core._scalar import get_typename

TEXT = "template <class T> __device__ T of(T x) { return CUDART_PI * x; }"
dft = _core.create_ufunc('dft_of', ('f->f', ('dd->d', 'out0 = in0 + in1'), 'd->dd')[:1], 'out0 = of(in0)', preamble=TEXT, doc='What it is.')


def kron(a, b):
    return 'not ours'


def helmert(n):
    return internal._normalize_axis_index(-1, n), get_typename('f4')
''',
    'cupyx/scipy/linalg/_more.py': "__all__ = ['fiedler']\n\n\ndef fiedler():\n    return 'star'\n\n\ndef hidden():\n    pass\n",
    'cupyx/scipy/ndimage/__init__.py': 'from cupyx.scipy.ndimage._measurements import distance_transform_bf  # NOQA\n',
    'cupyx/scipy/ndimage/_measurements.py': 'from cupyx.scipy.ndimage._compiled import f\n',
    'cupyx/scipy/ndimage/_compiled.cpython-311-x86_64-linux-gnu.so': 'no Python',
    'cupyx/scipy/sparse/__init__.py': 'from cupyx.scipy.sparse._coo import coo_matrix, coo_tensor  # NOQA\nfrom cupyx.scipy.sparse._dia import dia_matrix\n',
    'cupyx/scipy/sparse/_coo.py': 'class coo_matrix:\n    pass\n\n\nclass coo_tensor:\n    pass\n',
    'cupyx/scipy/sparse/_dia.py': 'class dia_matrix:\n    pass\n',
    'cupyx/scipy/spatial/__init__.py': 'from cupy.cuda import cufft\n',
    'cupyx/cutensor.py': 'raise ImportError("this is not to be imported")\n',
}


@pytest.fixture
def wheel(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(wheel, code, status=0, **environment):
    """Runs code in a new interpreter that has this wheel installed. Returns its standard output and error."""
    path = [str(wheel)] if wheel else []
    done = subprocess.run([sys.executable, '-c', 'import numpy, cupy, cupyx\n' + code], capture_output=True, text=True, timeout=300, env={
        **os.environ, 'PYTHONPATH': os.pathsep.join([*path, os.environ.get('PYTHONPATH', '')]), 'CATENARY_CUPY_CPU': '1', 'CATENARY_GPU_INCLUDE_CPU': '0',
        **environment})
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_its_modules_run_on_our_arrays(wheel):
    out, err = run(wheel, '''
import cupyx.scipy.stats
from cupyx.scipy import stats
import catenary.cupyx.scipy.stats._made as made
assert stats is cupyx.scipy.stats and stats.spread is made.spread and stats.__file__.startswith(%r)
assert cupyx.scipy.stats._made is made and cupy is __import__('catenary').cupy
print(stats.spread(cupy.asarray([1.0, 3.0])))
''' % str(wheel))
    assert (float(out), err) == (pytest.approx(0.8807970779778823), '')


def test_ours_come_first_and_its_names_behind_them(wheel):
    out, _ = run(wheel, '''
from cupyx.scipy import linalg
print(linalg.kron.__module__, linalg.leslie(3), linalg.fiedler(), hasattr(linalg, 'hidden'), hasattr(linalg, 'never_heard_of'))
from cupyx.scipy.linalg import dft, toeplitz
print(dft.name, dft.types, dft.nin, dft.nout, dft.__doc__, toeplitz.__module__)
print(dft(cupy.asarray([1, 2], 'f')).tolist(), dft(numpy.float32(0.5)).dtype)
print(list(cupyx.scipy.linalg.__path__))
''')
    lines = out.split('\n')
    assert lines[0] == "catenary.cupyx.scipy.linalg (2, 'float') star False False"
    assert lines[1] == "dft_of ['f->f'] 1 1 What it is. catenary.cupyx.scipy.linalg"
    assert lines[2] == '[3.1415927410125732, 6.2831854820251465] float32'
    assert lines[3] == str([str(wheel / 'cupyx/scipy/linalg')])


def test_compiled_modules_and_classes_that_are_ours_are_refused(wheel):
    out, _ = run(wheel, '''
def says(statement):
    try:
        exec(statement)
    except ImportError as error:
        print(type(error).__name__, error)
says('from cupyx.scipy.ndimage import distance_transform_bf')
says('import cupyx.scipy.sparse._coo')
says('from cupyx.scipy.sparse import coo_tensor')
says('import cupyx.scipy.spatial')
says('import cupyx.cutensor')
print(cupyx.scipy.sparse.coo_matrix.__module__, hasattr(cupyx.scipy.sparse, 'coo_tensor'))
''')
    lines = out.split('\n')
    assert 'cupyx.scipy.ndimage.distance_transform_bf of CuPy' in lines[0] and 'cupyx.scipy.ndimage._compiled of CuPy' in lines[0] and 'compiled for CUDA' in lines[0]
    assert all("sparse matrices are Catenary's own classes" in line for line in lines[1:3]) and 'coo_tensor' in lines[2]
    assert 'cupy.cuda.cufft is not here, though CuPy has it' in lines[3] and 'cupyx.cutensor is not here' in lines[4]
    assert lines[5] == 'cupyx.scipy.sparse False'


SAYS = '''
for statement in ('import cupyx.scipy.stats', 'from cupyx.scipy import interpolate', 'import cupyx.scipy.spatial.distance', 'from cupyx.scipy.signal import lombscargle'):
    try:
        exec(statement)
    except ImportError as error:
        print(error)
'''


def test_without_a_wheel_two_lines_say_which(tmp_path):
    out, _ = run(None, SAYS)
    lines = out.rstrip().split('\n')
    assert len(lines) == 8, out
    assert all(line.startswith(f'  pip install --no-deps cupy-cuda12x=={VERSION}') for line in lines[1::2]), out
    assert lines[0].startswith('cupyx.scipy.stats is not here, though CuPy has it: ')


def test_a_wheel_of_another_version_is_not_used(wheel):
    (wheel / 'cupy/_version.py').write_text("__version__ = '12.3.0'\n")
    out, _ = run(wheel, SAYS, CATENARY_CUPY='1')
    assert out.count(f'CuPy 12.3.0 is installed in {wheel}') == 4 and out.count(f'\n  pip install --no-deps cupy-cuda12x=={VERSION}') == 4, out


def test_a_wheel_that_can_be_imported_itself_is_the_cupy(wheel):
    """A wheel with its dependencies is another CuPy, and CATENARY_CUPY=1 selects ours."""
    (wheel / 'cuda').mkdir()
    (wheel / 'cuda/pathfinder.py').write_text('')
    assert 'CuPy itself is not to be imported' in run(wheel, '', status=1)[1]
    out, err = run(wheel, 'from cupyx.scipy import stats\nprint(cupy.catenary_version != "", stats.__file__)', CATENARY_CUPY='1')
    assert out == f'True {wheel}/cupyx/scipy/stats/__init__.py\n' and 'two CuPys are installed' in err


def test_none_of_our_private_modules_hides_one_of_its():
    """Otherwise `from cupyx.scipy.ndimage import _filters` in a module of the wheel would import ours, which differs.

    `_base`, `_construct` and `_csr` of sparse contain only names of ours, so that the wheel's modules create our matrices.
    """
    theirs = {'ndimage': 'distance_transform filters fourier interpolation measurements morphology util filters_core filters_generic interp_kernels pba_2d pba_3d '
                         'spline_kernel_weights spline_prefilter_core',
              'signal': 'arraytools bsplines czt filter_design fir_filter_design iir_filter_conversions iir_filter_design iir_utils lti_conversion ltisys max_len_seq '
                        'optimize peak_finding polyutils resample savitzky_golay signaltools signaltools_core spectral spectral_impl splines upfirdn '
                        'waveforms wavelets windows',
              'sparse': 'compressed coo csc data dia extract index sputils util'}
    folder = pathlib.Path(_wheel.__file__).parent / 'cupyx/scipy'
    for package, names in theirs.items():
        assert not [name for name in names.split() if (folder / package / f'_{name}.py').exists()], package
    sparse = importlib.import_module('catenary.cupyx.scipy.sparse')
    for module in ('_base', '_construct', '_csr'):
        names = vars(importlib.import_module(f'catenary.cupyx.scipy.sparse.{module}'))
        assert all(value is getattr(sparse, name) for name, value in names.items() if not name.startswith('_')), module
