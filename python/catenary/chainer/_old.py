"""Names of earlier versions."""


def refuse_volatile():
    raise ValueError('volatile is no argument since version 2: use chainer.no_backprop_mode()')


def as_link(link):
    raise TypeError('setup: a Link is expected, not %s' % type(link))
