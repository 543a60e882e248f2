"""Runs a part of the tests, selected as in tests/share.h: a share of 0.05 makes 20 parts, and turn t runs part t modulo 20."""

import hashlib
import math
import re


def place(name):
    """Returns the position of the name's hash between 0 and 1. Addresses in names are ignored, as they vary between runs."""
    name = re.sub('0x[0-9a-f]+', '', name)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], 'big') / 2 ** 64


def parts(share):
    """Returns the number of parts, the smallest for which a part is not larger than the share."""
    return math.ceil(1 / max(share, 1e-6) - 1e-6)


def distance(name, share, turn):
    """Returns the distance of a name's position from the start of the turn's part."""
    return (place(name) - turn % parts(share) / parts(share)) % 1


def names_in(path):
    """Returns the names in a file, one per line, or none if the file does not exist."""
    return set(path.read_text().splitlines()) if path and path.exists() else set()


def is_chosen(name, share, turn):
    return distance(name, share, turn) < 1 / parts(share)
