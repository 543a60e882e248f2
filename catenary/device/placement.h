#pragma once
// Where something is, and moving it. Every function works on every device, so there is no counterpart of
// `xp = get_array_module(x)`; what Chainer's code asks it for is `DeviceScope scope(get_device(x))`, in which new
// arrays are made beside x.

#include <concepts>
#include <string>

#include "catenary/device/device.h"

namespace catenary {

/// An array or a variable.
template <class T>
concept HasDevice = requires(const T& x) {
  { x.device() } -> std::convertible_to<Device>;
};

/// A link.
template <class T>
concept HasParameters = !HasDevice<T> && requires(const T& link) {
  link.params();
};

/// Where an array or a variable is. (chainer.backend.get_device_from_array)
template <HasDevice T>
Device get_device(const T& x) {
  return x.device();
}

/// Where a link's parameters are; the current device where it has none yet. (chainer.Link.device)
template <HasParameters T>
Device get_device(const T& link) {
  for (const auto& parameter : link.params())
    if (parameter.is_initialized()) return parameter.array().device();
  return current_device();
}

/// An array on another device: a copy, or the array itself when it is there. Variables (with their gradients) and links
/// move in place, and give nothing. What an optimizer keeps for a parameter follows at the next update.
template <class T>
auto to_device(const T& x, const Device& device) {
  return x.to_device(device);
}

/// The same, to the CPU. (chainer.backends.cuda.to_cpu, Link.to_cpu)
template <class T>
auto to_cpu(const T& x) {
  return x.to_device(Device());
}

/// The same, to the GPU `gpu:index`. (chainer.backends.cuda.to_gpu, Link.to_gpu)
template <class T>
auto to_gpu(const T& x, int index = 0) {
  return x.to_device(get_device("gpu:" + std::to_string(index)));
}

}  // namespace catenary
