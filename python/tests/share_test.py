"""The plugin that runs a share of a suite (scripts/chainer_tests --full)."""

import os
import pathlib
import subprocess
import sys


def names(folder, share, seed=''):
    """What is left of the tests of a folder."""
    (folder / 'pytest.ini').write_text('[pytest]\nmarkers = odd\n')
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parent))
    result = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'share', f'--share={share}', f'--share-seed={seed}',
                             '-m', 'not odd', '--collect-only'], cwd=folder, env=environment, capture_output=True, text=True)
    return [line for line in result.stdout.splitlines() if '::' in line]


def test_a_share_is_the_same_each_time_and_has_some_of_each_file(tmp_path):
    for name, count in (('many', 1000), ('few', 2)):
        (tmp_path / f'test_{name}.py').write_text(f'''import pytest
@pytest.mark.parametrize('i', range({count}))
def test_it(i): pass
@pytest.mark.odd
def test_other(): pass
''')
    all_of_them = names(tmp_path, 1)
    assert len(all_of_them) == 1002
    some = names(tmp_path, 0.1)
    many = [name for name in some if 'many' in name]
    assert 60 < len(many) < 140 and len(some) > len(many)
    assert names(tmp_path, 0.1) == some and set(some) < set(all_of_them)
    smaller = names(tmp_path, 0.05)
    assert set(smaller) < set(some)
    assert len(names(tmp_path, 0)) == 2
    others = names(tmp_path, 0.1, 'another')
    assert 60 < len(others) < 140 and others == names(tmp_path, 0.1, 'another') and len(set(others) & set(some)) < 40


def test_the_rule_is_that_of_the_tests_in_cpp():
    from share import place
    assert round(place('seed', 'Room.Test'), 6) == 0.477211
