"""Environment variables that a program changes while OpenCL compiles kernels."""

import os
import subprocess
import sys

# PoCL links a kernel at its first launch by a process that cannot start with a variable of this length.
PROGRAM = '''
import os
from catenary import cupy
kernel = cupy.ElementwiseKernel('float64 x', 'float64 y', 'y = x + 1', 'of_this_test')
y = kernel(cupy.arange(3.))
os.environ['LONG'] = 'x' * 200_000
print(y.get().tolist())
'''


def test_a_variable_set_after_a_launch(tmp_path):
    done = subprocess.run([sys.executable, '-c', PROGRAM], capture_output=True, text=True, timeout=300,
                          env={**os.environ, 'POCL_CACHE_DIR': str(tmp_path), 'CATENARY_CACHE_DIR': str(tmp_path / 'kernels')})
    assert (done.returncode, done.stdout, done.stderr) == (0, '[1.0, 2.0, 3.0]\n', '')
