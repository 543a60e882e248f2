"""The package as a whole: the error on a Python without a GIL, and the cost of an import."""

import subprocess
import sys

import catenary.cupy


def run(code):
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)


def test_a_python_that_keeps_its_gil_off_is_refused():
    result = run('import sys\nsys._is_gil_enabled = lambda: False\nimport catenary.cupy')
    assert result.returncode == 1
    assert result.stderr.endswith('ImportError: catenary._core needs the GIL, but PYTHON_GIL=0 or -X gil=0 disables it in '
                                  'this free-threaded Python; start Python without them\n')
    assert run('import sys\nsys._is_gil_enabled = lambda: True\nimport catenary.cupy').returncode == 0


def test_an_old_numpy_is_refused():
    result = run('import sys, numpy\nsys.modules["numpy.exceptions"] = None\nnumpy.__version__ = "1.24.4"\nimport catenary.cupy')
    assert result.returncode == 1
    assert ('ImportError: NumPy 1.24.4 is too old for Catenary, which needs 1.26 or later: python -m pip install -U numpy'
            in result.stderr.splitlines())


def test_an_import_loads_only_necessary_modules():
    # each of these takes longer to import than the whole package
    result = run('import sys, catenary.cupy\nprint([name for name in ("scipy", "asyncio", "unittest", "pytest", "email", '
                 '"catenary.cupy.testing", "catenary.cupy._kernels", "catenary.cupy._translate") if name in sys.modules])')
    assert result.stdout == '[]\n', result.stderr


def test_one_library_is_loaded():
    with open('/proc/self/maps') as file:
        mapped = {line.split()[-1] for line in file if 'libcatenary.so' in line}
    assert len(mapped) == 1 and catenary.cupy.catenary_version == catenary.__version__
