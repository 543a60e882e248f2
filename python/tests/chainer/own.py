"""Runs code that uses `chainer` in a process of its own."""

import os
import subprocess
import sys
import textwrap


RAISED = '''
def raised(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__
    return None
'''


def run(code, **environment):
    """Runs code and returns its output. Fails with its messages if it fails."""
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', textwrap.dedent(code)], capture_output=True, text=True,
                          env=dict(os.environ, **environment))
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
