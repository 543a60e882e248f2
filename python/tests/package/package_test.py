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


def test_an_import_loads_only_necessary_modules():
    # each of these takes longer to import than the whole package
    result = run('import sys, catenary.cupy\nprint([name for name in ("scipy", "asyncio", "unittest", "pytest", "email", '
                 '"catenary.cupy.testing", "catenary.cupy._kernels", "catenary.cupy._translate") if name in sys.modules])')
    assert result.stdout == '[]\n', result.stderr


def test_one_library_is_loaded():
    with open('/proc/self/maps') as file:
        mapped = {line.split()[-1] for line in file if 'libcatenary.so' in line}
    assert len(mapped) == 1 and catenary.cupy.catenary_version == catenary.__version__
