#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/format.h"
#include "catenary/iterators/iterator.h"

namespace catenary {

namespace {

/// Stacks the arrays along a new first axis.
Array stacked(const std::vector<Array>& arrays, const std::optional<Scalar>& padding, std::size_t column) {
  const Shape& first = arrays.front().shape();
  Shape largest = first;
  bool equal = true;
  for (const Array& a : arrays) {
    if (a.ndim() != first.size())
      fail<ValueError>("concat_examples: column {} has examples of shapes {} and {}", column, first, a.shape());
    for (int axis = 0; axis < first.size(); ++axis) largest[axis] = std::max(largest[axis], a.shape()[axis]);
    equal = equal && a.shape() == first;
  }
  if (equal) return stack(arrays);
  if (!padding) {
    for (const Array& a : arrays)
      if (!(a.shape() == first))
        fail<ValueError>(
            "concat_examples: column {} has examples of shapes {} and {}; give a padding value to batch them", column,
            first, a.shape());
  }
  Shape shape = largest;
  shape.insert(0, static_cast<std::int64_t>(arrays.size()));
  const Array result = Array::empty(shape, arrays.front().dtype(), arrays.front().device());
  result.fill(*padding);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<Index> at{Index(static_cast<std::int64_t>(i))};
    for (std::int64_t extent : arrays[i].shape()) at.emplace_back(slice(extent));
    result.set_at(at, arrays[i]);
  }
  return result;
}

}  // namespace

Minibatch Minibatch::every(std::int64_t first, std::int64_t step) const {
  Minibatch part;
  part.has_columns = has_columns;
  part.columns.names = columns.names;
  for (const Array& column : columns.values) part.columns.values.push_back(column(slice(first, none, step)));
  for (std::int64_t i = first; !has_columns && i < size; i += step)
    part.examples.push_back(examples[static_cast<std::size_t>(i)]);
  part.size = first < size ? (size - first + step - 1) / step : 0;
  return part;
}

Batch concat_examples(const Minibatch& batch, const std::optional<Device>& device,
                      const std::optional<Scalar>& padding) {
  std::vector<Array> columns = batch.columns.values;
  std::vector<std::string> names = batch.columns.names;
  if (!batch.has_columns) {
    if (batch.examples.empty()) throw ValueError("concat_examples: the minibatch is empty");
    names = batch.examples.front().names;
    for (std::size_t column = 0; column < batch.examples.front().values.size(); ++column) {
      std::vector<Array> arrays;
      for (const Example& example : batch.examples) {
        if (example.values.size() != batch.examples.front().values.size())
          fail<ValueError>("concat_examples: examples have {} and {} columns", batch.examples.front().values.size(),
                           example.values.size());
        arrays.push_back(example.values[column]);
      }
      columns.push_back(stacked(arrays, padding, column));
    }
  }
  std::vector<Variable> arguments;
  for (const Array& column : columns) arguments.emplace_back(device ? column.to_device(*device) : column, false);
  return Batch(std::move(arguments), std::move(names));
}

}  // namespace catenary
