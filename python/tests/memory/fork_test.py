"""A forked child of a process that used the device, without the driver's threads."""

import subprocess
import sys

import pytest

FORKED = '''
import os, sys
from catenary import _core, cupy
x = cupy.arange(3.)
kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'of_a_child')
kernel(x).get()
y, stream = x.copy(), cupy.cuda.Stream()
y.get()
stream.use()
current, event = cupy.cuda.get_current_stream(), stream.record()
cupy.cuda.Stream.null.use()
child = os.fork()
if child == 0:
    try:
        %s
    except cupy.cuda.runtime.CUDARuntimeError as error:
        print(error, flush=True)
        %s
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
assert (x + 1).get().sum() == 6
'''


def forked(statement, end='os._exit(0)'):
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', FORKED % (statement, end)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, '')
    assert 'was in use before this process was forked' in done.stdout and 'spawn' in done.stdout, done.stdout


# the last of several GPUs
LAST_CARD = 'cupy.cuda.Device(cupy.cuda.runtime.getDeviceCount() - 1).use(); cupy.array(x)'


# one statement per test, as reads, writes, computations, launches, waits and stream operations have separate guards
@pytest.mark.parametrize('statement', [
    'x.get()', 'cupy.array([1., 2., 3.])', 'x.set(__import__("numpy").ones(3))', 'cupy.arange(5); _core._watch_memory(lambda *a: 0); x + 1',
    'kernel(x, y)', 'x.copy()', 'x.sort()', LAST_CARD, 'cupy.cuda.Device().synchronize()', 'cupy.cuda.runtime.deviceSynchronize()', '(x + 1).get()',
    'x.copy(); cupy.cuda.Stream.null.synchronize()', 'stream.synchronize()', 'stream.record().synchronize()', 'cupy.cuda.Stream()',
    'stream.use()', 'stream.ptr'])
def test_a_forked_child_is_told(statement):
    forked(statement)


def test_streams_that_end_in_a_forked_child():
    """The child drops the parent's streams silently."""
    forked('x.get()', 'del stream, current, event; sys.exit(0)')


def test_a_forked_childs_end_waits_for_nothing():
    forked('x.get()', 'sys.exit(0)')
