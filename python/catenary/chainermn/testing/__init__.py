"""Helpers of tests over several ranks."""

from chainermn.testing.device import get_device  # noqa: F401
