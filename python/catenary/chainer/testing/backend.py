"""Tests that run on several devices."""

import contextlib
import functools
import inspect

from .. import backend
from ..backends import _cpu, cuda
from ..configuration import using_config
from . import _bundle, attr


class BackendConfig:
    """A device and settings of libraries, which a test gets as its argument `backend_config`.

    `params` is a dict with some of the keys of `_props`. In a `with` block the device and the settings are current.
    """

    _props = list({'use_chainerx': False, 'chainerx_device': None, 'use_cuda': False, 'cuda_device': None, 'use_cudnn': 'never',
                   'cudnn_deterministic': False, 'autotune': False, 'cudnn_fast_batch_normalization': False, 'use_ideep': 'never'}.items())

    def __init__(self, params):
        if not isinstance(params, dict):
            raise TypeError(f'params has to be a dict, not {type(params).__name__}')
        known = dict(self._props)
        for key in params:
            if key not in known:
                raise ValueError(f'{key!r} is no setting of a backend: {", ".join(known)}')
        self.__dict__.update({**known, **params})
        self._check()
        if self.use_cuda and self.cuda_device is None:
            self.cuda_device = 0
        self._contexts = []

    def _check(self):
        if self.use_cuda and self.use_chainerx:
            raise ValueError('use_cuda and use_chainerx exclude each other')
        for switch, device in (('use_cuda', 'cuda_device'), ('use_chainerx', 'chainerx_device')):
            if getattr(self, device) is not None and not getattr(self, switch):
                raise ValueError(f'{device} needs {switch}')
        if self.use_chainerx and not isinstance(self.chainerx_device, str):
            raise ValueError('use_chainerx needs chainerx_device')

    @property
    def xp(self):
        """NumPy or CuPy."""
        return self.device.xp

    @property
    def device(self):
        if self.use_chainerx:
            raise RuntimeError('ChainerX is not provided')
        return cuda.GpuDevice.from_device_id(self.cuda_device) if self.use_cuda else _cpu.CpuDevice()

    def __enter__(self):
        context = contextlib.ExitStack()
        for name in ('use_cudnn', 'cudnn_deterministic', 'autotune', 'cudnn_fast_batch_normalization', 'use_ideep'):
            context.enter_context(using_config(name, getattr(self, name)))
        context.enter_context(backend.using_device(self.device))
        self._contexts.append(context)
        return self

    def __exit__(self, *error):
        return self._contexts.pop().__exit__(*error)

    def __repr__(self):
        return '<BackendConfig ' + ' '.join(f'{name}={getattr(self, name)!r}' for name, _ in self._props) + '>'

    def get_func_str(self):
        """Returns the settings as a part of a test's name."""
        texts = {True: 'true', False: 'false'}
        return '__'.join(f'{name}_{texts.get(value, value) if isinstance(value, bool) else value}'
                         for name, value in ((name, getattr(self, name)) for name, _ in self._props))

    def get_pytest_marks(self):
        """Returns the marks of tests with these settings."""
        marks = []
        if self.use_chainerx:
            marks.append(attr.chainerx)
            if self.chainerx_device.startswith('cuda:'):
                marks.append(attr.multi_gpu(int(self.chainerx_device[5:]) + 1))
        if self.use_cuda:
            marks.append(attr.gpu if self.cuda_device == 0 else attr.multi_gpu(self.cuda_device + 1))
            if self.use_cudnn != 'never':
                marks.append(attr.cudnn)
        elif self.use_ideep != 'never':
            marks.append(attr.ideep)
        return marks

    def get_array(self, np_array):
        """Sends an array, or each one of a list, tuple or dict, to the device. None stays None."""
        return None if np_array is None else self.device.send(np_array)


def inject_backend_tests(method_names, params):
    """Returns a decorator that makes a test case for each dict of `BackendConfig`'s parameters.

    The test methods with these names (all with None) get a `BackendConfig` as one more argument. Several decorators give several arguments: the
    decorator next to the class gives the first.
    """
    if not isinstance(params, list):
        raise TypeError('params has to be a list of dicts')
    if not (method_names is None or isinstance(method_names, list)):
        raise TypeError('method_names has to be a list or None')
    configs = [BackendConfig(param) for param in params]

    def generate(base):
        names = method_names or [name for name in dir(base) if name.startswith('test') and inspect.isfunction(getattr(base, name))]
        for config in configs:
            yield f'{base.__name__}_{config.get_func_str()}', {name: _with_config(getattr(base, name), config) for name in names}, \
                config.get_pytest_marks()
    return _bundle.make_decorator(generate)


def _with_config(method, config):
    """Returns a method that passes the configuration as the first argument."""
    @functools.wraps(method)
    def test(self, *args, **kwargs):
        return method(self, config, *args, **kwargs)
    parameters = list(inspect.signature(method).parameters.values())
    if len(parameters) > 1:
        test.__signature__ = inspect.Signature(parameters[:1] + parameters[2:])
    return test
