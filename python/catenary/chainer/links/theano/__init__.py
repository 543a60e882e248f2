"""Links of Theano, which are not provided."""


class TheanoFunction:
    """Refuses itself: Theano is not supported."""

    def __init__(self, inputs, outputs):
        raise RuntimeError('TheanoFunction is not provided: Theano is not supported. Write the computation with '
                           'chainer.functions or a FunctionNode')
