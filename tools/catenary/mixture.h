#pragma once
// The kinds for `catenary quantize --kind`: a kind of blocks, or one of llama.cpp's mixtures.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/quantization.h"

namespace catenary::command {

/// One of llama.cpp's mixtures: a row of mixture.cpp.
struct Recipe;

/// Chooses the kind of each tensor. Mixtures give more bits to the tensors that lose most: the last layer, and in some
/// layers attention's values and the last projection of the feed-forward part.
class Mixture {
 public:
  /// Accepts a mixture's or a kind's name. Throws ValueError that lists the known names.
  explicit Mixture(const std::string& name);
  /// Returns the names of all mixtures, separated by commas.
  static std::string names();
  /// Sets the names of all tensors, to find the number of layers and whether the last layer has separate weights.
  void look_at(const std::vector<std::string>& names);
  /// Returns the kind of a tensor with `columns` numbers in each row. In a mixture, rows that are not a multiple of
  /// 256 become Q8_0.
  Quantization kind(const std::string& name, std::int64_t columns) const;
  /// Returns the kind of most tensors.
  Quantization base() const { return base_; }
  /// Returns a line that describes a mixture, empty for a kind.
  std::string description() const;
  /// Returns GGUF's general.file_type, or nullopt for a kind.
  std::optional<std::uint32_t> file_type() const;

 private:
  const Recipe* recipe_ = nullptr;
  Quantization base_ = Quantization::q8_0;
  std::int64_t layers_ = 0;
  bool has_output_ = false;
};

}  // namespace catenary::command
