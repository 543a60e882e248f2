"""Chainer's own modules over the library's graph, where CATENARY_CHAINER=1 asks for it.

The installed Chainer 7.8.1 is imported as it is. As soon as a module of it has run, the names that are hot become ours: the classes of
variables, nodes and functions derive from objects of the library (python/src/chainer) and keep the methods of the original for all else,
and functions of GRAFTS become calls of the library's, behind which the original's stand for what the library does not take: then errors
are the original's, too. One class has one name: nothing of Chainer's is there twice.
"""

import functools
import weakref

from catenary import _core


class _Loader:
    """Runs a module by its own loader, and grafts it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        name = module.__name__
        if name in _MODULES:
            _MODULES[name](module)
        for function in FUNCTIONS.get(name, ()):
            setattr(module, function, _core._Call(name + '.' + function, getattr(module, function)))


def loader(original):
    """The loader of a module that takes() names."""
    return _Loader(original)


def names():
    """What is the library's, by the original's names; all else is the original's."""
    return sorted({'chainer.Variable', 'chainer.Parameter', 'chainer.variable.VariableNode', 'chainer.FunctionNode', 'chainer.backward',
                   'chainer.grad',
                   'chainer.optimizers.Adam', *_core._chainer_rows()})


def takes(name):
    """Is anything in a module of Chainer's ours?"""
    return name in _MODULES or name in FUNCTIONS


def _derived(original, base, ours):
    """The class `original` with another base: its own attributes, but where an object of the library or `ours` has them."""
    gone = {'__dict__', '__weakref__'}
    if base.__module__ == 'catenary._core':
        gone |= vars(base).keys() - {'__doc__', '__module__'}
    attributes = {name: value for name, value in vars(original).items() if name not in gone}
    attributes.update(ours)
    attributes['__qualname__'] = original.__qualname__
    return type(original.__name__, (base,), attributes)


# ---- chainer.configuration

# what the library, or is_special of python/src/chainer, has to know
_SHARED = frozenset(('enable_backprop', 'train', 'debug', 'lazy_grad_sum', 'schedule_func'))


def _configuration(module):
    """Settings that the library knows go there, too, as they are set."""
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
    """A list of its own: what the copies share is theirs alone from now on."""
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

    ours = {
        '_data': property(_Cell, _set_data),
        '_device': None, '_grad_valid': True, '_layout': None,
        '_set_grad_without_check': set_grad, '_set_grad_var_without_check': set_grad_var,
        'zerograd': zerograd, '_copy_to': copy_to,
    }
    module.Variable = _derived(original, _core._VariableBase, ours)
    module.Parameter = _derived(parameter, module.Variable, {})

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
    """What FunctionNode.outputs holds: called, it gives the node, or None where that is gone."""

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
        raise NotImplementedError("%s is the library's function, which has no hooks of its own: `with hook:` around the call "
                                  'shows it, as then Chainer computes it' % self.label)

    native = {'backward': backward, 'add_hook': add_hook, 'label': property(lambda self: self._native_label()), '__module__': 'chainer.functions'}

    @functools.cache
    def class_of(name):
        return type(name, (FunctionNode,), native)

    _core._chainer_classes(None, None, class_of)
    _core._chainer_functions(base=FunctionNode, reference=_Output)


def _backprop(module):
    """Gradients flow by the library, but where Chainer's hooks and the like want to see each step."""
    original = module._backprop_to_all

    def _backprop_to_all(outputs, retain_grad, loss_scale):
        if _core._is_special() or _core._old_style() or any(gradient is None for _, gradient in outputs):
            original(outputs, retain_grad, loss_scale)
        else:
            _core._backprop_to_all(outputs, retain_grad, loss_scale)

    module._backprop_to_all = _backprop_to_all


# the operators of python/src/chainer/functions.cpp, in its order
_OPERATORS = ('add', 'sub', 'mul', 'truediv', 'pow', 'neg', 'getitem', 'matmul')


def _chainer(module):
    """The package has run: its operators of variables stand behind the library's."""
    Variable = module.Variable

    def taken(name):
        method = vars(Variable).get(name)
        if method is not None:
            delattr(Variable, name)
        return method

    _core._chainer_operators([taken('__%s__' % name) for name in _OPERATORS], [taken('__r%s__' % name) for name in _OPERATORS])
    _core._chainer_functions(hooks=module.get_function_hooks)


# ---- chainer.optimizers

def _adam(module):
    """Adam in one pass over memory, for float32 and float64 on the processor."""
    rule = module.AdamRule
    original = rule.update_core_cpu

    def update_core_cpu(self, param):
        hp, g, x = self.hyperparam, param.grad, param.array
        if (g is None or hp.amsgrad or hp.adabound or x.dtype.name not in ('float32', 'float64') or x.size == 0
                or not g.dtype == x.dtype == self.state['m'].dtype == self.state['v'].dtype):
            return original(self, param)
        self._check_eps(x.dtype.type)
        _core._adam(x, g, self.state['m'], self.state['v'], float(self.alpha_t), hp.beta1, hp.beta2, hp.eps, hp.eta, hp.weight_decay_rate)

    rule.update_core_cpu = update_core_cpu


_MODULES = {
    'chainer.optimizers.adam': _adam,
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


# The functions of Chainer that call the library's, by module: the rows of python/src/chainer/rows.cpp.
FUNCTIONS = _functions()
