#include "catenary/datasets/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/io/png.h"
#include "catenary/iterators/iterators.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace D = ct::datasets;

namespace {

using tests::Folder;

#define EXPECT_SAYS(expression, text)                                                        \
  do {                                                                                       \
    const std::string message = tests::error_of<ct::FileError>([&] { (void)(expression); }); \
    EXPECT_NE(message.find(text), std::string::npos) << "it said: " << message;              \
  } while (false)

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

// ---- tables

TEST(CsvDataset, TextLabelsAreNumberedByName) {
  const Folder folder;
  const std::string file = folder.write("flowers.csv", "width,kind,height\n1,rose,2\n3,daisy,4\n5,rose,6.5\n");
  const D::CsvDataset flowers(file, "kind");
  EXPECT_EQ(flowers.size(), 3);
  EXPECT_EQ(flowers.class_names(), (Names{"daisy", "rose"}));
  EXPECT_EQ(flowers.feature_names(), (Names{"width", "height"}));
  const ct::Example example = flowers.get_example(2);
  EXPECT_EQ(example.values[0].to_vector<float>(), (Floats{5, 6.5}));
  EXPECT_EQ(example.values[0].dtype(), ct::Dtype::float32);
  EXPECT_EQ(example.values[1].item<std::int32_t>(), 1);
  EXPECT_EQ(example.values[1].ndim(), 0);
  const ct::iterators::SerialIterator batches(flowers, 3, {.shuffle = false});
  const ct::Batch batch = ct::concat_examples(*batches.next());
  EXPECT_EQ(batch[0].array().to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6.5}));
  EXPECT_EQ(batch[1].array().to_vector<std::int32_t>(), (Ints{1, 0, 1}));
}

TEST(CsvDataset, NumbersAsClassesAndAsNumbers) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "a;b\n1;10\n2;9\n3;10\n");
  const D::CsvDataset classes(file, "b", {.delimiter = ';'});
  EXPECT_EQ(classes.class_names(), (Names{"9", "10"}));
  EXPECT_EQ(classes.labels().to_vector<std::int32_t>(), (Ints{1, 0, 1}));
  const D::CsvDataset numbers(file, "b", {.classes = false, .dtype = ct::Dtype::float64, .delimiter = ';'});
  EXPECT_EQ(numbers.labels().shape(), (ct::Shape{3, 1}));
  EXPECT_EQ(numbers.labels().dtype(), ct::Dtype::float64);
  EXPECT_EQ(numbers.labels().to_vector<double>(), (std::vector<double>{10, 9, 10}));
  EXPECT_TRUE(numbers.class_names().empty());
  const D::CsvDataset none(file, "", {.delimiter = ';'});
  EXPECT_EQ(none.get_example(1).values.size(), 1u);
  EXPECT_EQ(none.features().to_vector<float>(), (Floats{1, 10, 2, 9, 3, 10}));
  const D::CsvDataset headless(folder.write("h.csv", "1,2,x\n3,4,y\n"), "2", {.features = {"1"}, .header = false});
  EXPECT_EQ(headless.features().to_vector<float>(), (Floats{2, 4}));
}

TEST(CsvDataset, ErrorsSayWhere) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "a,b,c\n1,2,x\n3,,y\n5,6,\n");
  EXPECT_SAYS(D::CsvDataset(file, "c"), "t.csv: line 3 has no number in the column 'b'");
  EXPECT_SAYS(D::CsvDataset(file, "c", {.missing = 0}), "line 4, column 'c': the label is empty");
  EXPECT_SAYS(D::CsvDataset(file, "c", {.features = {"a"}, .class_names = {"x", "z"}}),
              "'y' is not one of the classes x, z");
  EXPECT_SAYS(D::CsvDataset(file, "d"), "'a', 'b', 'c'");
  EXPECT_SAYS(D::CsvDataset(file, "a"), "line 2: column 'c' holds 'x'");
  EXPECT_SAYS(D::CsvDataset(file, "c", {.features = {"a"}, .classes = false}), "column 'c'");
  EXPECT_SAYS(D::CsvDataset(folder.write("e.csv", "a,b\n"), "b"), "no rows");
  EXPECT_SAYS(D::CsvDataset(folder.write("l.csv", "b\n1\n"), "b"), "no column but the label");
  EXPECT_SAYS(D::CsvDataset(folder.path + "/none.csv", "b"), "none.csv");
}

// Work that grows with the square of their number takes minutes here.
TEST(CsvDataset, ManyColumnsAndClassesTakeTimeInProportion) {
  const Folder folder;
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::int64_t kMany = 200000;
  std::string tall = "x,name\n", wide, ones;
  std::vector<std::string> ignored;
  for (std::int64_t i = 0; i < kMany; ++i) {
    tall += fmt::format("{},n{:06}\n", i, kMany - 1 - i);
    wide += fmt::format("c{},", i);
    ones += "1,";
    if (i % 2) ignored.push_back(fmt::format("c{}", i));
  }
  const D::CsvDataset many_classes(folder.write("tall.csv", tall), "name");
  EXPECT_EQ(many_classes.class_names().size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(many_classes.labels()[0].item<int>(), kMany - 1);
  const D::CsvDataset many_columns(folder.write("wide.csv", wide + "y\n" + ones + "u\n"), "y", {.ignore = ignored});
  EXPECT_EQ(many_columns.features().shape(), (ct::Shape{1, kMany / 2}));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 60);
  EXPECT_SAYS(D::CsvDataset(folder / "tall.csv", "name", {.class_names = many_columns.feature_names()}),
              "is not one of the classes c0, c2, ");
}

TEST(ImageDataset, PipesAndDevicesAreBroken) {
  const Folder folder;
  const D::ImageDatasetOptions options{.root = folder.path, .skip_broken = true};
  folder.write("a.png", "");
  ASSERT_EQ(::mkfifo((folder / "f.png").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/dev/zero", (folder / "z.png").c_str()), 0);
  const D::ImageDataset images(std::vector<std::string>{"f.png", "z.png"}, options);
  EXPECT_EQ(images.size(), 0);
  ASSERT_EQ(images.broken().size(), 2u);
  EXPECT_NE(images.broken()[0].find("f.png: it is a pipe (FIFO)"), std::string::npos) << images.broken()[0];
  EXPECT_NE(images.broken()[1].find("z.png: it is a character device"), std::string::npos) << images.broken()[1];
}

TEST(CsvDataset, MissingNumbersAndColumnsToIgnore) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "id,a,b,c\nx1,1,NA,u\nx2, ?,4,NA\n\nx3,,nan,u\n");
  EXPECT_SAYS(D::CsvDataset(file, "c"),
              "line 2: column 'id' holds 'x1', which is not a number; where it is no feature");
  EXPECT_SAYS(D::CsvDataset(file, "c", {.ignore = {"id"}}), "line 2 has no number in the column 'b'");
  const D::CsvDataset filled(file, "c", {.ignore = {"id"}, .missing = -1});
  EXPECT_EQ(filled.feature_names(), (Names{"a", "b"}));
  EXPECT_EQ(filled.features().to_vector<float>(), (Floats{1, -1, -1, 4, -1, -1}));
  EXPECT_EQ(filled.class_names(), (Names{"NA", "u"}));  // a text is a label as it is
  EXPECT_EQ(filled.line(0), 2);
  EXPECT_EQ(filled.line(2), 5);
  EXPECT_THROW(filled.line(3), ct::IndexError);
  EXPECT_SAYS(D::CsvDataset(file, "c", {.ignore = {"id", "d"}}), "no column 'd'; its columns are 'id', 'a', 'b', 'c'");
  EXPECT_SAYS(D::CsvDataset(file, "c", {.ignore = {"id", "a", "b"}}), "but the label 'c' and those to ignore");
  EXPECT_THROW(D::CsvDataset(file, "c", {.ignore = {"c"}}), ct::ValueError);
  EXPECT_SAYS(D::CsvDataset(file, "c", {.ignore = {"id"}, .missing = 0, .missing_words = {"NA"}}),
              "line 3: column 'a' holds ' ?'");
  EXPECT_SAYS(D::CsvDataset(file, "b", {.features = {"a"}, .classes = false, .missing = 0}),
              "line 2, column 'b': there is no number");
}

TEST(CsvDataset, NumbersAndNamesThatCannotBeHeld) {
  const Folder folder;
  const std::string file = folder.write("t.csv", "a,b\n1,2\n1e39,3\n");
  EXPECT_SAYS(D::CsvDataset(file, "b"), "t.csv: line 3: column 'a' holds 1e+39, which is infinite as float32");
  EXPECT_SAYS(D::CsvDataset(file, "a", {.classes = false}), "line 3: column 'a' holds 1e+39");
  EXPECT_EQ(D::CsvDataset(file, "b", {.dtype = ct::Dtype::float64}).features().to_vector<double>()[1], 1e39);
  EXPECT_SAYS(D::CsvDataset(folder.write("i.csv", "a,b\n1,2\n-inf,3\n"), "b"), "line 3: column 'a' holds -inf");
  EXPECT_SAYS(D::CsvDataset(folder.write("c.csv", "a,b\n1,caf\xe9\n"), "b"), "is not UTF-8");
  EXPECT_SAYS(D::CsvDataset(folder.write("n.csv", "caf\xe9,b\n1,2\n"), "b"), "is not UTF-8");
}

// ---- images

/// A PNG whose value at (y, x, c) is start + 100 y + 10 x + c.
std::string png(std::int64_t height, std::int64_t width, std::int64_t channels, int start = 0) {
  const auto image = ct::io::HostArray::empty(ct::Dtype::uint8, {height, width, channels});
  std::uint8_t* to = image.as<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) *to++ = static_cast<std::uint8_t>(start + 100 * y + 10 * x + c);
  const std::vector<std::byte> bytes = ct::io::encode_png(image);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ImageDataset, PlanesOfFloats) {
  const Folder folder;
  folder.write("a/colour.png", png(2, 3, 3));
  folder.write("gray.png", png(1, 2, 1, 7));
  const D::ImageDataset images({"a/colour.png", "gray.png"}, {.root = folder.path});
  EXPECT_EQ(images.size(), 2);
  const ct::Array colour = images.get_example(0).values[0];
  EXPECT_EQ(colour.shape(), (ct::Shape{3, 2, 3}));
  EXPECT_EQ(colour.dtype(), ct::Dtype::float32);
  EXPECT_EQ(colour.to_vector<float>(),
            (Floats{0, 10, 20, 100, 110, 120, 1, 11, 21, 101, 111, 121, 2, 12, 22, 102, 112, 122}));
  EXPECT_EQ(images.get_example(1).values[0].shape(), (ct::Shape{1, 1, 2}));
  EXPECT_EQ(images.get_example(1).values[0].to_vector<float>(), (Floats{7, 17}));

  const std::string list = folder.write("list.txt", "gray.png\r\n\n  a/colour.png \n");
  const D::ImageDataset listed(list, {.root = folder.path, .dtype = ct::Dtype::float64, .channels = 1});
  EXPECT_EQ(listed.size(), 2);
  EXPECT_EQ(listed.get_example(1).values[0].shape(), (ct::Shape{1, 2, 3}));
  EXPECT_EQ(listed.get_example(0).values[0].dtype(), ct::Dtype::float64);
  const D::ImageDataset sized(list, {.root = folder.path, .channels = 3, .height = 4, .width = 5});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(sized.get_example(i).values[0].shape(), (ct::Shape{3, 4, 5}));
  auto scope = ct::using_config(ct::config.dtype, ct::Dtype::float16);
  EXPECT_EQ(D::ImageDataset(list, {.root = folder.path}).get_example(0).values[0].dtype(), ct::Dtype::float16);
}

TEST(ImageDataset, ErrorsNameTheFile) {
  const Folder folder;
  folder.write("text.png", "hello");
  folder.write("short.png", png(2, 3, 3).substr(0, 60));
  const D::ImageDataset images({"none.png", "text.png", "short.png"}, {.root = folder.path});
  EXPECT_SAYS(images.get_example(0), "none.png");
  EXPECT_SAYS(images.get_example(1), "text.png: neither a PNG nor a JPEG");
  EXPECT_SAYS(images.get_example(2), "short.png: at byte");
  EXPECT_THROW(D::ImageDataset(std::vector<std::string>{}, {.channels = 5}), ct::ValueError);
  EXPECT_THROW(D::ImageDataset(std::vector<std::string>{}, {.height = 5}), ct::ValueError);
}

TEST(LabeledImageDataset, PairsAndLists) {
  const Folder folder;
  folder.write("a b.png", png(1, 1, 1, 5));
  const std::string list = folder.write("list.txt", "a b.png 3\n\na b.png\t-1\n");
  const D::LabeledImageDataset images(list, {.root = folder.path});
  ASSERT_EQ(images.size(), 2);
  const ct::Example example = images.get_example(0);
  EXPECT_EQ(example.values[0].to_vector<float>(), Floats{5});
  EXPECT_EQ(example.values[1].dtype(), ct::Dtype::int32);
  EXPECT_EQ(example.values[1].item<std::int32_t>(), 3);
  EXPECT_EQ(images.label(1), -1);
  const D::LabeledImageDataset pairs({{"a b.png", 2}}, {.root = folder.path, .label_dtype = ct::Dtype::int64});
  EXPECT_EQ(pairs.get_example(0).values[1].dtype(), ct::Dtype::int64);
  EXPECT_SAYS(D::LabeledImageDataset(folder.write("bad.txt", "a.png 1\na.png one\n")), "bad.txt: line 2: expected");
  EXPECT_SAYS(D::LabeledImageDataset(folder.write("bad.txt", "a.png\n")), "bad.txt: line 1: expected");
  EXPECT_SAYS(D::LabeledImageDataset(folder.write("bad.txt", "a.png 99999999999\n")), "bad.txt: line 1: expected");
}

TEST(ImageFolderDataset, AFolderAClass) {
  const Folder folder;
  folder.write("set/rose/1.PNG", png(1, 1, 1, 1));
  folder.write("set/rose/deeper/2.png", png(1, 1, 1, 2));
  folder.write("set/daisy/1.png", png(1, 1, 1, 3));
  folder.write("set/daisy/notes.txt", "no image");
  folder.write("set/.hidden/1.png", "");
  folder.write("set/README", "");
  const D::ImageFolderDataset images(folder.path + "/set");
  EXPECT_EQ(images.class_names(), (Names{"daisy", "rose"}));
  ASSERT_EQ(images.size(), 3);
  std::vector<std::pair<float, int>> seen;
  for (int i = 0; i < 3; ++i) {
    const ct::Example example = images.get_example(i);
    seen.emplace_back(example.values[0].item<float>(), example.values[1].item<int>());
  }
  EXPECT_EQ(seen, (std::vector<std::pair<float, int>>{{3, 0}, {1, 1}, {2, 1}}));
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/set/daisy"), "sub-folder of images for each class");
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/nowhere"), "nowhere");
  folder.write("set/empty/notes.txt", "");
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/set"), "set/empty: the folder of a class has no images");
  folder.write("set/empty/1.gif", "");
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/set"), "1.gif: images of this kind cannot be read");
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/set", {.skip_broken = true}),
              "set/empty: none of the images of the class can be read; " + folder.path + "/set/empty/1.gif: neither");
}

TEST(ImageFolderDataset, SkipsWhatIsBroken) {
  const Folder folder;
  folder.write("set/a/1.png", png(1, 1, 1, 1));
  folder.write("set/a/2.png", "no image");
  folder.write("set/a/3.png", png(1, 1, 1, 3).substr(0, 40));
  folder.write("set/b/1.gif", "GIF89a");
  folder.write("set/b/2.png", png(1, 1, 1, 5));
  EXPECT_SAYS(D::ImageFolderDataset(folder.path + "/set"), "1.gif: images of this kind");
  const D::ImageFolderDataset images(folder.path + "/set", {.skip_broken = true});
  ASSERT_EQ(images.size(), 2);
  EXPECT_EQ(images.path(1), folder.path + "/set/b/2.png");
  EXPECT_EQ(images.get_example(1).values[0].item<float>(), 5);
  EXPECT_EQ(images.get_example(1).values[1].item<int>(), 1);
  ASSERT_EQ(images.broken().size(), 3u);
  EXPECT_TRUE(images.broken()[0].starts_with(folder.path + "/set/a/2.png: neither a PNG nor a JPEG"));
  EXPECT_TRUE(images.broken()[1].starts_with(folder.path + "/set/a/3.png: "));
  EXPECT_TRUE(images.broken()[2].starts_with(folder.path + "/set/b/1.gif: neither"));
  const D::ImageDataset list({"a/2.png", "b/2.png", "none.png"}, {.root = folder.path + "/set", .skip_broken = true});
  ASSERT_EQ(list.size(), 1);
  EXPECT_EQ(list.path(0), folder.path + "/set/b/2.png");
  ASSERT_EQ(list.broken().size(), 2u);
  EXPECT_TRUE(list.broken()[1].starts_with(folder.path + "/set/none.png: "));
  EXPECT_TRUE(D::ImageDataset(std::vector<std::string>{"a/2.png"}, {.root = folder.path + "/set"}).broken().empty());
}

// ---- CIFAR

/// n records: labels (coarse and fine where there are two), then 3072 pixels that count from the label.
std::string records(int n, int label_bytes, int classes) {
  std::string bytes;
  for (int i = 0; i < n; ++i) {
    if (label_bytes == 2) bytes += static_cast<char>(i % 20);
    bytes += static_cast<char>(i % classes);
    for (int j = 0; j < 3072; ++j) bytes += static_cast<char>((i + j) % 256);
  }
  return bytes;
}

TEST(Cifar, BinaryFiles) {
  const Folder folder;
  for (int i = 1; i <= 5; ++i)
    folder.write("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin", records(i, 1, 10));
  folder.write("cifar-10-batches-bin/test_batch.bin", records(2, 1, 10));
  const auto [train, test] = D::get_cifar10({.folder = folder.path, .complete = false});
  EXPECT_EQ(train.size(), 15);
  EXPECT_EQ(test.size(), 2);
  const ct::Example example = train[14];  // the last one of batch 5
  EXPECT_EQ(example.values[0].shape(), (ct::Shape{3, 32, 32}));
  EXPECT_EQ(example.values[1].item<std::int32_t>(), 4);
  EXPECT_EQ(example.values[1].dtype(), ct::Dtype::int32);
  EXPECT_EQ(example.values[0](2, 1, 3).item<float>(), static_cast<float>((4 + 2048 + 32 + 3) % 256) / 255.0f);
  const auto flat = D::get_cifar10({.withlabel = false,
                                    .ndim = 1,
                                    .scale = 255,
                                    .folder = folder.path + "/cifar-10-batches-bin",
                                    .complete = false});
  EXPECT_EQ(flat.first[0].values.size(), 1u);
  EXPECT_EQ(flat.first[0].values[0].shape(), ct::Shape{3072});
  EXPECT_EQ(flat.first[0].values[0](255).item<float>(), 255);

  ::setenv("CATENARY_DATA", folder.path.c_str(), 1);
  EXPECT_EQ(D::get_cifar10({.complete = false}).second.size(), 2);
  ::unsetenv("CATENARY_DATA");

  EXPECT_SAYS(D::get_cifar10({.folder = folder.path}), "data_batch_1.bin: 3073 bytes, expected 30730000");
  EXPECT_SAYS(D::get_cifar100({.folder = folder.path}), "cifar-100-binary.tar.gz was not found in");
  folder.write("cifar-10-batches-bin/test_batch.bin", records(2, 1, 10).substr(1));
  EXPECT_SAYS(D::get_cifar10({.folder = folder.path, .complete = false}), "test_batch.bin: 6145 bytes");
  folder.write("cifar-10-batches-bin/test_batch.bin", records(12, 1, 11));
  EXPECT_SAYS(D::get_cifar10({.folder = folder.path, .complete = false}),
              "test_batch.bin: at byte 30730: the label 10 is not in 0 to 9");
  ct::os::remove_file(folder.path + "/cifar-10-batches-bin/data_batch_3.bin");
  EXPECT_SAYS(D::get_cifar10({.folder = folder.path}),
              "data_batch_3.bin: the file is missing; `catenary data fetch cifar-10` gets it; or put");
  EXPECT_THROW(D::get_cifar10({.ndim = 2, .folder = folder.path}), ct::ValueError);
}

/// One member of a tar archive.
std::string tar_member(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, name);
  char number[16];
  std::snprintf(number, sizeof number, "%011o", static_cast<unsigned>(content.size()));
  put(124, number);
  put(148, "        ");
  header[156] = type;
  put(257, "ustar");
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number, sizeof number, "%06o", sum);
  put(148, std::string(number) + '\0');
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Cifar, Archive) {
  const Folder folder;
  const std::string train = tar_member("cifar-100-binary/train.bin", records(3, 2, 100)), end(1024, '\0');
  const std::string test = tar_member("cifar-100-binary/test.bin", records(1, 2, 100));
  const std::string folder_member = tar_member("cifar-100-binary/", "", '5');
  folder.write("cifar-100-binary.tar.gz", gzip(folder_member + train + test + end));
  const auto [training, testing] = D::get_cifar100({.folder = folder.path, .complete = false});
  EXPECT_EQ(training.size(), 3);
  EXPECT_EQ(testing.size(), 1);
  EXPECT_EQ(training[2].values[1].item<int>(), 2);
  EXPECT_EQ(training[2].values[0](0, 0, 1).item<float>(), 3.0f / 255.0f);

  const auto load = [&](const std::string& archive) {
    folder.write("cifar-100-binary.tar.gz", archive);
    D::get_cifar100({.folder = folder.path, .complete = false});
  };
  EXPECT_SAYS(load(gzip(train + end)), "test.bin is not in the archive");
  EXPECT_SAYS(load(gzip(train.substr(0, 2000))), "the archive ends inside cifar-100-binary/train.bin");
  EXPECT_SAYS(load(train.substr(0, 2000)), "a file of 9222 bytes, more than the archive can hold");
  EXPECT_SAYS(load((train + test).substr(0, train.size() + 100)), "the archive ends inside a header");
  EXPECT_SAYS(load(gzip(train + test + end).substr(0, 200)), "cifar-100-binary.tar.gz");
  std::string altered = train + test;
  altered[train.size() + 3] ^= 1;
  EXPECT_SAYS(load(altered), "the checksum of a tar header");
  EXPECT_SAYS(load("hello"), "the archive ends inside a header");
  std::string damaged = gzip(train + test + end);
  damaged[damaged.size() - 6] ^= 1;  // in gzip's checksum
  EXPECT_SAYS(load(damaged), "cifar-100-binary.tar.gz");
}

}  // namespace
