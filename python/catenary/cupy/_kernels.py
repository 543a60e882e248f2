"""cupy.ElementwiseKernel, ReductionKernel, RawKernel, RawModule.

Each kernel's text is generated once for the dtypes, numbers of axes and layouts of its arguments: by `_translator` for OpenCL, by `_cuda` for CUDA
and HIP, and for the processor, whose C++ compiler `_host` calls. Offsets, sizes and strides are arguments of the compiled kernel.
"""

import functools
import math
import re

import numpy

from catenary import _core
from catenary.cupy import _pointer_calls, _cuda, _host
from catenary.cupy._array import asarray, ndarray
from catenary.cupy._launch_errors import InvalidLaunch
from catenary.cupy._launcher import Launcher, check_length, launcher_of, refusals
from catenary.cupy._structured import StructuredArray
from catenary.cupy._translator import cucomplex, opencl, translate
from catenary.cupy._translator.reader import REGISTER, VECTORS
from catenary.cupy._translator.texts import read_name, scalar_of
from catenary.cupy._translator.tree import TypeId
from catenary.cupy._global_variables import Variables, has_variables, no_variable
from catenary.cupy.cuda.device import most_shared_bytes

_int64 = numpy.int64
_MOST_PLANS = 1024
_SCALAR_MEMORY = {'bool': numpy.dtype('uint8'), 'float16': numpy.dtype('float32')}


def _check_arguments(kernel, arguments, whole=False):
    for a in arguments:
        if whole and a is None:  # the array has no address
            continue
        if not isinstance(a, (ndarray, int, float, complex, numpy.generic)) or isinstance(a, numpy.void) and not whole:
            raise TypeError('%s: unsupported type %s of an argument; expected cupy.ndarray or a number%s' % (
                kernel, type(a), '. Pass the members of a structure one by one, or in a cupy.ndarray'
                if getattr(getattr(a, 'dtype', None), 'kind', '') == 'V' else ''))


def _scalar(dtype, value):
    """Returns a number in the kernel's type. Raises TypeError for a complex number where a real one is needed."""
    if dtype.kind != 'c' and numpy.iscomplexobj(value):
        raise TypeError('cannot pass a complex number as %s, got %s' % (dtype, value))
    with numpy.errstate(over='ignore'):
        cast = numpy.asarray(value).astype(dtype)
    return cast.astype(_SCALAR_MEMORY.get(dtype.name, dtype))[()]


def _place(a, size, strides):
    """Returns strides in elements."""
    return [_int64(s // size) for s in strides]


def _is_plain(a, shape):
    return a.shape == shape and a.flags.c_contiguous


def _options(options):
    """Returns the compiler options that can be expressed as text: -DNAME=VALUE, also in two parts or as --define-macro."""
    text = ''
    for option, following in zip(options, (*options[1:], '')):
        if option in ('-D', '--define-macro'):
            macro = following
        elif option.startswith(('-D', '--define-macro=')):
            macro = option.removeprefix('--define-macro=').removeprefix('-D')
        else:
            continue
        name, _, value = macro.partition('=')
        text += '#define %s %s\n' % (name, value or '1')
    return text


class ElementwiseKernel:
    """An elementwise kernel on broadcast arrays (cupy.ElementwiseKernel).

    Parameters are declared as 'T x, raw float32 y', and the operation is CUDA C++. Raises TypeError and ValueError for parameters and arguments
    that do not fit, and CompileException for a text that does not compile or cannot be translated.
    """

    def __init__(self, in_params, out_params, operation, name='kernel', reduce_dims=True, preamble='', no_return=False,
                 return_tuple=False, loop_prep='', after_loop='', options=(), **kwargs):
        if kwargs:
            raise TypeError('ElementwiseKernel: unknown keyword %s' % ', '.join(sorted(kwargs)))
        self._parameters = _core._KernelParameters(in_params, out_params, name)
        self.in_params, self.out_params = self._parameters.inputs, self._parameters.outputs
        self.params = self.in_params + self.out_params
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.operation, self.name, self.__name__ = operation, name, name
        self.preamble = _options(options) + preamble
        self.no_return, self.return_tuple = no_return, return_tuple
        self.loop_prep, self.after_loop = loop_prep, after_loop
        self._cached_codes, self._plans = {}, {}
        self.named_types = {}  # further names of dtypes in the text
        self._known = _pointer_calls.known(self)

    @property
    def cached_code(self):
        """The kernel's text, if one has been generated."""
        if len(self._cached_codes) != 1:
            raise ValueError('%s: expected one kernel text, there are %d for different arguments; use cached_codes' % (self.name, len(self._cached_codes)))
        return next(iter(self._cached_codes.values()))

    @property
    def cached_codes(self):
        return dict(self._cached_codes)

    def __call__(self, *args, size=None, block_size=128, stream=None):
        if stream is not None:
            with stream:
                return self(*args, size=size, block_size=block_size)
        signature = _core._signature(args) if size is None else None
        plan = self._plans.get(signature)  # from an earlier call
        if plan is not None and block_size > 0:
            return plan(args)
        if block_size <= 0:
            raise ValueError('%s: block_size must be greater than zero, given %d' % (self.name, block_size))
        if len(args) not in (self.nin, self.nargs):
            raise TypeError('Wrong number of arguments for %r. It must be either %d or %d (with outputs), but given %d.' % (
                self.name, self.nin, self.nargs, len(args)))
        _check_arguments(self.name, args)
        outputs, dtypes, known, shape, by_number = self._parameters.elementwise(args, size)
        known.update(self.named_types)
        inputs, outputs = args[:self.nin], args[self.nin:] or tuple(outputs)
        count = math.prod(shape)
        if count:
            launch = self._run(inputs + outputs, dtypes, known, shape, count)
            if signature is not None and launch is not None and len(args) == self.nargs and not by_number:
                if len(self._plans) >= _MOST_PLANS:  # the program's shapes keep changing
                    self._plans.clear()
                self._plans[signature] = self._plan(*launch, dtypes)
        return self._result(outputs)

    def _result(self, outputs):
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else tuple(outputs)

    def _plan(self, launcher, groups, group, values, places, dtypes):
        """Returns the launch plan for further calls with such arguments."""
        scalars = [(place, k, dtypes[k]) for k, place in enumerate(places) if not isinstance(values[place], ndarray)]
        arrays = [(place, k) for k, place in enumerate(places) if isinstance(values[place], ndarray)]
        for place in places:
            values[place] = None  # so that the plan keeps no array alive

        def plan(args):
            given = values.copy()
            for place, k in arrays:
                given[place] = args[k]
            for place, k, dtype in scalars:
                given[place] = _scalar(dtype, args[k])
            launcher(groups, group, given)
            return self._result(args[self.nin:])
        return plan

    def _run(self, arguments, dtypes, known, shape, count):
        key, values, places, beside = [], [], [], None
        for p, a, dtype in zip(self.params, arguments, dtypes):
            places.append(len(values))
            if not isinstance(a, ndarray):
                key.append(dtype.char)
                values.append(_scalar(dtype, a))
                continue
            beside = beside if beside is not None else a
            values.append(a)
            if p.raw:
                plain = a.flags.c_contiguous
                key.append((dtype.char, a.ndim, plain))
                values += [_int64(n) for n in a.shape]
                values += _place(a, a.itemsize, a.strides)
            elif _is_plain(a, shape):
                key.append(dtype.char + 'c')
            else:
                key.append(dtype.char + 's')
                view = a if a.shape == shape else _core.broadcast_to(a, shape)
                values += _place(a, a.itemsize, view.strides)
        if beside is None:
            raise ValueError('%s: no argument is an array' % self.name)
        values += [_int64(n) for n in shape]
        values.append(_int64(count))
        device = _core.device_of(beside)
        if self._known and _core.backend_of(device) == 'opencl':
            self._known(*arguments)
            return None
        groups, group = _core.groups_for(beside, count)
        key = (device.name, group, len(shape), tuple(sorted((k, v.char) for k, v in known.items())), *key)
        launcher = self._cached_codes.get(key)
        if launcher is None:
            launcher = self._make(device, group, len(shape), arguments, dtypes, known, shape)
            self._cached_codes[key] = launcher
        if launcher.backend in ('cuda', 'hip'):
            groups = (count + group - 1) // group  # an operation with `return` ends its work-item
        launcher(groups, group, values)
        return launcher, groups, group, values, places

    def _make(self, device, group, ndim, arguments, dtypes, known, shape):
        parameters = []
        for k, (p, a, dtype) in enumerate(zip(self.params, arguments, dtypes)):
            if not isinstance(a, ndarray):
                parameters.append(translate.Parameter(p.name, dtype.name, 'scalar'))
            else:
                plain = a.flags.c_contiguous if p.raw else _is_plain(a, shape)
                parameters.append(translate.Parameter(p.name, dtype.name, 'raw' if p.raw else 'element',
                                                       a.ndim if p.raw else ndim, plain, k >= self.nin))
        backend = _core.backend_of(device)
        launcher = launcher_of('elementwise', self.name, parameters, self.operation,
                         {name: dtype.name for name, dtype in known.items()}, preamble=self.preamble,
                         loop_prep=self.loop_prep, after_loop=self.after_loop, ndim=ndim, group=group, backend=backend,
                         device=device)
        launcher.backend = backend
        return launcher


@functools.lru_cache
def _named(word, types):
    """Returns the dtype that a kernel knows by this name, from pairs (name, dtype), or None."""
    names = {name: REGISTER.get(dtype) for name, dtype in types}
    try:
        type = read_name('reduce_type', word, tuple(names))[1]
    except translate.Untranslatable:
        return None
    own = scalar_of(type, names) if isinstance(type, TypeId) and not type.stars else None
    return next((numpy.dtype(dtype) for dtype, register in REGISTER.items() if own == register), None)


class ReductionKernel:
    """A reduction kernel along axes (cupy.ReductionKernel).

    map_expr is applied to the elements, reduce_expr combines two values a and b, starting with identity, and post_map_expr sets the output from a.
    Raises the errors of ElementwiseKernel.
    """

    def __init__(self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name='reduce_kernel',
                 reduce_type=None, reduce_dims=True, preamble='', options=()):
        self._parameters = _core._KernelParameters(in_params, out_params, name)
        self.in_params, self.out_params = self._parameters.inputs, self._parameters.outputs
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        if self.nout != 1 or self.out_params[0].raw:
            raise ValueError('%s: a reduction has one output that is not raw, given %r; make a kernel for each output' % (name, out_params))
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = '' if identity is None else str(identity)
        self.name, self.__name__, self.reduce_type = name, name, reduce_type
        self.preamble = _options(options) + preamble
        self._cached_codes, self._sizes = {}, {}
        self._raws = '_raw_' in map_expr + reduce_expr + post_map_expr

    @property
    def cached_codes(self):
        return dict(self._cached_codes)

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        if stream is not None:
            with stream:
                return self(*args, out=out, axis=axis, keepdims=keepdims)
        if len(args) not in (self.nin, self.nargs):
            raise TypeError('Wrong number of arguments for %r. It must be either %d or %d (with outputs), but given %d.' % (
                self.name, self.nin, self.nargs, len(args)))
        if len(args) == self.nargs:
            if out is not None:
                raise ValueError("%s: cannot specify 'out' as both a positional and keyword argument" % self.name)
            out = args[-1]
        inputs = tuple(asarray(a) if not isinstance(a, ndarray) and hasattr(a, '__cuda_array_interface__') else a
                       for a in args[:self.nin])
        args = inputs if out is None else (*inputs, out)
        _check_arguments(self.name, args)
        (made,), dtypes, known, shape, stages = self._parameters.reduction(args, axis, keepdims, self.identity != '')
        out = made if out is None else out
        order, outs, rows, parts = stages
        if outs:
            result = out if out.flags.c_contiguous else out.copy()
            self._run(inputs, result, dtypes, known, shape, order, outs, rows, parts)
            if result is not out:
                out[...] = result
        return out

    def _collected_in(self, dtypes, known):
        """Returns the dtype of partial results: the output's or reduce_type's. For a class it is the class name."""
        word = self.reduce_type
        if word is None:
            return dtypes[-1]
        named = {'type_in%d_raw' % k: dtype for k, dtype in enumerate(dtypes[:-1])}
        named.update(known, type_out0_raw=dtypes[-1])
        found = _named(word, tuple((name, dtype.name) for name, dtype in named.items())) if isinstance(word, str) else None
        if found is None and not (isinstance(word, str) and self._is_class(word)):
            raise TypeError('%s: reduce_type %r is not a dtype, a C type, a class in the preamble or a placeholder (%s)' % (
                self.name, word, ', '.join(known) or 'there are none'))
        return word if found is None else found

    def _is_class(self, word):
        base = re.match(r'\s*(?:const\s+)?(\w+)', word)
        return base is not None and (base[1] in VECTORS or re.search(r'\b%s\b' % base[1], self.preamble) is not None)

    def _partial(self, launcher, kind, result, count, group, values, rest):
        """Allocates memory for partial results. The kernel reports the size of a class."""
        if not isinstance(kind, str):
            return _core.empty_like(result, _SCALAR_MEMORY.get(kind.name, kind), 'C', None, (count,))
        if launcher not in self._sizes:
            size = _core.empty_like(result, _int64, 'C', None, (1,))
            launcher(1, group, [*values, result, size, *rest, _int64(3)])
            self._sizes[launcher] = int(size)
        return _core.empty_like(result, _int64, 'C', None, (-(-count * self._sizes[launcher] // 8),))

    def _run(self, inputs, result, dtypes, known, shape, order, outs, rows, chunks):
        ordered = tuple(shape[k] for k in order)
        straight = list(order) == sorted(order)
        key, values, parameters = [], [], []
        for p, a, dtype in zip(self.in_params, inputs, dtypes):
            if not isinstance(a, ndarray):
                key.append(dtype.char)
                values.append(_scalar(dtype, a))
                parameters.append((p.name, dtype.name, 'scalar'))
                continue
            values.append(a)
            if p.raw:
                plain = a.flags.c_contiguous
                key.append((dtype.char, a.ndim, plain))
                parameters.append((p.name, dtype.name, 'raw', a.ndim, plain))
                values += [_int64(n) for n in a.shape] + _place(a, a.itemsize, a.strides)
                continue
            plain = straight and _is_plain(a, shape)
            key.append(dtype.char + 'cs'[not plain])
            parameters.append((p.name, dtype.name, 'element', len(ordered), plain))
            if not plain:
                strides = _core.broadcast_to(a, shape).strides
                values += _place(a, a.itemsize, [strides[k] for k in order])
        parameters.append((self.out_params[0].name, dtypes[-1].name, 'element', 1, True, True))
        kind = self._collected_in(dtypes, known)
        device = _core.device_of(result)
        axes = tuple(order) if self._raws and not straight else None
        groups, group = _core.groups_for(result, outs * chunks, rows // chunks)
        key = (device.name, group, axes or len(ordered), tuple(sorted((k, v.char) for k, v in known.items())), *key)
        launcher = self._cached_codes.get(key)
        if launcher is None:
            types = {name: dtype.name for name, dtype in known.items()}
            launcher = self._cached_codes[key] = launcher_of(
                'reduction', self.name, [translate.Parameter(*p) for p in parameters], self.map_expr, self.reduce_expr,
                self.post_map_expr, self.identity, types, preamble=self.preamble, reduce_type=getattr(kind, 'name', kind),
                ndim=len(ordered), group=group, backend=_core.backend_of(device), device=device, axes=axes)
        rest = [_int64(n) for n in ordered] + [_int64(outs), _int64(rows), _int64(chunks)]
        values += [result, self._partial(launcher, kind, result, outs * chunks if chunks > 1 else 1, group, values, rest), *rest]
        for stage in ((0,) if chunks == 1 else (1, 2)):
            launcher(groups, group, values + [_int64(stage)])


def _three(numbers, what, kernel):
    numbers = tuple(int(n) for n in (numbers if isinstance(numbers, (tuple, list)) else (numbers,)))
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise InvalidLaunch('CUDA_ERROR_INVALID_VALUE: invalid argument: %s: %s must be one to three positive numbers, given %s' % (kernel, what, numbers))
    return numbers + (1,) * (3 - len(numbers))


def _words(kernel, position, value, size):
    """Returns the bytes of a class, which OpenCL takes as 8-byte words. Raises TypeError if their number is not `size`."""
    given = numpy.asarray(value)
    if given.nbytes != size:
        raise TypeError('%s: argument %d is a class of %d bytes, given %d bytes of %s' % (kernel, position, size, given.nbytes, given.dtype))
    return list(numpy.frombuffer(given.tobytes().ljust(-(-size // 8) * 8, b'\0'), 'i8'))


class RawKernel:
    """A CUDA C++ kernel (cupy.RawKernel), called with (grid, block, arguments).

    Numbers are converted to the types of the kernel's parameters. Raises CompileException if the text does not compile.
    """

    # rejects attributes that would have no effect
    __slots__ = 'code', 'name', 'options', 'backend', '_launchers', '_module', '_asked', '__weakref__'

    def __init__(self, code, name, options=(), backend='nvrtc', translate_cucomplex=False, *,
                 enable_cooperative_groups=False, jitify=False):
        if enable_cooperative_groups:
            raise NotImplementedError('RawKernel: cooperative groups are not supported')
        self.code, self.name, self.options, self.backend = code, name, tuple(options), backend
        self._launchers, self._module, self._asked = {}, None, {}

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        if stream is not None:
            with stream:
                return self(grid, block, args, shared_mem=shared_mem)
        grid, block = _three(grid, 'grid', self.name), _three(block, 'block', self.name)
        if isinstance(args, ndarray):
            args = (args,)
        if not isinstance(args, (tuple, list)):
            raise TypeError('%s: the arguments must be a tuple of arrays and numbers, given %s %r' % (self.name, type(args).__name__, args))
        args = [a[(0,) * a.ndim] if isinstance(a, numpy.ndarray) and a.size == 1 else a for a in args]  # a one-element array is a number, as in CuPy
        arrays = [a for a in args if isinstance(a, ndarray)]
        structured = len(arrays) < len(args) and [a for a in args if isinstance(a, StructuredArray)]
        device = _core.device_of(arrays[0]) if arrays else _core.device_of(structured[0].memory) if structured else _core.Device()
        if block[2] > 64 and _core.backend_of(device) != 'hip':  # CUDA's limit
            raise InvalidLaunch('CUDA_ERROR_INVALID_VALUE: invalid argument: %s: block = %s: the third number may be at most 64' % (self.name, block))
        most = max(self._most(device), device.info['local_bytes'])
        if shared_mem > most:
            more = most_shared_bytes(device)
            raise InvalidLaunch('CUDA_ERROR_INVALID_VALUE: invalid argument: %s: shared_mem = %d: %s allows %d bytes per block%s' % (
                self.name, shared_mem, device.name, most, '; set max_dynamic_shared_size_bytes for up to %d' % more if shared_mem <= more else ''))
        launcher, kinds, dynamic = self._made(device)
        if structured:
            args = [a.argument(self.name, launcher.addresses) if isinstance(a, StructuredArray) else a for a in args]
            arrays = [a for a in args if isinstance(a, ndarray)]
        _check_arguments(self.name, args, True)
        other = next((d for d in map(_core.device_of, arrays) if d.name != device.name), None)
        if other is not None:
            raise _core.CUDARuntimeError('kernel %s: its arguments are on %s and on %s' % (
                self.name, device.name, other.name))
        if len(kinds) > len(args):
            raise TypeError('%s: the kernel takes %d arguments, given %d' % (self.name, len(kinds), len(args)))
        sizes = {k: a.nbytes for k, (a, kind) in enumerate(zip(args, kinds)) if kind is None and isinstance(a, numpy.void)}
        if sizes:
            launcher.check_sizes(sizes)
        values = []  # CUDA reads as many arguments as the kernel declares
        for position, (a, kind) in enumerate(zip(args, kinds)):
            if a is None and kind == 'pointer':
                values += [numpy.uint64(0)] if launcher.addresses else [numpy.uint64(0), _int64(0)]
                continue
            if isinstance(a, ndarray) != (kind == 'pointer'):
                raise TypeError('%s: argument %d must be %s, given %s' % (
                    self.name, position, 'a cupy.ndarray' if kind == 'pointer' else 'a number', type(a)))
            if isinstance(a, numpy.void) and isinstance(kind, str):
                raise TypeError('%s: argument %d is a structure of %d bytes where the kernel takes %s: pass its numbers one by one, or '
                                'declare the structure' % (self.name, position, a.nbytes, kind))
            if isinstance(kind, int):
                values += _words(self.name, position, a, kind)
            else:
                values.append(a if kind == 'pointer' else numpy.asarray(a).astype(kind or numpy.asarray(a).dtype)[()])
        if launcher.variables is not None:
            values.append(launcher.variables)
        # in OpenCL, shared memory is a parameter, which the kernel may lack
        shared_mem = (shared_mem or 1) if dynamic else 0 if dynamic is False else shared_mem
        try:
            launcher(grid, block, values, shared_mem)
            launcher.sizes.update(sizes)
        except _core.CUDARuntimeError as error:
            if math.prod(block) <= device.info['group_size'] or isinstance(error, InvalidLaunch):
                raise
            raise InvalidLaunch('CUDA_ERROR_INVALID_VALUE: invalid argument: %s' % error) from None

    def _text(self):
        return cucomplex.renamed(_options(self.options) + self.code)

    def _made(self, device):
        """Returns the result of _make, cached per device."""
        if device.name not in self._launchers:
            self._launchers[device.name] = self._make(device)
        return self._launchers[device.name]

    def _make(self, device):
        """Returns (launcher, parameter kinds, whether shared memory is an extra parameter). The last is None if the launch passes shared memory
        itself."""
        check_length(self.name, self.code)
        backend = _core.backend_of(device)
        if self._module is None and has_variables(self._text(), self.name, False):
            self._module = Variables(self._text(), (cucomplex.renamed(self.name),))
        if self._module is not None:
            return self._module.kernel(cucomplex.renamed(self.name), device)
        if backend != 'opencl':
            with refusals(self.code, self.name):
                text, kinds, made = _cuda.raw(self._text(), cucomplex.renamed(self.name))
            function = _host.whole_function(text, made, self.name) if backend == 'cpu' else None
            return Launcher(text, self.name, True, True, entry=made, function=function), kinds, None
        with refusals(self.code, self.name):
            name = cucomplex.renamed(self.name)
            text, kinds, dynamic = translate.raw(self._text(), name, float64=device.info['has_f64'])
        return Launcher(text, self.name, opencl.of_library(text), entry=translate.entry(name)), kinds, dynamic

    @property
    def attributes(self):
        """The attributes of the kernel on the current device, by CUDA's names. An attribute that the driver does not report is None."""
        told = self._made(_core.Device())[0].attributes()
        return {**{name: told.get(name) for name in _ATTRIBUTES}, 'max_dynamic_shared_size_bytes': self.max_dynamic_shared_size_bytes}

    @property
    def max_dynamic_shared_size_bytes(self):
        """The maximum of shared_mem in a launch, in bytes: the device's default limit, or the limit that was set."""
        return self._most(_core.Device())

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size):
        device = _core.Device()
        most = most_shared_bytes(device)
        if not 0 <= size <= most:
            raise InvalidLaunch('CUDA_ERROR_INVALID_VALUE: invalid argument: %s: max_dynamic_shared_size_bytes = %d: %s allows up to %d bytes per block' % (
                self.name, size, device.name, most))
        self._asked[device.name] = size

    def _most(self, device):
        return self._asked.get(device.name, device.info['local_bytes'])

    def compile(self, log_stream=None):
        """Translates the text now, so that errors appear here instead of at the first call."""
        self._make(_core.Device())


_ATTRIBUTES = {
    'max_threads_per_block': 'The most threads that a block may have.',
    'shared_size_bytes': 'Bytes of memory of a block that the text declares.',
    'const_size_bytes': 'Bytes of constant memory.',
    'local_size_bytes': 'Bytes of memory of each thread.',
    'num_regs': 'Registers of each thread.',
    'ptx_version': "The version of NVIDIA's intermediate language, times ten.",
    'binary_version': 'The architecture that it was compiled for, times ten.',
    'cache_mode_ca': "Was it compiled with NVIDIA's -Xptxas --dlcm=ca?",
    'preferred_shared_memory_carveout': 'The share of on-chip memory that blocks would have, in percent; -1 for the default.'}
for _name, _doc in _ATTRIBUTES.items():
    setattr(RawKernel, _name, property(functools.partial(lambda name, self: self.attributes[name], _name), None, None, _doc))


class RawModule:
    """A text with several kernels that share its global variables (cupy.RawModule)."""

    def __init__(self, *, code=None, path=None, options=(), backend='nvrtc', translate_cucomplex=False,
                 enable_cooperative_groups=False, name_expressions=None, jitify=False):
        if (code is None) == (path is None):
            raise TypeError('RawModule: exactly one of code and path must be given')
        self.code, self.file_path, self.options = code, path, tuple(options)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self._variables, self._kernels = None, {}  # programs may request a kernel at each call

    def _check(self):
        """Reports errors at the first use, not when a program creates a module that it may never use."""
        if self.file_path is not None:
            raise NotImplementedError('RawModule: %s: device binaries are not supported; pass the code' % self.file_path)
        check_length('RawModule', self.code)

    def get_function(self, name):
        """Returns the kernel of this name, or an instance such as `name<float>` of a template. With name_expressions, it must be one of these or a
        kernel that is not a template."""
        self._check()
        if '<' in name and name not in (self.name_expressions or ()):
            raise ValueError('RawModule: %r is not among the name_expressions %s' % (name, list(self.name_expressions or ())))
        if name not in self._kernels:
            kernel = self._kernels[name] = RawKernel(self.code, name, self.options)
            kernel._module = self._shared()
        return self._kernels[name]

    def get_global(self, name):
        """Returns the address of a global `__device__` or `__constant__` variable on the current device, as a MemoryPointer.

        The kernels of this module see values written there. Raises CUDARuntimeError if there is no variable of this name.
        """
        from catenary.cupy.cuda.memory import Memory, MemoryPointer
        self._check()
        shared = self._shared()
        if shared is None:
            raise no_variable(name)
        return MemoryPointer(Memory(shared.memory(name, _core.Device())), 0)

    def _text(self):
        return cucomplex.renamed(_options(self.options) + self.code)

    def _shared(self):
        """Returns the text with its variables, or None if it has none."""
        code = self._text()
        if self._variables is None and has_variables(code, 'RawModule', True):
            self._variables = Variables(code, tuple(map(cucomplex.renamed, self.name_expressions or ())))
        return self._variables

    def compile(self, log_stream=None):
        """Translates the text for an OpenCL device now, so that errors appear here. On other devices it is compiled at the first call."""
        self._check()
        if _core.backend_of(_core.Device()) != 'opencl':
            return
        with refusals(self.code, 'RawModule'):
            translate.check(self._text(), 'RawModule')
