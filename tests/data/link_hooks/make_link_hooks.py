#!/usr/bin/env python3
"""Makes the files of this folder with Chainer 7.8.1: links with link hooks, called three times in training mode, in float64.

Usage: make_link_hooks.py [FOLDER]

NAME.npz      the link and its hook before the first call, written by chainer.serializers.save_npz
NAME_run.npz  x and gy. After the calls: y, gW (the gradient of sum(y * gy) of the last call), gb, ggamma and u.
              y_test is the result of another call, in evaluation mode.
"""
import pathlib
import sys

import chainer
import chainer.links as L
import numpy as np
from chainer.link_hooks import SpectralNormalization, WeightStandardization

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
chainer.global_config.dtype = np.float64
random = np.random.RandomState(0)
np.random.seed(0)


def case(name, link, hook, x):
    link.add_hook(hook)
    for parameter in link.params():
        if parameter.name == "b":
            parameter.array[...] = random.uniform(-1, 1, parameter.shape)
    chainer.serializers.save_npz(out / (name + ".npz"), link)
    for _ in range(3):
        link.cleargrads()
        y = link(x)
    gy = random.uniform(-1, 1, y.shape)
    chainer.functions.sum(y * gy).backward()
    run = {"x": x, "gy": gy, "y": y.array}
    run.update({"g" + path[1:]: parameter.grad for path, parameter in link.namedparams()})
    if isinstance(hook, SpectralNormalization):
        run["u"] = link.W_u
    with chainer.using_config("train", False):
        run["y_test"] = link(x).array
    np.savez_compressed(out / (name + "_run.npz"), **run)


def numbers(*shape):
    return random.uniform(-1, 1, shape)


case("sn_linear", L.Linear(5, 4), SpectralNormalization(), numbers(3, 5))
case("sn_convolution", L.Convolution2D(3, 4, (3, 2)), SpectralNormalization(n_power_iteration=2, eps=1e-3, factor=2.5), numbers(2, 3, 4, 5))
case("sn_deconvolution", L.DeconvolutionND(2, 3, 4, 2), SpectralNormalization(use_gamma=True), numbers(2, 3, 3, 2))
case("sn_embed", L.EmbedID(6, 3), SpectralNormalization(use_gamma=True, factor=0.5), np.array([0, 5, 5, 2], np.int32))
case("ws_linear", L.Linear(5, 4), WeightStandardization(eps=1e-2), numbers(3, 5))
case("ws_convolution", L.Convolution2D(3, 4, (3, 2)), WeightStandardization(), numbers(2, 3, 4, 5))
