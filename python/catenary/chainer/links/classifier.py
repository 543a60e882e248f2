"""Classifier: a model with its loss and accuracy."""

from .. import functions, reporter
from ..link import Chain


class Classifier(Chain):
    """A link that returns the loss of a predictor and reports loss and accuracy. The last argument, or the one of `label_key`, is the label."""

    compute_accuracy = True

    def __init__(self, predictor, lossfun=functions.softmax_cross_entropy, accfun=functions.accuracy, label_key=-1):
        if not isinstance(label_key, (int, str)):
            raise TypeError('label_key must be int or str, not %s' % type(label_key))
        super().__init__()
        self.lossfun, self.accfun, self.label_key = lossfun, accfun, label_key
        self.y = self.loss = self.accuracy = None
        with self.init_scope():
            self.predictor = predictor

    def forward(self, *args, **kwargs):
        """Returns the loss. The arguments but the label go to the predictor."""
        key = self.label_key
        if isinstance(key, int):
            if not -len(args) <= key < len(args):
                raise ValueError('label_key %d is out of range for %d arguments' % (key, len(args)))
            place = key % len(args)
            t, args = args[place], args[:place] + args[place + 1:]
        else:
            if key not in kwargs:
                raise ValueError('no argument has the name %r of label_key' % key)
            t = kwargs.pop(key)
        self.y = self.loss = self.accuracy = None
        self.y = self.predictor(*args, **kwargs)
        self.loss = self.lossfun(self.y, t)
        reporter.report({'loss': self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            reporter.report({'accuracy': self.accuracy}, self)
        return self.loss
