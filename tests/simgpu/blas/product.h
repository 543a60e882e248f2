#pragma once
// Stand-ins for the vendors' libraries of matrix products, for simulated devices: the interfaces that Catenary uses,
// around one product in plain loops, which the device's stream runs on the host. They accept the same arguments as the
// real libraries and check them as strictly: leading dimensions, addresses of device memory, streams, handles.
//
// SIMGPU_BLAS is a list of faults. create, multiply: that call fails. untold: cuBLASLt does not describe its
// algorithms. slow: every algorithm of cuBLASLt and hipBLASLt except the second takes 5 ms longer.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "tests/simgpu/driver_function.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace simgpu_blas {

using Handle = void*;

inline bool fault(const char* what) {
  const char* list = std::getenv("SIMGPU_BLAS");
  return list && std::strstr(list, what);
}

/// NVIDIA's own switch of TF32, which overrides the request of a program.
inline bool tf32_is_forbidden() {
  const char* value = std::getenv("NVIDIA_TF32_OVERRIDE");
  return value && std::strcmp(value, "0") == 0;
}

enum class Type { f16, bf16, f32, f64 };
/// Maps the numbers of cudaDataType, which hipDataType shares. Returns false for other types.
inline bool of_cuda_data_type(int number, Type& type) {
  switch (number) {
    case 0:
      type = Type::f32;
      return true;
    case 1:
      type = Type::f64;
      return true;
    case 2:
      type = Type::f16;
      return true;
    case 14:
      type = Type::bf16;
      return true;
    default:
      return false;
  }
}
inline std::int64_t size_of(Type type) { return type == Type::f64 ? 8 : type == Type::f32 ? 4 : 2; }

inline double load(const void* p, std::int64_t i, Type type) {
  switch (type) {
    case Type::f64:
      return static_cast<const double*>(p)[i];
    case Type::f32:
      return static_cast<const float*>(p)[i];
    case Type::f16:
      return static_cast<double>(static_cast<const _Float16*>(p)[i]);
    default: {
      const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(p)[i]) << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
}
inline void store(void* p, std::int64_t i, Type type, double x) {
  switch (type) {
    case Type::f64:
      static_cast<double*>(p)[i] = x;
      break;
    case Type::f32:
      static_cast<float*>(p)[i] = static_cast<float>(x);
      break;
    case Type::f16:
      static_cast<_Float16*>(p)[i] = static_cast<_Float16>(static_cast<float>(x));
      break;
    default: {
      const auto value = static_cast<float>(x);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      if (!std::isnan(value)) bits += 0x7fff + (bits >> 16 & 1);
      static_cast<std::uint16_t*>(p)[i] = static_cast<std::uint16_t>(bits >> 16);
    }
  }
}

struct Matrix {
  const void* data = nullptr;
  std::int64_t ld = 0, stride = 0;
  bool transposed = false;

  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return transposed ? column + row * ld : row + column * ld;
  }
  /// Returns the bytes from `data` to the end of the last matrix.
  std::size_t reach(std::int64_t rows, std::int64_t columns, std::int64_t batch, Type type) const {
    return static_cast<std::size_t>((at(rows - 1, columns - 1) + (batch - 1) * stride + 1) * size_of(type));
  }
};

struct Product {
  Type type = Type::f32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Matrix a, b, c;
  double alpha = 1, beta = 0;
  bool short_mantissa = false;  ///< a and b are rounded to TF32
  const void* bias = nullptr;   ///< [m]
  int milliseconds = 0;         ///< added to the run time

  void run() const {
    if (milliseconds) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    const auto in = [&](const Matrix& x, std::int64_t i) {
      const double value = load(x.data, i, type);
      if (!short_mantissa) return value;
      int exponent = 0;
      const double mantissa = std::frexp(value, &exponent);
      return std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
    };
    for (std::int64_t i = 0; i < batch; ++i) {
      for (std::int64_t column = 0; column < n; ++column) {
        for (std::int64_t row = 0; row < m; ++row) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l)
            sum += in(a, i * a.stride + a.at(row, l)) * in(b, i * b.stride + b.at(l, column));
          sum *= alpha;
          const std::int64_t at = i * c.stride + c.at(row, column);
          if (beta != 0) sum += beta * load(c.data, at, type);  // like any BLAS, does not read c if beta is 0
          if (bias) sum += load(bias, row, type);
          store(const_cast<void*>(c.data), at, type, sum);
        }
      }
    }
  }
};

inline bool is_allocated(const void* p, std::size_t bytes) {
  static auto* const ask = simgpu::driver_function<int(const void*, std::size_t)>("simgpu_is_allocated");
  return ask(p, bytes);
}

/// Returns whether a BLAS would accept this product.
inline bool is_valid(const Product& p) {
  const auto fits = [](const Matrix& x, std::int64_t rows, std::int64_t columns) {
    return x.ld >= (x.transposed ? columns : rows) && x.stride >= 0;
  };
  return p.m > 0 && p.n > 0 && p.k > 0 && p.batch > 0 && !p.c.transposed && fits(p.a, p.m, p.k) &&
         fits(p.b, p.k, p.n) && fits(p.c, p.m, p.n) && (p.batch == 1 || p.c.stride > 0) &&
         is_allocated(p.a.data, p.a.reach(p.m, p.k, p.batch, p.type)) &&
         is_allocated(p.b.data, p.b.reach(p.k, p.n, p.batch, p.type)) &&
         is_allocated(p.c.data, p.c.reach(p.m, p.n, p.batch, p.type)) &&
         (!p.bias || is_allocated(p.bias, static_cast<std::size_t>(p.m * size_of(p.type))));
}

/// Appends the product to the stream. Returns false if the stream does not belong to the current device.
inline bool submit(const Product& product, Handle stream) {
  static auto* const put = simgpu::driver_function<int(Handle, void (*)(void*), void*)>("simgpu_submit");
  return put(
             stream,
             [](void* data) {
               const auto* p = static_cast<Product*>(data);
               p->run();
               delete p;
             },
             new Product(product)) == 0;
}

}  // namespace simgpu_blas
