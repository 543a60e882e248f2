"""Classifiers."""
from ... import functions, reporter
from ...link import Chain


class Classifier(Chain):
    """Computes loss and accuracy of a predictor and reports both.

    The label is the argument at position `label_key`, or the keyword argument of this name. ``compute_accuracy``
    turns the accuracy off.
    """

    compute_accuracy = True

    def __init__(self, predictor, lossfun=functions.softmax_cross_entropy, accfun=functions.accuracy, label_key=-1):
        if not isinstance(label_key, (int, str)):
            raise TypeError('label_key must be int or str, but it is {}'.format(type(label_key)))
        super().__init__()
        self.lossfun = lossfun
        self.accfun = accfun
        self.label_key = label_key
        self._forget()
        with self.init_scope():
            self.predictor = predictor

    def _forget(self):
        self.y = self.loss = self.accuracy = None

    def _take_label(self, args, kwargs):
        """Returns the label and removes it from the arguments."""
        key = self.label_key
        if isinstance(key, str):
            if key not in kwargs:
                raise ValueError("Label key '{}' is not among the keyword arguments".format(key))
            return args, kwargs.pop(key)
        if not -len(args) <= key < len(args):
            raise ValueError('Label key {} is out of bounds for {} arguments'.format(key, len(args)))
        rest = list(args)
        label = rest.pop(key)
        return rest, label

    def forward(self, *args, **kwargs):
        args, label = self._take_label(args, kwargs)
        self._forget()
        self.y = y = self.predictor(*args, **kwargs)
        self.loss = loss = self.lossfun(y, label)
        reporter.report({'loss': loss}, self)
        if self.compute_accuracy:
            self.accuracy = accuracy = self.accfun(y, label)
            reporter.report({'accuracy': accuracy}, self)
        return loss
