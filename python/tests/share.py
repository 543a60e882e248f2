"""A plugin of pytest: `--share 0.03` runs a random three hundredths of the tests that the marks leave, the same ones each time; others for
another `--share-seed`. A test is chosen by a hash of the seed and its name, as C++'s tests are (tests/share.h). Of a file of which none would
be, the test whose hash is the lowest is."""

import pytest

from place import place


def pytest_addoption(parser):
    parser.addoption('--share', type=float, default=1, help='which share of the tests to run, from 0 to 1')
    parser.addoption('--share-seed', default='', metavar='WORDS', help='what decides which ones, the hash of a commit say')


@pytest.hookimpl(trylast=True)  # after the marks
def pytest_collection_modifyitems(config, items):
    share, seed = config.getoption('share'), config.getoption('share_seed')
    least = {}
    for item in items:
        least[item.path] = min(least.get(item.path, 1), place(seed, item.nodeid))
    left = [item for item in items if place(seed, item.nodeid) <= max(share, least[item.path])]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(left)])
    items[:] = left
