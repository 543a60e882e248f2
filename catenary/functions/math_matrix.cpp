#include "catenary/functions/math_matrix.h"

#include <algorithm>
#include <array>
#include <string>

#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/format.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns a letter that is not in `used`, and adds it.
char fresh_letter(std::string& used) {
  for (const char c : kLetters)
    if (used.find(c) == std::string::npos) {
      used += c;
      return c;
    }
  fail<ValueError>("einsum: there are more than {} axes", kLetters.size());
}

/// Einstein sums with a letter for each axis. Axes with equal letters have equal lengths.
Variable contract(const std::vector<std::string>& terms, const std::string& result, const std::vector<Variable>& xs);

/// A single step: a sum within an operand or over a pair.
class EinSum : public FunctionNode {
 public:
  EinSum(const std::vector<std::string>& terms, const std::string& result) : terms_(terms), result_(result) {}
  const char* name() const override { return "EinSum"; }
  CT_ATTRIBUTES(terms_, result_)

 protected:
  Arrays forward(Inputs x) override {
    if (x.size() == 1) return catenary::einsum(terms_[0] + "->" + result_, {x[0]});
    retain_inputs({0, 1});
    return catenary::einsum(terms_[0] + "," + terms_[1] + "->" + result_, {x[0], x[1]});
  }
  Variables backward(Targets targets, Grads gys) override {
    // The operand's letters come from gy and the other operand. A letter in neither was summed, so its axis is restored
    // by ones. The second of two equal letters is restored by an identity matrix.
    return gradients(targets, [&](int i) {
      const Variable& gy = gys[0];
      std::vector<std::string> terms = {result_};
      std::vector<Variable> xs = {gy};
      if (terms_.size() == 2) {
        terms.push_back(terms_[static_cast<std::size_t>(1 - i)]);
        xs.push_back(retained_input(1 - i));
      }
      std::string used = terms_[0] + terms_.back() + result_, made;
      const std::string there = terms[0] + (terms.size() == 2 ? terms[1] : "");
      const Shape& shape = input_shape(i);
      const std::string& term = terms_[static_cast<std::size_t>(i)];
      for (int k = 0; k < shape.size(); ++k) {
        char letter = term[static_cast<std::size_t>(k)];
        if (made.find(letter) != std::string::npos) {
          const char other = fresh_letter(used);
          terms.push_back({letter, other});
          xs.emplace_back(eye(shape[k], {}, 0, gy.dtype()).to_device(gy.device()), false);
          letter = other;
        } else if (there.find(letter) == std::string::npos) {
          terms.emplace_back(1, letter);
          xs.emplace_back(ones({shape[k]}, gy.dtype()).to_device(gy.device()), false);
        }
        made += letter;
      }
      return cast(contract(terms, made, xs), input_dtype(i));
    });
  }

 private:
  std::vector<std::string> terms_;
  std::string result_;
};

Variable contract(const std::vector<std::string>& terms, const std::string& result, const std::vector<Variable>& xs) {
  if (xs.size() == 1) return apply(node<EinSum>(terms, result), xs[0]);
  std::string term = terms[0];
  Variable x = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) {
    std::string wanted = result, kept;
    for (std::size_t j = i + 1; j < xs.size(); ++j) wanted += terms[j];
    for (const char c : term + terms[i])
      if (wanted.find(c) != std::string::npos && kept.find(c) == std::string::npos) kept += c;
    if (i + 1 == xs.size()) kept = result;
    x = apply(node<EinSum>(std::vector<std::string>{term, terms[i]}, kept), x, xs[i]);
    term = kept;
  }
  return x;
}

/// Splits a text at separators.
std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// a as a batch of matrices, as batch_matmul defines it.
Variable as_matrices(const Variable& a) {
  if (a.ndim() != 2 && a.ndim() != 3) fail<ShapeError>("batch_matmul: operands must be 2-d or 3-d, not {}", a.shape());
  return a.ndim() == 3 ? a : reshape(a, {a.shape(0), a.shape(1), 1});
}
void check_square(const Variable& a, int ndim, const char* what) {
  if (a.ndim() != ndim || a.shape(-1) != a.shape(-2))
    fail<ShapeError>("{}: the argument must be {}, not {}", what,
                     ndim == 2 ? "a square matrix" : "a batch of square matrices", a.shape());
}
/// Swaps the last two axes.
Variable swapped(const Variable& a) { return a.ndim() == 2 ? transpose(a) : transpose(a, {0, 2, 1}); }

struct Inv : Unary<Inv, keep::y> {
  static constexpr const char* kName = "Inv";
  static Array f(const Array& x) { return linalg::inv(x); }
  static Variable df(const Variable& gy, const Variable&, const Variable& y) {
    return -matmul(matmul(y, gy, true), y, false, true);
  }
};
Variable inverse(const Variable& a) { return apply(node<Inv>(), a); }
struct Det : Unary<Det, keep::x | keep::y> {
  static constexpr const char* kName = "BatchDet";
  std::string label() const override { return "det"; }
  static Array f(const Array& x) { return linalg::det(x); }
  static Variable df(const Variable& gy, const Variable& x, const Variable& y) {
    Shape shape = y.shape();
    shape.push_back(1);
    shape.push_back(1);
    return reshape(gy * y, shape) * inverse(swapped(x));
  }
};
struct Cholesky : Unary<Cholesky, keep::y> {
  static constexpr const char* kName = "Cholesky";
  std::string label() const override { return "cholesky"; }
  static Array f(const Array& x) { return linalg::cholesky(x); }
  static Variable df(const Variable& gy, const Variable&, const Variable& y) {
    // half of the diagonal and everything below it
    const std::int64_t n = y.shape(0);
    const Array mask = (tri(n, {}, 0, y.dtype()) - eye(n, {}, 0, y.dtype()) * 0.5).to_device(y.device());
    const Variable inverse_y = inverse(y), phi = matmul(y, gy, true) * mask;
    const Variable s = matmul(matmul(inverse_y, phi, true), inverse_y);
    return (s + transpose(s)) * 0.5;
  }
};

}  // namespace

Variable batch_matmul(const Variable& a, const Variable& b, bool transa, bool transb) {
  CT_DEFINED(a, b);
  const Variable x = as_matrices(a), y = as_matrices(b);
  if (x.shape(0) != y.shape(0))
    fail<ShapeError>("batch_matmul: the batches differ in length: {} and {}", a.shape(), b.shape());
  return matmul(x, y, transa, transb);
}

Variable tensordot(const Variable& a, const Variable& b, int axes) {
  CT_DEFINED(a, b);
  if (axes < 0 || axes > a.ndim() || axes > b.ndim())
    fail<ArgumentShapeError>("tensordot: {} axes do not fit {} and {}", axes, a.shape(), b.shape());
  Axes last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a.ndim() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}
Variable tensordot(const Variable& a, const Variable& b, const Axes& a_axes, const Axes& b_axes) {
  CT_DEFINED(a, b);
  const Axes summed_a = normalize_axes(a_axes, a.ndim(), "tensordot"),
             summed_b = normalize_axes(b_axes, b.ndim(), "tensordot");
  bool fits = summed_a.size() == summed_b.size();
  for (int i = 0; fits && i < summed_a.size(); ++i)
    fits = a.shape(static_cast<int>(summed_a[i])) == b.shape(static_cast<int>(summed_b[i]));
  if (!fits)
    fail<ArgumentShapeError>("tensordot: axes {} of {} do not fit axes {} of {}", a_axes, a.shape(), b_axes, b.shape());
  // as a single matrix product
  const auto has = [](const Axes& axes, int i) { return std::find(axes.begin(), axes.end(), i) != axes.end(); };
  Axes order_a, order_b = summed_b;
  Shape result;
  std::int64_t rows = 1, columns = 1, inner = 1;
  for (int i = 0; i < a.ndim(); ++i)
    if (!has(summed_a, i)) {
      order_a.push_back(i);
      result.push_back(a.shape(i));
      rows *= a.shape(i);
    }
  for (const std::int64_t i : summed_a) {
    order_a.push_back(i);
    inner *= a.shape(static_cast<int>(i));
  }
  for (int i = 0; i < b.ndim(); ++i)
    if (!has(summed_b, i)) {
      order_b.push_back(i);
      result.push_back(b.shape(i));
      columns *= b.shape(i);
    }
  const auto as_matrix = [](const Variable& x, const Axes& order, const Shape& shape) {
    return reshape(x.ndim() == 0 ? x : transpose(x, order), shape);
  };
  return reshape(matmul(as_matrix(a, order_a, {rows, inner}), as_matrix(b, order_b, {inner, columns})), result);
}

namespace {

/// Returns subscripts of einsum without spaces, with '>' for "->", and '@' for "...", which stands for several axes.
std::string without_spaces(std::string_view subscripts) {
  std::string text;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts.substr(i, 3) == "...") {
      text += '@';
      i += 2;
    } else if (subscripts.substr(i, 2) == "->") {
      text += '>';
      ++i;
    } else if (subscripts[i] == ',' || kLetters.find(subscripts[i]) != std::string_view::npos) {
      text += subscripts[i];
    } else if (subscripts[i] != ' ') {
      fail<ValueError>("einsum: '{}' holds '{}', which is neither a letter nor '...', ',' or '->'", subscripts,
                       subscripts[i]);
    }
  }
  return text;
}

/// Returns the letters of the result for subscripts with '->'.
std::string checked_result(const std::string& letters, const std::string& result, std::string_view subscripts) {
  for (const char c : result)
    if (letters.find(c) == std::string::npos || std::count(result.begin(), result.end(), c) > 1)
      fail<ValueError>("einsum: the result of '{}' may use each letter only once, and only letters of the operands",
                       subscripts);
  return result;
}

/// Returns the letters of the result for subscripts without '->': the letters that occur once, in alphabetical order.
std::string implied_result(std::string letters) {
  std::sort(letters.begin(), letters.end());
  std::string result(letters.find('@') == std::string::npos ? "" : "@");
  for (const char c : letters)
    if (c != '@' && std::count(letters.begin(), letters.end(), c) == 1) result += c;
  return result;
}

}  // namespace

Variable einsum(std::string_view subscripts, const std::vector<Variable>& operands) {
  CT_DEFINED(operands);
  const std::vector<std::string> sides = split_text(without_spaces(subscripts), '>');
  std::vector<std::string> terms = split_text(sides[0], ',');
  if (sides.size() > 2 || terms.size() != operands.size() || operands.empty())
    fail<ValueError>("einsum: '{}' does not fit {} operands", subscripts, operands.size());
  std::string letters = sides[0];
  letters.erase(std::remove(letters.begin(), letters.end(), ','), letters.end());
  const std::string result =
      sides.size() == 2 ? checked_result(letters, sides[1], subscripts) : implied_result(letters);

  // Each ellipsis gets letters for the remaining axes of its operand, aligned at the last axis. Axes of length 1
  // broadcast.
  std::vector<int> hidden(operands.size(), 0);
  int most = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto groups = std::count(terms[i].begin(), terms[i].end(), '@');
    const int named = static_cast<int>(terms[i].size()) - static_cast<int>(groups);
    if (!is_floating(operands[i].dtype()))
      fail<DtypeError>("einsum: operand {} must be floating, not {}", i, operands[i].dtype());
    if (groups > 1 || named > operands[i].ndim() || (groups == 0 && named != operands[i].ndim()))
      fail<ShapeError>("einsum: operand {} of '{}' cannot be {}", i, subscripts, operands[i].shape());
    hidden[i] = operands[i].ndim() - named;
    most = std::max(most, hidden[i]);
  }
  if (most > 0 && result.find('@') == std::string::npos)
    fail<ValueError>("einsum: the result of '{}' leaves out the axes of '...'", subscripts);
  std::string used = letters, group;
  for (int i = 0; i < most; ++i) group += fresh_letter(used);
  const auto spelled = [&](const std::string& term, int axes) {
    const std::size_t at = term.find('@');
    if (at == std::string::npos) return term;
    return term.substr(0, at) + group.substr(static_cast<std::size_t>(most - axes)) + term.substr(at + 1);
  };
  std::array<std::int64_t, 256> extents;
  extents.fill(1);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    terms[i] = spelled(terms[i], hidden[i]);
    for (std::size_t k = 0; k < terms[i].size(); ++k) {
      std::int64_t& extent = extents[static_cast<unsigned char>(terms[i][k])];
      if (const std::int64_t here = operands[i].shape(static_cast<int>(k)); extent == 1) {
        extent = here;
      } else if (here != 1 && here != extent) {
        fail<ShapeError>("einsum: an axis of operand {} {} does not fit another of its letter in '{}': {} and {}", i,
                         operands[i].shape(), subscripts, here, extent);
      }
    }
  }
  std::vector<Variable> xs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Shape shape;
    for (const char c : terms[i]) shape.push_back(extents[static_cast<unsigned char>(c)]);
    xs.push_back(broadcast_to(operands[i], shape));
  }
  return contract(terms, spelled(result, most), xs);
}

Variable inv(const Variable& a) {
  CT_DEFINED(a);
  check_square(a, 2, "inv");
  if (const auto narrow = detail::in_float32(inv, a)) return *narrow;
  return inverse(a);
}
Variable batch_inv(const Variable& a) {
  CT_DEFINED(a);
  check_square(a, 3, "batch_inv");
  if (const auto narrow = detail::in_float32(batch_inv, a)) return *narrow;
  return inverse(a);
}
Variable det(const Variable& a) {
  CT_DEFINED(a);
  check_square(a, 2, "det");
  if (const auto narrow = detail::in_float32(det, a)) return *narrow;
  return apply(node<Det>(), a);
}
Variable batch_det(const Variable& a) {
  CT_DEFINED(a);
  check_square(a, 3, "batch_det");
  if (const auto narrow = detail::in_float32(batch_det, a)) return *narrow;
  return apply(node<Det>(), a);
}
Variable cholesky(const Variable& a) {
  CT_DEFINED(a);
  check_square(a, 2, "cholesky");
  return apply(node<Cholesky>(), a);
}

std::span<const Signature> detail::math_matrix_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("math.matmul", batch_matmul, "a", "b", otherwise("transa", false), "transb"),
      signature_of(
          "chainer.functions.math.tensordot.tensordot",
          [](const Variable& a, const Variable& b, int axes) { return tensordot(a, b, axes); }, "a", "b",
          otherwise("axes", 2)),
      CT_SIGNATURE("math.inv", inv, "a"),
      CT_SIGNATURE("math.inv", batch_inv, "a"),
      CT_SIGNATURE("math.det", det, "a"),
      CT_SIGNATURE("math.det", batch_det, "a"),
      CT_SIGNATURE("math.cholesky", cholesky, "a"),
  };
  return all;
}

}  // namespace catenary::functions
