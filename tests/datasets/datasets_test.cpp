// Datasets made of arrays and of other datasets, as Chainer's.

#include "catenary/datasets/datasets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "catenary/array/creation.h"
#include "catenary/array/random.h"
#include "catenary/core/error.h"
#include "catenary/iterators/iterators.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace D = ct::datasets;

namespace {

using Ints = std::vector<int>;

/// Examples first, first + 1, …
ct::Dataset counting(int size, int first = 0) {
  Ints values(static_cast<std::size_t>(size));
  std::iota(values.begin(), values.end(), first);
  return ct::Dataset(values);
}

Ints values_of(const ct::Dataset& dataset) {
  Ints values;
  for (std::int64_t i = 0; i < dataset.size(); ++i) values.push_back(dataset[i].values[0].item<int>());
  return values;
}

Ints sorted(Ints values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST(DictDataset, ExamplesHaveNames) {
  const ct::Array x = ct::arange(12).reshape({3, 4}), y = ct::arange(3) * 10;
  const ct::Dataset dataset(D::DictDataset({{"x", x}, {"y", y}}));
  ASSERT_EQ(dataset.size(), 3);
  for (int i = 0; i < 3; ++i) {
    const ct::Example example = dataset[i];
    EXPECT_EQ(example.names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(example.values[0].to_vector<int>(), (Ints{4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}));
    EXPECT_EQ(example.values[1].item<int>(), 10 * i);
  }
  EXPECT_EQ(dataset[-1].values[1].item<int>(), 20);
  EXPECT_THROW(dataset[3], ct::IndexError);
  EXPECT_THROW(dataset[-4], ct::IndexError);
  ct::Columns columns;
  EXPECT_TRUE(dataset.get_columns({2, 0}, columns));
  EXPECT_EQ(columns.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(columns.values[1].to_vector<int>(), (Ints{20, 0}));
  EXPECT_THROW(D::DictDataset({{"x", x}, {"z", ct::zeros({4, 4})}}), ct::ValueError);
  EXPECT_THROW(D::DictDataset({}), ct::ValueError);
}

TEST(ConcatenatedDataset, OneAfterAnother) {
  using Sizes = std::vector<int>;
  for (const Sizes& sizes : {Sizes{5, 15}, Sizes{5, 15, 20}, Sizes{5}, Sizes{}, Sizes{5, 0, 20, 0}, Sizes{0, 0, 0}}) {
    std::vector<ct::Dataset> parts;
    Ints expected;
    for (const int size : sizes) {
      parts.push_back(counting(size, 100 * static_cast<int>(parts.size())));
      for (const int value : values_of(parts.back())) expected.push_back(value);
    }
    const ct::Dataset all((D::ConcatenatedDataset(parts)));
    EXPECT_EQ(values_of(all), expected);
    EXPECT_THROW(all[all.size()], ct::IndexError);
    if (all.size() == 0) continue;
    EXPECT_EQ(all[-1].values[0].item<int>(), expected.back());
  }
  const ct::Dataset all(D::ConcatenatedDataset({counting(3), counting(3, 10)}));
  Ints seen;
  for (const ct::Example& example : all.get({5, 0, 3})) seen.push_back(example.values[0].item<int>());
  EXPECT_EQ(seen, (Ints{12, 0, 10}));
}

TEST(TransformDataset, AFunctionOfEachExample) {
  int calls = 0;
  const ct::Dataset doubled(D::TransformDataset(counting(4), [&](ct::Example example) {
    ++calls;
    return ct::Example{{example.values[0] * 2, example.values[0] + 1}, {"twice", "next"}};
  }));
  EXPECT_EQ(doubled.size(), 4);
  EXPECT_EQ(calls, 0);
  const ct::Example example = doubled[3];
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(example.names, (std::vector<std::string>{"twice", "next"}));
  EXPECT_EQ(example.values[0].item<int>(), 6);
  EXPECT_EQ(example.values[1].item<int>(), 4);
  EXPECT_EQ(values_of(doubled), (Ints{0, 2, 4, 6}));
  // examples that have been changed come in batches too
  const ct::Dataset tuples(D::TransformDataset(D::TupleDataset(ct::arange(4)), [](ct::Example e) {
    return ct::Example{{e.values[0] * 3}, {}};
  }));
  const ct::iterators::SerialIterator batches(tuples, 4, {.shuffle = false});
  EXPECT_EQ(ct::concat_examples(*batches.next())[0].array().to_vector<int>(), (Ints{0, 3, 6, 9}));
  EXPECT_THROW(doubled[4], ct::IndexError);
}

TEST(SubDataset, PartsOfAnOrder) {
  EXPECT_EQ(values_of(D::SubDataset(counting(5, 1), 1, 4)), (Ints{2, 3, 4}));
  EXPECT_EQ(values_of(D::SubDataset(counting(5, 1), 1, 4, {2, 0, 3, 1, 4})), (Ints{1, 4, 2}));
  EXPECT_THROW(D::SubDataset(counting(5), 1, 4, {2, 0, 3, 1}), ct::ValueError);
  EXPECT_THROW(D::SubDataset(counting(5), 3, 6), ct::ValueError);
  EXPECT_THROW(ct::Dataset(D::SubDataset(counting(5), 1, 4))[3], ct::IndexError);
}

TEST(SplitDataset, AtAPosition) {
  for (const int at : {0, 2, 5}) {
    const auto [first, second] = D::split_dataset(counting(5), at);
    Ints all = values_of(first);
    EXPECT_EQ(static_cast<int>(all.size()), at);
    for (const int value : values_of(second)) all.push_back(value);
    EXPECT_EQ(all, (Ints{0, 1, 2, 3, 4}));
  }
  const auto [first, second] = D::split_dataset(counting(5, 1), 2, {2, 0, 3, 1, 4});
  EXPECT_EQ(values_of(first), (Ints{3, 1}));
  EXPECT_EQ(values_of(second), (Ints{4, 2, 5}));
  EXPECT_THROW(D::split_dataset(counting(5), -1), ct::ValueError);
  EXPECT_THROW(D::split_dataset(counting(5), 6), ct::ValueError);
  EXPECT_THROW(D::split_dataset(counting(5), 2, {2, 0, 3, 1, 4, 5}), ct::ValueError);
}

TEST(SplitDataset, AtRandom) {
  ct::random::seed(1);
  const auto parts = [](std::optional<std::uint64_t> seed) {
    const auto [first, second] = D::split_dataset_random(counting(50), 20, seed);
    EXPECT_EQ(first.size(), 20);
    Ints all = values_of(first);
    for (const int value : values_of(second)) all.push_back(value);
    EXPECT_EQ(sorted(all), values_of(counting(50)));
    EXPECT_NE(all, sorted(all));
    return all;
  };
  EXPECT_EQ(parts(3), parts(3));
  EXPECT_NE(parts(3), parts(4));
  EXPECT_NE(parts({}), parts({}));
  const Ints seeded = parts(3);
  ct::random::seed(1);
  const Ints global = parts({});
  ct::random::seed(1);
  parts(3);  // which leaves the global generator alone
  EXPECT_EQ(parts({}), global);
  EXPECT_NE(global, seeded);
}

TEST(SplitDataset, InParts) {
  const auto parts_of = [](const std::vector<ct::Dataset>& datasets) {
    std::vector<Ints> parts;
    for (const ct::Dataset& dataset : datasets) parts.push_back(values_of(dataset));
    return parts;
  };
  EXPECT_EQ(parts_of(D::split_dataset_n(counting(7), 3)), (std::vector<Ints>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(parts_of(D::split_dataset_n(counting(7), 2, {6, 5, 4, 3, 2, 1, 0})),
            (std::vector<Ints>{{6, 5, 4}, {3, 2, 1}}));
  EXPECT_THROW(D::split_dataset_n(counting(7), 0), ct::ValueError);
  const auto random = parts_of(D::split_dataset_n_random(counting(60), 2, 9));
  EXPECT_EQ(random, parts_of(D::split_dataset_n_random(counting(60), 2, 9)));
  EXPECT_NE(random, parts_of(D::split_dataset_n_random(counting(60), 2, 8)));
  Ints all = random[0];
  all.insert(all.end(), random[1].begin(), random[1].end());
  EXPECT_EQ(random[0].size(), 30u);
  EXPECT_EQ(sorted(all), values_of(counting(60)));
}

TEST(CrossValidation, TestSetsPartTheDataset) {
  using Fold = std::pair<Ints, Ints>;
  const auto folds_of = [](const std::vector<std::pair<ct::Dataset, ct::Dataset>>& datasets) {
    std::vector<Fold> folds;
    for (const auto& [train, test] : datasets) folds.emplace_back(values_of(train), values_of(test));
    return folds;
  };
  // Chainer's: the last examples are tested first, and the training sets go on where the test sets end
  EXPECT_EQ(folds_of(D::get_cross_validation_datasets(counting(6, 1), 3)),
            (std::vector<Fold>{{{1, 2, 3, 4}, {5, 6}}, {{5, 6, 1, 2}, {3, 4}}, {{3, 4, 5, 6}, {1, 2}}}));
  EXPECT_EQ(folds_of(D::get_cross_validation_datasets(counting(7, 1), 3)),
            (std::vector<Fold>{{{1, 2, 3, 4}, {5, 6, 7}}, {{5, 6, 7, 1, 2}, {3, 4}}, {{3, 4, 5, 6, 7}, {1, 2}}}));
  EXPECT_EQ(folds_of(D::get_cross_validation_datasets(counting(3), 3, {2, 0, 1})),
            (std::vector<Fold>{{{2, 0}, {1}}, {{1, 2}, {0}}, {{0, 1}, {2}}}));
  EXPECT_THROW(D::get_cross_validation_datasets(counting(3), 0), ct::ValueError);
  EXPECT_THROW(D::get_cross_validation_datasets(counting(3), 4), ct::ValueError);
  const auto random = folds_of(D::get_cross_validation_datasets_random(counting(40), 4, 2));
  EXPECT_EQ(random, folds_of(D::get_cross_validation_datasets_random(counting(40), 4, 2)));
  EXPECT_NE(random, folds_of(D::get_cross_validation_datasets_random(counting(40), 4, 3)));
  Ints tested;
  for (const auto& [train, test] : random) {
    EXPECT_EQ(test.size(), 10u);
    Ints all = train;
    all.insert(all.end(), test.begin(), test.end());
    EXPECT_EQ(sorted(all), values_of(counting(40)));
    tested.insert(tested.end(), test.begin(), test.end());
  }
  EXPECT_EQ(sorted(tested), values_of(counting(40)));
}

// ---- Fashion-MNIST

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}
/// n pictures of 28 × 28, pixel k of picture i being (i + k) % 256.
std::string pictures(int n) {
  std::string bytes = big_endian(0x803) + big_endian(static_cast<std::uint32_t>(n)) + big_endian(28) + big_endian(28);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 784; ++k) bytes += static_cast<char>((i + k) % 256);
  return bytes;
}
std::string labels(int n) {
  std::string bytes = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(n));
  for (int i = 0; i < n; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

TEST(FashionMnist, FilesOfItsForm) {
  const tests::Folder folder;
  const std::string set = "fashion-mnist/";
  folder.write(set + "train-images-idx3-ubyte.gz", pictures(12));
  folder.write(set + "train-labels-idx1-ubyte.gz", labels(12));
  folder.write(set + "t10k-images-idx3-ubyte.gz", pictures(3));
  folder.write(set + "t10k-labels-idx1-ubyte.gz", labels(3));
  const auto [train, test] = D::get_fashion_mnist({.folder = folder / "fashion-mnist"});
  EXPECT_EQ(train.size(), 12);
  EXPECT_EQ(test.size(), 3);
  const ct::Example example = train[11];
  EXPECT_EQ(example.values[0].shape(), ct::Shape{784});
  EXPECT_EQ(example.values[0].dtype(), ct::Dtype::float32);
  EXPECT_EQ(example.values[0](300).item<float>(), static_cast<float>(311 % 256) / 255.0f);
  EXPECT_EQ(example.values[1].dtype(), ct::Dtype::int32);
  EXPECT_EQ(example.values[1].item<int>(), 1);

  ::setenv("CATENARY_DATA", folder.path.c_str(), 1);
  const auto images = D::get_fashion_mnist({.withlabel = false, .ndim = 3, .scale = 255});
  ::unsetenv("CATENARY_DATA");
  EXPECT_EQ(images.second[0].values.size(), 1u);
  EXPECT_EQ(images.second[0].values[0].shape(), (ct::Shape{1, 28, 28}));
  EXPECT_EQ(images.second[0].values[0](0, 2, 3).item<float>(), 59);
  EXPECT_EQ(D::get_fashion_mnist({.ndim = 2, .folder = folder / set}).first[0].values[0].shape(), (ct::Shape{28, 28}));

  const auto error = [&](const D::MnistOptions& options) {
    return tests::error_of([&] { D::get_fashion_mnist(options); });
  };
  EXPECT_NE(error({.ndim = 4, .folder = folder / set}).find("get_fashion_mnist: ndim must be 1, 2 or 3, got 4"),
            std::string::npos)
      << error({.ndim = 4, .folder = folder / set});
  folder.write(set + "t10k-labels-idx1-ubyte.gz", labels(4));
  EXPECT_NE(error({.folder = folder / set}).find("3 images"), std::string::npos);
  folder.write(set + "t10k-images-idx3-ubyte.gz", labels(4));
  EXPECT_NE(error({.folder = folder / set}).find("expected 3 dimensions"), std::string::npos);
  ct::os::remove_file(folder / (set + "train-labels-idx1-ubyte.gz"));
  EXPECT_NE(error({.folder = folder / set}).find("is missing; `catenary data fetch fashion-mnist` gets it; or put the"),
            std::string::npos)
      << error({.folder = folder / set});
  EXPECT_NE(error({.folder = folder / set}).find("train-labels-idx1-ubyte.gz: the file is missing"), std::string::npos);
}

}  // namespace
