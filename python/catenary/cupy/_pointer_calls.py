"""Replacements for Chainer's kernels and cuBLAS calls that take arrays of pointers.

An OpenCL kernel cannot follow pointers in memory. These kernels of Chainer are recognised by name and the SHA-256 of their text, and replaced by
copies of arrays. Batched LU factors and inverses work this way on all devices.
"""

import hashlib

import numpy

from catenary import _core


def _pad_sequence(pointers, lengths, padding, base, longest, y):
    padding = numpy.asarray(padding).astype(y.dtype)[()]  # in the kernel's dtype
    for row, address, length in zip(y, pointers.get().ravel().tolist(), lengths.get().ravel().tolist()):
        if length:
            row[:length] = _core._at(address, y.dtype, length * base).reshape(row[:length].shape)
        row[length:] = padding


def _parts(pointers, dtypes, info):
    """Yields (begin, end, array) of arrays that are consecutive in the flat array."""
    ends = info.get().tolist()
    begins = [0] + ends[1:-1]
    for begin, end, address, kind in zip(begins, ends[1:], pointers.get().tolist(), dtypes.get().tolist()):
        yield begin, end, _core._at(address, ('f4', 'f2')[kind], end - begin) if address else None


def _gather(pointers, dtypes, info, flat):
    flat[...] = 0
    for begin, end, part in _parts(pointers, dtypes, info):
        if part is not None:
            flat[begin:end] = part


def _scatter(pointers, dtypes, info, flat):
    for begin, end, part in _parts(pointers, dtypes, info):
        if part is not None:
            part[...] = flat[begin:end]


_KNOWN = {
    ('pad_sequence_fwd', '7c0ed77f8e03c1140a834cc655e4688dd5bcac7ca59404908cb01c160fa2056c'): _pad_sequence,
    ('_memcpy_gather', '546e45536a5b4e5ed13bbcb8ec8bd09ee65c03f7f175a24b2f047d88c81bb826'): _gather,
    ('_memcpy_scatter', '02191090ce54d7c233aa08a13dc69882c1d983ed58c8a2280da56aa42332e285'): _scatter,
}


def known(kernel):
    """Returns the replacement for an ElementwiseKernel of Chainer's that follows pointers, or None."""
    if not any(kernel.name == name for name, _ in _KNOWN):
        return None
    text = ''.join((kernel.loop_prep + kernel.operation).split())
    return _KNOWN.get((kernel.name, hashlib.sha256(text.encode()).hexdigest()))


def _matrices(pointers, dtype, n, leading, count):
    """Returns the matrices (count, n, n) behind an array of addresses, in Fortran order, with their row order."""
    found = []
    for address in _core._at(pointers, 'u8', count).tolist():
        found.append(_core._at(address, dtype, leading * (n - 1) + n))
    rows = [_core.as_strided(part, (n, n), (part.itemsize, leading * part.itemsize)) for part in found]
    return _core._stack(rows, 0), rows


def getrf(dtype, n, pointers, leading, pivots, info, count):
    """Computes LU factors of matrices in place. Stores 1-based row exchanges, and the first zero of U's diagonal (0: none)."""
    if count == 0 or n == 0:
        return
    matrices, rows = _matrices(pointers, dtype, n, leading, count)
    factors, exchanged = _core.linalg.lu_factor(matrices)
    for row, factor in zip(rows, factors):
        row[...] = factor
    if pivots:
        _core._at(pivots, 'i4', n * count)[...] = (exchanged + 1).reshape(-1)
    zero = _core._at(info, 'i4', count)
    zero[...] = _first_zero(factors)


def getri(dtype, n, pointers, leading, pivots, inverses, leading_of_inverses, info, count):
    """Computes inverses from the factors of getrf."""
    if count == 0 or n == 0:
        return
    factors, _ = _matrices(pointers, dtype, n, leading, count)
    order = numpy.tile(numpy.arange(n), (count, 1))
    if pivots:
        for at, exchanges in zip(order, _core._at(pivots, 'i4', n * count).get().reshape(count, n) - 1):
            for i, k in enumerate(exchanges):
                at[[i, k]] = at[[k, i]]
    identity = numpy.zeros((count, n, n), dtype)
    identity[numpy.arange(count)[:, None], numpy.arange(n)[None], order] = 1
    zeros = _first_zero(factors)
    whole = _core.where((zeros != 0)[:, None, None], _core.from_numpy(numpy.eye(n, dtype=dtype), None), factors)
    solve = _core.linalg.solve_triangular
    half = solve(whole, _core.from_numpy(identity, None), lower=True, unit_diagonal=True)
    _, rows = _matrices(inverses, dtype, n, leading_of_inverses, count)
    for row, inverse in zip(rows, solve(whole, half)):
        row[...] = inverse
    _core._at(info, 'i4', count)[...] = zeros


def _first_zero(factors):
    n = factors.shape[-1]
    zero = _core.diagonal(factors, 0, -2, -1) == 0
    return _core.where(_core.any(zero, -1), _core.argmax(zero, -1) + 1, 0).astype('i4')
