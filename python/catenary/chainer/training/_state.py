"""Attributes and parts of an object in a snapshot."""


def serialize_attributes(owner, serializer, keys):
    """Reads or writes attributes. `keys` is a dict from the keys of the snapshot to the names of the attributes."""
    for key, name in keys.items():
        setattr(owner, name, serializer(key, getattr(owner, name)))


def serialize_part(part, serializer, key):
    """Reads or writes a part that may have no state."""
    method = getattr(part, 'serialize', None)
    if method is not None:
        method(serializer[key])
