"""Models of Caffe, which are not read yet."""


class CaffeFunction:
    """Refuses itself: files of Caffe are not read."""

    def __init__(self, model_path):
        raise NotImplementedError('CaffeFunction is not provided: convert {} with an original Chainer to npz and load '
                                  'it with chainer.serializers.load_npz'.format(model_path))
