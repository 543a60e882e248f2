// Compares reading, writing and adding by index expressions with NumPy (tests/data/array/index.json), and tests the
// functions of indexing.h.

#include "catenary/array/indexing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/axis_error.h"
#include "tests/paths.h"
#include "tests/settle.h"

namespace ct = catenary;
using ct::slice;

namespace {

using Ints = std::vector<std::int64_t>;

ct::Array base_of(const nlohmann::json& c) {
  const ct::Shape shape(c["shape"].get<Ints>());
  const std::string view = c["view"];
  const std::int64_t n = shape.product();
  if (view == "transposed")
    return ct::arange(n).reshape(Ints(std::reverse_iterator(shape.end()), std::reverse_iterator(shape.begin()))).T();
  if (view == "reversed") return ct::flip(ct::arange(n).reshape(shape));
  if (view == "strided") {
    ct::Shape big = shape;
    for (auto& extent : big) extent *= 2;
    return ct::arange(big.product())
        .reshape(big)
        .get(std::vector<ct::Index>(static_cast<std::size_t>(shape.size()), ct::Index(slice(1, ct::none, 2))));
  }
  return ct::arange(n).reshape(shape);
}

std::vector<ct::Index> index_of(const nlohmann::json& c) {
  std::vector<ct::Index> index;
  for (const auto& i : c["index"]) {
    const auto end = [&](int k) {
      return i["s"][k].is_null() ? std::nullopt : std::optional(i["s"][k].get<std::int64_t>());
    };
    if (i.contains("s")) index.emplace_back(ct::Slice{end(0), end(1), end(2)});
    if (i.contains("n")) index.emplace_back(ct::newaxis);
    if (i.contains("e")) index.emplace_back(ct::ellipsis);
    if (i.contains("i")) index.emplace_back(i["i"].get<std::int64_t>());
    if (i.contains("a"))
      index.emplace_back(ct::array(i["a"].get<Ints>(), ct::Shape(i["shape"].get<Ints>()),
                                   ct::dtype_from_name(i["dtype"].get<std::string>())));
  }
  return index;
}

void expect(const ct::Array& a, const ct::Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(a.shape(), shape) << a.shape().str();
  EXPECT_EQ(a.to_vector<double>(), values);
}

/// Returns our message for a NumPy message, with equal numbers.
std::string our_words(const std::string& message) {
  for (const auto& [theirs, ours] :
       {std::pair(R"(index (-?\d+) is out of bounds for axis (\d+) with size (\d+))",
                  "index $1 is out of bounds for axis $2 with size $3"),
        std::pair(R"(boolean index did not match .* axis (\d+); size of axis is (\d+) but .* is (\d+))",
                  "a mask of size $3 does not fit axis $1 with size $2"),
        std::pair("shape mismatch.*", "the shapes of the index arrays do not broadcast together")}) {
    const std::regex pattern(theirs);
    if (std::regex_match(message, pattern)) return std::regex_replace(message, pattern, ours);
  }
  return "no words for: " + message;
}

}  // namespace

TEST(Indexing, AsNumPy) {
  std::ifstream file(tests::source_path("tests/data/array/index.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 300u);
  for (const auto& c : cases) {
    SCOPED_TRACE(c["shape"].dump() + " " + c["view"].get<std::string>() + " " + c["index"].dump());
    const ct::Array x = base_of(c);
    const std::vector<ct::Index> index = index_of(c);
    if (c.contains("error")) {
      try {
        tests::settle([&] { x.get(index); });
        ADD_FAILURE() << "NumPy refuses: " << c["error"];
      } catch (const ct::IndexError& e) {
        EXPECT_NE(std::string(e.what()).find(our_words(c["error"])), std::string::npos) << e.what() << "\n"
                                                                                        << c["error"];
      }
      EXPECT_THROW(tests::settle([&] { x.copy().set_at(index, 1); }), ct::IndexError);
      continue;
    }
    const ct::Array result = x.get(index);
    EXPECT_EQ(result.shape(), ct::Shape(c["result_shape"].get<Ints>())) << result.shape().str();
    EXPECT_EQ(result.to_vector<std::int64_t>(), c["result"].get<Ints>());
    if (!c["is_view"].is_null()) {
      EXPECT_EQ(result.shares_memory(x), c["is_view"].get<bool>());
    }
    const ct::Shape value_shape(c["value_shape"].get<Ints>());
    const ct::Array value = -(ct::arange(value_shape.product()) + 1).reshape(value_shape);
    ct::Array y = x.copy();
    y.set_at(index, value);
    EXPECT_EQ(y.to_vector<std::int64_t>(), c["after"].get<Ints>());
    y = x.copy();
    ct::scatter_add(y, index, value);
    EXPECT_EQ(y.to_vector<std::int64_t>(), c["added"].get<Ints>());
  }
}

TEST(Indexing, WritesThroughViews) {
  const ct::Array x = ct::zeros({3, 4}, ct::Dtype::int32);
  x.T()(slice(1, 3), 0).fill(5);
  x(2).set(7, ct::array({1, 3}));
  expect(x, {3, 4}, {0, 5, 5, 0, 0, 0, 0, 0, 0, 7, 0, 7});
  x.set(x(slice(ct::none, ct::none, -1)), slice());  // overlapping
  expect(x, {3, 4}, {0, 7, 0, 7, 0, 0, 0, 0, 0, 5, 5, 0});
  x.set(1.9, 0);  // casts like astype
  expect(x(0), {4}, {1, 1, 1, 1});
}

TEST(Indexing, MaskWithValues) {
  const ct::Array x = ct::arange(6.0).reshape({2, 3});
  x.set(ct::array({10.0, 20.0, 30.0}), x >= 3.0);
  expect(x, {2, 3}, {0, 1, 2, 10, 20, 30});
  x.set(-1, x > 15);
  expect(x, {2, 3}, {0, 1, 2, 10, -1, -1});
  EXPECT_THROW(x.set(ct::arange(2.0), x < 3), ct::ShapeError);
  x.set(ct::array({7.0, 8.0, 9.0}), ct::array({true, false}));
  expect(x, {2, 3}, {7, 8, 9, 10, -1, -1});
}

TEST(Indexing, NoBoolsAreNoPositions) {
  const ct::Array x = ct::arange(24).reshape({2, 3, 4}), none = ct::empty({0}, ct::Dtype::bool_);
  EXPECT_EQ(x(none).shape(), (ct::Shape{0, 3, 4}));
  EXPECT_EQ(x(slice(), none).shape(), (ct::Shape{2, 0, 4}));
  x.set(5, none);
  EXPECT_EQ(x.to_vector<std::int64_t>(), ct::arange(24).to_vector<std::int64_t>());
  EXPECT_EQ(x(ct::empty({0, 3}, ct::Dtype::bool_)).shape(), (ct::Shape{0, 4}));
  EXPECT_EQ(x(slice(), ct::empty({3, 0}, ct::Dtype::bool_)).shape(), (ct::Shape{2, 0}));
  EXPECT_THROW(x(ct::empty({0, 1}, ct::Dtype::bool_)), ct::IndexError);
}

TEST(Indexing, Refusals) {
  const ct::Array x = ct::arange(60).reshape({2, 5, 6});
  EXPECT_THROW(x(ct::array({0.5})), ct::IndexError);
  EXPECT_THROW(x(ct::ellipsis, ct::ellipsis), ct::EllipsisError);
  EXPECT_THROW(x(0, 0, 0, 0), ct::IndexCountError);
  EXPECT_THROW(x(ct::zeros({2, 5}, ct::Dtype::bool_), 0, 0), ct::IndexCountError);
  EXPECT_THROW(x(slice(0, 2, 0)), ct::ValueError);
  EXPECT_THROW(x.set(ct::zeros({4}), 0), ct::ShapeError);
  EXPECT_THROW(x.set(ct::zeros({3, 6}), slice(), 0), ct::ShapeError);
  EXPECT_THROW(x[2], ct::IndexError);
  EXPECT_THROW(ct::zeros({3, 0}).set(1, slice(), ct::array({0})),
               ct::IndexError);  // thrown at once, since nothing is read later
  const ct::Array before = x.copy();
  EXPECT_THROW(tests::settle([&] { x.set(1, ct::array({0, 7})); }), ct::IndexError);
  EXPECT_EQ(x.to_vector<std::int64_t>(), before.to_vector<std::int64_t>());
}

/// Expects a view of x under these indices to behave like a copy of it: reading, writing and adding.
void expect_as_copy(const ct::Array& view, const std::vector<ct::Index>& indices, const std::string& what) {
  const ct::Array copy = view.copy();
  const ct::Array picked = view.get(indices);
  EXPECT_EQ(picked.shape(), copy.get(indices).shape()) << what;
  EXPECT_EQ(picked.to_vector<std::int64_t>(), copy.get(indices).to_vector<std::int64_t>()) << what;
  const ct::Array values = -(ct::arange(picked.size()) + 1).reshape(picked.shape());
  for (const ct::Array* to : {&view, &copy}) {
    to->set_at(indices, values);
    ct::scatter_add(*to, indices, values * 2);
    ct::scatter_max(*to, indices, -4);
  }
  EXPECT_EQ(view.to_vector<std::int64_t>(), copy.to_vector<std::int64_t>()) << what;
  for (const ct::Array* to : {&view, &copy}) to->set_at(indices, 1000);
  EXPECT_EQ(view.to_vector<std::int64_t>(), copy.to_vector<std::int64_t>()) << what;
}

/// Returns views of [4, 6, 3] with strides of both signs, and with axes that cannot be merged.
std::vector<std::pair<std::string, ct::Array>> views() {
  const auto all = slice(), back = slice(ct::none, ct::none, -1), second = slice(ct::none, ct::none, 2);
  const auto x = [] { return ct::arange(4 * 6 * 3).reshape({4, 6, 3}); };
  const ct::Array wide = ct::arange(8 * 12 * 3).reshape({8, 12, 3});
  return {{"as they come", x()},
          {"back, all", x()(back)},
          {"all, back", x()(all, back)},
          {"back, back", x()(back, back)},
          {"back, back, back", x()(back, back, back)},
          {"all, all, back", x()(all, all, back)},
          {"back, all, back", x()(back, all, back)},
          {"every second", wide.copy()(second, second)},
          {"every second, back", wide.copy()(second, slice(ct::none, ct::none, -2))},
          {"back every second", wide.copy()(slice(ct::none, ct::none, -2), second)},
          {"transposed", ct::arange(4 * 6 * 3).reshape({3, 6, 4}).T()}};
}

TEST(Indexing, MasksOverNegativeStrides) {
  for (const int axes : {1, 2, 3}) {
    for (std::size_t i = 0; i < views().size(); ++i) {
      const auto [name, view] = views()[i];
      const ct::Array chosen = ct::remainder(ct::arange(4 * 6 * 3).reshape({4, 6, 3}) * 7, 5) < 2;
      const ct::Array mask = axes == 1 ? chosen(slice(), 1, 2) : axes == 2 ? chosen(slice(), slice(), 2) : chosen;
      expect_as_copy(view, {mask}, name);
      if (axes == 2) expect_as_copy(view, {slice(), chosen(0)}, name + ", the last two axes");
      if (axes == 1) expect_as_copy(view, {slice(), chosen(1, slice(), 0)}, name + ", the middle");
    }
  }
}

TEST(Indexing, IndicesOfOneElement) {
  const ct::Array one = ct::array({2}), last = ct::array({-1}), scalar = ct::array(1);
  for (std::size_t i = 0; i < views().size(); ++i) {
    const auto expect_all = [&](const std::vector<ct::Index>& indices) {
      const auto [name, view] = views()[i];
      expect_as_copy(view, indices, name);
    };
    expect_all({one});
    expect_all({last, one});
    expect_all({slice(), one});
    expect_all({slice(), slice(), last});
    expect_all({one, slice(), last});
    expect_all({one, last, scalar});
    expect_all({scalar});
    expect_all({slice(1, 2), one});
    expect_all({slice(1, 2), slice(2, 3), last});
    expect_all({ct::array({true}).broadcast_to({4})});
    expect_all({one.broadcast_to({3})});  // stride 0
    expect_all({ct::array({3, 0, 1})(slice(ct::none, ct::none, -1))});
  }
  const ct::Array x = ct::arange(12).reshape({3, 4});
  // int64 indices, which are used in place with any strides, in both ways to take rows
  for (const ct::Array& rows : {x, x(slice(), slice(ct::none, ct::none, -1))}) {
    EXPECT_TRUE((rows(ct::array(Ints{2, 0, 1})(slice(ct::none, ct::none, -1))) == rows(ct::array({1, 0, 2}))).all());
    EXPECT_TRUE((rows(ct::array(Ints{2}).broadcast_to({3})) == rows(ct::array({2, 2, 2}))).all());
    EXPECT_TRUE((rows(ct::array(Ints{2, 9, 0, 9})(slice(ct::none, ct::none, 2))) == rows(ct::array({2, 0}))).all());
  }
  // an axis of size 1 keeps the array's stride, whatever the step
  EXPECT_EQ(x(slice(1, 2, 7), slice(0, 1, std::int64_t{1} << 62)).strides(), (ct::Strides{4, 1}));
  EXPECT_EQ(x(slice(2, 1), slice(9, 9)).shape(), (ct::Shape{0, 0}));
  // a single index is checked even if nothing is selected
  EXPECT_THROW(tests::settle([&] { x(ct::array(9), ct::empty({0}, ct::Dtype::int64)); }), ct::IndexError);
  EXPECT_THROW(tests::settle([&] { x.set(1, ct::array(9), ct::empty({0}, ct::Dtype::int64)); }), ct::IndexError);
}

TEST(Indexing, IndicesMasksAndValuesThatAreTheTarget) {
  const ct::Array p = ct::array(Ints{1, 2, 0});
  p.set(ct::array({5, 6, 7}), p);
  EXPECT_EQ(p.to_vector<std::int64_t>(), (Ints{7, 5, 6}));
  // more than a block of elements, reversed
  const std::int64_t n = 5000;
  const ct::Array places = ct::arange(n), x = ct::arange(n);
  x.set(x(slice(ct::none, ct::none, -1)), places);
  EXPECT_TRUE((x == n - 1 - ct::arange(n)).all());
  x.set(x(slice(n - 1)), places(slice(1, n)));  // moves each element to the next position
  EXPECT_TRUE((x(slice(1, n)) == n - ct::arange(1, n)).all());
  const ct::Array order = ct::remainder(ct::arange(n) * 7 + 3, n), expected_order = order.copy();
  expected_order.set(places, order.copy());
  order.set(places, order);
  EXPECT_TRUE((order == expected_order).all());
  // indices that are views of the target and usable in place: halves, and every second element reversed
  for (const auto& [part, mode] : {std::pair{slice(n / 2), 0}, {slice(n / 2, n), 1}, {slice(n - 1, ct::none, -2), 2}}) {
    const ct::Array target = ct::remainder(ct::arange(n) * 7 + 3, n), wanted = target.copy();
    const ct::Array indices = target(part), apart = indices.copy(), values = ct::arange(indices.size()) * 3;
    const auto write = [&, mode = mode](const ct::Array& to, const ct::Array& at) {
      if (mode == 1) return ct::scatter_add(to, {at}, values);
      to.set(values, at);
    };
    write(wanted, apart);
    write(target, indices);
    EXPECT_TRUE((target == wanted).all()) << mode;
  }
  const ct::Array mask = ct::remainder(ct::arange(n), 3) == 0, backwards = mask(slice(ct::none, ct::none, -1)).copy();
  const ct::Array expected = mask & ~backwards;
  mask.set(false, mask(slice(ct::none, ct::none, -1)));
  EXPECT_TRUE((mask == expected).all());
}
