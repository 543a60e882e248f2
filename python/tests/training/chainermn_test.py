"""chainermn: starts jobs whose ranks run the cases in chainermn_ranks.py."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy
import pytest

from catenary import _core

TESTS = pathlib.Path(__file__).resolve().parent
CATENARY = pathlib.Path(_core._library_folder()).parent / 'bin/catenary'
MPI = ['mpiexec', '--allow-run-as-root', '--oversubscribe', '--bind-to', 'none']


def job(n, *arguments, by='launch', status=0, **environment):
    """Returns the standard output and error of a job's ranks, and checks its exit status."""
    starter = [CATENARY, 'launch', '-n', str(n), '--'] if by == 'launch' else [*MPI, '-n', str(n)] if by == 'mpi' else []
    made = {name: value for name, value in os.environ.items() if not name.startswith('PYTEST_')}
    result = subprocess.run([*starter, sys.executable, TESTS / 'chainermn_ranks.py', *map(str, arguments)], capture_output=True, text=True,
                            timeout=300, env={**made, 'OMP_NUM_THREADS': '1', 'CATENARY_COLLECTIVE_TIMEOUT': '1',
                                              'CATENARY_GPU_INCLUDE_CPU': '1', **environment})
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout, result.stderr


@pytest.mark.parametrize('on', ['numpy', 'processor', 'gpu'])
def test_arrays_of_every_dtype_and_layout(on):
    job(2, 'arrays', on, CATENARY_CUPY_CPU='1' if on == 'processor' else '0')


@pytest.mark.parametrize('n, by', [(1, 'nobody'), (2, 'launch'), (3, 'launch'), (2, 'mpi')])
def test_objects(n, by):
    job(n, 'objects', by=by)


def test_arrays_by_mpi_and_alone():
    job(3, 'arrays', 'numpy', by='mpi')
    job(1, 'arrays', 'numpy', by='nobody')


@pytest.mark.parametrize('on, n', [('@numpy', 2), ('@numpy', 1), ('one', 2)])
def test_gradients_by_every_communicator(on, n):
    job(n, 'gradients', on, 'naive,flat,non_cuda_aware,pure_nccl,dummy,hierarchical,two_dimensional,single_node'
        if on == '@numpy' and n > 1 else 'naive,pure_nccl' if n > 1 else 'naive')


@pytest.mark.parametrize('n', [2, 4])
def test_vectors_of_the_original(n):
    job(n, 'vectors', TESTS.parents[2] / 'tests/data/chainermn')


@pytest.fixture(scope='module')
def one_rank(tmp_path_factory):
    """Trains with one rank. As in ChainerMN, the first update only broadcasts parameters."""
    out = tmp_path_factory.mktemp('one')
    job(1, 'training', 'naive', '@numpy', out, by='nobody')
    return out


def results(out):
    return dict(numpy.load(out / 'weights.npz')), json.loads((out / 'log').read_text())


@pytest.mark.parametrize('name, by', [('naive', 'launch'), ('flat', 'mpi'), ('pure_nccl', 'launch')])
def test_two_ranks_train_as_one(tmp_path, one_rank, name, by):
    job(2, 'training', name, '@numpy', tmp_path, by=by)
    weights, log = results(tmp_path)
    expected, expected_log = results(one_rank)
    assert set(weights) == set(expected)
    for path, values in expected.items():
        numpy.testing.assert_allclose(weights[path], values, rtol=1e-4, atol=1e-6)
    assert len(log) == len(expected_log) == 3
    for entry, one in zip(log, expected_log, strict=True):
        for key in ('validation/main/loss', 'validation/main/accuracy'):
            assert entry[key] == pytest.approx(one[key], rel=1e-4)


@pytest.mark.parametrize('how, by, status, words', [
    ('sigkill', 'launch', 137, r'rank 1 of 3 .*SIGKILL'), ('sigkill', 'mpi', 137, r'rank 1 of 3 .* has died'),
    ('raise', 'launch', 1, r'what rank 1 could not do(.|\n)*rank 1 of 3 .*ended with status 1'),
    ('raise', 'mpi', 1, r'rank 1 of 3 .*ended with status 1'), ('abort', 'launch', 1, r'rank 1 of 3 .*Abort\(1\) was called'),
    ('hook', 'launch', 1, r'rank 1 of 3 .*nobody has caught: RuntimeError: what rank 1 could not do')])
def test_a_rank_that_dies_ends_the_job_with_its_name(how, by, status, words):
    began = time.monotonic()
    _, err = job(3, 'dies', how, by=by, status=status, CATENARY_COLLECTIVE_TIMEOUT='5')
    assert time.monotonic() - began < 200  # most of it imports: a rank that waits for another does so for five minutes
    assert re.search(words, err), err


def test_ranks_that_do_different_things_are_told():
    out, _ = job(2, 'differ')
    assert out == 'told\n' * 2


def test_a_checkpoint_resumes_bit_for_bit(tmp_path):
    whole, killed = tmp_path / 'whole', tmp_path / 'killed'
    job(2, 'resumed', whole, 11, 0)
    job(2, 'resumed', killed, 11, 8, status=137)
    assert not (killed / 'weights.npz').exists()
    assert sorted(path.name for path in killed.glob('some.job.*')) == sorted(
        f'some.job.{rank}.{iteration}' for rank in (0, 1) for iteration in (3, 6))
    # a truncated file invalidates its set: the previous one is used
    shutil.copytree(killed, tmp_path / 'cut')
    newest = tmp_path / 'cut/some.job.1.6'
    newest.write_bytes(newest.read_bytes()[:-100])
    for folder in (killed, tmp_path / 'cut'):
        job(2, 'resumed', folder, 11, 0)
        expected = dict(numpy.load(whole / 'weights.npz'))
        for path, values in numpy.load(folder / 'weights.npz').items():
            numpy.testing.assert_array_equal(values, expected[path])
    _, err = job(1, 'resumed', killed, 12, 0, by='nobody', status=1)
    assert re.search(r'was saved by 2 ranks, but this job has 1', err), err


def test_one_module_for_each_file():
    assert job(1, 'twins', by='nobody')[0] == 'one each\n'
