"""The base class of extensions, and functions as extensions."""

PRIORITY_WRITER = 300
PRIORITY_EDITOR = 200
PRIORITY_READER = 100


class Extension:
    """Base class of extensions, which a trainer calls after updates.

    `trigger` says when, see `training.get_trigger`. Extensions with a high `priority` come first: PRIORITY_WRITER for those that report values,
    PRIORITY_EDITOR for those that change them, and PRIORITY_READER for those that only read. `name` is the key in a trainer and a snapshot.
    """

    trigger = 1, 'iteration'
    priority = PRIORITY_READER
    name = None

    @property
    def default_name(self):
        """The name unless `name` is set: the class's."""
        return type(self).__name__

    def __getattr__(self, name):
        if name == 'invoke_before_training':
            raise AttributeError('extensions have no attribute invoke_before_training since Chainer 2: define initialize(trainer), or extend a trainer '
                                 'with call_before_training=True')
        raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')

    def __call__(self, trainer):
        raise NotImplementedError(f'{type(self).__name__} has to define __call__(trainer)')

    def initialize(self, trainer):
        """Is called once before the loop."""

    def finalize(self):
        """Is called once after the loop."""

    def on_error(self, trainer, exc, tb):
        """Is called with the exception that ends the loop."""

    def serialize(self, serializer):
        """Reads or writes the state of the extension."""


def make_extension(trigger=None, default_name=None, priority=None, finalizer=None, initializer=None, on_error=None, **kwargs):
    """Returns a decorator that gives a function the attributes of an extension."""
    before = kwargs.pop('invoke_before_training', False)  # Chainer 1: call the function before the first update, too
    if kwargs:
        raise TypeError(f'make_extension got an unexpected argument {next(iter(kwargs))!r}')

    def decorate(function):
        function.trigger = Extension.trigger if trigger is None else trigger
        function.default_name = default_name or function.__name__
        function.priority = Extension.priority if priority is None else priority
        function.finalize, function.initialize, function.on_error = finalizer, initializer, on_error
        function.invoke_before_training = before
        return function
    return decorate
