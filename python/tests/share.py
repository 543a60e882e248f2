"""A plugin of pytest: `--share 0.03` runs a random three hundredths of the tests that the marks leave, the same ones each time. A test is
chosen by a hash of its name. Of a file of which none would be, the test whose hash is the lowest is."""

import hashlib
import re

import pytest


def pytest_addoption(parser):
    parser.addoption('--share', type=float, default=1, help='which share of the tests to run, from 0 to 1')


def place(name):
    """Where a test stands between 0 and 1. Addresses in names differ from run to run."""
    name = re.sub('0x[0-9a-f]+', '', name)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], 'big') / 2 ** 64


@pytest.hookimpl(trylast=True)  # after the marks
def pytest_collection_modifyitems(config, items):
    least = {}
    for item in items:
        least[item.path] = min(least.get(item.path, 1), place(item.nodeid))
    left = [item for item in items if place(item.nodeid) <= max(config.getoption('share'), least[item.path])]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(left)])
    items[:] = left
