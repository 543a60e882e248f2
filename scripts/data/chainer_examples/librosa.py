"""Replaces librosa for Chainer's WaveNet: reads files of 16-bit samples at the requested rate, and computes mel spectrograms."""
import types
import wave

import numpy


def load(path, sr, res_type=None):
    with wave.open(str(path)) as file:
        assert file.getframerate() == sr and file.getsampwidth() == 2
        return numpy.frombuffer(file.readframes(file.getnframes()), '<i2').astype('f') / 32768, sr


def _trim(y, top_db):
    loud = numpy.flatnonzero(abs(y) > abs(y).max() * 10 ** (-top_db / 20))
    return y[loud[0]:loud[-1] + 1], (loud[0], loud[-1] + 1)


def _melspectrogram(y, sr, n_fft, hop_length, n_mels):
    frames = numpy.lib.stride_tricks.sliding_window_view(numpy.pad(y, n_fft // 2, 'reflect'), n_fft)[::hop_length]
    power = abs(numpy.fft.rfft(frames * numpy.hanning(n_fft), axis=1)) ** 2
    frequencies = numpy.linspace(0, sr / 2, n_fft // 2 + 1)
    edges = 700 * (10 ** (numpy.linspace(0, 2595 * numpy.log10(1 + sr / 1400), n_mels + 2) / 2595) - 1)
    rising = (frequencies[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies[None]) / (edges[2:] - edges[1:-1])[:, None]
    return numpy.maximum(0, numpy.minimum(rising, falling)) @ power.T


def power_to_db(power, ref, top_db=80):
    decibels = 10 * numpy.log10(numpy.maximum(1e-10, power)) - 10 * numpy.log10(max(1e-10, ref(power)))
    return numpy.maximum(decibels, decibels.max() - top_db)


effects = types.SimpleNamespace(trim=_trim)
feature = types.SimpleNamespace(melspectrogram=_melspectrogram)
