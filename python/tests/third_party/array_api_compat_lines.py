"""Calls of array_api_compat with cupy's arrays."""

import array_api_compat
import array_api_compat.cupy as xp
import numpy
import pytest

import cupy


def test_whose_arrays_they_are():
    x = cupy.ones((2, 3))
    assert array_api_compat.is_cupy_array(x) and array_api_compat.is_array_api_obj(x) and not array_api_compat.is_numpy_array(x)
    assert array_api_compat.array_namespace(x, cupy.zeros(1)) is xp
    assert array_api_compat.is_cupy_namespace(xp) and array_api_compat.is_cupy_namespace(cupy)
    assert not array_api_compat.is_numpy_namespace(cupy) and array_api_compat.size(x) == 6
    assert array_api_compat.array_namespace(x, use_compat=False) is cupy
    with pytest.raises(TypeError):
        array_api_compat.array_namespace(x, numpy.ones(1))


def test_devices():
    x = xp.asarray([1.0, 2.0])
    assert array_api_compat.device(x) == cupy.cuda.Device()
    assert array_api_compat.to_device(x, 'cpu').tolist() == [1, 2] and isinstance(array_api_compat.to_device(x, 'cpu'), numpy.ndarray)
    for device in xp.__array_namespace_info__().devices():
        moved = array_api_compat.to_device(x, device)
        assert array_api_compat.device(moved) == device and moved.get().tolist() == [1, 2]
    assert xp.__array_namespace_info__().default_dtypes()['real floating'] == numpy.float64
    assert not array_api_compat.is_lazy_array(x) and array_api_compat.is_writeable_array(x)


def test_functions():
    x = numpy.random.default_rng(0).normal(size=(4, 5))
    a = xp.asarray(x)
    numpy.testing.assert_allclose(xp.std(a, axis=0, correction=1).get(), x.std(0, ddof=1))
    numpy.testing.assert_allclose(xp.cumulative_sum(a, axis=1, include_initial=True).get(), numpy.concatenate([numpy.zeros((4, 1)), x.cumsum(1)], 1))
    values, counts = xp.unique_counts(xp.asarray([3, 1, 3]))
    assert values.get().tolist() == [1, 3] and counts.get().tolist() == [1, 2]
    numpy.testing.assert_allclose(xp.linalg.vector_norm(a, axis=1).get(), numpy.linalg.norm(x, axis=1))
    numpy.testing.assert_allclose(xp.linalg.svd(a, full_matrices=False).S.get(), numpy.linalg.svd(x, compute_uv=False))
    numpy.testing.assert_allclose(xp.permute_dims(a, (1, 0)).get(), x.T)
    numpy.testing.assert_allclose(xp.clip(a, -0.5, None).get(), x.clip(-0.5))
    numpy.testing.assert_allclose(xp.fft.rfft(a).get(), numpy.fft.rfft(x))
    assert xp.take_along_axis(a, xp.argsort(a, axis=1), axis=1).get().tolist() == numpy.sort(x, 1).tolist()
    assert xp.argsort(a, descending=True, axis=1).get().tolist() == numpy.argsort(-x, 1).tolist()
    assert bool(xp.all(xp.isin(xp.asarray([1]), xp.asarray([1, 2])))) if hasattr(xp, 'isin') else True
