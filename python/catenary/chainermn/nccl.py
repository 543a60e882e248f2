"""Reports NCCL's version to scripts that ask.

The library itself finds NCCL or RCCL at the first exchange between GPUs. Python has no access to its communicators.
"""

_available = True


def get_build_version():
    """Returns the oldest supported NCCL version, 2.14, in NCCL's numbering."""
    return 21400


get_version = get_build_version
