"""Kernels on the processor that touch memory that is not there: the process ends, and its last words name the kernel."""

import os
import signal
import subprocess
import sys

import pytest

KERNELS = {
    'raw': "cupy.RawKernel('extern \"C\" __global__ void wild(float* x) { x[(1ll << 40) + threadIdx.x] = 1; }', 'wild')((%d,), (32,), (x,))",
    'barrier': "cupy.RawKernel('extern \"C\" __global__ void wild(float* x)"
               " { __syncthreads(); x[(1ll << 40) + threadIdx.x] = 1; }', 'wild')((%d,), (32,), (x,))",
    'elementwise': "cupy.ElementwiseKernel('raw T x', 'T y', 'y = x[(1ll << 40) + i]', 'wild')(x, size=100 * %d)",
}


def last_words(code, *options):
    result = subprocess.run([sys.executable, *options, '-c', 'import cupy; x = cupy.zeros(100, "f"); ' + code], capture_output=True, text=True,
                            timeout=120, env={**os.environ, 'CATENARY_CUPY_CPU': '1', 'PYTHONFAULTHANDLER': ''})
    assert result.returncode == -signal.SIGSEGV, result
    return result.stderr


@pytest.mark.parametrize('kind', KERNELS)
@pytest.mark.parametrize('blocks', [1, 64])
def test_the_kernel_is_named(kind, blocks):
    words = last_words(KERNELS[kind] % blocks)
    assert words.startswith('catenary: kernel wild on the processor: SIGSEGV at address 0x'), words
    assert words.count('\n') == 1, words


def test_the_handler_before_is_called():
    words = last_words(KERNELS['raw'] % 1, '-X', 'faulthandler')
    assert words.startswith('catenary: kernel wild on the processor: SIGSEGV'), words
    assert 'Fatal Python error: Segmentation fault' in words and 'File "<string>", line 1' in words, words


def test_a_handler_that_comes_later_leaves_the_kernels_name():
    code = 'cupy.RawKernel(\'extern "C" __global__ void tame() {}\', "tame")((1,), (1,), ()); import faulthandler; faulthandler.enable(); '
    words = last_words(code + KERNELS['raw'] % 1)
    assert 'Fatal Python error: Segmentation fault' in words and 'catenary: kernel wild on the processor: SIGSEGV' in words, words


def test_faults_elsewhere_are_not_told():
    words = last_words(KERNELS['raw'].replace('1ll << 40', '0') % 1 + '; import ctypes; ctypes.string_at(0)')
    assert words == ''
