"""Access to the parts of updaters and evaluators by name."""


def accessors(kind):
    """Returns the methods ``get_KIND(name)`` and ``get_all_KINDs()`` for the dict ``_KINDs``."""
    attribute = '_%ss' % kind

    def one(self, name):
        return getattr(self, attribute)[name]

    def every(self):
        return dict(getattr(self, attribute))

    one.__name__, every.__name__ = 'get_' + kind, 'get_all_%ss' % kind
    one.__doc__, every.__doc__ = 'Returns the %s with this name.' % kind, 'Returns a dict of all %ss.' % kind
    return one, every
