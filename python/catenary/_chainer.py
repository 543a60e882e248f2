"""Replaces Chainer's hot classes and functions by the library's graph, if CATENARY_CHAINER=1 is set.

The installed Chainer 7.8.1 is imported unchanged. After each of its modules has run, some names are replaced. Variables, nodes and functions
become classes that derive from objects of the library (python/src/chainer) and keep the original's methods for everything else. Functions in
GRAFTS call the library. Unsupported arguments fall back to the original, which then also raises its own errors. Each name has one class: no class
of Chainer's exists twice.
"""

import functools
import weakref

import numpy

from catenary import _core, _precision, _updates


def _graft(module):
    """Puts the library's names into a module of Chainer's that has just run."""
    name = module.__name__
    if name in _MODULES:
        _MODULES[name](module)
    for function in FUNCTIONS.get(name, ()):
        setattr(module, function, _core._Call(name + '.' + function, getattr(module, function)))


def loader(original):
    """Returns the loader of a module that takes() names."""
    return _precision.Loader(original, _graft)


def names():
    """Returns Chainer's names that the library implements. All others are the original's."""
    return sorted({'chainer.Variable', 'chainer.Parameter', 'chainer.variable.VariableNode', 'chainer.FunctionNode', 'chainer.backward',
                   'chainer.grad',
                   *('chainer.optimizers.' + name for name in _updates.OPTIMIZERS.values()), *_core._chainer_rows()})


def takes(name):
    """Is anything in a module of Chainer's ours?"""
    return name in _MODULES or name in FUNCTIONS


def _derived(original, base, ours):
    """Returns the class `original` with another base. Its own attributes stay, except those that an object of the library or `ours` defines."""
    gone = {'__dict__', '__weakref__'}
    if base.__module__ == 'catenary._core':
        gone |= vars(base).keys() - {'__doc__', '__module__'}
    attributes = {name: value for name, value in vars(original).items() if name not in gone}
    attributes.update(ours)
    attributes['__qualname__'] = original.__qualname__
    return type(original.__name__, (base,), attributes)


# ---- chainer.configuration

# settings that the library, or is_special in python/src/chainer, must know
_SHARED = frozenset(('enable_backprop', 'train', 'debug', 'lazy_grad_sum', 'schedule_func'))


def _configuration(module):
    """Passes settings that the library knows to the library when they are set."""
    set_here = module.LocalConfig.__setattr__
    delete_here = module.LocalConfig.__delattr__

    def set_local(self, name, value):
        set_here(self, name, value)
        if name in _SHARED and self is module.config:
            _core._set_config(name, 1 if value else 0, False)

    def delete_local(self, name):
        delete_here(self, name)
        if name in _SHARED and self is module.config:
            _core._set_config(name, -1, False)

    def set_global(self, name, value):
        object.__setattr__(self, name, value)
        if name in _SHARED and self is module.global_config:
            _core._set_config(name, 1 if value else 0, True)

    module.LocalConfig.__setattr__ = set_local
    module.LocalConfig.__delattr__ = delete_local
    module.GlobalConfig.__setattr__ = set_global


# ---- chainer.variable

class _Cell:
    """Variable._data, which Chainer's own code reads and writes as a list of one array. A variable and its copies share it."""

    __slots__ = ('_variable',)

    def __init__(self, variable):
        self._variable = variable

    def __getitem__(self, index):
        return self._variable._array

    def __setitem__(self, index, value):
        for reference in self._variable.__dict__.get('_copies', ()):
            copy = reference()
            if copy is not None:
                copy._array = value
        self._variable._array = value


def _set_data(variable, cell):
    """Gives a variable data of its own, which it no longer shares with its copies."""
    copies = variable.__dict__.pop('_copies', None)
    if copies is not None:
        copies[:] = [reference for reference in copies if reference() is not variable]
    variable._array = cell[0]


def _variable(module):
    original, parameter = module.Variable, module.Parameter

    def set_grad(self, g):
        self._grad = g
        self._grad_valid = True

    def set_grad_var(self, gv):
        self._grad_var = gv

    def zerograd(self):
        import warnings
        warnings.warn('Variable.zerograd is deprecated. Use Variable.cleargrad instead.', DeprecationWarning, stacklevel=2)
        self._grad_valid = True
        if self._array is None:
            return
        gradient = self._grad_var
        if gradient is None:
            import chainer
            with chainer.using_device(self.device):
                self._grad = self.device.xp.zeros_like(self._array)
        else:
            gradient.unchain()
            gradient._array.fill(0)

    def copy_to(self, target):
        target._init_impl(self._array, None, self.name, self._grad, True, self._requires_grad, None, None, None)
        copies = self.__dict__.setdefault('_copies', [weakref.ref(self)])
        copies[:] = [reference for reference in copies if reference() is not None]
        target.__dict__.update(self.__dict__)
        copies.append(weakref.ref(target))
        return target

    by_chainer = original.backward

    @functools.wraps(by_chainer)
    def backward(self, retain_grad=False, enable_double_backprop=False, loss_scale=None):
        if loss_scale is not None or not _core._backward(self, bool(retain_grad), bool(enable_double_backprop)):
            by_chainer(self, retain_grad, enable_double_backprop, loss_scale)

    ours = {
        'backward': backward, '__copy__': lambda self: self._copy_to(module.Variable.__new__(module.Variable)),
        '_data': property(_Cell, _set_data),
        '_device': None, '_grad_valid': True, '_layout': None,
        '_set_grad_without_check': set_grad, '_set_grad_var_without_check': set_grad_var,
        'zerograd': zerograd, '_copy_to': copy_to,
    }
    module.Variable = _derived(original, _core._VariableBase, ours)
    _precision.variable(module)
    module.Parameter = _derived(parameter, module.Variable, {'is_initialized': _core._VariableBase._is_initialized})

    def init(self, variable, name, **kwargs):
        if kwargs:
            from chainer.utils import argument
            argument.check_unexpected_kwargs(
                kwargs, grad='unexpected keyword argument "grad": pass the gradient to Variable instead')
        self.name = name

    def set_creator_node(self, function):
        import chainer
        self._creator_node = function.node if isinstance(function, chainer.Function) else function

    node = {'__init__': init, '_update_data_info': lambda self, data: None,
            'creator_node': property(lambda self: self._creator_node, set_creator_node)}
    module.VariableNode = _derived(module.VariableNode, _core._VariableNodeBase, node)
    _core._chainer_classes(module.Variable, module.VariableNode, None)
    _core._chainer_functions(check=module._check_grad_type)


# ---- chainer.function_node

class _Output:
    """The elements of FunctionNode.outputs. Calling one returns the node, or None if it was freed."""

    __slots__ = ('_function', '_index')

    def __init__(self, function, index):
        self._function = function
        self._index = index

    def __call__(self):
        return self._function._output(self._index)


def _function_node(module):
    original = module.FunctionNode

    def get_retained_outputs(self):
        indexes = self._output_indexes_to_retain
        if indexes is None or self.outputs is None:
            return ()
        return tuple([None if data is None else self._kept_output(i) for i, data in zip(indexes, self._retained_output_data)])

    by_chainer = module.grad

    @functools.wraps(by_chainer)
    def grad(outputs, inputs, grad_outputs=None, grad_inputs=None, set_grad=False, retain_grad=False, enable_double_backprop=False,
             loss_scale=None):
        arguments = (outputs, inputs, grad_outputs, grad_inputs, set_grad, retain_grad, enable_double_backprop, loss_scale)
        lists = [values for values in arguments[:4] if values is not None]
        if (retain_grad or _core._is_special() or _core._old_style() or not all(isinstance(values, (tuple, list)) for values in lists)
                or not all(isinstance(v, _core._VariableBase) and v.array is not None for v in (*outputs, *inputs))
                or any(len(other) != len(of) for other, of in ((grad_outputs, outputs), (grad_inputs, inputs)) if other is not None)):
            return by_chainer(*arguments)
        with module.chainer.using_config('enable_backprop', enable_double_backprop):
            return _core._grad(*arguments)

    module.grad = grad
    ours = {'_apply': original.apply, 'get_retained_outputs': get_retained_outputs}
    FunctionNode = module.FunctionNode = _derived(original, _core._FunctionNodeBase, ours)

    def backward(self, target_input_indexes, grad_outputs):
        return self._native_backward(target_input_indexes, grad_outputs)

    def add_hook(self, hook, name=None):
        raise NotImplementedError("%s: functions of the library have no hooks of their own. Put `with hook:` around the call, and "
                                  "Chainer's function computes it" % self.label)

    native = {'backward': backward, 'add_hook': add_hook, 'label': property(lambda self: self._native_label()),
              'attributes': property(lambda self: self._native_attributes()), '__module__': 'chainer.functions'}

    def factor(self, i):
        """Returns the factor that an input was multiplied by, on the processor, where functions with noise are the library's."""
        x = self.inputs[i]
        return self.backward((i,), (numpy.ones(x.shape, x.dtype),))[0].array

    def y(self):
        import chainer.functions
        x = self.inputs[0].get_variable_or_none()
        return None if x is None else chainer.functions.softmax(x.array).array

    # attributes of Chainer's objects that scripts read
    attributes = {'Dropout': {'mask': property(lambda self: factor(self, 0))}, 'SoftmaxCrossEntropy': {'y': property(y)},
                  # zoneout's
                  'Where': {'flag_x': property(lambda self: factor(self, 0) != 0), 'flag_h': property(lambda self: factor(self, 1) != 0)}}

    @functools.cache
    def class_of(name):
        return type(name, (FunctionNode,), {**native, **attributes.get(name, {})})

    _core._chainer_classes(None, None, class_of)
    _core._chainer_functions(base=FunctionNode, reference=_Output)


def _backprop(module):
    """Makes gradients flow through the library, except where hooks of Chainer's must see each step."""
    original = module._backprop_to_all

    def _backprop_to_all(outputs, retain_grad, loss_scale):
        if _core._is_special() or _core._old_style() or any(gradient is None for _, gradient in outputs):
            original(outputs, retain_grad, loss_scale)
        else:
            _core._backprop_to_all(outputs, retain_grad, loss_scale)

    module._backprop_to_all = _backprop_to_all


# the operators of python/src/chainer/functions.cpp, in their order there
_OPERATORS = ('add', 'sub', 'mul', 'truediv', 'pow', 'neg', 'getitem', 'matmul')


def _chainer(module):
    """Runs after the package `chainer`: the library's operators of variables fall back to Chainer's."""
    Variable = module.Variable

    def taken(name):
        method = vars(Variable).get(name)
        if method is not None:
            delattr(Variable, name)
        return method

    _core._chainer_operators([taken('__%s__' % name) for name in _OPERATORS], [taken('__r%s__' % name) for name in _OPERATORS])
    _core._chainer_functions(hooks=module.get_function_hooks)


# ---- chainer.optimizer, chainer.optimizers

def _optimizer(module):
    """Makes optimizers update all parameters in one call. Hooks, loss scales and parameters with rules of their own behave as in Chainer."""
    GradientMethod = module.GradientMethod
    reallocate = GradientMethod.reallocate_cleared_grads

    @functools.wraps(reallocate)
    def reallocate_cleared_grads(self):
        if not _core._have_grads(self.target.params()):
            reallocate(self)

    def update_all(params):
        _updates.update_all(params, module.variable.Parameter.update)

    def reallocated(optimizer, params):
        return type(optimizer).reallocate_cleared_grads is reallocate_cleared_grads and _core._have_grads(params)

    GradientMethod.reallocate_cleared_grads = reallocate_cleared_grads
    _precision.optimizer(module, update_all, reallocated)


# ---- chainer.link, chainer.reporter, chainer.dataset, chainer.datasets

def _link(module):
    """Clears gradients of plain parameters in one call."""
    Link = module.Link
    Parameter = module.variable.Parameter
    clear = Parameter.cleargrad

    @functools.wraps(Link.cleargrads)
    def cleargrads(self):
        for param in _core._clear_grads(self.params(), Parameter) if Parameter.cleargrad is clear else self.params():
            param.cleargrad()

    Link.cleargrads = cleargrads


# Sums of these types stay on the processor, whatever the current device.
_ON_PROCESSOR = frozenset((float, int, numpy.ndarray, numpy.float32, numpy.float64))


def _reporter(module):
    add_anywhere = module.Summary.add

    @functools.wraps(add_anywhere)
    def add(self, value, weight=1):
        if type(value) not in _ON_PROCESSOR or type(weight) not in _ON_PROCESSOR:
            return add_anywhere(self, value, weight)
        weighted = weight * value
        self._x += weighted
        self._x2 += weighted * value
        self._n += weight

    module.Summary.add = add


def _convert(module):
    """Copies batches of numbers or of NumPy arrays of one shape in one call."""
    concat = module._concat_arrays

    @functools.wraps(concat)
    def _concat_arrays(arrays, padding):
        if padding is None and type(arrays) is list:
            if isinstance(arrays[0], (numpy.number, int, float)):
                together = numpy.asarray(arrays)
                if together.ndim == 1 and together.dtype.kind in 'iuf':
                    return together
            else:
                together = _core._stacked(arrays)
                if together is not None:
                    return together
        return concat(arrays, padding)

    module._concat_arrays = _concat_arrays


def _tuple_dataset(module):
    original = module.TupleDataset
    _core._chainer_examples(original.__getitem__)
    module.TupleDataset = _derived(original, _core._TupleDatasetBase, {})


_MODULES = {
    'chainer.link': _link,
    'chainer.reporter': _reporter,
    'chainer.dataset.convert': _convert,
    'chainer.datasets.tuple_dataset': _tuple_dataset,
    'chainer.optimizer': _optimizer,
    'chainer.training.updaters.standard_updater': _precision.standard_updater,
    **{'chainer.optimizers.' + module: functools.partial(_updates.rule, name) for module, name in _updates.OPTIMIZERS.items()},
    'chainer': _chainer,
    'chainer._backprop': _backprop,
    'chainer.configuration': _configuration,
    'chainer.variable': _variable,
    'chainer.function_node': _function_node,
}


def _functions():
    found = {}
    for row in _core._chainer_rows():
        module, _, name = row.rpartition('.')
        found.setdefault(module, []).append(name)
    return found


# Chainer's functions that call the library, by module: the rows of python/src/chainer/rows.cpp.
FUNCTIONS = _functions()
