"""OpenCL through ctypes: compiles a text for an OpenCL device on the processor and runs it on NumPy arrays."""

import ctypes
import os

import numpy

from catenary.cupy._translator import translate as _translate

_p, _u, _s = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t


class OpenCL:
    """A device, its context and a queue."""

    def __init__(self, platform='Portable Computing Language'):
        self.cl = ctypes.CDLL('libOpenCL.so.1')
        for name in ('clCreateContext', 'clCreateCommandQueue', 'clCreateProgramWithSource', 'clCreateKernel',
                     'clCreateBuffer'):
            getattr(self.cl, name).restype = _p
        count = _u()
        self.check(self.cl.clGetPlatformIDs(0, None, ctypes.byref(count)))
        platforms = (_p * count.value)()
        self.check(self.cl.clGetPlatformIDs(count, platforms, None))
        chosen = [p for p in platforms if self.text(self.cl.clGetPlatformInfo, p, 0x0902) == platform]
        if not chosen:
            raise OSError('no OpenCL platform %r; there are %s' % (
                platform, [self.text(self.cl.clGetPlatformInfo, p, 0x0902) for p in platforms]))
        self.device = _p()
        self.check(self.cl.clGetDeviceIDs(_p(chosen[0]), ctypes.c_uint64(0xFFFFFFFF), 1, ctypes.byref(self.device), None))
        error = ctypes.c_int()
        self.context = _p(self.cl.clCreateContext(None, 1, ctypes.byref(self.device), None, None, ctypes.byref(error)))
        self.check(error.value)
        self.queue = _p(self.cl.clCreateCommandQueue(self.context, self.device, ctypes.c_uint64(0), ctypes.byref(error)))
        self.check(error.value)

    def text(self, function, handle, what):
        size = _s()
        function(_p(handle), what, 0, None, ctypes.byref(size))
        value = ctypes.create_string_buffer(size.value)
        function(_p(handle), what, size, value, None)
        return value.value.decode()

    def check(self, code, more=''):
        if code != 0:
            raise RuntimeError('OpenCL error %d %s' % (code, more))

    def build(self, text, options='-cl-std=CL1.2'):
        """Compiles a program. Raises RuntimeError with the compiler's messages."""
        error = ctypes.c_int()
        source = ctypes.c_char_p(text.encode())
        program = _p(self.cl.clCreateProgramWithSource(self.context, 1, ctypes.byref(source), None, ctypes.byref(error)))
        self.check(error.value)
        code = self.cl.clBuildProgram(program, 1, ctypes.byref(self.device), options.encode(), None, None)
        if code != 0:
            size = _s()
            self.cl.clGetProgramBuildInfo(program, self.device, 0x1183, 0, None, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            self.cl.clGetProgramBuildInfo(program, self.device, 0x1183, size, log, None)
            self.check(code, log.value.decode(errors='replace'))
        return program

    def release(self, program):
        self.cl.clReleaseProgram(program)

    def run(self, text, name, arguments, groups, group, memory=0):
        """Runs the kernel. Arrays among the arguments become buffers and receive the kernel's writes. Other arguments are NumPy scalars. `groups` and
        `group` are numbers or tuples, and `memory` is the size in bytes of a last parameter in local memory."""
        program = self.build(text)
        error = ctypes.c_int()
        kernel = _p(self.cl.clCreateKernel(program, _translate.entry(name).encode(), ctypes.byref(error)))
        self.check(error.value, name)
        buffers, kept = [], []
        for k, argument in enumerate(arguments):
            if isinstance(argument, numpy.ndarray):
                data = numpy.ascontiguousarray(argument)
                buffer = _p(self.cl.clCreateBuffer(self.context, ctypes.c_uint64(1 | 32), _s(max(data.nbytes, 1)),
                                                   data.ctypes.data_as(_p) if data.nbytes else (ctypes.c_char * 1)(),
                                                   ctypes.byref(error)))
                self.check(error.value)
                buffers.append((buffer, argument, data))
                self.check(self.cl.clSetKernelArg(kernel, k, _s(8), ctypes.byref(buffer)), 'argument %d' % k)
            else:
                value = ctypes.create_string_buffer(argument.tobytes())
                kept.append(value)
                self.check(self.cl.clSetKernelArg(kernel, k, _s(argument.nbytes), value), 'argument %d' % k)
        if memory:
            self.check(self.cl.clSetKernelArg(kernel, len(arguments), _s(memory), None), 'memory of a group')
        groups = groups if isinstance(groups, tuple) else (groups,)
        group = group if isinstance(group, tuple) else (group,)
        axes = len(groups)
        self.check(self.cl.clEnqueueNDRangeKernel(
            self.queue, kernel, axes, None, (_s * axes)(*[a * b for a, b in zip(groups, group)]), (_s * axes)(*group), 0,
            None, None), 'launch of ' + name)
        for buffer, argument, data in buffers:
            if data.nbytes:
                self.check(self.cl.clEnqueueReadBuffer(self.queue, buffer, 1, _s(0), _s(data.nbytes),
                                                       data.ctypes.data_as(_p), 0, None, None))
                argument[...] = data
            self.cl.clReleaseMemObject(buffer)
        self.cl.clReleaseKernel(kernel)
        self.release(program)


def library_prelude():
    """Returns the library's text before a portable OpenCL kernel: its prelude and all helpers."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'catenary')
    text = '#define CT_HAS_F64\n#define CT_HAS_ATOMIC64\n'
    for name in ('kernels/prelude_opencl.kernel', 'kernels/memory.kernel', 'ops/math.inc', 'ops/special.inc'):
        with open(os.path.join(root, name)) as file:
            text += file.read()
    return text
