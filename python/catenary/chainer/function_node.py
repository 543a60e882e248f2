"""Functions of the graph that are written in Python, and the classes of the library's own functions."""

import collections
import functools
import traceback
import weakref

import numpy

from catenary import _core

from . import _hooks, backend
from ._backprop import backprop, check_finite, grad
from .backends import cuda
from .configuration import config

__all__ = ['FunctionNode', 'backprop', 'grad']

_thread_hooks = _hooks.ThreadHooks()


def get_function_hooks():
    """Returns the hooks of this thread, by name."""
    return _thread_hooks.hooks


class _Output:
    """An element of FunctionNode.outputs. A call returns the node, or None if it was freed."""

    __slots__ = ('_function', '_index')

    def __init__(self, function, index):
        self._function, self._index = function, index

    def __call__(self):
        return self._function._output(self._index)


class FunctionNode(_core._FunctionNodeBase):
    """A differentiable function. A subclass defines forward (or forward_cpu and forward_gpu) and backward; apply() calls it."""

    lazy_grad_sum = False
    is_elementwise = False
    stack = None
    _input_indexes_to_retain = None
    _output_indexes_to_retain = None
    _retained_output_data = None
    _local_function_hooks = None
    _supports_static_optimizations = False
    _input_layouts = None
    _output_layouts = None
    _output_count = None
    chainerx_device = None

    def __call__(self, *args, **kwargs):
        """Raises TypeError: apply() applies a function."""
        raise TypeError('%s: use apply() instead of a call' % type(self).__name__)

    @property
    def local_function_hooks(self):
        """The hooks of this function alone, by name."""
        if self._local_function_hooks is None:
            self._local_function_hooks = collections.OrderedDict()
        return self._local_function_hooks

    @property
    def _n_local_function_hooks(self):
        return 0 if self._local_function_hooks is None else len(self._local_function_hooks)

    @property
    def label(self):
        """The name of the function in graphs and messages."""
        return type(self).__name__

    @property
    def _impl_name(self):
        return type(self).__name__

    @property
    def output_data(self):
        """The retained arrays of the outputs, with None for the others."""
        if self.outputs is None:
            raise RuntimeError('output_data: the function was not applied yet')
        data = [None] * len(self.outputs)
        for i, array in zip(self._output_indexes_to_retain or (), self._retained_output_data or ()):
            data[i] = array
        return tuple(data)

    @property
    def input_layouts(self):
        return self._input_layouts

    @property
    def output_layouts(self):
        return self._output_layouts

    def _apply(self, inputs):
        """Implements apply where the compiled graph does not: hooks, debug mode and arrays on GPUs."""
        from .variable import Variable, as_variable
        variables = [as_variable(x) for x in inputs]
        in_data = tuple([x.array for x in variables])
        kinds = {isinstance(x, numpy.ndarray) for x in in_data if x is not None}
        if len(kinds) > 1:
            raise TypeError(self._get_error_message('arrays of NumPy and CuPy are mixed: %s' % ', '.join(str(type(x)) for x in in_data)))
        if config.debug:
            self.stack = traceback.extract_stack()
        if config.type_check:
            self._check_data_type_forward(in_data)
        self._input_layouts = (None,) * len(in_data)
        self._input_indexes_to_retain = self._output_indexes_to_retain = None
        hooks = self._hooks()
        with backend.using_device(backend.get_device_from_array(*in_data)):
            for hook in hooks:
                hook.forward_preprocess(self, in_data)
            outputs = self.forward(in_data)
            for hook in hooks:
                hook.forward_postprocess(self, in_data)
        self._check_outputs(outputs)
        requires_grad = any([x.requires_grad for x in variables])
        results = tuple([Variable(y, requires_grad=requires_grad) for y in outputs])
        self._output_count, self._output_layouts = len(results), (None,) * len(results)
        if config.enable_backprop:
            self.inputs = tuple([x.node for x in variables])
            self.outputs = tuple([weakref.ref(y.node) for y in results])
            if self._output_indexes_to_retain is not None:
                self._retained_output_data = tuple([outputs[i] for i in self._output_indexes_to_retain])
        return results

    def _hooks(self):
        hooks = list(get_function_hooks().values())
        return hooks + list(self._local_function_hooks.values()) if self._local_function_hooks else hooks

    def _check_outputs(self, outputs):
        if not isinstance(outputs, tuple):
            raise TypeError('forward must return a tuple (%s), not %s' % (self.label, type(outputs)))
        if any(y is not None and not backend.is_array(y) for y in outputs):
            raise TypeError('forward must return a tuple of arrays (%s), not of %s' % (self.label, ', '.join(str(type(y)) for y in outputs)))
        if self.is_elementwise and len({y.shape for y in outputs if y is not None}) > 1:
            raise RuntimeError('the elementwise function %s returned outputs of several shapes' % self.label)
        if config.debug:
            check_finite(outputs, self._get_error_message('NaN is detected on forward computation'))

    def _get_error_message(self, message):
        lines = [message, 'Function: %s' % self.label]
        if self.stack:
            lines += ['Stacktrace of the call of the function:', ''.join(traceback.format_list(self.stack))]
        return '\n'.join(lines)

    def _checks_types(self):
        return getattr(self.check_type_forward, '__func__', None) is not FunctionNode.check_type_forward

    def _check_data_type_forward(self, in_data):
        if not self._checks_types():
            return
        from .utils import type_check
        with type_check.light_mode:
            try:
                self.check_type_forward(type_check.get_light_types(in_data))
                return
            except type_check.InvalidType:
                pass  # the full check names the wrong type
        with type_check.get_function_check_context(self):
            self.check_type_forward(type_check.get_types(in_data, 'in_types', False))

    def check_type_forward(self, in_types):
        """Checks the types of the inputs. A subclass may define it."""

    def check_layout_forward(self, input_layouts):
        """Checks the memory layouts of the inputs."""

    def forward(self, inputs):
        """Returns a tuple of arrays for a tuple of arrays. By default forward_cpu or forward_gpu computes them."""
        if not inputs:
            raise RuntimeError('%s: forward needs inputs' % self.label)
        if any(isinstance(x, cuda.ndarray) for x in inputs):
            return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs):
        """Computes on NumPy arrays. A subclass defines it."""
        raise NotImplementedError('%s defines neither forward nor forward_cpu' % type(self).__name__)

    def forward_gpu(self, inputs):
        """Computes on CuPy arrays. A subclass defines it."""
        raise NotImplementedError('%s defines neither forward nor forward_gpu' % type(self).__name__)

    def forward_chainerx(self, inputs):
        raise NotImplementedError('ChainerX is not provided')

    def retain_outputs(self, indexes):
        """Keeps these outputs for backward. forward() calls it."""
        self._output_indexes_to_retain = indexes

    def retain_inputs(self, indexes):
        """Keeps these inputs for backward. forward() calls it."""
        self._input_indexes_to_retain = indexes

    def backward(self, target_input_indexes, grad_outputs):
        """Returns the gradients of the inputs at these indexes as Variables or None. A subclass defines it."""
        return (None,) * len(target_input_indexes)

    def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
        """Returns the gradients of backward(), added to those that are given."""
        gradients = self.backward(target_input_indexes, grad_outputs)
        if len(gradients) != len(target_input_indexes) and self.inputs is not None and len(gradients) == len(self.inputs):
            gradients = tuple([gradients[i] for i in target_input_indexes])
        return tuple([new if old is None else old if new is None else new + old for new, old in zip(gradients, grad_inputs)])

    def get_retained_inputs(self):
        """Returns the inputs that retain_inputs() kept, as Variables."""
        if self._input_indexes_to_retain is None or self.inputs is None:
            return ()
        return tuple([None if x.shape is None else x.get_variable() for x in [self.inputs[i] for i in self._input_indexes_to_retain]])

    def get_retained_outputs(self):
        """Returns the outputs that retain_outputs() kept, as Variables."""
        indexes = self._output_indexes_to_retain
        if indexes is None or self.outputs is None:
            return ()
        return tuple([None if data is None else self._kept_output(i) for i, data in zip(indexes, self._retained_output_data)])

    def add_hook(self, hook, name=None):
        """Calls a hook for this function alone."""
        from .function_hook import FunctionHook
        _hooks.add_to(self, FunctionHook, self.local_function_hooks, hook, name)

    def delete_hook(self, name):
        """Removes a hook of this function."""
        from .function_hook import FunctionHook
        _hooks.remove_from(self, FunctionHook, self.local_function_hooks, name)


# ---- the library's functions

def _factor(self, i):
    """Returns the factor by which an input was multiplied."""
    x = self.inputs[i]
    return self.backward((i,), (numpy.ones(x.shape, x.dtype),))[0].array


def _probabilities(self):
    from . import functions
    if not self.attributes['cache_score']:
        return None
    x = self.inputs[0].get_variable_or_none()
    return None if x is None else functions.softmax(x.array).array


# attributes of the original's objects that scripts read
_ATTRIBUTES = {
    'Dropout': {'mask': property(lambda self: _factor(self, 0))},
    'SoftmaxCrossEntropy': {'y': property(_probabilities)},
    'Where': {'flag_x': property(lambda self: _factor(self, 0) != 0), 'flag_h': property(lambda self: _factor(self, 1) != 0)},
}


class _Native(FunctionNode):
    """The base of the classes of the library's functions."""

    def backward(self, target_input_indexes, grad_outputs):
        return self._native_backward(target_input_indexes, grad_outputs)

    @property
    def label(self):
        return self._native_label()

    @property
    def attributes(self):
        """The function's attributes by name."""
        return self._native_attributes()

    def add_hook(self, hook, name=None):
        """Raises NotImplementedError: the library calls no hooks of single functions."""
        raise NotImplementedError('%s: functions of the library have no hooks of their own. Put `with hook:` around the calls' % self.label)


@functools.cache
def class_of(name):
    """Returns the class of the library's function of this name."""
    return type(name, (_Native,), {**_ATTRIBUTES.get(name, {}), '__module__': 'chainer.functions'})


_core._chainer_classes(None, None, class_of)
_core._chainer_functions(base=FunctionNode, reference=_Output, hooks=get_function_hooks)
