// Bits in bytes.

#include "catenary/array/bits.h"

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/statistics.h"
#include "catenary/core/error.h"
#include "tests/array/expect.h"

namespace ct = catenary;

namespace {

using namespace testing_arrays;

TEST(Bits, Packed) {
  const Array x = make<int>({1, 0, 1, 1, 0, 1, 1, 1, 5});
  expect_array(ct::packbits(x), {0xB7, 0x80}, {2}, Dtype::uint8);
  expect_array(ct::packbits(x, {}, ct::BitOrder::little), {0xED, 0x01}, {2}, Dtype::uint8);
  expect_array(ct::packbits(make<int>({1, 0, 0, 1, 1, 1}, {3, 2}), 0), {0xA0, 0x60}, {1, 2}, Dtype::uint8);
  expect_array(ct::packbits(Array::empty({0}, Dtype::bool_)), {}, {0}, Dtype::uint8);
  EXPECT_THROW(ct::packbits(make<float>({1})), ct::DtypeError);
}

// Longer rows than a vector, with a rest, in both orders and of any element type.
TEST(Bits, LongRowsAreTheirFormula) {
  for (const std::int64_t n : {7, 64, 65, 200, 1031})
    for (const bool is_little : {false, true})
      for (const Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::uint8, Dtype::int32}) {
        std::vector<int> elements(static_cast<std::size_t>(3 * n)), packed(static_cast<std::size_t>(3 * ((n + 7) / 8)));
        for (std::size_t i = 0; i < elements.size(); ++i)
          elements[i] = i * i % 7 < 3 ? 0 : static_cast<int>(i % 100) + 1;
        for (std::int64_t row = 0; row < 3; ++row)
          for (std::int64_t i = 0; i < n; ++i)
            if (elements[static_cast<std::size_t>(row * n + i)] != 0)
              packed[static_cast<std::size_t>(row * ((n + 7) / 8) + i / 8)] |= 1 << (is_little ? i % 8 : 7 - i % 8);
        const ct::BitOrder order = is_little ? ct::BitOrder::little : ct::BitOrder::big;
        const Array x = make<int>(elements, {3, n}).astype(dtype), bytes = ct::packbits(x, 1, order);
        EXPECT_EQ(bytes.to_vector<int>(), packed);
        EXPECT_EQ(ct::packbits(x.T().copy(), 0, order).T().to_vector<int>(), packed);
        const Array bits = ct::unpackbits(bytes, 1, order)(ct::ellipsis, ct::slice(0, n));
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = elements[i] != 0;
        EXPECT_EQ(bits.to_vector<int>(), elements);
      }
}

TEST(Bits, Unpacked) {
  const Array x = make<std::uint8_t>({0xB7, 0x01});
  expect_array(ct::unpackbits(x), {1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}, {16}, Dtype::uint8);
  expect_array(ct::unpackbits(x.reshape({2, 1}), 1, ct::BitOrder::little),
               {1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}, {2, 8}, Dtype::uint8);
  expect_array(ct::unpackbits(Array::empty({0}, Dtype::uint8)), {}, {0}, Dtype::uint8);
  EXPECT_THROW(ct::unpackbits(make<int>({1})), ct::DtypeError);
}

// Rows of more bytes than a thread takes at once.
TEST(Bits, RowsOfSeveralThreads) {
  const Array x = ct::remainder(ct::arange(2 * 300'007) * ct::arange(2 * 300'007), 7).reshape({2, 300'007}) < 3;
  for (const ct::BitOrder order : {ct::BitOrder::big, ct::BitOrder::little}) {
    const Array bytes = ct::packbits(x, 1, order);
    for (const std::int64_t begin : {0, 131'072, 262'144, 299'904})
      EXPECT_TRUE(ct::array_equal(bytes(ct::ellipsis, ct::slice(begin / 8, begin / 8 + 12)),
                                  ct::packbits(x(ct::ellipsis, ct::slice(begin, begin + 96)), 1, order)))
          << begin;
    EXPECT_TRUE(ct::array_equal(ct::unpackbits(bytes, 1, order)(ct::ellipsis, ct::slice(0, 300'007)), x));
  }
}

}  // namespace
