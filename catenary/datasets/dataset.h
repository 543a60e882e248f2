#pragma once
// datasets/: examples by index, and classes that make and combine datasets. May not include iterators or training.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// One example: arrays in order, with names if it is a dictionary.
struct Example {
  std::vector<Array> values;
  std::vector<std::string> names;
};

/// A minibatch in columns: each array has the examples along its first axis.
struct Columns {
  std::vector<Array> values;
  std::vector<std::string> names;
};

namespace datasets {

/// Base class of datasets. (chainer.dataset.DatasetMixin)
class CT_API DatasetMixin {
 public:
  virtual ~DatasetMixin();
  /// Returns the number of examples.
  virtual std::int64_t size() const = 0;
  /// Returns example i, 0 <= i < size().
  virtual Example get_example(std::int64_t i) const = 0;
  /// Makes a whole batch at once, without making single examples. Returns false if the dataset does not support it.
  virtual bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const;
};

}  // namespace datasets

/// A handle to a dataset. Constructed from a class derived from DatasetMixin, from any object with `size()` and an
/// `operator[]` that returns an Example, an Array, or a pair or tuple of arrays and numbers, or from a vector of these
/// types. (chainer's datasets)
class CT_API Dataset {
 public:
  Dataset() = default;
  Dataset(std::shared_ptr<const datasets::DatasetMixin> implementation) : implementation_(std::move(implementation)) {}
  template <std::derived_from<datasets::DatasetMixin> D>
  Dataset(const D& dataset) : implementation_(std::make_shared<const D>(dataset)) {}
  template <class D>
  requires(!std::derived_from<D, datasets::DatasetMixin> && !std::same_as<D, Dataset> && requires(const D& d) {
    d.size();
    d[0];
  }) Dataset(const D& dataset);

  bool defined() const { return implementation_ != nullptr; }
  std::int64_t size() const { return implementation().size(); }
  /// Returns example i, counted from the end if negative. Throws IndexError.
  Example operator[](std::int64_t i) const;
  /// Returns the examples at these indices.
  std::vector<Example> get(const std::vector<std::int64_t>& indices) const;
  bool get_columns(const std::vector<std::int64_t>& indices, Columns& columns) const {
    return implementation().get_columns(indices, columns);
  }
  const datasets::DatasetMixin& implementation() const;

 private:
  std::shared_ptr<const datasets::DatasetMixin> implementation_;
};

namespace detail {
/// Converts the result of a user's operator[] to an Example.
inline Example to_example(Example e) { return e; }
inline Example to_example(const Array& a) { return {{a}, {}}; }
template <class T>
requires std::is_arithmetic_v<T> Array to_array(T value) { return Array::from_host(&value, {}, dtype_of<T>, Device()); }
inline Array to_array(const Array& a) { return a; }
template <class T>
requires std::is_arithmetic_v<T> Example to_example(T value) { return {{to_array(value)}, {}}; }
template <class... T>
Example to_example(const std::tuple<T...>& values) {
  return std::apply([](const auto&... v) { return Example{{to_array(v)...}, {}}; }, values);
}
template <class A, class B>
Example to_example(const std::pair<A, B>& values) {
  return {{to_array(values.first), to_array(values.second)}, {}};
}

template <class D>
class UserDataset final : public datasets::DatasetMixin {
 public:
  explicit UserDataset(const D& dataset) : dataset_(dataset) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(dataset_.size()); }
  Example get_example(std::int64_t i) const override { return to_example(dataset_[static_cast<std::size_t>(i)]); }

 private:
  D dataset_;
};
}  // namespace detail

template <class D>
requires(!std::derived_from<D, datasets::DatasetMixin> && !std::same_as<D, Dataset> &&
         requires(const D& d) {
           d.size();
           d[0];
         }) Dataset::Dataset(const D& dataset)
    : implementation_(std::make_shared<const detail::UserDataset<D>>(dataset)) {}

}  // namespace catenary
