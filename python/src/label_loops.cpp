// Connected components, and the regions of labels.

#include <algorithm>
#include <limits>

#include "catenary/core/parallel.h"
#include "loops.h"

namespace catenary_python {

namespace {

constexpr std::int64_t kShare = 65536;  // elements of a thread at least

/// Sets of provisional labels, whose least label represents a set.
class Sets {
 public:
  Sets() : least_{0} {}
  std::int32_t add() {
    least_.push_back(static_cast<std::int32_t>(least_.size()));
    return least_.back();
  }
  std::int32_t find(std::int32_t label) {
    while (least_[at(label)] != label) label = least_[at(label)] = least_[at(least_[at(label)])];
    return label;
  }
  /// Unites two sets and returns the representative.
  std::int32_t unite(std::int32_t a, std::int32_t b) {
    a = find(a);
    b = find(b);
    if (a < b) return least_[at(b)] = a;
    return least_[at(a)] = b;
  }
  /// Numbers the sets in the order of their representatives from 1. Returns their number.
  std::int32_t number() {
    std::int32_t count = 0;
    for (std::size_t k = 1; k < least_.size(); ++k)
      least_[k] = least_[k] == static_cast<std::int32_t>(k) ? ++count : least_[at(least_[k])];
    return count;
  }
  std::int32_t number_of(std::int32_t label) const { return least_[at(label)]; }

 private:
  static std::size_t at(std::int32_t label) { return static_cast<std::size_t>(label); }
  std::vector<std::int32_t> least_;
};

/// Labels a row whose neighbours before it in C order have provisional labels. `near` holds, for each neighbour, the
/// labels of its row and the step along the row.
void label_row(const std::uint8_t* mask, std::int32_t* labels, std::int64_t n,
               const std::vector<std::pair<const std::int32_t*, std::int64_t>>& near, Sets& sets) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!mask[i]) {
      labels[i] = 0;
      continue;
    }
    std::int32_t own = 0;
    for (const auto& [row, step] : near) {
      const std::int64_t at = i + step;
      if (at < 0 || at >= n) continue;
      const std::int32_t other = row[at];
      if (other != 0 && other != own) own = own == 0 ? other : sets.unite(own, other);
    }
    labels[i] = own != 0 ? own : sets.add();
  }
}

using Steps = std::vector<std::vector<std::int64_t>>;

/// Labels the connected components of a mask in C order. `steps` are the neighbours of an element that precede it in C
/// order. Returns the number of components.
std::int32_t label_all(const Array& mask, const Array& labels, const Steps& steps) {
  const auto* const from = static_cast<const std::uint8_t*>(mask.raw_data());
  auto* const to = labels.mutable_data<std::int32_t>();
  const int outer = std::max(mask.ndim() - 1, 0);
  const std::int64_t n = mask.ndim() == 0 ? 1 : mask.shape(outer), rows = mask.size() / n;
  std::vector<std::int64_t> index(static_cast<std::size_t>(outer));
  std::vector<std::pair<const std::int32_t*, std::int64_t>> near;
  Sets sets;
  for (std::int64_t row = 0; row < rows; ++row) {
    near.clear();
    for (const std::vector<std::int64_t>& step : steps) {
      std::int64_t other = 0;
      bool is_inside = true;
      for (int k = 0; k < outer; ++k) {
        const std::int64_t at = index[static_cast<std::size_t>(k)] + step[static_cast<std::size_t>(k)];
        is_inside = is_inside && at >= 0 && at < mask.shape(k);
        other = other * mask.shape(k) + at;
      }
      if (is_inside) near.emplace_back(to + other * n, step.back());
    }
    label_row(from + row * n, to + row * n, n, near, sets);
    for (int k = outer - 1; k >= 0; --k) {
      if (++index[static_cast<std::size_t>(k)] < mask.shape(k)) break;
      index[static_cast<std::size_t>(k)] = 0;
    }
  }
  const std::int32_t count = sets.number();
  ct::parallel_for(mask.size(), kShare, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = sets.number_of(to[i]);
  });
  return count;
}

/// Returns (labels as int32, number of components) of a bool array.
nb::object labeled(const Array& mask, const Steps& steps) {
  if (!on_host({&mask}) || mask.size() == 0 || mask.size() > std::numeric_limits<std::int32_t>::max())
    return nb::none();
  const Array labels = Array::empty(mask.shape(), Dtype::int32, mask.device());
  const std::int32_t count = without_gil(is_large(mask), [&] { return label_all(mask, labels, steps); });
  return nb::make_tuple(labels, count);
}

/// Returns for each label its index among ascending int64 numbers, or their count for other labels, as int64.
nb::object regions(const Array& labels, const Array& sorted) {
  if (!on_host({&labels, &sorted}) || !ct::is_integer(labels.dtype()) || labels.dtype() == Dtype::uint64 ||
      sorted.dtype() != Dtype::int64 || sorted.size() == 0)
    return nb::none();
  const std::int64_t count = sorted.size(), low = sorted.data<std::int64_t>()[0];
  const std::int64_t high = sorted.data<std::int64_t>()[count - 1];
  if (static_cast<double>(high) - static_cast<double>(low) > static_cast<double>(labels.size() + 4 * count))
    return nb::none();
  std::vector<std::int64_t> table(static_cast<std::size_t>(high - low + 1), count);
  for (std::int64_t k = 0; k < count; ++k) table[static_cast<std::size_t>(sorted.data<std::int64_t>()[k] - low)] = k;
  const Array out = Array::empty(labels.shape(), Dtype::int64, labels.device());
  without_gil(is_large(labels), [&] {
    visit_number(labels.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        const T* const from = labels.data<T>();
        auto* const to = out.mutable_data<std::int64_t>();
        ct::parallel_for(labels.size(), kShare, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const auto label = static_cast<std::int64_t>(from[i]);
            to[i] = label < low || label > high ? count : table[static_cast<std::size_t>(label - low)];
          }
        });
      }
    });
  });
  return nb::cast(out);
}

}  // namespace

void register_label_loops(nb::module_& m) {
  m.def("_labeled", labeled);
  m.def("_regions", regions);
}

}  // namespace catenary_python
