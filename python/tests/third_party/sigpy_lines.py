"""Calls of sigpy on its device 0, which uses cupy, compared with its processor, which uses NumPy."""

import numpy
import pytest
import sigpy as sp
import sigpy.mri as mr

DEVICE = sp.Device(0)


def values(shape, seed=0):
    chosen = numpy.random.default_rng(seed)
    return (chosen.normal(size=shape) + 1j * chosen.normal(size=shape)).astype(numpy.complex64)


def beside(function, *arrays, rtol=1e-4):
    expected = function(*arrays)
    with DEVICE:
        ours = function(*(sp.to_device(a, DEVICE) for a in arrays))
    assert sp.get_device(ours) == DEVICE and type(ours).__module__.startswith('cupy')
    numpy.testing.assert_allclose(sp.to_device(ours, sp.cpu_device), expected, rtol=rtol, atol=rtol * abs(expected).max())


def test_there_is_a_device():
    assert sp.config.cupy_enabled and DEVICE.xp.__name__ == 'cupy'


@pytest.mark.parametrize('center', [True, False])
def test_transforms(center):
    beside(lambda x: sp.fft(x, center=center), values((6, 7)))
    beside(lambda x: sp.ifft(x, axes=(-1,), center=center), values((6, 7)))


def test_transforms_of_other_places():
    places = numpy.random.default_rng(1).uniform(-4, 4, (30, 2)).astype('f')
    beside(sp.nufft, values((8, 8)), places, rtol=1e-3)
    beside(lambda x, c: sp.nufft_adjoint(x, c, (8, 8)), values(30), places, rtol=1e-3)


def test_interpolation_and_gridding():
    places = numpy.random.default_rng(2).uniform(0, 6, (20, 1)).astype('f')
    beside(lambda x, c: sp.interpolate(x, c, kernel='spline', width=2, param=1), values(9), places)
    beside(lambda x, c: sp.gridding(x, c, (9,), kernel='kaiser_bessel', width=2, param=1.0), values(20), places)


def test_thresholds():
    beside(lambda x: sp.soft_thresh(0.5, x), values((5, 4)))
    beside(lambda x: sp.hard_thresh(0.5, x), values((5, 4)))
    beside(lambda x: sp.soft_thresh(0.5, x), values((5, 4)).real.copy())


def test_blocks_and_wavelets():
    beside(lambda x: sp.array_to_blocks(x, (3, 3), (2, 2)), values((9, 7)))
    beside(lambda x: sp.blocks_to_array(x, (9, 7), (3, 3), (2, 2)), values((4, 3, 3, 3)))
    beside(lambda x: sp.fwt(x), values((8, 8)))


def test_convolutions():
    beside(lambda x, f: sp.convolve(x, f, mode='valid'), values((7, 6)), values((3, 2)))


def test_least_squares():
    a = values((12, 5))

    def solved(y):
        with sp.get_device(y):
            A = sp.linop.MatMul((5, 1), sp.to_device(a, sp.get_device(y)))
            return sp.app.LinearLeastSquares(A, y, max_iter=50, show_pbar=False).run()
    beside(solved, values((12, 1)), rtol=1e-2)


def test_a_proximal_gradient():
    a = values((12, 6), 4)

    def solved(y):
        device = sp.get_device(y)
        A = sp.linop.MatMul((6, 1), sp.to_device(a, device))
        return sp.app.LinearLeastSquares(A, y, proxg=sp.prox.L1Reg((6, 1), 0.5), max_iter=100, show_pbar=False).run()
    beside(solved, values((12, 1), 5), rtol=1e-2)


def test_reconstruction_of_several_coils():
    image, coils = values((8, 8), 6), values((3, 8, 8), 7)

    def reconstructed(y, c):
        return mr.app.SenseRecon(y, c, lamda=0.01, max_iter=30, show_pbar=False, device=sp.get_device(y)).run()
    beside(reconstructed, sp.fft(image * coils, axes=(-1, -2)), coils, rtol=1e-2)
    beside(lambda y, c: mr.app.L1WaveletRecon(y, c, 0.01, max_iter=10, show_pbar=False, device=sp.get_device(y)).run(), sp.fft(image * coils, axes=(-1, -2)), coils, rtol=1e-2)
