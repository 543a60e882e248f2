"""The base of hooks that see every call of a function."""

from .function_node import get_function_hooks


class FunctionHook:
    """Is called before and after each function, forward and backward, within `with hook:` or after function.add_hook(hook)."""

    name = 'FunctionHook'

    def __enter__(self):
        hooks = get_function_hooks()
        if self.name in hooks:
            raise KeyError('a hook %s is in use already' % self.name)
        hooks[self.name] = self
        self.added(None)
        return self

    def __exit__(self, *error):
        hooks = get_function_hooks()
        hooks[self.name].deleted(None)
        del hooks[self.name]

    def added(self, function):
        """Is called when the hook is added to a function, or to the thread (None)."""

    def deleted(self, function):
        """Is called when the hook is removed."""

    def forward_preprocess(self, function, in_data):
        """Is called before a function computes."""

    def forward_postprocess(self, function, in_data):
        """Is called after a function has computed."""

    def backward_preprocess(self, function, in_data, out_grad):
        """Is called before a function's gradient."""

    def backward_postprocess(self, function, in_data, out_grad):
        """Is called after a function's gradient."""
