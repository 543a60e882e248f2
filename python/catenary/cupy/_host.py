"""CuPy's kernels on the processor: the C++ of `_cuda` by a C++ compiler of this machine's, after _headers/host.h. What it
makes is kept in the library's folder of compiled kernels."""

import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from catenary import _core
from catenary.cupy.cuda.compiler import CompileException

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '_headers')
FLAGS = ('-std=c++17', '-O3', '-w', '-fno-math-errno', '-ffp-contract=off', '-shared', '-fPIC', '-I', HEADERS)
_SPECIAL = re.compile(r'\b(erfinv|erfcinv|erfcx|normcdf|normcdfinv|log_ndtr)f?\b')
_COMPLEX = re.compile(r'\bCATENARY_COMPLEX\b')  # complex.cuh is there
POCL = ('PoCL makes an OpenCL device of the processor: apt install pocl-opencl-icd, and set '
        'CATENARY_GPU_INCLUDE_CPU=1 (without CATENARY_CUPY_CPU=1 it is ordinal 0)')


def _run(command, **more):
    """Runs a compiler. What is loaded into this process by force (a sanitizer, say) is not for it."""
    environment = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
    return subprocess.run(command, capture_output=True, text=True, env=environment, **more)


@functools.lru_cache(None)
def _compiler(wanted):
    """The command of a C++ compiler, and what it says of itself; None where there is none."""
    for name in ([wanted] if wanted else ['c++', 'g++', 'clang++']):
        command = shlex.split(name)
        if shutil.which(command[0]):
            return command, _run([*command, '--version']).stdout
    return None


@functools.lru_cache(None)
def header():
    """The text of host.h."""
    with open(os.path.join(HEADERS, 'host.h')) as file:
        return file.read()


def source(text, entry):
    """The whole C++ text of a kernel of _cuda's whose function is `entry`: `ct_run` does one of several parts of its loop."""
    defines = [name for name, words in (('SPECIAL', _SPECIAL), ('OF_COMPLEX', _COMPLEX)) if words.search(text)]
    return ''.join('#define CATENARY_%s\n' % name for name in defines) + header() + text + '''
extern "C" void ct_run(const void* const* values, long long part, long long parts) {
  blockIdx.x = static_cast<unsigned>(part);
  gridDim.x = static_cast<unsigned>(parts);
  ct_call(%s, values);
}
''' % entry


def compiled(text, kernel):
    """The shared library of a C++ text, as bytes. Throws CompileException, also where there is no compiler."""
    wanted = os.environ.get('CXX')
    found = _compiler(wanted)
    if found is None:
        raise CompileException(
            'kernel %s: on the processor kernels of users are compiled by a C++ compiler, and there is none (%s): apt install '
            'g++, or name one by CXX. Or: %s' % (kernel, 'CXX=' + wanted if wanted else 'c++, g++, clang++', POCL), text, kernel)
    command, said = found
    key = hashlib.sha256('\0'.join(('host', _core.version, *command, said, *FLAGS, text)).encode()).hexdigest()
    binary = _core._load_kernel(key)
    if binary is None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'kernel.so')
            result = _run([*command, *FLAGS, '-x', 'c++', '-', '-o', path], input=text)
            if result.returncode:
                raise CompileException('kernel %s: %s' % (kernel, result.stderr.replace('ct_' + kernel, kernel)), text, kernel)
            with open(path, 'rb') as file:
                binary = file.read()
        _core._save_kernel(key, binary)
    return binary


def function(text, entry, kernel):
    """What launches the kernel `entry` of a text of _cuda's. Throws as compiled does."""
    return _core._HostFunction(compiled(source(text, entry), kernel), kernel)
