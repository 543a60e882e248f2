"""MNIST with the names of each version of Chainer, and in 16 bits (the scripts are in the folder mnist)."""

import os
import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).parent / 'mnist'


def run(script, *arguments):
    """Runs a script of the folder with our package and returns its lines."""
    done = subprocess.run([sys.executable, '-W', 'ignore', str(SCRIPTS / script), *arguments], capture_output=True, text=True,
                          env=dict(os.environ, CATENARY_GPU_INCLUDE_CPU='1'))
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


def accuracy(script, *arguments):
    return float(run(script, *arguments)[-1].rpartition('accuracy ')[2])


def script_of(version):
    return {'1.4.0': ['v1_4_0.py'], '1.5.0': ['v1_5_0.py']}.get(version, ['trainer.py', version])


@pytest.mark.parametrize('version', ['1.4.0', '1.5.0', '1.12.0', '1.24.0', '4.0.0', '5.1.0', '6.2.0', '7.0.0b2', '7.8.1'])
def test_train_mnist_of_each_version_cpu(version):
    assert accuracy(*script_of(version)) > 0.9


@pytest.mark.parametrize('version', ['1.4.0', '1.5.0', '1.12.0', '6.2.0'])
def test_train_mnist_on_a_device_opencl(version):
    script = script_of(version) + ([] if version in ('1.4.0', '1.5.0') else ['--batchsize', '500'])
    assert accuracy(*script, '-g', '0') > 0.9


@pytest.mark.parametrize('layers, optimizer', [(3, 'sgd'), (6, 'adam')])
def test_16_bit_training_is_as_exact_as_float32_cpu(layers, optimizer):
    float32, float16, mixed16 = map(float, run('dtypes.py', str(layers), optimizer, '1'))
    assert float32 > 0.9 and abs(float16 - float32) < 0.003 and abs(mixed16 - float32) < 0.003
