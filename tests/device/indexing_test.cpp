// Compares reading and writing by index arrays on the current device bit for bit with the CPU: all dtypes, repeated
// indices, strides of all kinds. Run it with --device.

#include "catenary/array/indexing.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/core/error.h"
#include "catenary/device/device.h"
#include "tests/device/same.h"
#include "tests/settle.h"

namespace catenary {
namespace {

using testing_devices::large;
using testing_devices::same;
using testing_devices::small;

std::vector<Dtype> dtypes_of_device() {
  std::vector<Dtype> dtypes;
  for (int i = 0; i < kRealDtypes; ++i)
    // on an interpreter, only one dtype of each size
    if ((static_cast<Dtype>(i) != Dtype::float64 || current_device().info().has_f64) && (!small() || i % 3 == 2))
      dtypes.push_back(static_cast<Dtype>(i));
  return dtypes;
}

/// Returns small integers on the CPU, whose sums are exact in any order, with some NaN if requested and possible.
Array small_integers(const Shape& shape, Dtype dtype, unsigned seed, bool with_nan = false) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (double& value : values) {
    value = static_cast<double>(random() % 7);
    if (with_nan && is_floating(dtype) && random() % 11 == 0) value = std::numeric_limits<double>::quiet_NaN();
  }
  return Array::from_host(values.data(), shape, Dtype::float64, Device()).astype(dtype);
}

/// Returns indices in [-n, n) on the CPU.
Array indices(const Shape& shape, std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.product()));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * n)) - n;
  return Array::from_host(values.data(), shape, Dtype::int64, Device());
}

/// Expects `make` to give equal results on the current device.
void expect_same(const std::vector<Array>& on_cpu, const std::function<Array(const std::vector<Array>&)>& make,
                 const std::string& what) {
  std::vector<Array> copies, there;
  for (const Array& a : on_cpu) {
    copies.push_back(a.copy());
    there.push_back(a.to_device(current_device()));
    if (there.back().is(a)) there.back() = a.copy();
  }
  const Array expected = make(copies), got = make(there);
  EXPECT_TRUE(same(got, expected)) << what;
}

TEST(DeviceIndexing, TakesElementsAndBlocksOfAllSizes) {
  for (Dtype dtype : dtypes_of_device()) {
    for (const Shape& shape : {Shape{5, 7, 3}, Shape{1, 400, 1}, Shape{3, 2, 8}, Shape{4, 3, 0}, Shape{2, 9, 130}}) {
      if (shape == Shape{2, 9, 130} && dtype != Dtype::float32) continue;
      const std::string what = std::string(dtype_name(dtype)) + " " + shape.str();
      const Array x = small_integers(shape, dtype, 1, true), i = indices({4, 70}, shape[1], 2);
      for (IndexMode mode : {IndexMode::raise, IndexMode::wrap, IndexMode::clip})
        expect_same(
            {x, i}, [&](const auto& a) { return take(a[0], a[1], 1, mode); }, what);
      const Array wild = indices({3, 5}, 10 * shape[1], 3);
      for (IndexMode mode : {IndexMode::wrap, IndexMode::clip})
        expect_same(
            {x, wild}, [&](const auto& a) { return take(a[0], a[1], 1, mode); }, what + " out of range");
      // a view with an offset
      expect_same(
          {x, i},
          [&](const auto& a) {
            return take(a[0](Slice{1, {}, {}}), a[1], 1);
          },
          what + " with an offset");
    }
  }
}

TEST(DeviceIndexing, TakesAlongAnAxis) {
  for (Dtype dtype : dtypes_of_device()) {
    for (const Shape& shape : {Shape{5, 7, 3}, Shape{1, 40, 1}, Shape{3, 1, 8}}) {
      const std::string what = std::string(dtype_name(dtype)) + " " + shape.str();
      const Array x = small_integers(shape, dtype, 1, true);
      for (int axis : {0, 1, 2}) {
        Shape picked = shape;
        picked[axis] = 6;
        const Array all = indices(picked, shape[axis], 2);
        expect_same(
            {x, all}, [&](const auto& a) { return take_along_axis(a[0], a[1], axis); }, what);
        // views, and broadcast indices
        Shape one = Shape::filled(3, 1);
        one[axis] = 4;
        expect_same(
            {x, indices(one, shape[axis], 3)},
            [&](const auto& a) {
              return take_along_axis(a[0](Slice{{}, {}, -1}), a[1], axis);
            },
            what + " broadcast");
        expect_same(
            {x, all}, [&](const auto& a) { return take_along_axis(a[0].T(), a[1].T(), 2 - axis); },
            what + " transposed");
      }
    }
  }
  const Array x = small_integers({2, 3}, Dtype::float32, 1, true).to_device(current_device());
  EXPECT_EQ(take_along_axis(x, indices({2, 0}, 3, 4).to_device(current_device()), 1).shape(), (Shape{2, 0}));
  try {
    const std::int64_t picks[] = {0, 3};
    tests::settle([&] { take_along_axis(x, Array::from_host(picks, {2, 1}, Dtype::int64, current_device()), 1); });
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_NE(std::string(error.what()).find("index 3 is out of bounds for axis 1 with size 3"), std::string::npos)
        << error.what();
  }
}

using Picks = std::vector<Index>;

/// Views with one or several indexed axes, and the remaining axes in order, strided, reversed or transposed.
struct View {
  const char* name;
  std::function<Array(const Array&)> of;
  std::function<Picks(const Array&, const Array&)> picks;
};
const std::vector<View>& views() {
  static const std::vector<View> views = {
      {"first axis", [](const Array& a) { return a; }, [](const Array& i, const Array&) { return Picks{i}; }},
      {"two axes", [](const Array& a) { return a; },
       [](const Array& i, const Array& j) {
         return Picks{i, j};
       }},
      {"two axes apart", [](const Array& a) { return a; },
       [](const Array& i, const Array& j) {
         return Picks{i, Slice(), j};
       }},
      {"every second, backwards",
       [](const Array& a) {
         return a(Slice(), Slice(), Slice{{}, {}, -2});
       },
       [](const Array& i, const Array&) { return Picks{i}; }},
      {"a table of the rest",
       [](const Array& a) {
         return a.transpose({0, 2, 1})(Slice(), Slice{1, {}, {}});
       },
       [](const Array& i, const Array&) { return Picks{i}; }},
      {"backwards along what is picked",
       [](const Array& a) {
         return a(Slice{{}, {}, -1});
       },
       [](const Array& i, const Array& j) {
         return Picks{i, j};
       }},
      {"nothing",
       [](const Array& a) {
         return a(Slice(), Slice(), Slice{0, 0, {}});
       },
       [](const Array& i, const Array&) { return Picks{i}; }},
  };
  return views;
}
const Shape kTable = {6, 6, 9};

TEST(DeviceIndexing, Gathers) {
  for (Dtype dtype : dtypes_of_device())
    for (const View& view : views())
      for (const Shape& count : {Shape{}, Shape{0}, Shape{3, 50}})
        expect_same(
            {small_integers(kTable, dtype, 4, true), indices(count, 6, 5), indices(count, 6, 6)},
            [&](const auto& a) { return view.of(a[0]).get(view.picks(a[1], a[2])); },
            std::string(dtype_name(dtype)) + " " + view.name + " " + count.str());
}

TEST(DeviceIndexing, Scatters) {
  using Write = void (*)(Target, const std::vector<Index>&, const Operand&);
  const std::pair<const char*, Write> writes[] = {
      {"add", scatter_add},
      {"max", scatter_max},
      {"min", scatter_min},
      {"assign", [](Target to, const std::vector<Index>& at, const Operand& value) {
         const Array& a = to;
         a.set_at(at, value);
       }}};
  for (Dtype dtype : dtypes_of_device())
    for (const View& view : views())
      for (const Shape& count : {Shape{}, Shape{0}, Shape{3, 50}})
        for (const auto& [name, write] : writes) {
          // each combination compiles a kernel: test all dtypes with one view, and all views with one dtype
          if (&view != &views()[1] && dtype != Dtype::int16) continue;
          const Array i = indices(count, 6, 7), j = indices(count, 6, 8), x = small_integers(kTable, dtype, 9, true);
          const Shape shape = view.of(x).get(view.picks(i, j)).shape();
          expect_same(
              {x, i, j, small_integers(shape, dtype, 10, true)},
              [&, &write = write](const auto& a) {
                write(view.of(a[0]), view.picks(a[1], a[2]), a[3]);
                return a[0];
              },
              std::string(name) + " " + dtype_name(dtype) + " " + view.name + " " + count.str());
        }
}

TEST(DeviceIndexing, ScattersMoreThanABlock) {
  for (Dtype dtype : {Dtype::float32, Dtype::int64, Dtype::uint8}) {
    const Array i = indices({large(20000)}, 5, 11), values = small_integers({large(20000)}, dtype, 12);
    expect_same(
        {small_integers({5}, dtype, 13), i, values},
        [](const auto& a) {
          scatter_add(a[0], {a[1]}, a[2]);
          return a[0];
        },
        dtype_name(dtype));
    expect_same(
        {small_integers({5, 300}, dtype, 14), indices({77}, 5, 15), small_integers({77, 300}, dtype, 16)},
        [](const auto& a) {
          scatter_add(a[0], {a[1]}, a[2]);
          return a[0];
        },
        dtype_name(dtype));
    expect_same(
        {small_integers({large(70000)}, dtype, 17), indices({large(30000)}, large(70000), 18),
         small_integers({large(30000)}, dtype, 19)},
        [](const auto& a) {
          a[0].set(a[2], a[1]);
          return a[0];
        },
        dtype_name(dtype));
  }
}

TEST(DeviceIndexing, IndicesOutOfRangeAreNamedAndNothingIsWritten) {
  const auto message = [](const std::function<void()>& f) {
    try {
      tests::settle(f);
    } catch (const IndexError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::vector<std::int64_t> bad(700, 2);
  bad[650] = -7;
  bad[660] = 9;
  for (const Device& device : {Device(), current_device()}) {
    const Array x = small_integers({6, 6}, Dtype::float32, 20).to_device(device);
    const Array i = Array::from_host(bad.data(), {700}, Dtype::int64, device);
    const std::string expected = "index -7 is out of bounds for axis 0 with size 6";
    EXPECT_NE(message([&] { x(i).eval(); }).find(expected), std::string::npos);
    EXPECT_NE(message([&] { x.T()(i, i).eval(); }).find(expected), std::string::npos);
    EXPECT_NE(message([&] { scatter_add(x, {i}, 1); }).find(expected), std::string::npos);
    EXPECT_NE(message([&] { x.set(1, i); }).find(expected), std::string::npos);
    EXPECT_TRUE(same(x, small_integers({6, 6}, Dtype::float32, 20)));
    const Array none = Array::empty({0}, Dtype::float32, device);
    EXPECT_NE(message([&] { none(i).eval(); }), "no error");
  }
}

}  // namespace
}  // namespace catenary
