// Functions of functions/array.h that join, split and pick.

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/sorting.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// Returns the inputs' arrays. Throws DtypeError if their dtypes differ, and ValueError if there are none.
std::vector<Array> arrays_of(Inputs in, const char* what) {
  std::vector<Array> arrays;
  for (int i = 0; i < in.size(); ++i) {
    if (in[i].dtype() != in[0].dtype())
      fail<DtypeError>("{}: input {} is {}, input 0 is {}", what, i, in[i].dtype(), in[0].dtype());
    arrays.push_back(in[i]);
  }
  return arrays;
}
void check_any(const std::vector<Variable>& xs, const char* what) {
  if (xs.empty()) fail<ValueError>("{}: there is nothing to join", what);
}

/// Gradients of several outputs, with zeros for outputs without a gradient.
std::vector<Variable> all_gradients(Grads gys, const std::vector<Shape>& shapes) {
  std::vector<Variable> all(gys.begin(), gys.end());
  for (const Variable& known : gys) {
    if (!known.defined()) continue;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].defined())
        all[i] = Variable(catenary::detail::filled(shapes[i], 0, known.dtype(), known.device()), false);
    break;
  }
  return all;
}

class Concat : public FunctionNode {
 public:
  explicit Concat(int axis) : axis_(axis) {}
  const char* name() const override { return "Concat"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs in) override { return catenary::concatenate(arrays_of(in, "concat"), axis_); }
  Variables backward(Targets targets, Grads gys) override {
    std::vector<std::int64_t> ends;
    for (int i = 0; i + 1 < input_count(); ++i)
      ends.push_back((ends.empty() ? 0 : ends.back()) +
                     input_shape(i)[normalize_axis(axis_, input_shape(i).size(), "concat")]);
    const Variables parts = split_axis(gys[0], ends, axis_);
    return gradients(targets, [&](int i) { return parts[static_cast<std::size_t>(i)]; });
  }

 private:
  int axis_;
};

class Stack : public FunctionNode {
 public:
  explicit Stack(int axis) : axis_(axis) {}
  const char* name() const override { return "Stack"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs in) override { return catenary::stack(arrays_of(in, "stack"), axis_); }
  Variables backward(Targets targets, Grads gys) override {
    const Variables parts = separate(gys[0], axis_);
    return gradients(targets, [&](int i) { return parts[static_cast<std::size_t>(i)]; });
  }

 private:
  int axis_;
};

class SplitAxis : public FunctionNode {
 public:
  SplitAxis(const Sections& sections, int axis) : sections_(sections), axis_(axis) {}
  const char* name() const override { return "SplitAxis"; }
  CT_ATTRIBUTES(sections_, axis_)

 protected:
  Arrays forward(Inputs in) override {
    Arrays parts;
    for (const Array& part : catenary::split(in[0], sections_, axis_)) {
      parts.push_back(part);
      shapes_.push_back(part.shape());
    }
    return parts;
  }
  Variables backward(Targets, Grads gys) override { return concat(all_gradients(gys, shapes_), axis_); }

 private:
  Sections sections_;
  int axis_;
  std::vector<Shape> shapes_;
};

class Separate : public FunctionNode {
 public:
  explicit Separate(int axis) : axis_(axis) {}
  const char* name() const override { return "Separate"; }
  CT_ATTRIBUTES(axis_)

 protected:
  Arrays forward(Inputs in) override {
    const std::vector<Array> parts = catenary::unstack(in[0], axis_);
    Arrays ys;
    for (const Array& part : parts) ys.push_back(part);
    shapes_.assign(parts.size(), parts.empty() ? Shape{} : parts[0].shape());
    return ys;
  }
  Variables backward(Targets, Grads gys) override { return stack(all_gradients(gys, shapes_), axis_); }

 private:
  int axis_;
  std::vector<Shape> shapes_;
};

class PadSequence : public FunctionNode {
 public:
  PadSequence(std::optional<std::int64_t> length, double padding) : length_(length), padding_(padding) {}
  const char* name() const override { return "PadSequence"; }
  CT_ATTRIBUTES(length_, padding_)

 protected:
  Arrays forward(Inputs in) override {
    const std::vector<Array> xs = arrays_of(in, "pad_sequence");
    std::int64_t longest = 0;
    for (const Array& x : xs) longest = std::max(longest, x.len());
    if (length_ && *length_ < longest)
      fail<ShapeError>("pad_sequence: a sequence of length {} does not fit into {}", longest, *length_);
    Shape shape = xs[0].shape();
    for (const Array& x : xs)
      if (Shape(x.shape().data() + 1, x.ndim() - 1) != Shape(shape.data() + 1, shape.size() - 1))
        fail<ShapeError>("pad_sequence: the shapes {} and {} may differ in the first axis only", shape, x.shape());
    shape[0] = length_.value_or(longest);
    shape.insert(0, in.size());
    const Array y = catenary::detail::filled(shape, padding_, xs[0].dtype(), xs[0].device());
    for (std::size_t i = 0; i < xs.size(); ++i) y.set(xs[i], i, slice(xs[i].len()));
    return y;
  }
  Variables backward(Targets targets, Grads gys) override {
    return gradients(targets, [&](int i) { return gys[0](i, slice(input_shape(i)[0])); });
  }

 private:
  std::optional<std::int64_t> length_;
  double padding_;
};

class TransposeSequence : public FunctionNode {
 public:
  const char* name() const override { return "TransposeSequence"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs in) override {
    const std::vector<Array> xs = arrays_of(in, "transpose_sequence");
    for (std::size_t i = 1; i < xs.size(); ++i)
      if (xs[i].len() > xs[i - 1].len())
        fail<ShapeError>("transpose_sequence: sequence {} is longer ({}) than the one before it ({})", i, xs[i].len(),
                         xs[i - 1].len());
    Arrays ys;
    for (std::int64_t time = 0; time < xs[0].len(); ++time) {
      std::vector<Array> lasting;
      for (const Array& x : xs)
        if (x.len() > time) lasting.push_back(x[time]);
      ys.push_back(catenary::stack(lasting));
      shapes_.push_back(ys.back().shape());
    }
    return ys;
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variables gxs = transpose_sequence(all_gradients(gys, shapes_));
    return gradients(targets, [&](int i) {
      if (static_cast<std::size_t>(i) < gxs.size()) return gxs[static_cast<std::size_t>(i)];
      return Variable(catenary::detail::filled(input_shape(i), 0, input_dtype(i), gxs[0].device()),
                      false);  // without rows
    });
  }

 private:
  std::vector<Shape> shapes_;
};

struct Where : Binary<Where, keep::nothing> {
  explicit Where(const Array& condition) : condition(condition) {}
  static constexpr const char* kName = "Where";
  CT_ATTRIBUTES(condition)
  Array f(const Array& x, const Array& y) { return catenary::where(condition, x, y); }
  Variable df0(const Variable& gy, const Variable&, const Variable&, const Variable&) {
    return where(condition, gy, zero(gy));
  }
  Variable df1(const Variable& gy, const Variable&, const Variable&, const Variable&) {
    return where(condition, zero(gy), gy);
  }
  static Variable zero(const Variable& like) { return catenary::detail::filled({}, 0, like.dtype(), like.device()); }
  Array condition;
};

/// where() with a number. Without `where_true`, x is taken where the condition is false.
struct WhereNumber : Unary<WhereNumber, keep::nothing> {
  WhereNumber(const Array& condition, const Scalar& number, bool where_true)
      : condition(condition), number(number), where_true(where_true) {}
  static constexpr const char* kName = "Where";
  CT_ATTRIBUTES(condition, number, where_true)
  Array f(const Array& x) {
    return where_true ? catenary::where(condition, x, number) : catenary::where(condition, number, x);
  }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    const Variable gx = where_true ? where(condition, gy, Scalar(0)) : where(condition, Scalar(0), gy);
    return cast(sum_to(gx, input_shape(0)), input_dtype(0));
  }
  Array condition;
  Scalar number;
  bool where_true;
};

struct Permutate : Unary<Permutate, keep::nothing> {
  Permutate(const Array& order, int axis) : order(order), axis(axis) {}
  static constexpr const char* kName = "Permutate";
  CT_ATTRIBUTES(order, axis)
  Array f(const Array& x) { return catenary::take(x, order, axis); }
  Variable df(const Variable& gy, const Variable&, const Variable&) {
    return catenary::apply(node<Permutate>(catenary::argsort(order), axis), gy);
  }
  Array order;
  int axis;
};

class ScatterAdd : public FunctionNode {
 public:
  explicit ScatterAdd(const std::vector<Index>& indices) : indices_(indices) {}
  const char* name() const override { return "ScatterAdd"; }
  CT_ATTRIBUTES(indices_)

 protected:
  Arrays forward(Inputs in) override {
    const Array x = arrays_of(in, "scatter_add")[0];
    const Shape picked = x.get(indices_).shape();
    if (in[1].shape() != picked)
      fail<ArgumentShapeError>("scatter_add: b must be {}, as the indices of a {} pick, not {}", picked, x.shape(),
                               in[1].shape());
    const Dtype sums = catenary::detail::dtype_of_sums(x.dtype(), indices_);
    const Array y = sums == x.dtype() ? x.copy() : x.astype(sums);
    catenary::scatter_add(y, indices_, in[1]);
    return as_dtype(y, x.dtype());
  }
  Variables backward(Targets targets, Grads gys) override {
    return gradients(targets, [&](int i) { return i == 0 ? gys[0] : get_item(gys[0], indices_); });
  }

 private:
  std::vector<Index> indices_;
};

struct Diagonal : Unary<Diagonal, keep::nothing> {
  Diagonal(std::int64_t offset, int axis1, int axis2) : offset(offset), axis1(axis1), axis2(axis2) {}
  static constexpr const char* kName = "Diagonal";
  CT_ATTRIBUTES(offset, axis1, axis2)
  Array f(const Array& x) { return catenary::diagonal(x, offset, axis1, axis2); }
  Variable df(const Variable& gy, const Variable&, const Variable&);
  std::int64_t offset;
  int axis1, axis2;
};
/// Puts gy on the diagonal of an array of zeros.
struct DiagonalGrad : Unary<DiagonalGrad, keep::nothing> {
  DiagonalGrad(std::int64_t offset, int axis1, int axis2, const Shape& shape)
      : offset(offset), axis1(axis1), axis2(axis2), shape(shape) {}
  static constexpr const char* kName = "DiagonalGrad";
  CT_ATTRIBUTES(offset, axis1, axis2, shape)
  Array f(const Array& gy) {
    const Array gx = catenary::detail::filled(shape, 0, gy.dtype(), gy.device());
    catenary::diagonal(gx, offset, axis1, axis2).set(gy, ellipsis);
    return gx;
  }
  Variable df(const Variable& ggx, const Variable&, const Variable&) { return diagonal(ggx, offset, axis1, axis2); }
  std::int64_t offset;
  int axis1, axis2;
  Shape shape;
};
Variable Diagonal::df(const Variable& gy, const Variable&, const Variable&) {
  return catenary::apply(node<DiagonalGrad>(offset, axis1, axis2, input_shape(0)), gy);
}

/// Adds axes up to at least two or three, as numpy.vstack and numpy.dstack do. Throws ShapeError if numbers of axes
/// differ, as Chainer does.
std::vector<Variable> with_axes(const char* function, const std::vector<Variable>& xs, int ndim) {
  std::vector<Variable> ys;
  for (const Variable& x : xs) {
    if (x.ndim() != xs[0].ndim())
      fail<ShapeError>("{}: all arrays must have {} axes like the first, {}, not {}", function, xs[0].ndim(),
                       xs[0].shape(), x.shape());
    Shape shape = x.shape();
    if (shape.empty()) shape.push_back(1);
    if (shape.size() == 1 && ndim > 1) shape.insert(0, 1);
    if (shape.size() == 2 && ndim > 2) shape.push_back(1);
    ys.push_back(reshape(x, shape));
  }
  return ys;
}

}  // namespace

Variable concat(const std::vector<Variable>& xs, int axis) {
  CT_DEFINED(xs);
  check_any(xs, "concat");
  return node<Concat>(axis)->apply(xs)[0];
}
Variable stack(const std::vector<Variable>& xs, int axis) {
  CT_DEFINED(xs);
  check_any(xs, "stack");
  return node<Stack>(axis)->apply(xs)[0];
}
Variable hstack(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  check_any(xs, "hstack");
  const std::vector<Variable> rows = with_axes("hstack", xs, 1);
  return concat(rows, rows[0].ndim() == 1 ? 0 : 1);
}
Variable vstack(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  return concat(with_axes("vstack", xs, 2), 0);
}
Variable dstack(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  return concat(with_axes("dstack", xs, 3), 2);
}
Variables split_axis(const Variable& x, const Sections& sections, int axis) {
  CT_DEFINED(x);
  const std::vector<std::int64_t>& positions = sections.positions();
  const auto unsorted = std::is_sorted_until(positions.begin(), positions.end());
  if (config.debug && unsorted != positions.end())
    fail<ValueError>("split_axis: in debug mode, positions must be sorted, but {} follows {}", *unsorted,
                     *(unsorted - 1));
  return apply_all(node<SplitAxis>(sections, axis), x);
}
Variables separate(const Variable& x, int axis) {
  CT_DEFINED(x);
  return apply_all(node<Separate>(axis), x);
}

Variable pad_sequence(const std::vector<Variable>& xs, std::optional<std::int64_t> length, double padding) {
  CT_DEFINED(xs);
  check_any(xs, "pad_sequence");
  return node<PadSequence>(length, padding)->apply(xs)[0];
}
Variables transpose_sequence(const std::vector<Variable>& xs) {
  CT_DEFINED(xs);
  if (xs.empty()) return {};
  return node<TransposeSequence>()->apply(xs);
}

Variable where(const Variable& condition, const Variable& x, const Variable& y) {
  CT_DEFINED(condition, x, y);
  return apply(node<Where>(condition.array()), x, y);
}
Variable where(const Variable& condition, const Variable& x, const Scalar& y) {
  CT_DEFINED(condition, x);
  return apply(node<WhereNumber>(condition.array(), y, true), x);
}
Variable where(const Variable& condition, const Scalar& x, const Variable& y) {
  CT_DEFINED(condition, y);
  return apply(node<WhereNumber>(condition.array(), x, false), y);
}

Variable select_item(const Variable& x, const Variable& t) {
  CT_DEFINED(x, t);
  if (x.ndim() != 2 || t.shape() != Shape{x.shape(0)})
    fail<ShapeError>("select_item: x must be (n, classes) and t (n,), not {} and {}", x.shape(), t.shape());
  return detail::Labels{"select_item", "t", t.array(), x.shape(1)}.pick([&](const Array& classes) {
    return get_item(x, {catenary::detail::iota(x.shape(0), x.device()), classes});
  });
}

Variable permutate(const Variable& x, const Variable& indices, int axis, bool inv) {
  CT_DEFINED(x, indices);
  const int along = normalize_axis(axis, x.ndim(), "permutate");
  if (indices.shape() != Shape{x.shape(along)})
    fail<ShapeError>("permutate: indices must be ({},) for axis {} of {}, not {}", x.shape(along), along, x.shape(),
                     indices.shape());
  const detail::Labels places{"permutate", "indices", indices.array(), x.shape(along)};
  places.check();
  const Array order = places.values();
  if (config.debug && !(catenary::sort(order) == catenary::detail::iota(order.size(), order.device())).all())
    fail<ValueError>("permutate: indices are no permutation");
  return apply(node<Permutate>(inv ? catenary::argsort(order) : order, along), x);
}

Variable scatter_add(const Variable& a, const std::vector<Index>& indices, const Variable& b) {
  return apply(node<ScatterAdd>(indices), a, b);
}
Variable diagonal(const Variable& x, std::int64_t offset, int axis1, int axis2) {
  return apply(node<Diagonal>(offset, axis1, axis2), x);
}

std::span<const Signature> detail::array_join_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("array.concat", concat, values("xs"), "axis"),
      CT_SIGNATURE("array.stack", stack, values("xs"), "axis"),
      CT_SIGNATURE("array.hstack", hstack, values("xs")),
      CT_SIGNATURE("array.vstack", vstack, values("xs")),
      CT_SIGNATURE("array.dstack", dstack, values("xs")),
      CT_SIGNATURE("array.transpose_sequence", transpose_sequence, values("xs")),
      CT_SIGNATURE("array.separate", separate, values("x"), "axis"),
      CT_SIGNATURE("array.pad_sequence", pad_sequence, values("xs"), otherwise("length", std::nullopt), "padding"),
      signature_of(
          "chainer.functions.array.where.where",
          [](const Variable& condition, const Variable& x, const Variable& y) {
            return !condition.defined() || condition.dtype() == Dtype::bool_ ? where(condition, x, y) : Variable();
          },
          labels("condition"), values("x"), values("y")),
      refusing_labels(CT_SIGNATURE("array.select_item", select_item, values("x"), labels("t"))),
      refusing_labels(
          CT_SIGNATURE("array.permutate", permutate, values("x"), labels("indices"), otherwise("axis", 0), "inv")),
      CT_SIGNATURE("array.diagonal", diagonal, values("x"), otherwise("offset", 0), otherwise("axis1", 0), "axis2"),
  };
  return all;
}

}  // namespace catenary::functions
