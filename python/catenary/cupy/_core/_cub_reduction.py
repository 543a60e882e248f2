"""CUB is not used."""

_CUB_REDUCE_SIZE_THRESHOLD = 128
