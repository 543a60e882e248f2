"""Every script explains itself: `SCRIPT --help` prints its description, also without the packages that it compares with."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPTS = [path for path in sorted((ROOT / 'scripts').iterdir()) if path.is_file()] + [ROOT / '.ci/run']


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: path.name)
def test_help(path):
    first, second = path.read_text().split('\n')[:2]
    interpreter = [sys.executable] if 'python' in first else ['bash']
    done = subprocess.run([*interpreter, path, '--help'], capture_output=True, text=True, timeout=100, cwd=ROOT, env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
    assert done.returncode == 0 or 'This Python lacks the package ' in done.stderr, done.stderr
    sentence = second.lstrip('#" ')
    assert sentence[:60] in done.stdout + done.stderr, done.stdout + done.stderr
