"""Which NCCL there is, for scripts that ask. The library finds NCCL or RCCL itself, at the first exchange between cards; its
communicators are not for Python."""

_available = True


def get_build_version():
    """The oldest NCCL that is called, 2.14, as NCCL counts."""
    return 21400


get_version = get_build_version
