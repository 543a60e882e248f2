"""Kernel texts and their launch."""

import contextlib
import re
import sys

from catenary import _core
from catenary.cupy import _cuda, _host
from catenary.cupy._translator import cucomplex, opencl, translate
from catenary.cupy._translator.reader import LONGEST
from catenary.cupy.cuda.compiler import CompileException


# Behind a kernel's text: the size of its parameter `k`.
_SIZE_OF_PARAMETER = '''
template <class F, int k> struct CatenarySize;
template <class A, class... B> struct CatenarySize<void(A, B...), 0> { static const int value = sizeof(A); };
template <class A, class... B, int k> struct CatenarySize<void(A, B...), k> : CatenarySize<void(B...), k - 1> {};
'''


class Launcher:
    """A kernel's text and its launch. Compiler errors become CompileException."""

    def __init__(self, text, name, portable, addresses=False, entry=None, function=None):
        self.text, self.called = text, (entry or name, name)
        self.function, self.addresses = function or _core.RawFunction(text, entry or name, portable), addresses
        self.compiled, self.variables = False, None
        self.sizes, self._asserts = {}, function is None and portable

    def check_sizes(self, sizes):
        """Requires the given numbers of bytes of structures, by the argument's index. The processor and OpenCL check each launch. CUDA and HIP cannot:
        their compiler checks the first launch, and later launches must pass equally many bytes."""
        for k, size in sizes.items():
            if self.sizes.get(k, size) != size:
                raise TypeError('%s: argument %d is a structure of %d bytes, given %d' % (self.called[1], k, self.sizes[k], size))
        if self._asserts and not self.compiled:
            text = self.text + _SIZE_OF_PARAMETER + ''.join(
                'static_assert(CatenarySize<decltype(%s), %d>::value == %d, "argument %d has another size than the %d bytes that are given");\n' % (
                    self.called[0], k, size, k, size) for k, size in sizes.items())
            self.function = _core.RawFunction(text, self.called[0], True)

    def __call__(self, groups, group, arguments, *shared_mem):
        if self.compiled:
            return self.function.launch(groups, group, arguments, self.addresses, *shared_mem)
        with self._compiling():
            self.function.launch(groups, group, arguments, self.addresses, *shared_mem)

    def attributes(self):
        """Returns the attributes of the kernel that the current device's driver reports."""
        with self._compiling():
            return self.function.attributes()

    @contextlib.contextmanager
    def _compiling(self):
        try:
            yield
        except _core.CUDARuntimeError as error:
            if not re.search('BuildProgram|compil|error:', str(error)):
                raise
            raise CompileException(str(error).replace(*self.called), self.text, self.called[1]) from error
        self.compiled = True


@contextlib.contextmanager
def refusals(code, kernel):
    """Turns translation errors into CompileException."""
    try:
        yield
    except translate.Untranslatable as error:
        raise CompileException(str(error), code, kernel) from None
    except RecursionError:
        raise CompileException('kernel %s: operators are nested deeper than the recursion limit of %d (sys.setrecursionlimit): split the '
                               'expression' % (kernel, sys.getrecursionlimit()),
                               code, kernel) from None


def check_length(kernel, *texts):
    """Raises CompileException if the texts are too long together."""
    length = sum(len(text) for text in texts if isinstance(text, str))
    if length > LONGEST:
        raise CompileException('kernel %s: its texts have %d characters, the limit is %d: split the kernel' % (kernel, length, LONGEST), '', kernel)


def launcher_of(way, kernel, *arguments, **more):
    """Returns the launcher of a generated text. `way` names a function of translate or _cuda, depending on the backend."""
    backend, device = more.pop('backend'), more.pop('device')
    check_length(kernel, *arguments, *more.values())
    arguments, more = [cucomplex.renamed(text) for text in arguments], {name: cucomplex.renamed(text) for name, text in more.items()}
    if backend == 'opencl':
        with refusals('', kernel):
            text = getattr(translate, way)(kernel, *arguments, float64=device.info['has_f64'], **more)
        return Launcher(text, kernel, opencl.of_library(text), entry=translate.entry(kernel))
    with refusals('', kernel):
        text = getattr(_cuda, way)(kernel, *arguments, **more)
    entry = translate.entry(kernel)
    return Launcher(text, kernel, True, entry=entry, function=_host.function(text, entry, kernel) if backend == 'cpu' else None)
