#pragma once
// What `catenary quantize --kind` takes: a kind of blocks, or a mixture of them by llama.cpp's name.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catenary/core/quantization.h"

namespace catenary::command {

/// Which kind each tensor gets. In mixtures, the tensors that lose most have more bits: the last layer, and in some
/// layers the values of attention and the last projection of the feed-forward part.
class Mixture {
 public:
  /// Of "Q4_K_M", "Q4_K_S", or a kind's name. Throws ValueError with the names that are known.
  explicit Mixture(const std::string& name);
  /// Tells which tensors there are: how many layers, and whether the last layer has weights of its own.
  void look_at(const std::vector<std::string>& names);
  /// The kind of a tensor with rows of so many numbers. Of a mixture, rows that Q4_K's and Q6_K's blocks do not divide
  /// become Q8_0.
  Quantization kind(const std::string& name, std::int64_t columns) const;
  /// The kind of most tensors.
  Quantization base() const { return base_; }
  /// What is said of a mixture before anything else; empty for a kind.
  std::string description() const;
  /// GGUF's general.file_type; nothing for a kind.
  std::optional<std::uint32_t> file_type() const;

 private:
  bool has_more_bits(const std::string& name) const;
  enum class Size : std::uint8_t { none, small, medium } size_ = Size::none;
  Quantization base_ = Quantization::q8_0;
  std::int64_t layers_ = 0;
  bool has_output_ = false;
};

}  // namespace catenary::command
