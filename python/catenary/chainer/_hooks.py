"""Hooks of functions and links: of a thread, and of one object."""

import collections
import threading


class ThreadHooks(threading.local):
    """The hooks of each thread, by name."""

    def __init__(self):
        self.hooks = collections.OrderedDict()


class ScopedHook:
    """A hook that `with hook:` adds to the thread's hooks. The subclass has `_thread_hooks`, and the word `_owner` for messages."""

    _thread_hooks = _owner = None

    def __enter__(self):
        add(self._thread_hooks.hooks, 'a hook {} is in use already', self, self.name, None)
        return self

    def __exit__(self, *error):
        self._thread_hooks.hooks[self.name].deleted(None)
        del self._thread_hooks.hooks[self.name]


def add(hooks, taken, hook, name, owner):
    """Adds a hook to a dict of hooks and tells the hook its owner. Raises KeyError with the message `taken` if the name is there."""
    if name in hooks:
        raise KeyError(taken.format(name))
    hooks[name] = hook
    hook.added(owner)


def add_to(owner, kind, hooks, hook, name):
    """Adds a hook of class `kind` to the hooks of a function or link."""
    if not isinstance(hook, kind):
        raise TypeError('a hook must be a {}, not {}'.format(kind.__name__, type(hook)))
    add(hooks, 'the {} has a hook {{}} already'.format(kind._owner), hook, hook.name if name is None else name, owner)


def remove_from(owner, kind, hooks, name):
    """Removes a hook of a function or link. Raises KeyError if there is none of this name."""
    if name not in hooks:
        raise KeyError('the {} has no hook {}'.format(kind._owner, name))
    hooks.pop(name).deleted(owner)
