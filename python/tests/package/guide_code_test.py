"""The Python code of the guides runs and prints the output that stands in its comments."""

import os
import pathlib
import re
import subprocess
import sys

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRAINING = (ROOT / 'docs/guide/python-training.md').read_text()
ENVIRONMENT = {**os.environ, 'CATENARY_CUPY_CPU': '1', 'CATENARY_GPU_INCLUDE_CPU': '0'}
# The names that the table of names uses, besides those of the code above it.
NAMES = '''
from chainer.training import extensions
train = [(numpy.ones(3), 1)] * 16
a, y, t, labels = cupy.ones((16, 3), 'float32'), model(xb), tb, cupy.zeros((16, 3), 'int32')
image, hidden = cupy.ones((2, 3, 4, 4), 'float32'), cupy.ones((4, 32), 'float32')
'''


def blocks(text, language):
    return re.findall(r'^```%s\n(.*?)^```' % language, text, re.M | re.S)


def run(folder, code):
    done = subprocess.run([sys.executable, '-'], input=code, capture_output=True, text=True, cwd=folder, env=ENVIRONMENT, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_code(tmp_path):
    code = '\n'.join(blocks(TRAINING, 'python'))
    expected = re.findall(r'^ *print\(.* # (.*)$', code, re.M)
    lines = run(tmp_path, code).split('\n')
    assert len(expected) > 4 and [line for line in lines if line in expected] == expected, lines
    table = next(i for i, line in enumerate(lines) if line.split() == ['epoch', 'main/loss', 'validation/main/accuracy'])
    assert float(lines[table + 1].split()[-1]) > 0.9, lines


def test_names(tmp_path):
    rows = [row.split(' | ')[1] for row in TRAINING.split('## Names')[1].split('\n') if row.startswith('| ') and 'PyTorch' not in row]
    calls = [span for row in rows for span in re.findall(r'`([^`]*)`', row) if '(' in span]
    assert len(rows) > 25 and len(calls) > 25
    run(tmp_path, '\n'.join([block for block in blocks(TRAINING, 'python') if 'trainer.run' not in block] + [NAMES] + calls))


def test_weights_of_torch(tmp_path):
    save, load = blocks(TRAINING, 'py')
    convert, = blocks(TRAINING, 'sh')
    wanted = {'l1.weight': numpy.ones((32, 8), 'f'), 'l1.bias': numpy.full(32, 2, 'f'), 'l2.weight': numpy.full((3, 32), 3, 'f'), 'l2.bias': numpy.zeros(3, 'f')}
    numpy.savez(tmp_path / 'weights.npz', **wanted)
    run(tmp_path, '''
import numpy
class Model:
    def state_dict(self):
        class Tensor:
            def __init__(self, value): self.numpy = lambda: value
        return {name: Tensor(value) for name, value in numpy.load('weights.npz').items()}
torch_model = Model()
''' + save)
    subprocess.run([sys.executable, '-m', *convert.split()], check=True, cwd=tmp_path, env=ENVIRONMENT)
    network = next(block for block in blocks(TRAINING, 'python') if 'class MLP' in block).partition('rng =')[0]
    printed = run(tmp_path, blocks(TRAINING, 'python')[0] + network + 'model = MLP()\n' + load + 'print(model.l1.b.array[0], model.l2.W.array[0, 0])\n')
    assert printed.endswith('2.0 3.0\n'), printed


def test_tests_of_users(tmp_path):
    code = next(block for block in blocks((ROOT / 'docs/guide/python.md').read_text(), 'python') if 'def test_kernels' in block)
    (tmp_path / 'test_kernels.py').write_text(code)
    done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_kernels.py'], capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT, timeout=600)
    assert done.returncode == 0, done.stdout
