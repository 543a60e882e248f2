#pragma once
// Stand-ins for the vendors' libraries of convolutions, for simulated devices: the interfaces that Catenary uses,
// around one convolution in plain loops, which the device's stream runs on the host. They accept the same arguments as
// the real libraries and check them as strictly: shapes, addresses of device memory, streams, handles.
//
// SIMGPU_DNN is a list of faults. create, search, compute: that call fails. With tf32, a program may ask for TF32.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/simgpu/blas/product.h"

namespace simgpu_dnn {

using simgpu::driver_function;
using simgpu_blas::Handle;
using simgpu_blas::is_allocated;
using simgpu_blas::load;
using simgpu_blas::size_of;
using simgpu_blas::store;
using simgpu_blas::Type;

inline bool fault(const char* what) {
  const char* list = std::getenv("SIMGPU_DNN");
  return list && std::strstr(list, what);
}

struct Array {
  std::uint64_t magic = 0xa55a4;
  Type type = Type::f32;
  std::vector<int> shape, strides;

  std::size_t bytes() const {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) last += std::int64_t{shape[axis] - 1} * strides[axis];
    return static_cast<std::size_t>((last + 1) * size_of(type));
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (const int extent : shape) n *= extent;
    return n;
  }
};
struct Window {
  std::uint64_t magic = 0x31d0;
  std::vector<int> pad, stride, dilate;
  int groups = 1, math = 0, deterministic = 0;
  Type sums = Type::f32;
};
template <class T>
T* as(Handle handle) {
  auto* object = static_cast<T*>(handle);
  return object && object->magic == T().magic ? object : nullptr;
}

enum class Pass { forward, to_data, to_filter };

struct Convolution {
  Pass pass = Pass::forward;
  Array x, w, y;
  Window window;
  const void *x_data = nullptr, *w_data = nullptr, *y_data = nullptr;
  double alpha = 1, beta = 0;

  bool is_valid() const {
    const std::size_t axes = window.pad.size();
    if (x.shape.size() != axes + 2 || w.shape.size() != axes + 2 || y.shape.size() != axes + 2) return false;
    if (x.type != w.type || x.type != y.type || window.groups < 1) return false;
    if (x.shape[0] != y.shape[0] || x.shape[1] != w.shape[1] * window.groups || y.shape[1] != w.shape[0] ||
        w.shape[0] % window.groups != 0)
      return false;
    for (std::size_t i = 0; i < axes; ++i) {
      const int room = x.shape[i + 2] + 2 * window.pad[i] - (window.dilate[i] * (w.shape[i + 2] - 1) + 1);
      if (room < 0 || room / window.stride[i] + 1 != y.shape[i + 2]) return false;
    }
    return true;
  }
  bool has_memory() const {
    return is_allocated(x_data, x.bytes()) && is_allocated(w_data, w.bytes()) && is_allocated(y_data, y.bytes());
  }

  void run() const {
    const Array& out = pass == Pass::forward ? y : pass == Pass::to_data ? x : w;
    void* const data = const_cast<void*>(pass == Pass::forward ? y_data : pass == Pass::to_data ? x_data : w_data);
    std::int64_t reach = 1;
    for (std::size_t axis = 0; axis < out.shape.size(); ++axis)
      reach += std::int64_t{out.shape[axis] - 1} * out.strides[axis];
    std::vector<double> sums(static_cast<std::size_t>(reach));
    std::vector<int> of_y(y.shape.size()), tap(w.shape.size());
    const auto next = [](std::vector<int>& index, const std::vector<int>& shape) {
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < shape[axis]) return true;
        index[axis] = 0;
      }
      return false;
    };
    const auto place = [](const Array& a, const std::vector<int>& index) {
      std::int64_t at = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis) at += std::int64_t{index[axis]} * a.strides[axis];
      return at;
    };
    do {
      std::fill(tap.begin(), tap.end(), 0);
      do {
        if (tap[0] != of_y[1]) continue;
        std::vector<int> of_x = of_y;
        of_x[1] = of_y[1] / (w.shape[0] / window.groups) * w.shape[1] + tap[1];
        bool inside = true;
        for (std::size_t i = 0; i < window.pad.size(); ++i) {
          of_x[i + 2] = of_y[i + 2] * window.stride[i] - window.pad[i] + tap[i + 2] * window.dilate[i];
          inside = inside && of_x[i + 2] >= 0 && of_x[i + 2] < x.shape[i + 2];
        }
        if (!inside) continue;
        const std::int64_t at_x = place(x, of_x), at_w = place(w, tap), at_y = place(y, of_y);
        const auto of = [&](const Array& a, const void* from, std::int64_t at) { return load(from, at, a.type); };
        if (pass == Pass::forward)
          sums[static_cast<std::size_t>(at_y)] += of(x, x_data, at_x) * of(w, w_data, at_w);
        else if (pass == Pass::to_data)
          sums[static_cast<std::size_t>(at_x)] += of(y, y_data, at_y) * of(w, w_data, at_w);
        else
          sums[static_cast<std::size_t>(at_w)] += of(x, x_data, at_x) * of(y, y_data, at_y);
      } while (next(tap, w.shape));
    } while (next(of_y, y.shape));
    std::vector<int> index(out.shape.size());
    do {
      const std::int64_t at = place(out, index);
      double value = alpha * sums[static_cast<std::size_t>(at)];
      if (beta != 0) value += beta * load(data, at, out.type);  // does not read y if beta is 0
      store(data, at, out.type, value);
    } while (next(index, out.shape));
  }
};

/// Appends the convolution to the stream. Returns false if the stream does not belong to the current device.
inline bool submit(const Convolution& convolution, Handle stream) {
  static auto* const put = driver_function<int(Handle, void (*)(void*), void*)>("simgpu_submit");
  return put(
             stream,
             [](void* data) {
               const auto* c = static_cast<Convolution*>(data);
               c->run();
               delete c;
             },
             new Convolution(convolution)) == 0;
}

}  // namespace simgpu_dnn
