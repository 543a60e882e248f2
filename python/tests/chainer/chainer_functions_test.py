"""Functions of the package catenary/chainer: calls that change nothing, and arrays without gradients."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402


def test_unchanged_variables_are_returned_themselves():
    run('''
        import numpy as np
        import chainer
        from chainer import functions as F
        x = chainer.Variable(np.ones((3, 2), 'f'))
        assert F.reshape(x, (3, 2)) is x and x.reshape(3, 2) is x and F.broadcast_to(x, (3, 2)) is x
        with chainer.no_backprop_mode():
            assert F.cast(x, 'f') is x
        assert F.copy(x, -1) is x and F.broadcast(x) is x
        assert F.reshape(x, [2, -1]).shape == (2, 3) and F.broadcast_to(x, [3, 2]) is x
        assert [y.array.tolist() for y in x] == [[1, 1]] * 3
        array = np.ones((3, 2))
        assert F.reshape(array, (3, 2)).array is array
    ''')


def test_arrays_of_integers_have_functions_of_shapes():
    run('''
        import numpy as np
        import chainer
        from chainer import functions as F
        i = np.arange(6).reshape(2, 3)
        v = chainer.Variable(i)
        for y, wanted in ((F.reshape(v, (3, 2)), i.reshape(3, 2)), (F.transpose(v), i.T), (F.broadcast_to(v, (2, 2, 3)), np.stack([i, i])),
                          (F.expand_dims(v, 1), i[:, None]), (F.squeeze(F.reshape(v, (1, 6))), i.ravel()), (F.cast(v, 'd'), i.astype('d')),
                          (F.concat([v, v]), np.hstack([i, i])), (F.stack([v, v]), np.stack([i, i])), (v[1, :2], i[1, :2])):
            assert isinstance(y, chainer.Variable) and y.dtype == wanted.dtype
            np.testing.assert_array_equal(y.array, wanted)
        assert F.cast(np.full(2, 2.5, 'f'), 'i').array.tolist() == [2, 2]
    ''')


def test_backward_without_a_graph_and_a_gradient_does_nothing():
    run('''
        import numpy as np
        import pytest
        import chainer
        (2 * chainer.as_variable(np.ones(3, 'f'))).backward()
        with pytest.raises(RuntimeError):
            (2 * chainer.Variable(np.ones(3, 'f'))).backward()
    ''')
