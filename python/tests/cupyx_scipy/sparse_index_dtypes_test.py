"""Dtypes of indices of sparse matrices and arrays: int64 where SciPy has it, and sizes that need it."""

import warnings

import numpy
import pytest
import scipy.sparse

from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]

DENSE = numpy.array([[0, 2, 0], [1, 0, 0], [0, 0, 3.0]])


def told(x):
    """Returns the dtypes of a matrix's indices."""
    if x.format == 'coo':
        return tuple(str(c.dtype) for c in x.coords)
    return (str(x.offsets.dtype),) if x.format == 'dia' else (str(x.indices.dtype), str(x.indptr.dtype))


def both(function):
    """Compares the function's results for our module and SciPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        ours, expected = function(sparse, cupy), function(scipy.sparse, numpy)
    assert told(ours) == told(expected), (told(ours), told(expected))
    same(ours.toarray(), expected.toarray())
    return ours


def made(module, xp, format, index, kind='array'):
    rows, columns = (xp.asarray(k.astype(index)) for k in DENSE.nonzero())
    coo = getattr(module, 'coo_' + kind)((xp.asarray(DENSE[DENSE.nonzero()]), (rows, columns)), shape=DENSE.shape)
    return coo.asformat(format)


def set_at(x):
    x = x.copy()
    x[0, 1] = 5
    x[2, 0] = 7
    return x


def on_diagonal(x):
    x = x.copy()
    x.setdiag(2)
    return x


OPERATIONS = {
    'coo': lambda x, y, m, xp: x.tocoo(), 'csr': lambda x, y, m, xp: x.tocsr(), 'csc': lambda x, y, m, xp: x.tocsc(), 'dia': lambda x, y, m, xp: x.todia(),
    'T': lambda x, y, m, xp: x.T, 'reshape': lambda x, y, m, xp: x.reshape(1, 9).tocoo(), 'one axis': lambda x, y, m, xp: x.tocoo().reshape(9),
    'sum': lambda x, y, m, xp: x + y, 'matmul': lambda x, y, m, xp: x @ y, 'multiply': lambda x, y, m, xp: x.multiply(y),
    'dense': lambda x, y, m, xp: x.multiply(xp.ones((3, 3))), 'scaled': lambda x, y, m, xp: 2 * x, 'abs': lambda x, y, m, xp: abs(x),
    'row': lambda x, y, m, xp: x.tocsr()[1], 'rows': lambda x, y, m, xp: x.tocsr()[[2, 0]], 'columns': lambda x, y, m, xp: x.tocsr()[:, 1:],
    'setdiag': lambda x, y, m, xp: on_diagonal(x), 'stacks': lambda x, y, m, xp: m.vstack([x, y]), 'kron': lambda x, y, m, xp: m.kron(x, y),
    'tril': lambda x, y, m, xp: m.tril(x), 'maximum': lambda x, y, m, xp: x.maximum(y), 'matrix': lambda x, y, m, xp: m.csr_matrix(x),
    'diagonal': lambda x, y, m, xp: m.block_diag([x, y])}


@pytest.mark.parametrize('name', OPERATIONS)
@pytest.mark.parametrize('index, other', [('q', 'q'), ('q', 'i'), ('i', 'q'), ('i', 'i')])
def test_index_dtypes_of_results(name, index, other):
    for format in ('coo', 'csr'):
        both(lambda module, xp: OPERATIONS[name](made(module, xp, format, index), made(module, xp, 'coo', other), module, xp))


def test_indices_that_are_given():
    """As in SciPy, arrays keep given int64 indices, and matrices narrow them to int32 if possible."""
    for kind in ('array', 'matrix'):
        for index in 'qi':
            for format in ('coo', 'csr', 'csc'):
                both(lambda module, xp: made(module, xp, format, index, kind))
            for other in 'qi':
                both(lambda module, xp: getattr(module, 'csr_' + kind)((xp.ones(3), xp.asarray([0, 1, 2], index), xp.asarray([0, 1, 2, 3], other)), shape=(3, 3)))
        for format in ('coo', 'csr', 'csc'):
            both(lambda module, xp: getattr(module, f'{format}_{kind}')(xp.asarray(DENSE)))
            both(lambda module, xp: getattr(module, f'{format}_{kind}')((2, 3)))
    both(lambda module, xp: module.csr_matrix(made(module, xp, 'coo', 'q')))


def test_extents_that_int32_does_not_hold():
    wide = 2 ** 40
    for module, xp in ((sparse, cupy), (scipy.sparse, numpy)):
        for kind in ('array', 'matrix'):
            x = getattr(module, 'coo_' + kind)((xp.asarray([1.0, 2, 4]), (xp.asarray([1, 0, 1]), xp.asarray([wide - 1, 5, wide - 1]))), shape=(2, wide))
            y = (x + x).tocsr()
            assert told(x) == told(y) == ('int64', 'int64') and y.indices.tolist() == [5, wide - 1] and y.data.tolist() == [4, 10]
            assert y[1, wide - 1] == 10 and x.T.tocoo().shape == (wide, 2) and told(x.reshape(1, 2 * wide)) == ('int64', 'int64')
            assert x.reshape(1, 2 * wide).tocoo().col.tolist() == [2 * wide - 1, 5, 2 * wide - 1]
    refused('sparse.coo_array((2 ** 32, 2 ** 32))', ValueError, 'a matrix has at most 9223372036854775807 elements', sparse=sparse)


@pytest.mark.parametrize('index', 'qi')
def test_elements_of_coo_that_are_set(index):
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # elements of coo are cheap, as SciPy's
        ours = set_at(made(sparse, cupy, 'coo', index))
    expected = DENSE.copy()
    expected[[0, 2], [1, 0]] = 5, 7
    assert ours.format == 'coo'
    same(ours.toarray(), expected)
    ours[1:, :2] = cupy.asarray([[5.0, 6], [7, 8]])
    expected[1:, :2] = [[5.0, 6], [7, 8]]
    same(ours.toarray(), expected)
    refused('x[0, 1] = 5', TypeError, "'coo_matrix' object does not support item assignment", x=made(sparse, cupy, 'coo', index, 'matrix'))
    line = sparse.coo_array(cupy.asarray([0, 1.0, 0]))
    line[2] = 4
    same(line.toarray(), numpy.array([0, 1.0, 4]))
