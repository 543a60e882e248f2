"""Pickled objects between ranks.

For messages between two ranks and broadcasts, large buffers stay out of the pickle. The first message holds the pickle and the number of buffers,
which follow as arrays of bytes.
"""

import pickle

import numpy

from chainermn.communicators import _arrays

# Smaller buffers go into the first message, as a second message costs more than the copy.
_LARGE = 1 << 16


def packed(obj):
    """Returns the first message, and the following ones as byte arrays of the library."""
    pieces = []

    def keeps(buffer):
        raw = buffer.raw()
        if raw.nbytes < _LARGE:
            return True
        pieces.append(numpy.frombuffer(raw, numpy.uint8))
        return False

    text = pickle.dumps(obj, protocol=5, buffer_callback=keeps)
    own = len(text) >= _LARGE
    if own:
        pieces.insert(0, numpy.frombuffer(text, numpy.uint8))
    return (pickle.dumps((b'' if own else text, own, len(pieces)), protocol=5),
            [_arrays.given(piece, 'an object') for piece in pieces])


def unpacked(message, next_piece):
    """Returns the object of a first message. Each call of next_piece returns the next buffer, an array of the library's."""
    text, own, pieces = pickle.loads(message)
    buffers = [_arrays.taken(next_piece()) for _ in range(pieces)]
    if own:
        text = buffers.pop(0)
    return pickle.loads(text, buffers=buffers)


def bcast(ranks, obj, root):
    """Broadcasts the root's object."""
    if ranks.rank == root:
        message, pieces = packed(obj)
        ranks.bcast_bytes(message, root)
        for piece in pieces:
            ranks.bcast(piece, root)
        return obj
    return unpacked(ranks.bcast_bytes(None, root), lambda: ranks.bcast(None, root))


def gather(ranks, obj, root):
    """Returns the objects of all ranks on the root, and None elsewhere."""
    messages = ranks.gather_bytes(pickle.dumps(obj, protocol=5), root)
    return [pickle.loads(message) for message in messages] if ranks.rank == root else None


def allgather(ranks, obj):
    return [pickle.loads(message) for message in ranks.allgather_bytes(pickle.dumps(obj, protocol=5))]


def scatter(ranks, objs, root):
    """Distributes the root's objects, one per rank."""
    messages = [pickle.dumps(obj, protocol=5) for obj in objs] if ranks.rank == root else []
    return pickle.loads(ranks.scatter_bytes(messages, root))
