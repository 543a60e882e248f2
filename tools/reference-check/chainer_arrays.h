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

}  // namespace reference
