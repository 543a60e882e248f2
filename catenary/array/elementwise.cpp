#include "catenary/array/elementwise.h"

#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/indexing.h"
#include "catenary/array/lazy.h"
#include "catenary/array/multiply_at.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/core/overflow_error.h"
#include "catenary/ops/op_names.h"

namespace catenary {

namespace {

using ops::Op;
using ops::Rule;

Dtype float_of(Dtype d) {
  if (is_inexact(d)) return d;
  const std::size_t size = itemsize(d);
  return size == 1 ? Dtype::float16 : size == 2 ? Dtype::float32 : Dtype::float64;
}

Dtype dtype_of_operand(const Operand& x) { return x.is_array() ? x.array().dtype() : x.scalar().default_dtype(); }

const Device& device_of(const Operand& x, const Device& otherwise) {
  return x.is_array() ? x.array().body().device : otherwise;
}

Device common_device(const Operand& x, const Operand& y, const char* what) {
  if (!x.is_array()) return device_of(y, current_device());
  if (!y.is_array()) return x.array().body().device;
  const Device &a = x.array().body().device, &b = y.array().body().device;
  if (!(a == b))
    fail<DeviceError>("{}: operands are on two devices, {} and {}; bring them together with to_device", what, a.name(),
                      b.name());
  return a;
}

const Shape& shape_of(const Operand& x) {
  static const Shape scalar{};
  return x.is_array() ? x.array().shape() : scalar;
}

LazyOperand lazy_operand(const Operand& x, Dtype as) {
  return x.is_array() ? LazyOperand{&x.array(), Scalar(false), as} : LazyOperand{nullptr, x.scalar(), as};
}

/// Returns an operand of `op`. A literal that is compared with 16-bit floats is rounded to their precision, so that an
/// array of 0.1 equals 0.1.
LazyOperand lazy_operand(const Operand& x, Dtype as, Op op) {
  if (x.is_array() || !is_16bit_float(as) || ops::info(op).rule != Rule::COMPARE) return lazy_operand(x, as);
  const auto value = static_cast<float>(x.scalar().real());
  const double rounded =
      as == Dtype::float16 ? static_cast<float>(float16(value)) : static_cast<float>(bfloat16(value));
  return {nullptr, Scalar(rounded), as};
}

bool literal_fits(const Operand& x, Dtype dtype) {
  if (x.is_array() || x.scalar().kind() != Scalar::Kind::integer || !is_integer(dtype)) return true;
  const std::int64_t value = x.scalar().integer();
  const bool is_signed = kind(dtype) == Kind::signed_int;
  const int bits = static_cast<int>(itemsize(dtype)) * 8;
  return is_signed
             ? bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1)))
             : value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
}

void check_literal_fits(const Operand& x, Dtype dtype, const char* what) {
  if (!literal_fits(x, dtype))
    fail<OverflowError>("{}: the literal {} does not fit into {}", what, x.scalar().integer(), dtype);
}

/// The operand and result dtypes of a row for a given dtype.
struct Types {
  Dtype operand, result;
};
Types types_of(Op op, Dtype d) {
  const ops::OpInfo& row = ops::info(op);
  const auto refuse = [&](const char* instead) {
    fail<DtypeError>("{}: not defined for {}; {}", row.name, d, instead);
  };
  if (is_complex(d)) {
    switch (ops::of_complex(op)) {
      case ops::OfComplex::undefined:
        refuse("it has no meaning for complex numbers");
        break;
      case ops::OfComplex::value:
        return {d, d};
      case ops::OfComplex::part:
        return {d, part_dtype(d)};
      case ops::OfComplex::truth:
        return {d, Dtype::bool_};
    }
  }
  switch (row.rule) {
    case Rule::ARITH:
      return {d, d};
    case Rule::ARITH_INT8:
      if (d == Dtype::bool_) d = Dtype::int8;
      return {d, d};
    case Rule::ARITH_NO_BOOL:
      if (d == Dtype::bool_) refuse(row.arity == 2 ? "use logical_xor or bitwise_xor" : "use logical_not or a cast");
      return {d, d};
    case Rule::FLOAT:
      return {float_of(d), float_of(d)};
    case Rule::DIVIDE:
      if (!is_floating(d)) d = Dtype::float64;
      return {d, d};
    case Rule::ROUND:
      return {d, d};
    case Rule::COMPARE:
      return {d, Dtype::bool_};
    case Rule::PREDICATE:
      return {float_of(d), Dtype::bool_};
    case Rule::BITS:
      if (is_floating(d)) refuse("expected bool or an integer dtype");
      return {d, d};
    case Rule::INTEGER:
      if (!is_integer(d)) refuse("expected an integer dtype");
      return {d, d};
    case Rule::SHIFT:
    case Rule::COUNT:
      if (is_floating(d)) refuse("expected an integer dtype");
      if (d == Dtype::bool_) d = Dtype::int8;
      return {d, row.rule == Rule::COUNT ? Dtype::uint8 : d};
    case Rule::INTERNAL:
      break;
  }
  fail<DtypeError>("{}: not an array function", row.name);
}

/// Returns bool's version of an operation: + is or, * is and.
Op op_for_bool(Op op) {
  switch (op) {
    case Op::add:
      return Op::logical_or;
    case Op::multiply:
      return Op::logical_and;
    case Op::fmax:
      return Op::maximum;
    case Op::fmin:
      return Op::minimum;
    case Op::invert:
      return Op::logical_not;
    case Op::absolute:
      return Op::cast;
    default:
      return op;
  }
}

Array unary(Op op, Operand& x) {
  const Dtype d = dtype_of_operand(x);
  const Types types = types_of(op, d);
  if (d == Dtype::bool_) op = op_for_bool(op);
  if (ops::info(op).rule == Rule::ROUND && !is_inexact(d)) op = Op::cast;
  const LazyOperand operand = lazy_operand(x, types.operand);
  Array result = lazy::apply(op, {&operand, 1}, types.result, shape_of(x), device_of(x, current_device()));
  x.release();
  return result;
}

/// Returns types_of for two operands. Refuses a literal that the computation's dtype cannot hold. Comparisons with such
/// a literal use a dtype that holds both.
Types types_of(Op op, Dtype d, const Operand& x, const Operand& y, const char* what) {
  Types types = types_of(op, d);
  if (ops::info(op).rule != Rule::COMPARE) {
    check_literal_fits(x, types.operand, what);
    check_literal_fits(y, types.operand, what);
  } else if (!literal_fits(x, d) || !literal_fits(y, d)) {
    types.operand = d == Dtype::uint64 ? Dtype::float64 : Dtype::int64;
  }
  return types;
}

/// Returns the dtype that both operands are cast to. Each integer converts to its own float dtype, as in NumPy: int8
/// and uint8 give float16.
Dtype operands_dtype(Op op, const Operand& x, const Operand& y) {
  if (ops::info(op).rule != Rule::FLOAT || !x.is_array() || !y.is_array()) return result_type(x, y);
  return promote(float_of(x.array().dtype()), float_of(y.array().dtype()));
}

/// Returns the cheaper row for a power with certain literal exponents, as NumPy's fast paths.
std::optional<Op> fast_power(const Operand& x, const Operand& y) {
  if (!x.is_array() || y.is_array()) return std::nullopt;
  const double exponent = y.scalar().real();
  if (x.array().dtype() == Dtype::bool_ || y.scalar().kind() == Scalar::Kind::complex) return std::nullopt;
  if (exponent == 2)
    return y.scalar().kind() == Scalar::Kind::real && !is_inexact(x.array().dtype()) ? std::nullopt
                                                                                     : std::optional(Op::square);
  if (!is_inexact(x.array().dtype())) return std::nullopt;
  if (exponent == 1) return Op::cast;
  if (exponent == 0.5) return Op::sqrt;
  if (exponent == -1) return Op::reciprocal;
  return std::nullopt;
}

/// Computes x to the power 0.5. Unlike the square root, it gives inf for -inf and 0 for -0, as C's pow does.
Array half_power(const Array& x) {
  const double inf = std::numeric_limits<double>::infinity();
  Array size = add(where(equal(x, -inf), Scalar(inf), x), 0);
  Operand operand(std::move(size));
  return unary(Op::sqrt, operand);
}

/// Computes nextafter of 16-bit floats through their bits, a sign and a magnitude. In float32 arithmetic the neighbours
/// would be rounded away.
Array next_of_16bit(const Operand& from, const Operand& to, Dtype dtype, const Device& device) {
  const Array x = detail::as_array(from, dtype, device), y = detail::as_array(to, dtype, device);
  const Array bits = view(x, Dtype::int16), away = equal(greater(y, x), greater(x, 0));
  const Array from_zero = where(greater(y, 0), Scalar(1), where(less(y, 0), Scalar(-32767), bits));
  const Array next = where(equal(x, 0), from_zero, where(away, add(bits, 1), subtract(bits, 1)));
  const Array same = logical_or(equal(x, y), logical_or(isnan(x), isnan(y)));
  return where(same, where(equal(x, y), y, add(x, y)), view(next.astype(Dtype::int16), dtype));
}

Array binary(Op op, Operand& x, Operand& y) {
  const char* name = ops::info(op).name;
  if (op == Op::power) {
    if (const auto fast = fast_power(x, y)) {
      if (*fast == Op::cast) return x.array().astype(x.array().dtype());
      return *fast == Op::sqrt && is_floating(x.array().dtype()) ? half_power(x.array()) : unary(*fast, x);
    }
    if (!y.is_array() && y.scalar().kind() == Scalar::Kind::integer && y.scalar().integer() < 0 &&
        !is_inexact(dtype_of_operand(x)) && (!x.is_array() || x.array().size() > 0))
      fail<ValueError>("power: an integer to the negative power {} is not an integer; cast x to a float dtype",
                       y.scalar().integer());
  }
  const Dtype d = operands_dtype(op, x, y);
  const Types types = types_of(op, d, x, y, name);
  if (op == Op::nextafter && is_16bit_float(types.operand))
    return next_of_16bit(x, y, types.operand, common_device(x, y, name));
  if (d == Dtype::bool_ && types.operand == Dtype::bool_) op = op_for_bool(op);
  const LazyOperand operands[] = {lazy_operand(x, types.operand, op), lazy_operand(y, types.operand, op)};
  Array result = lazy::apply(op, operands, types.result, broadcast_shapes(shape_of(x), shape_of(y), name),
                             common_device(x, y, name));
  x.release();
  y.release();
  return result;
}

/// Returns the dtype of a float function of three operands: literals are weak, unless there is no array.
Dtype dtype_of_three(const Operand& x, const Operand& y, const Operand& z) {
  const Operand* const operands[] = {&x, &y, &z};
  const bool arrays = x.is_array() || y.is_array() || z.is_array();
  std::optional<Dtype> found;
  for (const Operand* operand : operands) {
    if (arrays && !operand->is_array() && operand->scalar().kind() != Scalar::Kind::complex) continue;
    const Dtype dtype = float_of(dtype_of_operand(*operand));
    found = found ? promote(*found, dtype) : dtype;
  }
  return *found;
}

Array ternary(Op op, Operand& x, Operand& y, Operand& z) {
  const char* name = ops::info(op).name;
  const Types types = types_of(op, dtype_of_three(x, y, z));
  const Device device = x.is_array() ? x.array().body().device : common_device(y, z, name);
  for (const Operand* operand : {&y, &z}) common_device(x, *operand, name);
  const LazyOperand operands[] = {lazy_operand(x, types.operand), lazy_operand(y, types.operand),
                                  lazy_operand(z, types.operand)};
  const Shape shape = broadcast_shapes(broadcast_shapes(shape_of(x), shape_of(y), name), shape_of(z), name);
  Array result = lazy::apply(op, operands, types.result, shape, device);
  for (Operand* operand : {&x, &y, &z}) operand->release();
  return result;
}

void check_goes_into(const Array& out, Dtype result, const char* what) {
  if (!can_cast_same_kind(result, out.dtype())) {
    fail<DtypeError>("{}: the result would be {}, which does not go into the array's {} (same_kind casting)", what,
                     result, out.dtype());
  }
}

void check_broadcasts_to(const Array& out, const Operand& x, const char* what) {
  if (!(broadcast_shapes(out.shape(), shape_of(x), what) == out.shape()))
    fail<ShapeError>("{0}: an operand of shape {2} does not broadcast to the output of shape {1}", what, out.shape(),
                     shape_of(x));
}

void unary_into(const Array& out, Op op, Operand& x) {
  const char* name = ops::info(op).name;
  const Types types = types_of(op, dtype_of_operand(x));
  check_goes_into(out, types.result, name);
  check_broadcasts_to(out, x, name);
  common_device(Operand(out), x, name);
  const Array result = unary(op, x);
  lazy::assign(out, {.array = &result, .as = result.dtype()});
}

/// Messages name `what`: a row's name, or an operator.
void binary_into(const Array& out, Op op, Operand& x, Operand& y, const char* what) {
  const Dtype d = operands_dtype(op, x, y);
  const Types types = types_of(op, d, x, y, what);
  check_goes_into(out, types.result, what);
  check_broadcasts_to(out, x, what);
  check_broadcasts_to(out, y, what);
  common_device(x, y, what);
  common_device(Operand(out), x.is_array() ? x : y, what);
  if (types.result == out.dtype() && op != Op::power && op != Op::nextafter) {
    if (d == Dtype::bool_ && types.operand == Dtype::bool_) op = op_for_bool(op);
    const LazyOperand operands[] = {lazy_operand(x, types.operand, op), lazy_operand(y, types.operand, op)};
    lazy::apply_into(out, op, operands, types.result);
  } else {
    const Array result = binary(op, x, y);
    lazy::assign(out, {.array = &result, .as = result.dtype()});
  }
}

const Array& in_place(const Array& target, Op op, Operand y, const char* symbol) {
  Operand x(target);
  binary_into(target, op, x, y, symbol);
  return target;
}

}  // namespace

#define CT_DEFINE_1(name) \
  Array name(Operand x) { return unary(Op::name, x); }
#define CT_DEFINE_2(name) \
  Array name(Operand x, Operand y) { return binary(Op::name, x, y); }
#define CT_DEFINE_3(name) \
  Array name(Operand x, Operand y, Operand z) { return ternary(Op::name, x, y, z); }
#define CT_OP(name, arity, ...) CT_DEFINE_##arity(name)
#include "catenary/ops/elementwise.def"
#undef CT_OP
#undef CT_DEFINE_1
#undef CT_DEFINE_2
#undef CT_DEFINE_3

Array apply(ops::Op op, Operand x) { return unary(op, x); }
Array apply(ops::Op op, Operand x, Operand y) { return binary(op, x, y); }
Array apply(ops::Op op, Operand x, Operand y, Operand z) { return ternary(op, x, y, z); }
void apply_to(Target out, ops::Op op, Operand x) { unary_into(out, op, x); }
void apply_to(Target out, ops::Op op, Operand x, Operand y) { binary_into(out, op, x, y, ops::info(op).name); }

void apply_at(Target to, ops::Op op, const std::vector<Index>& indices, const std::optional<Operand>& value) {
  const Array& a = to;
  const char* name = ops::info(op).name;
  if (value.has_value() == (ops::info(op).arity == 1))
    fail<DtypeError>("apply_at: wrong number of operands of {}", name);
  const Device device = a.device();
  const Array places = detail::iota(a.size(), device).reshape(a.shape()).get(indices);
  const Array flat = places.ravel();
  const std::int64_t n = flat.size();
  std::optional<Array> values;
  if (value && value->is_array()) values = value->array().broadcast_to(places.shape()).ravel();
  if (n == 0) return;
  // number of earlier uses of the same element: all first uses form a round, then all second uses, and so on
  const Array order = argsort(flat), sorted = take(flat, order);
  const Array round = subtract(detail::iota(n, device), searchsorted(sorted, sorted));
  const auto rounds = max(round).item<std::int64_t>() + 1;
  for (std::int64_t i = 0; i < rounds; ++i) {
    const Array uses = rounds == 1 ? order : take(order, flatnonzero(equal(round, i)));
    const Array at = take(flat, uses), old = take(a.ravel(), at);
    const Array result = !value ? apply(op, old) : apply(op, old, values ? Operand(take(*values, uses)) : *value);
    check_goes_into(a, result.dtype(), name);
    put(a, at, result);
  }
}

void multiply_at(Target a, const std::vector<Index>& indices, const Operand& value) {
  apply_at(a, ops::Op::multiply, indices, value);
}

Dtype result_type(const Operand& x, const Operand& y) {
  const Dtype a = dtype_of_operand(x), b = dtype_of_operand(y);
  if (x.is_array() == y.is_array()) return promote(a, b);
  const Dtype array = x.is_array() ? a : b;
  const Scalar& literal = x.is_array() ? y.scalar() : x.scalar();
  switch (literal.kind()) {
    case Scalar::Kind::boolean:
      return array;
    case Scalar::Kind::integer:
      return array == Dtype::bool_ ? Dtype::int64 : array;
    case Scalar::Kind::real:
      return is_inexact(array) ? array : Dtype::float64;
    case Scalar::Kind::complex:
      break;
  }
  return is_inexact(array) ? promote(array, Dtype::complex64) : Dtype::complex128;
}

Array positive(const Array& x) {
  if (x.dtype() == Dtype::bool_) throw DtypeError("positive: not defined for bool");
  return x.astype(x.dtype());
}

namespace {
/// Applies f to floats: non-float arrays are cast, and literals are passed as their value.
template <class F>
Array of_floats(const Operand& x, F&& f) {
  if (is_complex(dtype_of_operand(x))) detail::refuse_complex(dtype_of_operand(x));
  return x.is_array() ? f(x.array().astype(float_of(x.array().dtype()))) : f(x.scalar().real());
}
}  // namespace

Array fabs(const Operand& x) {
  return of_floats(x, [](const Operand& y) { return absolute(y); });
}

Array where(Operand condition, Operand x, Operand y) {
  const Dtype d = result_type(x, y);
  check_literal_fits(x, d, "where");
  check_literal_fits(y, d, "where");
  const Shape shape =
      broadcast_shapes(broadcast_shapes(shape_of(condition), shape_of(x), "where"), shape_of(y), "where");
  const Device device = condition.is_array() ? condition.array().device() : common_device(x, y, "where");
  common_device(condition, x, "where");
  common_device(condition, y, "where");
  const LazyOperand operands[] = {lazy_operand(condition, Dtype::bool_), lazy_operand(x, d), lazy_operand(y, d)};
  Array result = lazy::apply(Op::where, operands, d, shape, device);
  for (Operand* operand : {&condition, &x, &y}) operand->release();
  return result;
}

Array clip(const Array& x, const std::optional<Operand>& low, const std::optional<Operand>& high) {
  if (!low && !high) return x.astype(x.dtype());
  if (!high) return maximum(x, *low);
  return low ? minimum(maximum(x, *low), *high) : minimum(x, *high);
}

Array ldexp(const Operand& x, const Operand& exponent) {
  const Dtype e = dtype_of_operand(exponent);
  if (is_inexact(e) || e == Dtype::uint64)
    fail<DtypeError>("ldexp: exponent must be an integer of at most 64 bits with a sign, got {}", e);
  const Dtype d = float_of(dtype_of_operand(x));
  if (is_complex(d)) detail::refuse_complex(d);
  check_literal_fits(exponent, Dtype::int32, "ldexp");
  Array limited;
  if (exponent.is_array() && (e == Dtype::int64 || e == Dtype::uint32)) {
    // Clip exponents to int32. The limit is far beyond every float's exponents, and larger ones must not wrap around.
    constexpr std::int64_t limit = 1 << 20;
    limited = clip(exponent.array(), e == Dtype::int64 ? -limit : 0, limit);
  }
  const Operand held = limited.defined() ? Operand(limited) : exponent;
  const LazyOperand operands[] = {lazy_operand(x, d), lazy_operand(held, Dtype::int32)};
  return lazy::apply(Op::ldexp, operands, d, broadcast_shapes(shape_of(x), shape_of(exponent), "ldexp"),
                     common_device(x, exponent, "ldexp"));
}

std::pair<Array, Array> frexp(const Operand& x) {
  if (is_complex(dtype_of_operand(x))) detail::refuse_complex(dtype_of_operand(x));
  const LazyOperand operand = lazy_operand(x, float_of(dtype_of_operand(x)));
  return {frexp_mantissa(x),
          lazy::apply(Op::frexp_exponent, {&operand, 1}, Dtype::int32, shape_of(x), device_of(x, current_device()))};
}

std::pair<Array, Array> modf(const Operand& x) {
  return {modf_fraction(x), of_floats(x, [](const Operand& y) { return trunc(y); })};
}

std::pair<Array, Array> divmod(const Operand& x, const Operand& y) { return {floor_divide(x, y), remainder(x, y)}; }

namespace {

/// Throws DtypeError if a copy would drop imaginary parts, as numpy.copyto does.
void check_keeps_parts(Dtype from, Dtype to) {
  if (loses_parts(from, to))
    fail<DtypeError>(
        "copyto: {} cannot be stored as {}, which has no imaginary parts; copy real(x), imag(x) or absolute(x)", from,
        to);
}

}  // namespace

void copyto(Target to, const Operand& value) {
  const Array& target = to;
  check_keeps_parts(dtype_of_operand(value), target.dtype());
  if (value.is_array()) {
    broadcast_strides(value.array().shape(), value.array().strides(), target.shape(), "copyto");
    common_device(target, value, "copyto");
  }
  lazy::assign(target, lazy_operand(value, target.dtype()));
}

void copyto(Target to, const Operand& value, const Array& mask) {
  const Array& target = to;
  if (!(broadcast_shapes(broadcast_shapes(target.shape(), shape_of(value), "copyto"), mask.shape(), "copyto") ==
        target.shape()))
    fail<ShapeError>("copyto: a value of shape {} and a mask of shape {} do not broadcast to the target's {}",
                     shape_of(value), mask.shape(), target.shape());
  check_keeps_parts(dtype_of_operand(value), target.dtype());
  common_device(target, value, "copyto");
  common_device(target, mask, "copyto");
  const LazyOperand operands[] = {lazy_operand(mask, Dtype::bool_), lazy_operand(value, target.dtype()),
                                  lazy_operand(target, target.dtype())};
  lazy::apply_into(target, Op::where, operands, target.dtype());
}

const Array& Array::operator+=(const Operand& y) const& { return in_place(*this, Op::add, y, "+="); }
const Array& Array::operator-=(const Operand& y) const& { return in_place(*this, Op::subtract, y, "-="); }
const Array& Array::operator*=(const Operand& y) const& { return in_place(*this, Op::multiply, y, "*="); }
const Array& Array::operator/=(const Operand& y) const& { return in_place(*this, Op::divide, y, "/="); }

}  // namespace catenary
