#pragma once
// Exports functions, and compares them with imports of the files.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/io.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/onnx/export.h"
#include "catenary/onnx/model.h"
#include "tests/folder.h"

namespace onnx_exports {

using namespace catenary;
using Function = onnx::ExportedFunction;

inline Array sample(const Shape& shape) { return random::uniform(-2, 2, shape, {.dtype = Dtype::float32}); }

inline void expect_close(const Array& got, const Array& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  ASSERT_EQ(got.dtype(), wanted.dtype());
  const std::vector<double> g = got.astype(Dtype::float64).to_vector<double>(),
                            w = wanted.astype(Dtype::float64).to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i) ASSERT_NEAR(g[i], w[i], 1e-5 * (1 + std::abs(w[i]))) << i;
}

/// Returns an input with another batch size: ids, or other numbers.
inline Array resized(const Array& x, std::int64_t batch) {
  Shape shape = x.shape();
  shape[0] = batch;
  if (is_floating(x.dtype())) return sample(shape).astype(x.dtype());
  return (arange(shape.product(), x.dtype()) * 7 % (x.max() + 1)).astype(x.dtype()).reshape(shape);
}

/// The name of the running test and a number that counts its files.
inline std::string next_name() {
  static std::map<std::string, int> counts;
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  return fmt::format("{}-{}", test, counts[test]++);
}

/// Exports and imports a function, and compares the outputs for batches of 1 and 7. scripts/onnx_exports compares the
/// files and numbers in the folder CATENARY_TEST_EXPORTS with ONNX Runtime.
inline void expect_round_trip(const Link& link, const Function& function, const std::vector<Array>& inputs,
                              const onnx::ExportOptions& options = {}) {
  const tests::Folder own;
  const char* kept = std::getenv("CATENARY_TEST_EXPORTS");
  const std::string name = (kept ? std::string(kept) : own.path) + "/" + next_name();
  onnx::export_model(name + ".onnx", link, function, inputs, options);
  const onnx::Model net(name + ".onnx");
  const auto testing = test_mode();
  for (const std::int64_t batch : {1, 7}) {
    std::vector<Variable> xs;
    NamedArrays arrays;
    for (const Array& x : inputs) {
      xs.emplace_back(options.dynamic_axes ? x : resized(x, batch));
      arrays.emplace_back(fmt::format("x{}", xs.size() - 1), xs.back().array());
    }
    const std::vector<Variable> wanted = function(xs), got = net(xs);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect_close(got[i].array(), wanted[i].array());
      arrays.emplace_back(fmt::format("y{}", i), wanted[i].array());
    }
    if (kept) savez(fmt::format("{}-{}.npz", name, batch), arrays);
  }
}
inline void expect_round_trip(const Function& function, const std::vector<Array>& inputs,
                              const onnx::ExportOptions& options = {}) {
  expect_round_trip(Chain(), function, inputs, options);
}

}  // namespace onnx_exports
