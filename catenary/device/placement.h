#pragma once
// Queries the device of arrays and links, and moves them. Every function works on every device, so there is no
// counterpart of `xp = get_array_module(x)`. Where Chainer code uses it to make new arrays beside x, use `DeviceScope
// scope(get_device(x))`.

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

/// Returns the device of an array or a variable. (chainer.backend.get_device_from_array)
template <HasDevice T>
Device get_device(const T& x) {
  return x.device();
}

/// Returns the device of a link's parameters, or the current device if it has none yet. (chainer.Link.device)
template <HasParameters T>
Device get_device(const T& link) {
  for (const auto& parameter : link.params())
    if (parameter.is_initialized()) return parameter.array().device();
  return current_device();
}

/// Moves to another device. For an array, returns a copy, or the array itself if it is already there. Variables (with
/// their gradients) and links move in place, and nothing is returned. The optimizer's state of a parameter follows at
/// the next update.
template <class T>
auto to_device(const T& x, const Device& device) {
  return x.to_device(device);
}

/// Moves to the CPU, as to_device does. (chainer.backends.cuda.to_cpu, Link.to_cpu)
template <class T>
auto to_cpu(const T& x) {
  return x.to_device(Device());
}

/// Moves to the GPU `gpu:index`, as to_device does. (chainer.backends.cuda.to_gpu, Link.to_gpu)
template <class T>
auto to_gpu(const T& x, int index = 0) {
  return x.to_device(get_device("gpu:" + std::to_string(index)));
}

}  // namespace catenary
