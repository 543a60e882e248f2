"""Blocks of GoogLeNet."""
from ... import functions
from ...link import Chain
from .._arguments import arguments
from ..normalization import BatchNormalization
from .convolution import Convolution2D


class Inception(Chain):
    """Joins convolutions of 1x1, 3x3 and 5x5 and a pooling along the channels."""

    def __init__(self, in_channels, out1, proj3, out3, proj5, out5, proj_pool, conv_init=None, bias_init=None):
        super().__init__()

        def conv(before, after, ksize, pad=0):
            return Convolution2D(before, after, ksize, 1, pad, False, conv_init, bias_init)

        with self.init_scope():
            self.conv1 = conv(in_channels, out1, 1)
            self.proj3 = conv(in_channels, proj3, 1)
            self.conv3 = conv(proj3, out3, 3, 1)
            self.proj5 = conv(in_channels, proj5, 1)
            self.conv5 = conv(proj5, out5, 5, 2)
            self.projp = conv(in_channels, proj_pool, 1)

    def forward(self, x):
        relu = functions.relu
        paths = (self.conv1(x), self.conv3(relu(self.proj3(x))), self.conv5(relu(self.proj5(x))),
                 self.projp(functions.max_pooling_2d(x, 3, stride=1, pad=1)))
        return relu(functions.concat(paths, axis=1))


class InceptionBN(Chain):
    """`Inception` with batch normalization and two convolutions of 3x3 in place of one of 5x5."""

    def __init__(self, in_channels, out1, proj3, out3, proj33, out33, pooltype, proj_pool=None, stride=1, conv_init=None,
                 dtype=None):
        a = arguments(locals())
        super().__init__()
        self.out1, self.proj_pool, self.stride, self.pooltype = a.out1, a.proj_pool, a.stride, a.pooltype
        if a.pooltype not in ('max', 'avg'):
            raise NotImplementedError('pooltype must be max or avg, but it is {!r}'.format(a.pooltype))
        if a.out1 > 0:
            assert a.stride == 1, 'a path of 1x1 convolutions needs stride 1'
            assert a.proj_pool is not None, 'a path of 1x1 convolutions needs proj_pool'
        with self.init_scope():
            for name, before, after, ksize, step in self._paths(a.in_channels, a.proj3, a.out3, a.proj33, a.out33):
                setattr(self, name, Convolution2D(before, after, ksize, step, ksize // 2, True, a.conv_init))
                setattr(self, name + 'n', BatchNormalization(after, dtype=a.dtype))

    def _paths(self, in_channels, proj3, out3, proj33, out33):
        """Returns name, channels before and after, kernel size and stride of each convolution."""
        paths = [('proj3', in_channels, proj3, 1, 1), ('conv3', proj3, out3, 3, self.stride),
                 ('proj33', in_channels, proj33, 1, 1), ('conv33a', proj33, out33, 3, 1),
                 ('conv33b', out33, out33, 3, self.stride)]
        if self.out1 > 0:
            paths.append(('conv1', in_channels, self.out1, 1, 1))
        if self.proj_pool is not None:
            paths.append(('poolp', in_channels, self.proj_pool, 1, 1))
        return paths

    def _apply(self, x, *names):
        for name in names:
            x = functions.relu(self[name + 'n'](self[name](x)))
        return x

    def _pool(self, x):
        if self.pooltype == 'max':
            return functions.max_pooling_2d(x, 3, stride=self.stride, pad=1, cover_all=False)
        return functions.average_pooling_2d(x, 3, stride=self.stride, pad=1)

    def forward(self, x):
        paths = [self._apply(x, 'conv1')] if self.out1 > 0 else []
        paths.append(self._apply(x, 'proj3', 'conv3'))
        paths.append(self._apply(x, 'proj33', 'conv33a', 'conv33b'))
        pooled = self._pool(x)
        paths.append(pooled if self.proj_pool is None else self._apply(pooled, 'poolp'))
        return functions.concat(paths, axis=1)
