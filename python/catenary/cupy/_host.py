"""CuPy's kernels on the processor: the C++ of `_cuda` by the machine's C++ compiler, which the library asks
(backends/cpu/host_compiler.h), after _headers/host.h."""

import functools
import hashlib
import os
import re

from catenary import _core, _wheel
from catenary.cupy import _cuda
from catenary.cupy.cuda.compiler import CompileException

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '_headers')
FLAGS = ('-I', HEADERS)
_SPECIAL = re.compile(r'\b(erfinv|erfcinv|erfcx|normcdf|normcdfinv|log_ndtr)f?\b')
_DYNAMIC = re.compile(r'\bextern\s+__shared__\s+(?:(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)\s*)?((?:\w|::|[<> ])+?)\s*\b(\w+)\s*\[\s*\]\s*;')
_BRACKETS = re.compile(r"""(\bextern\s*"C"\s*|\bnamespace\b[\w:\s]*)?\{|\}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
_XSF = re.compile(r'#\s*include\s*[<"]cupy/xsf/')  # headers of special functions in CuPy's wheel
_OWN_TYPES = re.compile(r'\btypedef\b[^;{}]*\b((?:ssize|u?int(?:8|16|32|64))_t)\s*;')  # the C library defines them, NVIDIA's compiler does not
# operations that need the threads of a block to run side by side
_WARPS = re.compile(r'\b(__syncwarp|__syncthreads_\w+|__(shfl|ballot|any|all|match_any|match_all|reduce)\w*_sync|__activemask|warpSize|cooperative_groups)\b')
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)
_PRINTF = re.compile(r'\bprintf\b')
_ALGORITHM = re.compile(r'\bct_std::(?:min|max)\b')
_COMPLEX = re.compile(r'\bCATENARY_COMPLEX\b')  # whether complex.cuh is included
POCL = ('PoCL makes an OpenCL device of the processor: apt install pocl-opencl-icd, and set '
        'CATENARY_GPU_INCLUDE_CPU=1 (without CATENARY_CUPY_CPU=1 it is ordinal 0)')


@functools.lru_cache(None)
def header():
    """Returns the text of host.h, cuda_only.h, intrinsics.h and atomic_scopes.h."""
    text = ''
    for name in ('host.h', 'cuda_only.h', 'intrinsics.h', 'atomic_scopes.h'):
        with open(os.path.join(HEADERS, name)) as file:
            text += file.read()
    return text


@functools.lru_cache(None)
def _stamp(folder):
    """Returns a hash of the headers in a folder, by which cached kernels that include them are identified. Folders that begin with an underscore
    (other projects in CuPy's wheel) do not count."""
    digest = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != '_')
        for name in sorted(names):
            with open(os.path.join(place, name), 'rb') as file:
                digest.update(name.encode() + b'\0' + file.read())
    return digest.hexdigest()


def source(text, **entries):
    """Returns the whole C++ text of kernels of _cuda, with an entry point for each function."""
    defines = [name for name, words in (('SPECIAL', _SPECIAL), ('OF_COMPLEX', _COMPLEX), ('PRINTF', _PRINTF), ('ALGORITHM', _ALGORITHM)) if words.search(text)]
    own = ''.join('#undef %s\n' % name for name in _cuda.OWN_NUMBERS.findall(text))  # the C library defines them as macros
    included = '// %s\n' % _stamp(os.path.join(HEADERS, 'catenary', 'ops')) if {'SPECIAL', 'OF_COMPLEX'}.intersection(defines) else ''
    return included + ''.join('#define CATENARY_%s\n' % name for name in defines) + header() + own + text + ''.join(
        '\nCT_ENTRY(%s, %s)\n' % entry for entry in entries.items())


def compiled(text, kernel, *flags):
    """Returns the shared library compiled from a C++ text. Raises CompileException, also if there is no compiler."""
    headers = []
    if _XSF.search(text) and _wheel.headers():
        headers = ['-I', _wheel.headers()]
        text = '// %s\n' % _stamp(os.path.join(_wheel.headers(), 'cupy')) + text
    try:
        return _core._HostLibrary(text, kernel, [*FLAGS, *headers, *flags])
    except _core.CUDARuntimeError as error:
        raise CompileException(str(error).replace('ct_' + kernel, kernel), text, kernel) from None


def function(text, entry, kernel):
    """Returns a launcher of the kernel `entry` in a text of _cuda. Raises as compiled()."""
    return compiled(source(text, ct_run=entry), kernel).function('ct_run')


def _is_in_a_function(text):
    """Is the end of this text inside of a function?"""
    opened = []
    for found in _BRACKETS.finditer(_COMMENT.sub(' ', text)):
        if found[0] == '}':
            opened[-1:] = []
        elif found[0][-1] == '{':
            opened.append(found[1] is None)
    return any(opened)


def _dynamic(found):
    """Declares dynamic shared memory by the kernel's own name. Line numbers stay."""
    if _is_in_a_function(found.string[:found.start()]):
        return '%s* const %s = static_cast<%s*>(ct_now->dynamic);' % (found[1], found[2], found[1]) + '\n' * found[0].count('\n')
    line = found.string.count('\n', 0, found.end())
    return '\n#undef %s\n#define %s static_cast<%s*>(ct_now->dynamic)\n#line %d\n' % (found[2], found[2], found[1], line)


def _whole_text(text, kernel):
    """Returns a text of whole kernels for the processor. Raises CUDARuntimeError if threads exchange values by warps."""
    warps = _WARPS.search(_COMMENT.sub(' ', text))
    if warps:
        raise _core.CUDARuntimeError('kernel %s: kernels with warp functions or cooperative groups (%s) do not run on the processor. %s' % (
            kernel, warps[0], POCL))
    at = text.find('#line 1 "')  # the start of the user's text
    code = _DYNAMIC.sub(_dynamic, text[at:])
    for name in set(_OWN_TYPES.findall(code)):
        code = re.sub(r'\b%s\b' % name, 'ct_' + name, code)
    return text[:at] + code


def whole_function(text, entry, kernel):
    """Returns a launcher of a whole kernel. Raises as _whole_text() and compiled()."""
    return function(_whole_text(text, kernel), entry, kernel)


class Module:
    """The kernels of a text that share its variables. Raises as whole_function()."""

    def __init__(self, text, functions):
        entries = {'ct_run_' + function: function for function in functions}
        self._library = compiled(source(_whole_text(text, 'RawModule'), **entries), 'RawModule')

    def get_function(self, function):
        return self._library.function('ct_run_' + function)

    def get_global(self, name):
        return self._library.variable(name)
