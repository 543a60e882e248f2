"""Messages between two ranks: arrays or an object, preceded by a header with their kind and tag."""

import pickle

from catenary import _core
from chainermn.communicators import _arrays, _objects

ANY_TAG = _core.Communicator.any_tag


def send_arrays(ranks, arrays, is_tuple, dest, tag):
    on_host = not any(isinstance(x, _core.ndarray) for x in arrays)
    ranks.send_bytes(pickle.dumps(('arrays', tag, (len(arrays), is_tuple, on_host))), dest, tag)
    for x in arrays:
        ranks.send(_arrays.given(x, 'send'), dest, tag)


def send_object(ranks, obj, dest, tag):
    message, pieces = _objects.packed(obj)
    ranks.send_bytes(pickle.dumps(('object', tag, message)), dest, tag)
    for piece in pieces:
        ranks.send(piece, dest, tag)


def _next(ranks, source, tag, expected, function):
    what, tag, told = pickle.loads(ranks.recv_bytes(source, tag))
    if what != expected:
        raise ValueError('%s: rank %d has sent %s; expected %s' % (function, source, *(
            {'arrays': 'arrays (send)', 'object': 'an object (send_obj)'}[kind] for kind in (what, expected))))
    return tag, told


def recv_arrays(ranks, source, tag):
    tag, (n, is_tuple, on_host) = _next(ranks, source, tag, 'arrays', 'recv')
    arrays = tuple(_arrays.delivered(ranks.recv(source, tag), on_host) for _ in range(n))
    return arrays if is_tuple else arrays[0]


def recv_object(ranks, source, tag, status=None):
    """Receives an object. A status of mpi4py's receives the message's source and tag."""
    tag, message = _next(ranks, source, tag, 'object', 'recv_obj')
    if status is not None:
        status.source, status.tag = source, tag
    return _objects.unpacked(message, lambda: ranks.recv(source, tag))
