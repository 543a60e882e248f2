"""Where a test stands between 0 and 1, for those who run a share of them (tests/share.h says it of C++'s)."""

import hashlib
import re


def place(seed, name):
    """Addresses in names differ from run to run."""
    name = re.sub('0x[0-9a-f]+', '', name)
    return int.from_bytes(hashlib.sha256((seed + name).encode()).digest()[:8], 'big') / 2 ** 64
