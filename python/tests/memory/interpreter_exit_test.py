"""Exit of Python while other threads compute: as with NumPy, with status 0 and without output."""

import os
import subprocess
import sys

import pytest

PROGRAM = '''
import sys, threading, time
from multiprocessing.pool import ThreadPool
import numpy
from catenary import _core, cupy
name, way, kind = sys.argv[1:]
went = threading.Semaphore(0)

def compute(_=None):
    _core.Device(name).use()
    x, host = cupy.ones((300, 300), 'f'), numpy.ones((300, 300), 'f')
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'of_a_thread')
    while True:
        if kind == 'product':
            float((x @ x)[0, 0])
        elif kind == 'sum':
            float((x * 2).sum())
        elif kind == 'record':
            x = x * 1.0
        elif kind == 'copies':
            cupy.asarray(host).get()
        elif kind == 'kernel':
            kernel(x).sum().item()
        went.release()

if kind == 'kernel':  # compiled before, as no other program can be started while this one ends
    _core.Device(name).use()
    cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'of_a_thread')(cupy.ones((300, 300), 'f'))
if way == 'daemon':
    for _ in range(3):
        threading.Thread(target=compute, daemon=True).start()
else:
    pool = ThreadPool(3)
    pool.map_async(compute, range(3))
for _ in range(12):
    went.acquire()
'''


@pytest.mark.parametrize('kind', ['product', 'sum', 'record', 'copies', 'kernel'])
@pytest.mark.parametrize('way', ['daemon', 'pool'])
def test_threads_that_compute_at_the_end(device, way, kind):
    done = subprocess.run([sys.executable, '-c', PROGRAM, device.name, way, kind],
                          capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_memory_of_others_at_the_end():
    """Another library's memory is not returned to an interpreter that has ended."""
    done = subprocess.run([sys.executable, '-c', '''
import numpy
from catenary import _core, cupy
x = cupy.from_dlpack(numpy.ones(100, 'f'))
with _core.Device(0):
    cupy.ones(3)
y = x + 1  # still to be computed when the interpreter ends
'''], capture_output=True, text=True, timeout=300, env={**os.environ, 'CATENARY_GPU_INCLUDE_CPU': '1'})
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
