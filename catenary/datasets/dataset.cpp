#include "catenary/datasets/dataset.h"

#include "catenary/core/format.h"

namespace catenary {

datasets::DatasetMixin::~DatasetMixin() = default;
bool datasets::DatasetMixin::get_columns(const std::vector<std::int64_t>&, Columns&) const { return false; }

const datasets::DatasetMixin& Dataset::implementation() const {
  if (!implementation_) throw ValueError("an undefined Dataset was used");
  return *implementation_;
}

Example Dataset::operator[](std::int64_t i) const {
  const std::int64_t n = size(), at = i < 0 ? i + n : i;
  if (at < 0 || at >= n) fail<IndexError>("dataset: index {} is out of range for {} examples", i, n);
  return implementation().get_example(at);
}

std::vector<Example> Dataset::get(const std::vector<std::int64_t>& indices) const {
  std::vector<Example> examples;
  examples.reserve(indices.size());
  for (std::int64_t i : indices) examples.push_back((*this)[i]);
  return examples;
}

}  // namespace catenary
