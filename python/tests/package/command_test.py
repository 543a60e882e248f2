"""`python -m catenary COMMAND` and pip's command `catenary` run the program `catenary`: its commands, exit status, output and signals."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy
import pytest

from catenary import __main__ as main

FORWARD = ['-m', 'catenary']
# as in the script that pip makes of `[project.scripts]`
SCRIPT = ['-c', 'import sys; from catenary.__main__ import command; sys.exit(command())']


def run(*arguments, **more):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, **more)


def test_every_command_of_the_program_is_known():
    text = run(*SCRIPT, '--help').stdout.partition('Subcommands:')[2].partition('First steps:')[0]
    commands = re.findall(r'^  ([a-z]+) ', text, re.M)
    assert sorted(commands) == sorted(main.COMMANDS), text
    text = run(*FORWARD, '--help').stdout
    assert all(re.search(rf'\b{command}\b', text) for command in commands), text


@pytest.mark.parametrize('way', [FORWARD, SCRIPT])
def test_help_and_version(way):
    assert 'Catenary ' in run(*way, '--version').stdout
    for command in main.COMMANDS:
        done = run(*way, command, '--help')
        assert done.returncode == 0 and f'catenary {command}' in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize('way', [FORWARD, SCRIPT])
@pytest.mark.parametrize('arguments, status, says', [
    (['inspect', 'missing.npz'], 1, 'missing.npz'), (['bench', 'nothing'], 2, 'gemm'), (['generate', 'x'], 2, '--prompt'),
    (['launch', '-n', '2', sys.executable, '-c', 'exit(7)'], 7, '')])
def test_exit_status(tmp_path, way, arguments, status, says):
    done = run(*way, *arguments, cwd=tmp_path)
    assert done.returncode == status and says in done.stderr and 'Traceback' not in done.stderr, done.stderr


def test_files_and_data_sets(tmp_path):
    numpy.savez(tmp_path / 'a.npz', weights=numpy.ones((3, 5), 'f'))
    assert 'weights' in run(*FORWARD, 'inspect', 'a.npz', cwd=tmp_path).stdout
    for way in (['data'], ['data', 'list']):
        assert 'cifar-10' in run(*FORWARD, *way).stdout
    assert run(*FORWARD, 'data', 'fetch', 'nothing').returncode != 0


def test_a_closed_pipe_ends_the_program_without_a_message():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, *FORWARD, 'devices'], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, '')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_program(tmp_path, number):
    waits = 'open("started", "w").close(); import time; time.sleep(60)'
    process = subprocess.Popen([sys.executable, *FORWARD, 'launch', '-n', '1', sys.executable, '-c', waits], cwd=tmp_path, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (tmp_path / 'started').exists():
            break
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait(timeout=60) in (128 + number, -number)


def test_a_missing_program_names_the_remedy(monkeypatch):
    monkeypatch.setattr(main, '_program', lambda: '/nowhere/bin/catenary')
    with pytest.raises(SystemExit, match='/nowhere/bin/catenary is missing. Install the package again'):
        main.command(['info'])
