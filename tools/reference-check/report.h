#pragma once
// The results of checking reference vectors: one line per case.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/core/dtype.h"
#include "catenary/core/error.h"

namespace reference {

/// The case uses an unsupported function, keyword or form of argument.
class NotImplemented : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A result differs from the reference.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Verdict {
  passed,
  failed,
  not_implemented,
  needs_float64,
  not_in_16_bits,
  wrong  ///< the vectors are known to be wrong
};

struct Line {
  std::string id;        ///< of the case in the manifest
  std::string function;  ///< the called function
  Verdict verdict;
  std::string detail;  ///< the difference, or the unsupported feature
};

struct Report {
  std::vector<Line> lines;

  int count(Verdict verdict) const { return static_cast<int>(std::ranges::count(lines, verdict, &Line::verdict)); }
};

/// "float32(2, 3)".
inline std::string describe(const catenary::Array& a) {
  return std::string(catenary::dtype_name(a.dtype())) + a.shape().str();
}

/// Adds a case. Exceptions of `check()` determine its result.
template <class F>
void add_case(Report& report, const std::string& id, const std::string& function, F&& check) {
  Line line{id, function, Verdict::passed, ""};
  try {
    check();
  } catch (const NotImplemented& e) {
    line.verdict = Verdict::not_implemented, line.detail = e.what();
  } catch (const Mismatch& e) {
    line.verdict = Verdict::failed, line.detail = e.what();
  } catch (const catenary::Error& e) {
    line.verdict = Verdict::failed, line.detail = e.what();
  }
  report.lines.push_back(std::move(line));
}

/// Checks the cases of a NumPy manifest, with arrays in DIR/arrays.npz, on the current device. Skips cases with float64
/// if the device does not support it. With `sixteen` (float16 or bfloat16), checks only cases with float32 or float64,
/// in that dtype. Throws catenary::FileError for files that cannot be read.
Report run_numpy(const std::string& directory, const nlohmann::json& manifest, std::optional<catenary::Dtype> sixteen);

/// Checks a manifest of Chainer's functions and optimizers, with arrays in separate files of DIR, on the current
/// device: in float32 and, if supported, float64, or with `sixteen` in float16 or bfloat16.
Report run_chainer(const std::string& directory, const nlohmann::json& manifest,
                   std::optional<catenary::Dtype> sixteen);

/// Checks torchvision's and timm's networks, with weights and scores in two files of DIR for each, in float32 on the
/// current device.
Report run_torch(const std::string& directory, const nlohmann::json& manifest);

/// Checks blocks of quantised weights and products with them, in separate files of DIR, on the current device.
Report run_quantised(const std::string& directory, const nlohmann::json& manifest);

/// Checks language models of `transformers`, in subfolders of DIR, in float32 on the current device.
Report run_language_models(const std::string& directory, const nlohmann::json& manifest);

/// Checks tokenizers DIR/NAME.json with the texts of DIR/cases.json.
Report run_tokenizers(const std::string& directory, const nlohmann::json& manifest);

/// Checks ChainerMN's vectors for the number of running ranks: DIR/ranks_<n>.npz. Rank 0's report has the lines of all
/// ranks, the other reports are empty.
Report run_chainermn(const std::string& directory);

}  // namespace reference
