"""chainermn on two devices, one for each rank: two of PoCL's, or two simulated cards, between which gradients go by NCCL's and RCCL's
stand-ins. What the ranks do is in chainermn_ranks.py."""

import os

import numpy
import pytest

from chainermn_test import job, results

TWO = {'POCL_DEVICES': 'pthread pthread', 'SIMGPU_DEVICES': '2', 'CATENARY_GPU_INCLUDE_CPU': os.environ.get('CATENARY_GPU_INCLUDE_CPU', '1')}


def test_gradients_of_two_devices():
    job(2, 'gradients', '0', 'flat,pure_nccl', **TWO)


@pytest.mark.parametrize('double_buffering', ['no', 'yes'])
def test_training_on_two_devices(tmp_path, double_buffering):
    job(2, 'training', 'pure_nccl', '0', tmp_path / 'devices', double_buffering, **TWO)
    weights, _ = results(tmp_path / 'devices')
    job(2, 'training', 'pure_nccl', '0', tmp_path / 'again', double_buffering, **TWO)
    for path, values in results(tmp_path / 'again')[0].items():
        numpy.testing.assert_array_equal(values, weights[path])
    if double_buffering == 'no':
        job(2, 'training', 'naive', '@numpy', tmp_path / 'numpy', **TWO)
        for path, values in results(tmp_path / 'numpy')[0].items():
            numpy.testing.assert_allclose(values, weights[path], rtol=1e-4, atol=1e-6)
