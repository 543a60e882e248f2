// Bits in bytes.

#include "catenary/array/bits.h"

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

TEST(Bits, Unpacked) {
  const Array x = make<std::uint8_t>({0xB7, 0x01});
  expect_array(ct::unpackbits(x), {1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}, {16}, Dtype::uint8);
  expect_array(ct::unpackbits(x.reshape({2, 1}), 1, ct::BitOrder::little),
               {1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}, {2, 8}, Dtype::uint8);
  expect_array(ct::unpackbits(Array::empty({0}, Dtype::uint8)), {}, {0}, Dtype::uint8);
  EXPECT_THROW(ct::unpackbits(make<int>({1})), ct::DtypeError);
}

}  // namespace
