"""A pytest plugin that runs a part of the selected tests: `--share 0.05 --share-turn 7` runs the eighth of 20 parts (place.py).

If a file has no test in that part, its next one runs. Tests listed in the file of `--share-first` always run, and run first. Afterwards the file
lists the tests that failed.
"""

import pathlib

import pytest

from place import distance, is_chosen, names_in


def pytest_addoption(parser):
    parser.addoption('--share', type=float, default=1, help='the size of a part, from 0 to 1')
    parser.addoption('--share-turn', type=int, default=0, metavar='N', help='which part: N modulo the number of parts')
    parser.addoption('--share-first', type=pathlib.Path, metavar='FILE', help='a file with the tests that failed last')


@pytest.hookimpl(trylast=True)  # after the marks
def pytest_collection_modifyitems(config, items):
    share, turn, wanted = config.getoption('share'), config.getoption('share_turn'), names_in(config.getoption('share_first'))
    least = {}
    for item in items:
        least[item.path] = min(least.get(item.path, 1), distance(item.nodeid, share, turn))
    first = [item for item in items if item.nodeid in wanted]
    rest = [item for item in items if item.nodeid not in wanted
            and (is_chosen(item.nodeid, share, turn) or distance(item.nodeid, share, turn) == least[item.path])]
    left = first + rest
    chosen = set(left)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = left


def pytest_configure(config):
    path = config.getoption('share_first')
    if path and not hasattr(config, 'workerinput'):  # pytest-xdist reports everything to the process that began it
        config.pluginmanager.register(Failures(path))


class Failures:
    """Writes the tests that failed into the file of --share-first."""

    def __init__(self, path):
        self.path, self.names = path, {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.names[report.nodeid] = None

    def pytest_sessionfinish(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix('.new')
        new.write_text(''.join(f'{name}\n' for name in self.names))
        new.replace(self.path)
