#include "catenary/array/tally.h"

#include <algorithm>
#include <mutex>
#include <type_traits>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary::detail {

namespace {

constexpr std::int64_t kShare = 32768;      // elements of a thread at least
constexpr std::int64_t kFewCounts = 16384;  // counts that each thread may keep for itself

/// Calls f with the address of x's elements, for integers and bools, float32 and float64.
template <class F>
void visit_elements(const Array& x, const F& f) {
  visit_dtype(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>)
      f(static_cast<const std::uint8_t*>(x.raw_data()));
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      f(static_cast<const std::int64_t*>(x.raw_data()));  // beyond int64 they count as negative
    else if constexpr (std::is_arithmetic_v<T>)
      f(x.data<T>());
  });
}

/// Counts place(i) of each i < n. Threads and neighbours have counts of their own if these are few, so that equal
/// places do not wait for each other.
template <class F>
void count_places(std::int64_t* counts, std::int64_t length, std::int64_t n, const F& place) {
  if (length > kFewCounts || n < length) {
    for (std::int64_t i = 0; i < n; ++i) ++counts[place(i)];
    return;
  }
  std::mutex mutex;
  parallel_for(n, kShare, [&](std::int64_t begin, std::int64_t end) {
    constexpr int kCopies = 4;
    std::vector<std::int64_t> own(static_cast<std::size_t>(length * kCopies));
    std::int64_t i = begin;
    for (; i + kCopies <= end; i += kCopies)
      for (int k = 0; k < kCopies; ++k) ++own[static_cast<std::size_t>(length * k + place(i + k))];
    for (; i < end; ++i) ++own[static_cast<std::size_t>(place(i))];
    const std::lock_guard lock(mutex);
    for (int k = 0; k < kCopies; ++k)
      for (std::int64_t j = 0; j < length; ++j) counts[j] += own[static_cast<std::size_t>(length * k + j)];
  });
}

Array zeros_on_host(std::int64_t n, Dtype dtype) { return filled({n}, 0, dtype, Device()).eval(); }

/// Finds the bin of a value between ascending edges.
class Bins {
 public:
  explicit Bins(const Array& edges) : edges_(edges.astype(Dtype::float64).contiguous()) {
    edge_ = edges_.data<double>();
    count_ = edges_.size() - 1;
    scale_ = static_cast<double>(count_) / (edge_[count_] - edge_[0]);
    for (std::int64_t k = 0; k <= count_; ++k) {
      const double off = (edge_[k] - edge_[0]) * scale_ - static_cast<double>(k);
      even_ = even_ && off > -1.5 && off < 1.5;  // false for NaN
    }
  }

  std::int64_t count() const { return count_; }
  std::int64_t operator()(double x) const {
    if (!(x >= edge_[0] && x <= edge_[count_])) return count_;
    if (!even_) return std::min(std::upper_bound(edge_, edge_ + count_ + 1, x) - edge_, count_) - 1;
    auto bin = std::min(static_cast<std::int64_t>((x - edge_[0]) * scale_), count_ - 1);
    while (x < edge_[bin]) --bin;
    while (bin + 1 < count_ && x >= edge_[bin + 1]) ++bin;
    return bin;
  }

 private:
  Array edges_;
  const double* edge_;
  std::int64_t count_;
  double scale_;
  bool even_ = true;
};

/// Returns x in C order, in a dtype of visit_elements().
Array tally_elements(const Array& x) { return (is_16bit_float(x.dtype()) ? x.astype(Dtype::float32) : x).contiguous(); }

}  // namespace

Array tally(const Array& x, const std::optional<Array>& weights, std::int64_t min_length) {
  const Array own = tally_elements(x);
  const std::int64_t n = own.size();
  Array out;
  visit_elements(own, [&](const auto* at) {
    using T = std::remove_cvref_t<decltype(*at)>;
    T least = 0, most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      least = std::min(least, at[i]);
      most = std::max(most, at[i]);
    }
    if (least < 0)
      fail<ValueError>("bincount: values must not be negative, {} is among them", static_cast<std::int64_t>(least));
    const std::int64_t length = std::max(min_length, n > 0 ? static_cast<std::int64_t>(most) + 1 : 0);
    out = zeros_on_host(length, weights ? Dtype::float64 : Dtype::int64);
    if (!weights)
      return count_places(out.mutable_data<std::int64_t>(), length, n,
                          [at](std::int64_t i) { return static_cast<std::int64_t>(at[i]); });
    auto* const sums = out.mutable_data<double>();
    const Array amount = as_dtype(*weights, Dtype::float64).contiguous();
    const auto* const w = amount.data<double>();
    for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::int64_t>(at[i])] += w[i];
  });
  return out;
}

bool has_float_bins(const Array& x, const Array& edges) {
  if (is_complex(x.dtype()) || is_complex(edges.dtype()) || x.dtype() == Dtype::uint64) return false;
  return is_floating(x.dtype()) || is_floating(edges.dtype()) || (x.itemsize() < 8 && edges.itemsize() < 8);
}

Array bins_between(const Array& x, const Array& edges) {
  const Bins bins(edges);
  const Array own = tally_elements(x), out = Array::empty(x.shape(), Dtype::int64, x.device());
  auto* const to = out.mutable_data<std::int64_t>();
  visit_elements(own, [&](const auto* at) {
    parallel_for(own.size(), kShare, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = bins(static_cast<double>(at[i]));
    });
  });
  return out;
}

Array tally_between(const Array& x, const Array& edges) {
  const Bins bins(edges);
  const Array own = tally_elements(x), out = zeros_on_host(bins.count() + 1, Dtype::int64);
  visit_elements(own, [&](const auto* at) {
    count_places(out.mutable_data<std::int64_t>(), bins.count() + 1, own.size(),
                 [&](std::int64_t i) { return bins(static_cast<double>(at[i])); });
  });
  return slice_axis(out, 0, 0, bins.count());
}

}  // namespace catenary::detail
