"""Sparse matrices as three arrays of coordinates and values."""
import numpy

from .. import backend


class CooMatrix:
    """A sparse matrix, or a batch of them, as values with rows and columns.

    Values of a batch have the shape (batch, entries); unused entries have row and column -1.
    """

    def __init__(self, data, row, col, shape, order=None, requires_grad=False):
        from ..variable import Variable
        if not 1 <= data.ndim <= 2:
            raise ValueError('data of a sparse matrix has one axis, or two with a batch, but its ndim is {}'.format(
                data.ndim))
        if data.shape != row.shape or data.shape != col.shape:
            raise ValueError('data {}, row {} and col {} must have equal shapes'.format(
                data.shape, row.shape, col.shape))
        if len(shape) != 2:
            raise ValueError('the shape of a sparse matrix has two entries')
        if order not in (None, 'other', 'C', 'F'):
            raise ValueError("order must be 'C', 'F', 'other' or None")
        self.data = Variable(data, requires_grad=requires_grad)
        self.row = row
        self.col = col
        self.shape = shape
        self.order = order

    def to_dense(self):
        """Returns the matrix, or the batch, as an array."""
        data, row, col = self.data.array, self.row, self.col
        xp = backend.get_array_module(data)
        used = row >= 0
        dense = xp.zeros(data.shape[:-1] + tuple(self.shape), dtype=data.dtype)
        add_at = numpy.add.at if xp is numpy else xp.add.at
        where = (row[used], col[used])
        if data.ndim == 2:
            where = (xp.nonzero(used)[0],) + where
        add_at(dense, where, data[used])
        return dense


def to_coo(x, ldnz=None, requires_grad=False):
    """Returns the nonzero entries of a matrix, or a batch of matrices, as a `CooMatrix` with `ldnz` entries or more."""
    xp = backend.get_array_module(x)
    if x.ndim not in (2, 3):
        raise ValueError('to_coo takes a matrix or a batch of matrices, but ndim is {}'.format(x.ndim))
    batch = x if x.ndim == 3 else x[None]
    found = [xp.nonzero(matrix) for matrix in batch]
    entries = max([len(row) for row, _ in found] + [ldnz or 0])
    data = xp.zeros((len(batch), entries), dtype=x.dtype)
    row, col = (xp.full((len(batch), entries), -1, dtype=xp.int32) for _ in range(2))
    for index, (rows, cols) in enumerate(found):
        count = len(rows)
        data[index, :count] = batch[index][rows, cols]
        row[index, :count] = rows
        col[index, :count] = cols
    if x.ndim == 2:
        data, row, col = data[0], row[0], col[0]
    return CooMatrix(data, row, col, x.shape[-2:], order='C', requires_grad=requires_grad)


def get_order(row, col):
    """Returns 'C' or 'F' if the coordinates are sorted by row or by column, otherwise 'other'."""
    if row.shape != col.shape:
        raise ValueError('row {} and col {} must have equal shapes'.format(row.shape, col.shape))
    if _is_c_order(row, col):
        return 'C'
    return 'F' if _is_c_order(col, row) else 'other'


def _is_c_order(row, col):
    """Returns whether the used entries are sorted by `row`, then by `col`."""
    row, col = (backend.CpuDevice().send(index).reshape(-1, index.shape[-1]) for index in (row, col))
    for rows, cols in zip(row, col):
        used = rows >= 0
        if not numpy.array_equal(used, cols >= 0):
            raise ValueError('an entry is unused where both its row and its column are negative')
        step, across = numpy.diff(rows[used]), numpy.diff(cols[used])
        if ((step < 0) | (step == 0) & (across < 0)).any():
            return False
    return True
