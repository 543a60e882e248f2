"""The base of hooks that see every call of a function."""

from . import _hooks
from .function_node import _thread_hooks


class FunctionHook(_hooks.ScopedHook):
    """Is called before and after each function, forward and backward, within `with hook:` or after function.add_hook(hook)."""

    name = 'FunctionHook'
    _thread_hooks, _owner = _thread_hooks, 'function'

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
