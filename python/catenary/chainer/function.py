"""Functions of the old style, whose backward computes arrays, and the modes of backpropagation."""

import weakref

from .configuration import using_config
from .function_node import FunctionNode


def no_backprop_mode():
    """Returns a context in which no graph is made."""
    return using_config('enable_backprop', False)


def force_backprop_mode():
    """Returns a context in which the graph is made, also within no_backprop_mode()."""
    return using_config('enable_backprop', True)


class FunctionAdapter(FunctionNode):
    """The node of a Function of the old style."""

    def __init__(self, function):
        super().__init__()
        self._function = function
        function._own(self)

    @property
    def function(self):
        """The Function of the old style."""
        return self._function

    @property
    def label(self):
        return self._function.label

    @property
    def _impl_name(self):
        return self._function._impl_name

    def _checks_types(self):
        return getattr(self._function.check_type_forward, '__func__', None) is not Function.check_type_forward

    def check_type_forward(self, in_types):
        self._function.check_type_forward(in_types)

    def forward(self, inputs):
        # by default all inputs are kept
        self.retain_inputs(range(len(inputs)))
        return self._function.forward(inputs)

    def backward(self, target_input_indexes, grad_outputs):
        from .variable import Variable, _check_grad_type
        kept = set(self._input_indexes_to_retain)
        in_data = tuple([x.data if i in kept else None for i, x in enumerate(self.inputs)])
        gradients = self._function.backward(in_data, tuple([None if g is None else g.array for g in grad_outputs]))
        results = []
        if not isinstance(gradients, (tuple, list)) or len(gradients) != len(in_data):
            count = len(gradients) if isinstance(gradients, (tuple, list)) else type(gradients)
            raise ValueError(self._get_error_message('number of gradients returned from backward is incorrect: %s, not %d'
                                                     % (count, len(in_data))))
        for i in target_input_indexes:
            gradient = gradients[i]
            if gradient is not None:
                _check_grad_type(self, self.inputs[i], True, gradient)
                gradient = Variable(gradient)
                gradient.node._old_style_grad_generator = self._function.label
            results.append(gradient)
        return tuple(results)


class Function:
    """A differentiable function of the old style. A subclass defines forward and backward, which take and return tuples of arrays."""

    _node = None
    _owned = None

    def _own(self, node):
        self._node = weakref.ref(node)

    def __call__(self, *inputs):
        """Applies the function to Variables or arrays. Returns a Variable, or a tuple of several."""
        node = self.node
        node._function = self
        results = node.apply(inputs)
        self._owned = None
        self._own(node)
        return results[0] if len(results) == 1 else results

    @property
    def node(self):
        """The FunctionNode of this function."""
        node = None if self._node is None else self._node()
        if node is None:
            node = self._owned = FunctionAdapter(self)
        return node

    @property
    def inputs(self):
        """The nodes of the inputs."""
        return self.node.inputs

    @property
    def outputs(self):
        """Weak references to the nodes of the outputs."""
        return self.node.outputs

    @property
    def output_data(self):
        return self.node.output_data

    @property
    def rank(self):
        """The depth in the graph."""
        return self.node.rank

    @property
    def stack(self):
        return self.node.stack

    @property
    def label(self):
        """The name of the function in graphs and messages."""
        return type(self).__name__

    @property
    def _impl_name(self):
        return type(self).__name__

    @property
    def local_function_hooks(self):
        return self.node.local_function_hooks

    def add_hook(self, hook, name=None):
        """Calls a hook for this function alone."""
        self.node.add_hook(hook, name)

    def delete_hook(self, name):
        """Removes a hook of this function."""
        self.node.delete_hook(name)

    def check_type_forward(self, in_types):
        """Checks the types of the inputs. A subclass may define it."""

    def forward(self, inputs):
        """Returns a tuple of arrays. By default forward_cpu or forward_gpu computes them."""
        from .backends import cuda
        if any(isinstance(x, cuda.ndarray) for x in inputs):
            return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs):
        raise NotImplementedError('%s defines neither forward nor forward_cpu' % type(self).__name__)

    def forward_gpu(self, inputs):
        raise NotImplementedError('%s defines neither forward nor forward_gpu' % type(self).__name__)

    def backward(self, inputs, grad_outputs):
        """Returns a tuple of gradients, arrays or None. By default backward_cpu or backward_gpu computes them."""
        from .backends import cuda
        if any(isinstance(x, cuda.ndarray) for x in (*inputs, *grad_outputs)):
            return self.backward_gpu(inputs, grad_outputs)
        return self.backward_cpu(inputs, grad_outputs)

    def backward_cpu(self, inputs, grad_outputs):
        return (None,) * len(inputs)

    def backward_gpu(self, inputs, grad_outputs):
        return (None,) * len(inputs)

    def unchain(self):
        """Detaches the function from the graph."""
        self.node.unchain()

    def retain_inputs(self, indexes):
        """Keeps only these inputs for backward. forward() calls it."""
        self.node.retain_inputs(indexes)

    def retain_outputs(self, indexes, retain_after_backward=False):
        """Keeps these outputs for backward. forward() calls it."""
        if retain_after_backward:
            import warnings
            warnings.warn('retain_after_backward has no effect', DeprecationWarning, stacklevel=2)
        self.node.retain_outputs(indexes)
