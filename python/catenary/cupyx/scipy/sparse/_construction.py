"""Construction of sparse matrices: diags, eye, bmat, kron, hstack, vstack, random and related functions."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupyx.scipy.sparse._one_dimensional import extents, one_axis, two_alone
from catenary.cupyx.scipy.sparse._sparse_utils import checked_shape, index_dtype
from catenary.cupyx.scipy.sparse._spbase import _spbase, sparray, spmatrix
from catenary.cupyx.scipy.sparse._formats import coo_array, coo_matrix, csc_matrix, csr_matrix, dia_matrix


def issparse(x):
    """Returns whether x is a sparse matrix or array of this package."""
    return isinstance(x, _spbase)


def isspmatrix(x):
    """Returns whether x is a sparse matrix, and not an array."""
    return isinstance(x, spmatrix)


def isspmatrix_csr(x):
    """Returns whether x is a csr_matrix."""
    return isinstance(x, csr_matrix)


def isspmatrix_csc(x):
    """Returns whether x is a csc_matrix."""
    return isinstance(x, csc_matrix)


def isspmatrix_coo(x):
    """Returns whether x is a coo_matrix."""
    return isinstance(x, coo_matrix)


def isspmatrix_dia(x):
    """Returns whether x is a dia_matrix."""
    return isinstance(x, dia_matrix)


def _as_matrix(x):
    """Returns a matrix. A 1-d array becomes a matrix of one row."""
    return x.two_axes() if isinstance(x, _spbase) else coo_matrix(x)


def _coo_of(*parts):
    """Returns the coo class of a result: an array if any part is an array."""
    return coo_array if any(isinstance(x, sparray) for x in parts) else coo_matrix


def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """Constructs a matrix from its diagonals, csr unless a format is given. A number fills its whole diagonal. Raises ValueError if the lengths do
    not fit."""
    if numpy.ndim(offsets) == 0:
        diagonals = [given(diagonals).ravel()] if not (isinstance(diagonals, (list, tuple)) and len(diagonals) and numpy.ndim(
            diagonals[0]) > 0 or isinstance(diagonals, (list, tuple)) and len(diagonals) and hasattr(diagonals[0], 'ravel') and diagonals[0].ndim) else diagonals
        offsets = [int(offsets)]
    diagonals = [given(d).ravel() for d in diagonals]
    offsets = [int(k) for k in offsets]
    if len(diagonals) != len(offsets):
        raise ValueError(f'different number of diagonals ({len(diagonals)}) and offsets ({len(offsets)})')
    if shape is None:
        n = diagonals[0].size + abs(offsets[0])
        shape = n, n
    rows, columns, data = [], [], []
    for d, k in zip(diagonals, offsets):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if length < 0 or d.size not in (1, length):
            raise ValueError(f'Diagonal length (index {k}: {d.size} at offset {k}) does not agree with matrix size {tuple(shape)}')
        at = _core.arange(length)
        rows.append(at - min(k, 0))
        columns.append(at + max(k, 0))
        data.append(_core.broadcast_to(d, (length,)) if d.size == 1 else d)
    kind = numpy.dtype(dtype) if dtype is not None else numpy.result_type(*(d.dtype for d in data), numpy.float16)
    kind = numpy.dtype('d') if dtype is None and all(d.dtype.kind not in 'fc' for d in data) else kind
    joined = [_core._concatenate(parts, 0) for parts in (rows, columns, [d.astype(kind) for d in data])]
    shape = checked_shape(shape)
    index = index_dtype(shape)
    return coo_matrix._of_places(joined[0].astype(index), joined[1].astype(index), joined[2], shape).asformat(format or 'csr')


def spdiags(data, diags, m=None, n=None, format=None):
    """Constructs an m by n matrix from its diagonals, which are the rows of `data`, aligned by column. The format is dia unless one is given."""
    data, offsets = given(data), given(diags).ravel().tolist()
    data = data.reshape((1,) * (2 - data.ndim) + data.shape)
    m, n = m if isinstance(m, tuple) else (data.shape[1], data.shape[1]) if m is None else (m, n)
    if data.shape[0] != len(offsets) or len(set(offsets)) != len(offsets):
        raise ValueError(f'spdiags: {data.shape[0]} rows are given for the diagonals {offsets}')
    return dia_matrix((data, offsets), shape=(m, n)).asformat(format)


def eye(m, n=None, k=0, dtype='d', format=None):
    """Returns a matrix with ones on a diagonal."""
    n = m if n is None else n
    length = max(0, min(m + min(k, 0), n - max(k, 0)))
    index = index_dtype(checked_shape((m, n)))
    ones, columns = _core.ones((length,), dtype), (_core.arange(length) + max(k, 0)).astype(index)
    if format in (None, 'csr'):
        return csr_matrix._of_parts(_core.clip(_core.arange(m + 1) + min(k, 0), 0, length).astype(index), columns, ones, (m, n))
    return coo_matrix._of_places((_core.arange(length) - min(k, 0)).astype(index), columns, ones, (m, n)).asformat(format)


def identity(n, dtype='d', format=None):
    """Returns a square identity matrix."""
    return eye(n, n, 0, dtype, format)


def block_array(blocks, format=None, dtype=None):
    """Returns the result of bmat as a sparse array."""
    return _blocks(blocks, format, dtype, coo_array)


def bmat(blocks, format=None, dtype=None):
    """Constructs a matrix from a nested list of blocks, where None is a zero block.

    Without a format the result is csr for csr matrices in one column of blocks or for csr arrays only, csc likewise in one row, else coo. The
    height or width of an empty block is taken from its row or column. Raises ValueError if the sizes do not fit.
    """
    return _blocks(blocks, format, dtype, None)


def _blocks(blocks, format, dtype, kind_of_all):
    parts = [[None if x is None else _as_matrix(x) for x in row] for row in blocks]
    made = kind_of_all or _coo_of(*(x for row in parts for x in row))
    compressed = next((own for own in ('csr', 'csc') if all(getattr(x, 'format', None) == own for row in parts for x in row)), None)
    is_strict = compressed is not None and format in (None, compressed)
    if format is None and made is coo_array:  # as SciPy's, while matrices follow CuPy
        format = compressed
    elif format is None:
        for own, lines in (('csr', parts), ('csc', list(zip(*parts)))):
            if all(len(line) == 1 and getattr(line[0], 'format', None) == own for line in lines):
                format = own
    heights, widths = [None] * len(parts), [None] * len(parts[0])
    for i, row in enumerate(parts):
        if len(row) != len(widths):
            raise ValueError('blocks must be 2-D: rows of different lengths are given')
        for j, x in enumerate(row):
            if x is None:
                continue
            for sizes, at, n in ((heights, i, x.shape[0]), (widths, j, x.shape[1])):
                if sizes[at] not in ((None, n) if is_strict else (None, 0, n)):
                    line, kind = (f'{i},:', 'row') if sizes is heights else (f':,{j}', 'column')
                    raise ValueError(f'blocks[{line}] has incompatible {kind} dimensions. Got blocks[{i},{j}].shape[{int(sizes is widths)}] == {n}, expected {sizes[at]}.')
                sizes[at] = n
    if set(heights) | set(widths) == {None}:
        return made((0, 0), dtype=dtype).asformat(format)
    if None in heights or None in widths:
        raise ValueError('blocks: a row or column contains only None, so its size is unknown')
    lines = parts if format == 'csr' else list(zip(*parts))
    if format in ('csr', 'csc') and all(len(line) == 1 and getattr(line[0], 'format', None) == format and line[0]._in_order(False) for line in lines):
        return _stacked([line[0] for line in lines], made._classes[made._is_array, format], (sum(heights), sum(widths)), dtype)
    rows, columns, data, index = [], [], [], index_dtype((sum(heights), sum(widths)))
    for i, row in enumerate(parts):
        for j, x in enumerate(row):
            if x is not None:
                r, c, d = x._elements()
                index = numpy.promote_types(index, r.dtype)
                rows.append(r.astype('l') + sum(heights[:i]))
                columns.append(c.astype('l') + sum(widths[:j]))
                data.append(d)
    kind = numpy.dtype(dtype) if dtype is not None else numpy.result_type(*(d.dtype for d in data))
    joined = [_core._concatenate(own, 0) for own in (rows, columns, [d.astype(kind) for d in data])]
    return made._of_places(joined[0].astype(index), joined[1].astype(index), joined[2], (sum(heights), sum(widths))).asformat(format)


def _stacked(parts, kind, shape, dtype):
    """Joins csr matrices of one width, or csc matrices of one height, whose indices are sorted."""
    dtype = numpy.dtype(dtype) if dtype is not None else numpy.result_type(*(x.dtype for x in parts))
    index = index_dtype(shape, *(x.indices for x in parts), count=sum(x.nnz for x in parts))
    starts, before = [_core.zeros((1,), index)], 0
    for x in parts:
        starts.append(x.indptr[1:].astype(index) + before)
        before += x.nnz
    return kind._of_parts(*(_core._concatenate(own, 0) for own in (
        starts, [x.indices.astype(index) for x in parts], [x.data.astype(dtype, copy=False) for x in parts])), shape)


def hstack(blocks, format=None, dtype=None):
    """Joins matrices horizontally."""
    return bmat([list(blocks)], format, dtype)


def vstack(blocks, format=None, dtype=None):
    """Joins matrices vertically."""
    return bmat([[x] for x in blocks], format, dtype)


def block_diag(mats, format=None, dtype=None):
    """Returns a block-diagonal matrix."""
    mats = [_as_matrix(list(x) if isinstance(x, tuple) else x) for x in mats]
    return bmat([[x if i == j else coo_matrix((x.shape[0], mats[j].shape[1])) if i == 0 or j == 0 else None for j in range(len(mats))]
                 for i, x in enumerate(mats)], format, dtype or numpy.result_type(*(x.dtype for x in mats)))


def kron(A, B, format=None):
    """Returns the Kronecker product. That of two 1-d arrays is 1-d."""
    is_line = all(isinstance(x, _spbase) and x.ndim == 1 for x in (A, B))
    made = _kron(_as_matrix(A), _as_matrix(B))
    return (one_axis(made) if is_line else made).asformat(format)


def _kron(A, B):
    if A.nnz == 0 or B.nnz == 0:  # float64, as in SciPy
        return _coo_of(A, B)((A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]))
    (r, c, d), (s, e, f) = A._elements_to_count(), B._elements_to_count()
    rows = (r.astype('l') * B.shape[0])[:, None] + s
    columns = (c.astype('l') * B.shape[1])[:, None] + e
    shape = A.shape[0] * B.shape[0], A.shape[1] * B.shape[1]
    index = index_dtype(shape, r, s)
    return _coo_of(A, B)._of_places(rows.ravel().astype(index), columns.ravel().astype(index), (d[:, None] * f).ravel(), shape)


def kronsum(A, B, format=None):
    """Returns kron(1, A) + kron(B, 1) for two square matrices."""
    A, B = (x if isinstance(x, _spbase) else coo_matrix(x) for x in (A, B))
    for x in (A, B):
        if x.ndim == 1:
            raise ValueError(f'kronsum: two axes are required, given an array of shape {x.shape}')
        if x.shape[0] != x.shape[1]:
            raise ValueError(f'kronsum: a matrix of shape {x.shape} is not square')
    dtype = numpy.result_type(A.dtype, B.dtype)
    return (kron(identity(B.shape[0], dtype), A, 'csr') + kron(B, identity(A.shape[0], dtype), 'csr')).asformat(format)


def _triangle(A, k, format, keep):
    if isinstance(A, _spbase):
        two_alone(A, 'tril and triu')
    A = _as_matrix(A)
    rows, columns, data = A._elements()
    kept = keep(columns.astype('l') - rows, k)
    return _coo_of(A)._of_places(rows[kept], columns[kept], data[kept], A.shape).asformat(format)


def tril(A, k=0, format=None):
    """Returns the elements on and below the k-th diagonal."""
    return _triangle(A, k, format, lambda over, k: over <= k)


def triu(A, k=0, format=None):
    """Returns the elements on and above the k-th diagonal."""
    return _triangle(A, k, format, lambda over, k: over >= k)


def find(A):
    """Returns (rows, columns, values) of the non-zero elements."""
    rows, columns, data = _as_matrix(A).tocsr()._elements()
    kept = data != 0
    return rows[kept], columns[kept], data[kept]


def _sampled(random_state, total, count):
    """Returns `count` different indices below `total` in random order."""
    if not count:
        return _core.zeros((0,), 'l')
    if total < 4096 or 4 * count > total:
        return random_state.permutation(total)[:count]
    # draws a few more places, and keeps the first of equal ones
    drawn = count + count * count // total + 8 * int(count ** 0.5) + 64
    draw = getattr(random_state, 'randint', None) or random_state.integers
    places = given(draw(0, total, drawn)).astype('l', copy=False)
    order = _core._argsort(places, 0)
    equal = _core._concatenate([_core.zeros((1,), bool), places[order[1:]] == places[order[:-1]]], 0)
    kept = _core.ones((drawn,), bool)
    kept[order[equal]] = False
    places = places[kept][:count]
    return places if places.size == count else _sampled(random_state, total, count)


def random(m, n, density=0.01, format='coo', dtype=None, random_state=None, data_rvs=None):
    """Returns a matrix with the given density of random numbers, uniform in [0, 1) or drawn by data_rvs(size)."""
    from catenary.cupy import random as generators
    if not 0 <= density <= 1:
        raise ValueError('density expected to be 0 <= density <= 1')
    dtype = numpy.dtype('d' if dtype is None else dtype)
    if random_state is None:
        random_state = generators
    elif isinstance(random_state, (int, numpy.integer)):
        random_state = generators.RandomState(random_state)
    count = int(density * m * n)
    places = _sampled(random_state, m * n, count)
    values = (data_rvs or random_state.random_sample)(count) if count else _core.zeros((0,), dtype)
    return coo_matrix((given(values).astype(dtype), (places // max(n, 1), places % max(n, 1))), shape=(m, n)).asformat(format)


def rand(m, n, density=0.01, format='coo', dtype=None, random_state=None):
    """Returns a matrix with the given density of uniform numbers in [0, 1)."""
    return random(m, n, density, format, dtype, random_state)


def _array_of(x, format=None):
    return x._classes[True, format or x.format](x)


def eye_array(m, n=None, *, k=0, dtype='d', format=None):
    """Returns the result of eye as a sparse array, dia unless a format is given."""
    return _array_of(eye(m, n, k, dtype, format or 'dia'))


def diags_array(diagonals, /, *, offsets=0, shape=None, format=None, dtype=None):
    """Returns the result of diags as a sparse array, dia unless a format is given."""
    return _array_of(diags(diagonals, offsets, shape, format or 'dia', dtype))


def random_array(shape, *, density=0.01, format='coo', dtype=None, rng=None, data_sampler=None):
    """Returns the result of random as a sparse array with a shape of one or two axes."""
    shape = checked_shape(shape, coo_array._allow_nd)
    made = coo_array(random(*extents(shape), density, 'coo', dtype, rng, data_sampler))
    return (one_axis(made) if len(shape) == 1 else made).asformat(format)


def matrix_transpose(A):
    """Returns A transposed. Raises ValueError for a 1-d array."""
    if A.ndim == 1:
        raise ValueError('matrix_transpose: expected two axes, the array has one')
    return A.transpose()


def swapaxes(A, axis1, axis2):
    """Returns A with two axes swapped."""
    for axis in (axis1, axis2):
        if not -A.ndim <= axis < A.ndim:
            raise ValueError(f'swapaxes: axis {axis} is out of range for {A.ndim} axes')
    return A.copy() if (axis1 - axis2) % A.ndim == 0 else A.transpose()


def permute_dims(A, axes=None, copy=False):
    """Permutes the axes, which are reversed by default. Raises ValueError if `axes` is not a permutation."""
    axes = tuple(range(A.ndim))[::-1] if axes is None else tuple(axes)
    if sorted(k % A.ndim for k in axes) != list(range(A.ndim)) or not all(-A.ndim <= k < A.ndim for k in axes):
        raise ValueError(f'permute_dims: axes {axes} must be a permutation of the {A.ndim} axes of the array')
    return (A.copy() if copy else A) if axes[0] % A.ndim == 0 else A.transpose(copy=copy)
