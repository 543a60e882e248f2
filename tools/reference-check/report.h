#pragma once
// What a check of reference vectors found: one line a case.

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

/// A function, keyword or form of argument that is not known here.
class NotImplemented : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something is not as the reference says.
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
  wrong  ///< the vectors are, not what they were compared with
};

struct Line {
  std::string id;        ///< of the case, as the manifest names it
  std::string function;  ///< what was called
  Verdict verdict;
  std::string detail;  ///< what differs, or what is not known here or not on the device
};

struct Report {
  std::vector<Line> lines;

  int count(Verdict verdict) const { return static_cast<int>(std::ranges::count(lines, verdict, &Line::verdict)); }
};

/// "float32(2, 3)".
inline std::string describe(const catenary::Array& a) {
  return std::string(catenary::dtype_name(a.dtype())) + a.shape().str();
}

/// Adds a case, and what `check()` says of it by an exception.
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

/// Checks the cases of a NumPy manifest whose arrays lie in DIR/arrays.npz, on the current device; those with float64
/// in them only where it has that; or those with float32 or float64 in them in `sixteen`, float16 or bfloat16. Throws
/// catenary::FileError for what cannot be read.
Report run_numpy(const std::string& directory, const nlohmann::json& manifest, std::optional<catenary::Dtype> sixteen);

/// Checks a manifest of Chainer's functions and optimizers, whose arrays lie in DIR in a file each, in float32 and,
/// where the current device has it, in float64, on that device; or in `sixteen`, float16 or bfloat16.
Report run_chainer(const std::string& directory, const nlohmann::json& manifest,
                   std::optional<catenary::Dtype> sixteen);

/// Checks torchvision's and timm's networks, whose weights and scores lie in DIR in two files each, in float32 on the
/// current device.
Report run_torch(const std::string& directory, const nlohmann::json& manifest);

/// Checks blocks of quantised weights and products with them, a file in DIR each, on the current device.
Report run_quantised(const std::string& directory, const nlohmann::json& manifest);

/// Checks language models of `transformers` that lie in DIR in a folder each, in float32 on the current device.
Report run_language_models(const std::string& directory, const nlohmann::json& manifest);

/// Checks tokenizers in DIR, a NAME.json each, by the texts of DIR/cases.json.
Report run_tokenizers(const std::string& directory, const nlohmann::json& manifest);

/// Checks ChainerMN's vectors for so many ranks as run together: DIR/ranks_<n>.npz. Rank 0's report has all ranks'
/// lines, the others' none.
Report run_chainermn(const std::string& directory);

}  // namespace reference
