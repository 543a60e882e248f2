"""Computes scores of torchvision's networks with torchvision itself.

Usage: python make_torchvision_reference.py OUT_DIR           makes torchvision.npz, which the tests read
       python make_torchvision_reference.py --whole OUT_DIR   saves whole networks of torchvision and timm with random weights as
                                                              safetensors, and their scores; `reference-check OUT_DIR` compares them
Needs torch and torchvision from PyPI, and for --whole also safetensors and timm.

torchvision.npz holds, for each network NAME with 10 classes, in evaluation mode and float64:
  NAME/names and NAME/shapes  of its state_dict, in order
  NAME/scores                 [2, 10] for images [2, 3, 65, 73]
VGGs have 64 units instead of 4096 in the hidden layers. All tensors are float32. Element i of tensor k of the state_dict,
with u = element(k, i) below:
  num_batches_tracked          k
  running_mean                 0.02 u - 0.01
  running_var                  1e-3 (u + 0.5), so small that eps matters
  weight of a normalization    (u + 0.5) / 2
  other tensors of one axis    0.4 u - 0.2
  other weights                (2 u - 1) sqrt(3 gain / inputs of an output). gain is 2e-3 for four axes in networks with normalizations, else 2.
Images are 2 element(1000000, i) - 1.
"""
import json
import os
import sys

import numpy as np
import torch
import torchvision

MODELS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg16", "vgg19", "mobilenet_v2")


def element(k, shape):
    """Returns elements of array k in [0, 1): the upper bits of splitmix64 of the index."""
    with np.errstate(over="ignore"):
        z = np.arange(int(np.prod(shape)), dtype="u8") + np.uint64((k << 32) + 0x9E3779B97F4A7C15 & 2**64 - 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype("d").reshape(shape) * 2.0**-24


def made(k, name, shape, names):
    module, leaf = name.rsplit(".", 1)
    if leaf == "num_batches_tracked":
        return np.array(k)
    u = element(k, shape)
    if leaf == "running_mean":
        return 0.02 * u - 0.01
    if leaf == "running_var":
        return 1e-3 * (u + 0.5)
    if len(shape) == 1:
        return 0.5 * (u + 0.5) if leaf == "weight" else 0.4 * u - 0.2
    normalized = len(shape) == 4 and any(n.endswith(".running_var") for n in names)
    return (2 * u - 1) * np.sqrt(3 * (2e-3 if normalized else 2) / np.prod(shape[1:]))


def small(out):
    arrays = {}
    x = torch.from_numpy((2 * element(1000000, (2, 3, 65, 73)) - 1).astype("f")).double()
    for name in MODELS:
        model = getattr(torchvision.models, name)(weights=None, num_classes=10)
        if name.startswith("vgg"):
            for i, (inputs, outputs) in {0: (512 * 7 * 7, 64), 3: (64, 64), 6: (64, 10)}.items():
                model.classifier[i] = torch.nn.Linear(inputs, outputs)
        state = model.state_dict()
        for k, (tensor, value) in enumerate(state.items()):
            array = made(k, tensor, tuple(value.shape), state)
            value.copy_(torch.from_numpy(np.asarray(array).astype("f")))
        with torch.no_grad():
            scores = model.double().eval()(x).numpy()
        arrays[name + "/names"] = np.array(list(state))
        arrays[name + "/shapes"] = np.array([" ".join(map(str, value.shape)) for value in state.values()])
        arrays[name + "/scores"] = scores.astype("f")
        print(name, scores.shape, abs(scores).max(), scores.std())
    np.savez_compressed(os.path.join(out, "torchvision.npz"), **arrays)


def randomize(model):
    """Sets random values in normalizations, which PyTorch initializes to constants."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.25, 0.75)
            torch.nn.init.uniform_(module.bias, -0.2, 0.2)
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.5, 1.5)


def whole(out):
    import safetensors.torch
    import timm

    os.makedirs(out, exist_ok=True)
    cases = []
    torch.manual_seed(0)
    for rule, models in (("torchvision", MODELS), ("timm", ("resnet18", "resnet50", "vgg16", "mobilenetv2_100"))):
        for name in models:
            model = getattr(torchvision.models, name)(weights=None) if rule == "torchvision" else timm.create_model(name)
            randomize(model)
            x = torch.randn(2, 3, 224, 224)
            with torch.no_grad():
                scores = model.eval()(x)
            file = rule + "_" + name
            safetensors.torch.save_file(model.state_dict(), os.path.join(out, file + ".safetensors"))
            np.savez(os.path.join(out, file + ".npz"), x=x.numpy(), scores=scores.numpy())
            cases.append({"model": "mobilenet_v2" if name.startswith("mobilenet") else name, "rule": rule, "file": file})
            print(file, abs(scores).max().item())
    with open(os.path.join(out, "manifest.json"), "w") as file:
        json.dump({"torch": cases}, file, indent=1)


if __name__ == "__main__":
    whole(sys.argv[2]) if sys.argv[1] == "--whole" else small(sys.argv[1])
