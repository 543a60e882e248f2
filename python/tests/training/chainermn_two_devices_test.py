"""chainermn with one device per rank: two of PoCL's, or two simulated GPUs that exchange gradients by simulated NCCL and RCCL. The cases are in
chainermn_ranks.py."""

import os

import numpy

from chainermn_test import job, results

TWO = {'POCL_DEVICES': 'pthread pthread', 'SIMGPU_DEVICES': '2', 'CATENARY_GPU_INCLUDE_CPU': os.environ.get('CATENARY_GPU_INCLUDE_CPU', '1')}


def test_gradients_of_two_devices():
    job(2, 'gradients', '0', 'flat,pure_nccl', **TWO)


def trained(out, on, double_buffering):
    job(2, 'training', 'pure_nccl' if on == '0' else 'naive', on, out, double_buffering, **TWO)
    return results(out)[0]


def test_training_on_two_devices(tmp_path):
    weights, expected = trained(tmp_path / 'devices', '0', 'no'), trained(tmp_path / 'numpy', '@numpy', 'no')
    assert set(weights) == set(expected)
    for path, values in expected.items():
        numpy.testing.assert_allclose(weights[path], values, rtol=1e-4, atol=1e-6)


def test_double_buffering_on_two_devices(tmp_path):
    weights, late = trained(tmp_path / 'one', '0', 'no'), [trained(tmp_path / name, '0', 'yes') for name in ('two', 'three')]
    for path, values in late[0].items():
        numpy.testing.assert_array_equal(values, late[1][path])
    # with double buffering, an update uses the previous iteration's gradients, so there is one update less
    assert any(numpy.abs(weights[path] - values).max() > 1e-4 for path, values in late[0].items())
