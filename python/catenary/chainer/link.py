"""Links: objects with parameters. Chain and ChainList are links made of links."""

import collections
import contextlib
import copy as copies
import warnings

import numpy

from catenary import _core

from . import _hooks, backend, initializers
from .device_resident import DeviceResident
from .variable import Parameter

_thread_hooks = _hooks.ThreadHooks()


def _get_link_hooks():
    """Returns the link hooks of this thread, by name."""
    return _thread_hooks.hooks


class LinkHook(_hooks.ScopedHook):
    """Is called before and after each call of a link, within `with hook:` or after link.add_hook(hook)."""

    name = 'LinkHook'
    _thread_hooks, _owner = _thread_hooks, 'link'

    def added(self, link):
        """Is called when the hook is added to a link, or to the thread (None)."""

    def deleted(self, link):
        """Is called when the hook is removed."""

    def forward_preprocess(self, args):
        """Is called before a link computes."""

    def forward_postprocess(self, args):
        """Is called after a link has computed."""


class _ForwardPreprocessCallbackArgs:
    """The link of a call, the name of its method, and the arguments."""

    def __init__(self, link, forward_name, args, kwargs):
        self.link, self.forward_name, self.args, self.kwargs = link, forward_name, args, kwargs

    def __repr__(self):
        return '<%s: %s.%s>' % (type(self).__name__, type(self.link).__name__, self.forward_name)


class _ForwardPostprocessCallbackArgs(_ForwardPreprocessCallbackArgs):
    """The same with the result."""

    def __init__(self, link, forward_name, args, kwargs, out):
        super().__init__(link, forward_name, args, kwargs)
        self.out = out


def _forward_of(link):
    """Returns the function that calls of a link call. It is no method, as links may have attributes of any name."""
    forward = getattr(link, 'forward', None)
    # Chainer before version 5: forward may be a parent's __call__
    return super(Link, link).__call__ if forward is None else forward


class Link(DeviceResident):
    """An object with parameters and persistent values. Attributes that are set within init_scope() are registered."""

    name = None
    _local_link_hooks = None
    __init_done = False

    @classmethod
    def from_params(cls, *args, **kwargs):
        """Returns a link with given arrays. Links that offer it override it."""
        raise NotImplementedError('{} has no from_params'.format(cls.__name__))

    def __init__(self, **params):
        super().__init__()
        self._params = set()
        self._persistent = set()
        self._within_init_scope = False
        self.name = None
        self.__init_done = True
        for name, value in params.items():
            shape, dtype = value if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[1], int) else (value, None)
            self.add_param(name, shape, dtype)

    def _check_init(self):
        if not self.__init_done:
            raise RuntimeError('Link.__init__() has not been called.')

    @property
    def local_link_hooks(self):
        """The hooks of this link alone, by name."""
        if self._local_link_hooks is None:
            self._local_link_hooks = collections.OrderedDict()
        return self._local_link_hooks

    @property
    def _n_local_link_hooks(self):
        return 0 if self._local_link_hooks is None else len(self._local_link_hooks)

    @property
    def within_init_scope(self):
        """Returns whether the code is within init_scope()."""
        return getattr(self, '_within_init_scope', False)

    @property
    def update_enabled(self):
        """Returns whether any update rule of the parameters is enabled."""
        return any(p.update_rule is not None and p.update_rule.enabled for p in self.params())

    @property
    def printable_specs(self):
        """Pairs of names and values that repr() shows."""
        return iter(())

    def _extra_repr(self):
        return ', '.join(['%s=%s' % pair for pair in self.printable_specs])

    def __repr__(self):
        return '%s(%s)' % (type(self).__name__, self._extra_repr())

    @contextlib.contextmanager
    def init_scope(self):
        """Returns a context in which attributes that are parameters (or links, of a Chain) are registered."""
        self._check_init()
        before, self._within_init_scope = self.within_init_scope, True
        try:
            yield
        finally:
            self._within_init_scope = before

    def __call__(self, *args, **kwargs):
        self._check_init()
        hooks = _get_link_hooks()
        if hooks or self._local_link_hooks:
            return self._call_with_hooks(list(hooks.values()) + list((self._local_link_hooks or {}).values()), args, kwargs)
        return _forward_of(self)(*args, **kwargs)

    def _call_with_hooks(self, hooks, args, kwargs):
        before = _ForwardPreprocessCallbackArgs(self, 'forward', args, kwargs)
        for hook in hooks:
            hook.forward_preprocess(before)
        out = _forward_of(self)(*args, **kwargs)
        after = _ForwardPostprocessCallbackArgs(self, 'forward', args, kwargs, out)
        for hook in hooks:
            hook.forward_postprocess(after)
        return out

    def __setattr__(self, name, value):
        if self.__dict__.get('_within_init_scope') and isinstance(value, Parameter):
            value.name = name
            value.to_device(self.device)
            self._params.add(name)
            self._persistent.discard(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self._params.discard(name)
        self._persistent.discard(name)
        super().__delattr__(name)

    def add_param(self, name, shape=None, dtype=numpy.float32, initializer=None):
        """Registers a new parameter."""
        if name in self.__dict__:
            raise AttributeError('the link has an attribute %s already' % name)
        if initializer is None:
            initializer = initializers.NaN(numpy.float32 if dtype is None else dtype)
        with self.init_scope():
            setattr(self, name, Parameter(initializer, shape, name=name))

    def add_persistent(self, name, value):
        """Registers a value that serializers save."""
        if name in self.__dict__:
            raise AttributeError('the link has an attribute %s already' % name)
        self._persistent.add(name)
        self._params.discard(name)
        if backend.is_array(value):
            value = self.device.send(value)
        super().__setattr__(name, value)

    def register_persistent(self, name):
        """Makes an attribute a value that serializers save."""
        if not hasattr(self, name):
            raise AttributeError('the link has no attribute %s' % name)
        self._persistent.add(name)
        self._params.discard(name)
        value = getattr(self, name)
        if backend.is_array(value):
            super().__setattr__(name, self.device.send(value))

    # ---- copies

    def copy(self, mode='share'):
        """Returns a copy whose parameters share their arrays ('share'), are copied ('copy'), or are initialized again ('init')."""
        if mode not in ('share', 'copy', 'init'):
            raise ValueError('the mode of a copy must be share, copy or init, not %r' % (mode,))
        if mode == 'share':
            return self._shared()
        own = copies.deepcopy(self)
        if mode == 'init':
            for param in own.params(include_uninit=False):
                param._grad_initializer = initializers.NaN(param.dtype)
                param.initialize(param.shape)
        return own

    def _shared(self):
        """Returns a copy whose parameters and persistent values share their arrays with this link's."""
        own = copies.copy(self)
        own._params, own._persistent, own.name = set(self._params), set(self._persistent), None
        for name in own._params:
            own.__dict__[name] = copies.copy(own.__dict__[name])
            own.__dict__[name].grad = None
        return own

    def repeat(self, n_repeat, mode='init'):
        """Returns a Sequential of copies of this link."""
        from .sequential import Sequential
        return Sequential(*[self.copy(mode) for _ in range(n_repeat)])

    def copyparams(self, link, copy_persistent=True):
        """Copies the values of the parameters of another link of the same kind."""
        source, target = link.__dict__, self.__dict__
        for name in self._params:
            target[name].copydata(source[name])
        if copy_persistent:
            for name in self._persistent:
                value = source[name]
                if backend.is_array(target[name]):
                    backend.copyto(target[name], value)
                else:
                    target[name] = copies.deepcopy(value)

    # ---- walks

    def params(self, include_uninit=True):
        """Returns an iterator over the parameters."""
        return iter(self._own_params(include_uninit))

    def _own_params(self, include_uninit):
        own = self.__dict__
        params = [own[name] for name in sorted(self._params)]
        return params if include_uninit else [param for param in params if param.is_initialized]

    def namedparams(self, include_uninit=True):
        """Yields pairs of the path and the parameter."""
        own = self.__dict__
        for name in sorted(self._params):
            if include_uninit or own[name].is_initialized:
                yield '/' + name, own[name]

    def links(self, skipself=False):
        """Yields this link and all below it."""
        if not skipself:
            yield self

    def namedlinks(self, skipself=False):
        """Yields pairs of the path and the link, of this link and all below it."""
        if not skipself:
            yield '/', self

    def children(self):
        """Yields the links directly below this one."""
        return iter(())

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        own = self.__dict__
        for name in sorted(self._params):
            visitor.visit_variable(own[name])
        for name in sorted(self._persistent):
            if backend.is_array(own[name]):
                own[name] = visitor.visit_array(own[name])

    # ---- gradients

    def cleargrads(self):
        """Removes the gradients of all parameters."""
        params = self.params()
        if Parameter.cleargrad is _cleargrad:
            params = _core._clear_grads(params, Parameter)
        for param in params:
            param.cleargrad()

    def zerograds(self):
        """Fills the gradients with zeros (deprecated: use cleargrads)."""
        warnings.warn('Link.zerograds is deprecated: use cleargrads', DeprecationWarning, stacklevel=2)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            for param in self.params():
                param.zerograd()

    def addgrads(self, link):
        """Adds the gradients of another link of the same kind."""
        source, target = link.__dict__, self.__dict__
        for name in self._params:
            target[name].addgrad(source[name])

    def enable_update(self):
        """Lets optimizers update the parameters."""
        for param in self.params():
            if param.update_rule is not None:
                param.update_rule.enabled = True

    def disable_update(self):
        """Keeps optimizers from updating the parameters."""
        for param in self.params():
            if param.update_rule is not None:
                param.update_rule.enabled = False

    # ---- serialization

    def serialize(self, serializer):
        """Saves or loads the parameters and persistent values."""
        own = self.__dict__
        for name in sorted(self._params):
            param = own[name]
            data = serializer(name, param.array)
            if param.array is None and data is not None:
                param.initialize(data.shape)
                with backend.using_device(self.device):
                    param.array[...] = self.device.send(data)
        for name in sorted(self._persistent):
            own[name] = serializer(name, own[name])

    # ---- counts and hooks

    def count_params(self):
        """Returns the number of elements of all parameters. Parameters without values are left out, with a warning."""
        size = 0
        for name, param in self.namedparams():
            if param.array is None:
                warnings.warn('count_params: the parameter %s of %s is not initialized' % (name, self.name or type(self).__name__))
            else:
                size += param.size
        return size

    def add_hook(self, hook, name=None):
        """Calls a hook for this link alone."""
        _hooks.add_to(self, LinkHook, self.local_link_hooks, hook, name)
        return self

    def delete_hook(self, name):
        """Removes a hook of this link."""
        _hooks.remove_from(self, LinkHook, self.local_link_hooks, name)


_cleargrad = Parameter.cleargrad


class _Nested(Link):
    """A link made of links. Subclasses define _named_children."""

    def _named_children(self):
        raise NotImplementedError

    def params(self, include_uninit=True):
        found = self._own_params(include_uninit)  # one list, since optimizers ask for the parameters in each update
        for _, child in self._named_children():
            found.extend(child.params(include_uninit))
        return iter(found)

    def namedparams(self, include_uninit=True):
        yield from super().namedparams(include_uninit)
        for name, child in self._named_children():
            for path, param in child.namedparams(include_uninit):
                yield '/' + name + path, param

    def links(self, skipself=False):
        if not skipself:
            yield self
        for _, child in self._named_children():
            yield from child.links()

    def namedlinks(self, skipself=False):
        if not skipself:
            yield '/', self
        for name, child in self._named_children():
            yield '/' + name, child
            for path, link in child.namedlinks(True):
                yield '/' + name + path, link

    def children(self):
        for _, child in self._named_children():
            yield child

    def device_resident_accept(self, visitor):
        super().device_resident_accept(visitor)
        for child in self.children():
            child.device_resident_accept(visitor)

    def serialize(self, serializer):
        super().serialize(serializer)
        for name, child in self._named_children():
            child.serialize(serializer[name])


class Chain(_Nested):
    """A link made of links that are its attributes."""

    def __init__(self, **links):
        super().__init__()
        self._children = set()
        for name, link in links.items():
            self.add_link(name, link)

    def __str__(self):
        lines = ['  (%s): %s,' % (name, _shifted(child)) for name, child in self._named_children()]
        return type(self).__name__ + '(' + _tree(lines) + ')'

    def _named_children(self):
        own = self.__dict__
        for name in sorted(self._children):
            yield name, own[name]

    def __getitem__(self, name):
        """Returns the link of this name."""
        if name in self._children:
            return getattr(self, name)
        raise KeyError('%s: no link %r' % (type(self).__name__, name))

    def __setattr__(self, name, value):
        if self.__dict__.get('_within_init_scope') and isinstance(value, Link):
            if hasattr(self, name):
                raise AttributeError('the chain has an attribute %s already' % name)
            value.name = name
            self._children.add(name)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self._children.discard(name)
        super().__delattr__(name)

    def add_link(self, name, link):
        """Registers a link under a name."""
        if name in self.__dict__:
            raise AttributeError('the chain has an attribute %s already' % name)
        if not isinstance(link, Link):
            raise TypeError('a link is expected, not %s' % type(link))
        with self.init_scope():
            setattr(self, name, link)

    def _shared(self):
        own = super()._shared()
        own._children = set(self._children)
        for name in own._children:
            child = own.__dict__[name].copy()
            child.name = name
            own.__dict__[name] = child
        return own

    def copyparams(self, link, copy_persistent=True):
        super().copyparams(link, copy_persistent)
        for name in self._children:
            self.__dict__[name].copyparams(link.__dict__[name], copy_persistent)

    def addgrads(self, link):
        super().addgrads(link)
        for name in self._children:
            self.__dict__[name].addgrads(link.__dict__[name])


def _shifted(child):
    return str(child).replace('\n', '\n  ')


def _tree(lines):
    lines = list(lines)
    return '\n' + '\n'.join(lines) + '\n' if lines else ''


class ChainList(_Nested, collections.abc.MutableSequence):
    """A link that is a list of links."""

    def __init__(self, *links):
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    def __str__(self):
        lines = ['  (%s): %s,' % (name, _shifted(child)) for name, child in self._named_children()]
        return type(self).__name__ + '(' + _tree(lines) + ')'

    def _named_children(self):
        for i, child in enumerate(self._children):
            yield str(i), child

    def __setattr__(self, name, value):
        if self.__dict__.get('_within_init_scope') and isinstance(value, Link):
            raise TypeError('a ChainList has no links as attributes: use append')
        super().__setattr__(name, value)

    def __getitem__(self, index):
        return self._children[index]

    def __setitem__(self, index, value):
        if isinstance(index, int):
            self._children[index] = value
        else:
            self._children[index] = list(value)
        self._name_all()

    def __delitem__(self, index):
        del self._children[index]
        self._name_all()

    def _name_all(self):
        for i, child in enumerate(self._children):
            child.name = str(i)

    def insert(self, index, link):
        """Inserts a link."""
        self._children.insert(index, link)
        self._name_all()

    def __len__(self):
        return len(self._children)

    def __iter__(self):
        return iter(self._children)

    def append(self, value):
        """Appends a link."""
        self.insert(len(self._children), value)

    def add_link(self, link):
        """Appends a link."""
        self.append(link)

    def _shared(self):
        own = super()._shared()
        own._children = [child.copy() for child in self._children]
        own._name_all()
        return own

    def copyparams(self, link, copy_persistent=True):
        super().copyparams(link, copy_persistent)
        for own, other in zip(self._children, link._children):
            own.copyparams(other, copy_persistent)

    def addgrads(self, link):
        super().addgrads(link)
        for own, other in zip(self._children, link._children):
            own.addgrads(other)
