"""Lists and slices of row numbers."""

import bisect

import numpy


def positions(rows, length):
    """Checks row numbers, which may be negative, and returns them as a list or a slice without negative bounds.

    A list of as many bools as there are rows is a mask.
    """
    if isinstance(rows, slice):
        return as_slice(range(length)[rows])
    rows = [row.item() if isinstance(row, numpy.generic) else row for row in rows]
    if rows and all(isinstance(row, bool) for row in rows):
        if len(rows) != length:
            raise ValueError(f'a mask of {len(rows)} rows does not fit a dataset of {length}')
        return [index for index, is_chosen in enumerate(rows) if is_chosen]
    for row in rows:
        if not -length <= row < length:
            raise IndexError(f'row {row} is out of range for a dataset of {length} rows')
    return [int(row) % length for row in rows]


def as_slice(numbers):
    """Returns a range as a slice."""
    stop = numbers.stop if numbers.step > 0 or numbers.stop >= 0 else None
    return slice(numbers.start if len(numbers) else 0, stop if len(numbers) else 0, numbers.step)


def compose(outer, inner, length):
    """Returns rows `inner` (a list, a slice or None) of the rows `outer` (a list or slice of a dataset with `length` rows)."""
    if inner is None:
        return outer
    if isinstance(outer, slice):
        numbers = range(length)[outer]
        return as_slice(numbers[inner]) if isinstance(inner, slice) else [numbers[index] for index in inner]
    return outer[inner] if isinstance(inner, slice) else [outer[index] for index in inner]


def split(rows, offset, length):
    """Returns the part of rows that is in a dataset at `offset`, as its own row numbers, and the places of these rows in the whole list."""
    if isinstance(rows, range):
        first, last = _places(rows, offset, offset + length)
        stop = rows.stop if last == len(rows) else rows[last]
        shifted = range(rows[first] - offset, stop - offset, rows.step) if first < last else ()
        return (as_slice(shifted) if shifted else None), range(first, last)
    places = [place for place, row in enumerate(rows) if offset <= row < offset + length]
    return [rows[place] - offset for place in places] or None, places


def _places(rows, begin, end):
    """Returns the first place and the end of the places in a range whose rows are in [begin, end)."""
    if rows.step > 0:
        return bisect.bisect_left(rows, begin), bisect.bisect_left(rows, end)
    upwards = rows[::-1]
    return len(rows) - bisect.bisect_left(upwards, end), len(rows) - bisect.bisect_left(upwards, begin)
