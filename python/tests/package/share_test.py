"""The plugin that runs a part of a test suite (scripts/chainer_tests --full, scripts/test_python)."""

import os
import pathlib
import subprocess
import sys

import place


def pytest_of(folder, *options):
    (folder / 'pytest.ini').write_text('[pytest]\nmarkers = odd\n')
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[1]))
    return subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'share', '-m', 'not odd', *options], cwd=folder, env=environment,
                          capture_output=True, text=True).stdout


def names(folder, share, turn=0, *options):
    """Returns the tests of a folder that a turn selects, in order."""
    said = pytest_of(folder, f'--share={share}', f'--share-turn={turn}', '--collect-only', *options)
    return [line for line in said.splitlines() if '::' in line]


def write_tests(folder):
    for name, count in (('many', 1000), ('few', 2)):
        (folder / f'test_{name}.py').write_text(f'''import pytest
@pytest.mark.parametrize('i', range({count}))
def test_it(i): pass
@pytest.mark.odd
def test_other(): pass
''')


def test_turns_in_a_row_run_every_test(tmp_path):
    write_tests(tmp_path)
    everything = names(tmp_path, 1)
    assert len(everything) == 1002
    turns = [names(tmp_path, 0.25, turn) for turn in range(21, 25)]
    for some in turns:
        many = [name for name in some if 'many' in name]
        assert 200 < len(many) < 300 and len(some) > len(many), 'some of each file'
    assert set().union(*turns) == set(everything) and names(tmp_path, 0.25, 25) == turns[0]
    assert len(names(tmp_path, 0)) == 2


def test_failed_tests_run_first(tmp_path):
    (tmp_path / 'test_a.py').write_text('import pytest, pathlib\n@pytest.mark.parametrize("i", range(100))\n'
                                        'def test_it(i): assert i != 63 or pathlib.Path("mended").exists()\n')
    failed, test = tmp_path / 'state/failed', 'test_a.py::test_it[63]'
    pytest_of(tmp_path, f'--share-first={failed}')
    assert failed.read_text() == f'{test}\n'
    turn = next(turn for turn in range(10) if not place.is_chosen(test, 0.1, turn))
    some = names(tmp_path, 0.1, turn, f'--share-first={failed}')
    assert some[0] == test and some[1:] == names(tmp_path, 0.1, turn)
    failed.write_text(f'{test}\n')
    (tmp_path / 'mended').touch()
    pytest_of(tmp_path, '--share=0.1', f'--share-turn={turn}', f'--share-first={failed}')
    assert failed.read_text() == ''


def test_devices_run_a_part_of_their_tests_and_the_processor_more(tmp_path, monkeypatch):
    conftest = pathlib.Path(__file__).parents[1] / 'conftest.py'
    (tmp_path / 'conftest.py').write_text(conftest.read_text())
    (tmp_path / 'test_a.py').write_text('''import pytest
@pytest.mark.parametrize('i', range(400))
def test_plain(device, i): pass
@pytest.mark.kernels
@pytest.mark.parametrize('i', range(400))
def test_kernels(device, i): pass
@pytest.mark.parametrize('i', range(10))
def test_without_device(i): pass
''')

    def counts(share, turn, simulated='0'):
        monkeypatch.setenv('CATENARY_TEST_SHARE', str(share))
        monkeypatch.setenv('CATENARY_TEST_TURN', str(turn))
        monkeypatch.setenv('CATENARY_GPU_INCLUDE_SIMULATED', simulated)
        some = names(tmp_path, 1)
        return [sum(text in name for name in some) for text in ('plain[cpu', 'kernels[cpu', 'without', 'plain[gpu', 'kernels[gpu')], set(some)

    for turn in (0, 1):
        (*cpu, plain, kernels), _ = counts(0.1, turn)
        assert all(140 < count < 260 for count in cpu[:2]) and 100 < plain < 180 and 15 < kernels < 70
    assert counts(1, 0)[0] == [400, 400, 10, 400, 400]
    assert counts(0.125, 0)[0][:3] == [400, 400, 10]
    assert counts(0.1, 0, simulated='1')[0][3] == 400, 'there --share selects the tests'
    assert len(set().union(*(counts(0.1, turn)[1] for turn in range(3, 13)))) == 1610


def test_the_rule_is_that_of_the_tests_in_cpp():
    assert round(place.place('Room.Test'), 6) == 0.695364
    assert [place.parts(share) for share in (0.3, 0.08, 0.05, 0.0417, 1)] == [4, 13, 20, 24, 1]
