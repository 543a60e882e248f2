#pragma once
// Arrays of Chainer vectors, read and compared.

#include <string>

#include "catenary/array/array.h"
#include "catenary/io/npz.h"
#include "report.h"

namespace reference {

/// An array of a key on the processor, as it was written.
catenary::Array load(const catenary::io::NpzReader& file, const std::string& key);

/// A new array on the current device with the values of a key; floats become `dtype`.
catenary::Array load_as(const catenary::io::NpzReader& file, const std::string& key, catenary::Dtype dtype);

/// How far results may be off: rtol of the element plus atol of the largest element, or of 1.
struct Tolerance {
  double rtol, atol;
};

/// Compares with the values of a key, as they were written: floats within the tolerance, all else exactly and of the
/// same dtype. An undefined array stands for zeros. Throws Mismatch.
void compare_with(const catenary::io::NpzReader& file, const std::string& key, const catenary::Array& got,
                  catenary::Dtype dtype, const Tolerance& tolerance);

/// Throws Mismatch where an array, if it is defined, has not this dtype and shape.
void check_form(const std::string& key, const catenary::Array& got, catenary::Dtype dtype,
                const catenary::Shape& shape);

/// What a result is.
enum class Part : std::uint8_t { value, gradient, second };

/// Where a case has its arrays from, what floats are computed in, and what becomes of its results: here they are
/// compared with the file's.
class Vectors {
 public:
  Vectors(const std::string& path, catenary::Dtype dtype) : file_(path), dtype_(dtype) {}
  virtual ~Vectors() = default;
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  catenary::Dtype dtype() const { return dtype_; }
  const catenary::io::NpzReader& file() const { return file_; }
  bool contains(const std::string& key) const { return file_.contains(key); }
  /// A new array on the current device with the values of a key, times a factor; floats become dtype().
  catenary::Array given(const std::string& key, double factor = 1) const;
  /// The same of values that no file has: a new array, or the given one.
  virtual catenary::Array given(const catenary::Array& values) const;
  /// Takes a result. `tolerance` is how far it may be off what another program computed with the same inputs. Throws
  /// Mismatch.
  virtual void compare(const std::string& key, const catenary::Array& got, Part part, const Tolerance& tolerance) const;

 private:
  catenary::io::NpzReader file_;
  catenary::Dtype dtype_;
};

}  // namespace reference
