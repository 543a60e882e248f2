#include "catenary/core/dtype.h"

#include <iterator>
#include <ostream>

#include "catenary/core/format.h"

namespace catenary {

namespace {
constexpr const char* kNames[] = {
#define CT_DTYPE(id, name, ...) name,
#include "catenary/core/dtypes.def"
};
static_assert(std::size(kNames) == kDtypes && !is_complex(static_cast<Dtype>(kRealDtypes - 1)) &&
              is_complex(static_cast<Dtype>(kRealDtypes)));
static_assert(itemsize(Dtype::bool_) == 1 && itemsize(Dtype::bfloat16) == 2 && itemsize(Dtype::complex128) == 16);

Dtype signed_of_size(std::size_t bytes) {
  return bytes == 1 ? Dtype::int8 : bytes == 2 ? Dtype::int16 : bytes == 4 ? Dtype::int32 : Dtype::int64;
}

/// Returns the smallest float that NumPy promotes an integer of this size to.
Dtype float_for_integer(std::size_t bytes) {
  return bytes == 1 ? Dtype::float16 : bytes == 2 ? Dtype::float32 : Dtype::float64;
}
}  // namespace

std::ostream& operator<<(std::ostream& stream, Dtype dtype) { return stream << dtype_name(dtype); }

const char* dtype_name(Dtype d) { return kNames[static_cast<int>(d)]; }

Dtype dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDtypes; ++i)
    if (name == kNames[i]) return static_cast<Dtype>(i);
  std::string_view code = name;
  if (!code.empty() && (code.front() == '<' || code.front() == '|' || code.front() == '=')) code.remove_prefix(1);
  struct Code {
    const char* code;
    Dtype dtype;
  };
  constexpr Code codes[] = {{"?", Dtype::bool_},     {"b1", Dtype::bool_},     {"i1", Dtype::int8},
                            {"i2", Dtype::int16},    {"i4", Dtype::int32},     {"i8", Dtype::int64},
                            {"u1", Dtype::uint8},    {"u2", Dtype::uint16},    {"u4", Dtype::uint32},
                            {"u8", Dtype::uint64},   {"f2", Dtype::float16},   {"f4", Dtype::float32},
                            {"f8", Dtype::float64},  {"e", Dtype::float16},    {"f", Dtype::float32},
                            {"d", Dtype::float64},   {"i", Dtype::int32},      {"l", Dtype::int64},
                            {"b", Dtype::int8},      {"B", Dtype::uint8},      {"float", Dtype::float64},
                            {"int", Dtype::int64},   {"c8", Dtype::complex64}, {"c16", Dtype::complex128},
                            {"F", Dtype::complex64}, {"D", Dtype::complex128}, {"complex", Dtype::complex128}};
  for (const Code& c : codes)
    if (code == c.code) return c.dtype;
  fail<DtypeError>("unknown dtype '{}'; expected one of {}", name, fmt::join(kNames, ", "));
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (kind(a) > kind(b)) std::swap(a, b);  // now kind(a) <= kind(b)
  const std::size_t size_a = itemsize(a), size_b = itemsize(b);
  if (kind(a) == Kind::boolean) return b;
  if (is_complex(b)) {
    const Dtype part = is_integer(a) ? float_for_integer(itemsize(a)) : part_dtype(a);
    return itemsize(part) == 8 ? Dtype::complex128 : b;
  }
  if (kind(b) != Kind::floating) {
    if (kind(a) == kind(b)) return size_a > size_b ? a : b;
    // signed with unsigned: the next larger signed type, or float64 beyond 64 bits
    if (size_a > size_b) return a;
    return size_b == 8 ? Dtype::float64 : signed_of_size(size_b * 2);
  }
  if (kind(a) == Kind::floating) {
    if (is_16bit_float(a) && is_16bit_float(b)) return Dtype::float32;
    return size_a > size_b ? a : b;
  }
  const Dtype need = float_for_integer(size_a);
  if (b == Dtype::bfloat16 && need == Dtype::float16) return b;
  return itemsize(need) > size_b ? need : b;
}

bool can_cast_same_kind(Dtype from, Dtype to) {
  if (kind(from) <= kind(to)) return !(kind(from) == Kind::signed_int && kind(to) == Kind::unsigned_int);
  return kind(from) == Kind::unsigned_int && kind(to) == Kind::signed_int;
}

namespace detail {
void refuse_complex(Dtype d) { fail<DtypeError>("{}: complex numbers are not supported here", d); }
}  // namespace detail

}  // namespace catenary
