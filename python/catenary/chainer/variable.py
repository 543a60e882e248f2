"""Variables: arrays with a place in the compiled graph, and the parameters of models."""

import warnings
import weakref

import numpy

from catenary import _core

from . import _backprop, backend, flag
from ._dtypes import mixed16
from .backends import _cpu, cuda
from .configuration import config, using_config


def _check_grad_type(func, x, is_node_x, gx):
    """Raises TypeError or ValueError if an array cannot be the gradient of a variable or node."""
    if gx is None:
        return
    data = x.data if is_node_x else x.array
    if not backend.is_array(gx):
        error = TypeError('the gradient of an array must be an array, not %s' % type(gx))
    elif data is not None and isinstance(gx, numpy.ndarray) != isinstance(data, numpy.ndarray):
        error = TypeError('the gradient is of %s but the values are of %s' % (type(gx), type(data)))
    elif x.dtype is not None and gx.dtype != x.dtype:
        error = TypeError('the dtype of the gradient is %s, the dtype of the values %s' % (gx.dtype, x.dtype))
    elif x.shape is not None and gx.shape != tuple(x.shape):
        error = ValueError('the shape of the gradient is %s, the shape of the values %s' % (gx.shape, tuple(x.shape)))
    else:
        return
    if func is not None:
        from .function import FunctionAdapter
        old_style = isinstance(func, FunctionAdapter)
        error = (type(error) if old_style else ValueError)(func._get_error_message(_of_backward(error)))
    raise error


def _of_backward(error):
    """Returns the message about a gradient that backward() returned."""
    words = str(error)
    subject = 'shape' if isinstance(error, ValueError) else 'dtype' if words.startswith('the dtype') else 'type'
    return '%s of gradients returned from backward is incorrect: %s' % (subject, words)


class VariableNode(_core._VariableNodeBase):
    """A node of the graph, which knows the shape and dtype of a variable and maybe its values."""

    dtype = _core._VariableNodeBase.dtype
    _extra_is_chainerx = False

    def __init__(self, variable, name, **kwargs):
        if 'grad' in kwargs:
            raise ValueError('VariableNode: the argument grad is not supported since version 3: set the gradient of the variable')
        if kwargs:
            raise TypeError('VariableNode: unexpected argument %s' % ', '.join(kwargs))
        self.name = name

    @property
    def creator(self):
        """The function that computed the variable: a Function of the old style, or a FunctionNode."""
        return _creator(self.creator_node)

    @creator.setter
    def creator(self, function):
        self.creator_node = function

    @property
    def creator_node(self):
        """The FunctionNode that computed the variable."""
        return self._creator_node

    @creator_node.setter
    def creator_node(self, function):
        from .function import Function
        self._creator_node = function.node if isinstance(function, Function) else function

    @property
    def grad(self):
        """The gradient of the variable, while the variable lives."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad

    @property
    def grad_var(self):
        """The gradient as a Variable, while the variable lives."""
        variable = self.get_variable_or_none()
        return None if variable is None else variable.grad_var

    @property
    def label(self):
        """The shape and dtype in words."""
        return _label(self)

    def unchain(self):
        """Detaches the node from the function that computed it."""
        self.creator_node = None

    def set_creator_node(self, creator_node):
        """Sets the FunctionNode that computed the variable."""
        self.creator_node = creator_node

    def set_creator(self, creator):
        """Sets the function that computed the variable."""
        self.creator = creator

    def retain_data(self):
        """Keeps the values for as long as the node lives."""
        variable = self.get_variable_or_none()
        if variable is None:
            raise RuntimeError('the values are gone: the variable of this node was freed')
        self.data = variable.array

    def _update_data_info(self, array):
        pass


def _creator(node):
    from .function import FunctionAdapter
    return node.function if isinstance(node, FunctionAdapter) else node


def _label(variable):
    if variable.shape == ():
        return str(variable.dtype)
    return '(%s), %s' % (', '.join(map(str, variable.shape)), variable.dtype)


def _check_layout(layout):
    if layout is not None:
        raise RuntimeError('the memory layout %r is not provided: leave out the layout, the results are the same' % (layout,))


class Variable(_core._VariableBase):
    """An array, the function that computed it and its gradient."""

    __array_priority__ = 200
    _device = None
    _grad_valid = True
    _has_chainerx_array = False
    _layout = None

    def __init__(self, data=None, *volatile, **kwargs):
        volatile = volatile + (kwargs.pop('volatile'),) if 'volatile' in kwargs else volatile
        name, grad, requires_grad = kwargs.pop('name', None), kwargs.pop('grad', None), kwargs.pop('requires_grad', True)
        kwargs.pop('_layout', None)
        _check_layout(kwargs.pop('layout', None))
        if kwargs:
            raise TypeError('Variable: unexpected argument %s' % ', '.join(kwargs))
        if not isinstance(requires_grad, bool):
            raise TypeError('Variable: requires_grad must be a bool, not %s' % type(requires_grad))
        if data is not None and not backend.is_array(data):
            raise TypeError('Variable: the values must be an array of NumPy or CuPy, not %s. Use numpy.array or chainer.as_variable'
                            % type(data))
        if volatile:
            kept, = map(flag.Flag, volatile)
            requires_grad = requires_grad and kept is not flag.ON
        self._init_impl(data, None, name, grad, True, requires_grad, False, None, None)
        if volatile:
            flag.mark(self, kept)

    @classmethod
    def _init_unchecked(cls, data=None, *, name=None, grad=None, requires_grad=True, is_chainerx_array=None, node=None):
        """Returns a variable without a check of the arguments."""
        self = cls.__new__(cls)
        self._init_impl(data, None, name, grad, True, requires_grad, False, node, None)
        return self

    def __copy__(self):
        return self._copy_to(Variable.__new__(Variable))

    def _copy_to(self, target):
        """Makes `target` a variable that shares the array, but not the gradient and the graph."""
        target._init_impl(self._array, None, self.name, self._grad, True, self.requires_grad, False, None, None)
        target.__dict__.update(self.__dict__)
        return target

    def __reduce__(self):
        return _unpickled, (type(self), self.array, self.name, self._grad, self.requires_grad)

    def __repr__(self):
        return _repr(self)

    def __str__(self):
        return _str(self)

    # ---- values

    def _set_array(self, value):
        if value is not None and not backend.is_array(value):
            raise TypeError('Variable.array: an array of NumPy or CuPy is expected, not %s' % type(value))
        self._array = value

    def _get_array(self):
        return self._array

    @property
    def data(self):
        """The values; use `array`."""
        return self.array

    @data.setter
    def data(self, value):
        self.array = value

    @property
    def chx_array(self):
        raise ValueError('chx_array: ChainerX is not provided')

    @property
    def layout(self):
        """None: memory layouts are not provided."""
        return None

    def as_layout(self, layout):
        """Returns the variable, if the layout is None. Memory layouts are not provided."""
        _check_layout(layout)
        return self

    def item(self):
        """Returns the only element as a Python number."""
        return self.array.item()

    @property
    def T(self):
        """The transposed variable."""
        return self.transpose()

    @property
    def xp(self):
        """The array module: numpy or cupy."""
        return self.device.xp

    @property
    def device(self):
        """The device of the values."""
        array = self._array
        if array is None:
            return self._device if self._device is not None else _cpu.CpuDevice()
        chosen = self._device
        if chosen is not None and not isinstance(chosen, (_cpu.CpuDevice, backend.GpuDevice)) and chosen.is_array_supported(array):
            return chosen  # a user's class of devices, whose arrays do not name it
        return backend.get_device_from_array(array)

    @property
    def label(self):
        """The shape and dtype in words."""
        return _label(self)

    # ---- the graph

    @property
    def volatile(self):
        """The flag of Chainer 1 (chainer.flag): functions of a variable that is ON keep no graph."""
        return flag.of(self)

    @volatile.setter
    def volatile(self, value):
        flag.mark(self, value)

    @property
    def creator(self):
        """The function that computed this variable: a Function of the old style, or a FunctionNode."""
        return _creator(self._creator_node)

    @creator.setter
    def creator(self, function):
        self.node.creator = function

    @property
    def creator_node(self):
        """The FunctionNode that computed this variable."""
        return self._creator_node

    @creator_node.setter
    def creator_node(self, function):
        self.node.creator_node = function

    def set_creator(self, gen_func):
        """Sets the function that computed this variable."""
        self.node.creator = gen_func

    def set_creator_node(self, fnode):
        """Sets the FunctionNode that computed this variable."""
        self.node.creator_node = fnode

    def unchain(self):
        """Detaches the variable from the function that computed it."""
        self.creator_node = None

    def unchain_backward(self):
        """Detaches all functions that led to this variable."""
        waiting, seen = [self.node], set()
        while waiting:
            function = waiting.pop().creator_node
            if function is not None and id(function) not in seen:
                seen.add(id(function))
                waiting.extend(function.inputs or ())
                function.unchain()

    def retain_data(self):
        """Keeps the values for as long as the node lives."""
        self.node.data = self.array

    def backward(self, retain_grad=False, enable_double_backprop=False, loss_scale=None):
        """Computes the gradients of all variables that led to this one. Their `grad` holds them, or for variables between, with `retain_grad`."""
        _backprop.refuse_old_style([self])
        if loss_scale is None and not config.debug and _core._backward(self, bool(retain_grad), bool(enable_double_backprop)):
            return
        with using_config('enable_backprop', enable_double_backprop):
            _backprop.backward(self, retain_grad, loss_scale)

    # ---- the gradient

    def _check_has_grad(self):
        if not self._grad_valid:
            raise RuntimeError('the gradient is not available: the parameter is not initialized, or its gradient was not set')

    @property
    def grad(self):
        """The gradient as an array, or None."""
        self._check_has_grad()
        return self._grad

    @grad.setter
    def grad(self, value):
        _check_grad_type(None, self, False, value)
        self._grad, self._grad_valid = value, True

    @property
    def grad_var(self):
        """The gradient as a Variable, or None."""
        self._check_has_grad()
        return self._grad_var

    @grad_var.setter
    def grad_var(self, value):
        if value is not None:
            _check_grad_type(None, self, False, value.array)
        self._grad_var, self._grad_valid = value, True

    def _set_grad_without_check(self, value):
        self._grad, self._grad_valid = value, True

    def _set_grad_var_without_check(self, value):
        self._grad_var = value

    def cleargrad(self):
        """Removes the gradient."""
        self._grad_var = None
        if not self._grad_valid:
            self._grad_valid = True

    def zerograd(self):
        """Fills the gradient with zeros (deprecated: use cleargrad)."""
        warnings.warn('Variable.zerograd is deprecated: use cleargrad', DeprecationWarning, stacklevel=2)
        self._zero()

    def _zero(self):
        self._grad_valid = True
        if self._array is None:
            return
        gradient = self._grad_var
        if gradient is None:
            with backend.using_device(self.device):
                self._grad = self.xp.zeros_like(self._array)
        else:
            gradient.unchain()
            gradient._array.fill(0)

    def addgrad(self, var):
        """Adds the gradient of another variable, which may be on another device."""
        other = var._grad_var
        if other is None:
            return
        own = self._grad_var
        device = self.device
        if var.device != device:
            from .functions import copy as moved
            other = moved(other, device)
        if self._array is None:
            self.initialize(var.shape)
        if own is None:
            self._grad_var = other
            self._loss_scale = var._loss_scale
        else:
            self._grad_var = own + other

    def copydata(self, var):
        """Copies the values of another variable into this one's array."""
        source, target = var.array, self.array
        if source is None:
            if target is None:
                return
            var.initialize(self.shape)
            source = var.array
        elif target is None:
            self.initialize(var.shape)
            target = self.array
        backend.copyto(target, source)
        self._array = target

    # ---- devices

    def to_cpu(self):
        """Moves the values and the gradient to the processor."""
        self.to_device(_cpu.CpuDevice())

    def to_gpu(self, device=None):
        """Moves the values and the gradient to a GPU, by default the current one."""
        cuda.check_cuda_available()
        self.to_device(backend.get_device(cuda.cupy if device is None else (cuda.cupy, int(getattr(device, 'id', device)))))

    def to_device(self, device):
        """Moves the values and the gradient to a device."""
        device = backend.get_device(device)
        gradient = self._grad
        if self._array is not None:
            moved = device.send(self._array)
            if moved is not self._array:
                had = self.requires_grad
                self._array = moved
                self.node.data = moved if self.node.data is not None else None
                assert self.requires_grad == had
        if gradient is not None:
            self._grad = device.send(gradient)
        self._device = device

    def to_intel64(self):
        raise RuntimeError('iDeep is not provided')

    def to_chx(self):
        raise RuntimeError('ChainerX is not provided')

    def from_chx(self):
        """Does nothing: no variable has arrays of ChainerX."""

    def __iter__(self):
        """Yields the variables along the first axis."""
        return (self[i] for i in range(len(self)))

    # ---- functions as methods

    def reshape(self, *shape):
        """Returns the variable in another shape."""
        from .functions import reshape
        return reshape(self, tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)

    def transpose(self, *axes):
        """Returns the variable with its axes in another order."""
        from .functions import transpose
        if not axes or (len(axes) == 1 and axes[0] is None):
            return transpose(self)
        return transpose(self, tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes)

    def mean(self, axis=None, weights=None, keepdims=False):
        """Returns the mean over axes, all by default."""
        from .functions import average
        return average(self, axis, weights, keepdims)

    # ---- Python's protocols

    def __pos__(self):
        return self

    def __int__(self):
        return int(self.array)

    def __float__(self):
        return float(self.array)

    def __complex__(self):
        return complex(self.array)

    def __bool__(self):
        raise TypeError('a Variable is neither true nor false: compare its array')

    def _no_order(self, other):
        raise TypeError('Variables have no order and no equality: compare their arrays')

    __lt__ = __le__ = __eq__ = __ne__ = __gt__ = __ge__ = _no_order
    __hash__ = None

    def summary(self):
        """Returns the word variable, the name and the address in memory."""
        return '<%s at 0x%x>' % (_prefix(self), id(self))

    def debug_print(self):
        """Returns the device, shape and dtype, and statistics of the values and the gradient, one a line."""
        array = self.array
        facts = [('device', None if array is None else 'CPU' if isinstance(array, numpy.ndarray) else array.device),
                 ('backend', None if array is None else type(array)), ('shape', None if array is None else self.shape),
                 ('dtype', None if array is None else self.dtype), ('statistics', _statistics(array)),
                 ('grad', _statistics(self._grad, of_zeros='0'))]
        return '\n'.join([self.summary(), *['- %s: %s' % fact for fact in facts]])


def _statistics(array, of_zeros=None):
    """Returns the mean and standard deviation in words. `of_zeros` describes an array of zeros."""
    if array is None:
        return None
    if of_zeros is not None and bool((array == 0).all()):
        return of_zeros
    return 'mean=%.8f, std=%.8f' % (float(array.mean()), float(array.std()))


def _unpickled(cls, array, name, grad, requires_grad):
    return cls(array, name=name, grad=grad, requires_grad=requires_grad)


def _prefix(variable):
    return 'variable %s' % variable.name if variable.name else 'variable'


def _str(variable):
    if variable.array is None:
        return '%s(None)' % _prefix(variable)
    prefix = _prefix(variable) + '('
    return prefix + numpy.array2string(_cpu.to_numpy(variable.array), prefix=prefix) + ')'


def _repr(variable):
    if variable.array is None:
        words = 'None'
    elif variable.size or variable.shape == (0,):
        words = numpy.array2string(_cpu.to_numpy(variable.array), separator=', ', prefix=_prefix(variable) + '(')
    else:
        words = '[], shape=%s' % (variable.shape,)
    return '%s(%s)' % (_prefix(variable), words)


def as_variable(obj):
    """Returns a Variable as it is, and an array as a Variable without gradient."""
    return obj if isinstance(obj, Variable) else Variable(obj, requires_grad=False)


def as_array(obj):
    """Returns the array of a Variable, and an array as it is."""
    return obj.array if isinstance(obj, Variable) else obj


class Parameter(Variable):
    """A variable that a link registers and an optimizer updates. It may get its values later, when its shape is known."""

    initializer = None
    update_rule = None
    _grad_initializer = None
    _initial_device = None

    def __init__(self, initializer=None, shape=None, name=None, *, layout=None):
        from . import initializers
        from .initializers import _make
        if initializer is None:
            initializer = initializers.NaN()
        elif numpy.isscalar(initializer):
            initializer = initializers.Constant(initializer)
        if shape is None:
            if backend.is_array(initializer):
                # the array itself becomes the values
                super().__init__(initializer, name=name)
                self.initializer = initializer
            else:
                super().__init__(name=name)
                self.initializer = initializer
                self._grad_initializer = _make(numpy.nan, getattr(initializer, 'dtype', None))
                self._grad_valid = False
        else:
            if backend.is_array(initializer):
                initializer = initializers.Constant(initializer)
            device = _cpu.CpuDevice()
            array = initializers.generate_array(initializer, shape, device.xp, device=device)
            super().__init__(array, name=name, grad=numpy.full_like(array, numpy.nan))
            self.initializer = initializer
        self._initial_device = _cpu.CpuDevice()
        self.update_rule = None

    is_initialized = _core._VariableBase._is_initialized

    @property
    def dtype(self):
        """The dtype of the values, also where the initializer only determines it."""
        if self.is_initialized:
            return _core._VariableBase.dtype.__get__(self)
        dtype = getattr(self.initializer, 'dtype', None)
        if dtype is None:
            raise RuntimeError('the dtype of the parameter is not known: it is not initialized, and its initializer has no dtype')
        return dtype if dtype is mixed16 else numpy.dtype(dtype)

    def __copy__(self):
        own = type(self).__new__(type(self))
        if not self.is_initialized:
            # copies of a parameter without values get the same array later
            twins = self.__dict__.setdefault('_twins', [])
            twins.extend([weakref.ref(own)] if twins else [weakref.ref(self), weakref.ref(own)])
        return self._copy_to(own)

    def __reduce__(self):
        state = {name: value for name, value in self.__dict__.items() if name != '_twins'}
        return _unpickled_parameter, (type(self), self.array, self.name, self._grad if self.is_initialized else None, state)

    def _device_of(self):
        return self._initial_device

    @property
    def device(self):
        """The device of the values, or the one where they will be made."""
        if self._array is None and self._initial_device is not None:
            return self._initial_device
        return Variable.device.fget(self)

    def to_device(self, device):
        device = backend.get_device(device)
        if self.is_initialized:
            super().to_device(device)
        elif device != self._initial_device and '_twins' in self.__dict__:
            # a copy on another device gets values of its own there
            twins = self.__dict__.pop('_twins')
            twins[:] = [reference for reference in twins if reference() is not self]
        self._initial_device = device

    def cleargrad(self):
        super().cleargrad()
        if self._grad_initializer is not None:
            self._grad_initializer = None

    def _zero(self):
        super()._zero()
        if not self.is_initialized:
            from .initializers import _make
            self._grad_initializer = _make(0, getattr(self.initializer, 'dtype', None))

    def initialize(self, shape):
        """Makes the values and the gradient of a parameter whose shape is known now."""
        from . import initializers
        device = self._initial_device
        with backend.using_device(device):
            array = initializers.generate_array(initializers._get_initializer(self.initializer), shape, device.xp, device=device)
            self._array = array
            start = self._grad_initializer
            self._grad = None if start is None else initializers.generate_array(start, shape, device.xp, dtype=array.dtype, device=device)
        self._grad_valid = True
        for twin in [reference() for reference in self.__dict__.pop('_twins', ())]:
            if twin is not None and not twin.is_initialized:
                twin._array = array

    def update(self):
        """Applies the update rule, if there is one."""
        if self.update_rule is not None:
            self.update_rule.update(self)


def _unpickled_parameter(cls, array, name, grad, state):
    self = cls.__new__(cls)
    self._init_impl(array, None, name, grad, True, True, False, None, None)
    self.__dict__.update(state)
    return self


_core._chainer_classes(Variable, VariableNode, None)
_core._chainer_functions(check=_check_grad_type)
