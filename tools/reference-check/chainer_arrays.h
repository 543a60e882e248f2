#pragma once
// Arrays of Chainer vectors, read and compared.

#include <string>

#include "catenary/array/array.h"
#include "catenary/io/npz.h"
#include "report.h"

namespace reference {

/// Returns the array of a key on the CPU, with the stored dtype.
catenary::Array load(const catenary::io::NpzReader& file, const std::string& key);

/// Returns a new array on the current device with the values of a key. Floats become `dtype`.
catenary::Array load_as(const catenary::io::NpzReader& file, const std::string& key, catenary::Dtype dtype);

/// The allowed error: rtol times the element plus atol times the largest element, or 1 if that is larger.
struct Tolerance {
  double rtol, atol;
};

/// Compares with the stored values of a key: floats within the tolerance, other dtypes exactly. An undefined array
/// stands for zeros. Throws Mismatch.
void compare_with(const catenary::io::NpzReader& file, const std::string& key, const catenary::Array& got,
                  catenary::Dtype dtype, const Tolerance& tolerance);

/// Throws Mismatch if an array is defined and has another dtype or shape.
void check_form(const std::string& key, const catenary::Array& got, catenary::Dtype dtype,
                const catenary::Shape& shape);

/// The part of a case that a result belongs to.
enum class Part : std::uint8_t { value, gradient, second };

/// The source of a case's arrays, its float dtype, and the destination of its results: this class compares them with
/// the file.
class Vectors {
 public:
  Vectors(const std::string& path, catenary::Dtype dtype) : file_(path), dtype_(dtype) {}
  virtual ~Vectors() = default;
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  catenary::Dtype dtype() const { return dtype_; }
  const catenary::io::NpzReader& file() const { return file_; }
  bool contains(const std::string& key) const { return file_.contains(key); }
  /// Returns a new array on the current device with the values of a key times a factor. Floats become dtype().
  catenary::Array given(const std::string& key, double factor = 1) const;
  /// Returns `values`, which are not in a file, as a new array or unchanged.
  virtual catenary::Array given(const catenary::Array& values) const;
  /// Receives a result. `tolerance` is the allowed difference from another program's result for the same inputs. Throws
  /// Mismatch.
  virtual void compare(const std::string& key, const catenary::Array& got, Part part, const Tolerance& tolerance) const;

 private:
  catenary::io::NpzReader file_;
  catenary::Dtype dtype_;
};

}  // namespace reference
