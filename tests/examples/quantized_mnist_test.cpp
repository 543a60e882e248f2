// Networks trained by train_mnist with weights of 8 and 4 bits: memory, file size and accuracy.

#include <gtest/gtest.h>

#include <string>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/device/pool.h"
#include "helpers.h"
#include "tests/folder.h"

namespace catenary {
namespace {

using namespace examples;
namespace L = links;

/// train_mnist's networks, with the names in its files.
struct Mlp : Chain {
  L::Linear l1{784, 256}, l2{256, 256}, l3{256, 10};
  CT_LINKS(l1, l2, l3)
};
struct Cnn : Chain {
  L::Convolution2D conv1{1, 32, 3}, conv2{32, 64, 3};
  L::Linear l1{9216, 128}, l2{128, 10};
  CT_LINKS(conv1, conv2, l1, l2)
};

/// The CPU memory of a network after loading a file, counted by the pool.
template <class Net>
double memory_of(const std::string& file) {
  const MemoryPool& pool = memory_pool(Device());
  const std::size_t before = pool.used_bytes();
  const Net net;
  serializers::load_npz(file, net, "predictor/");
  evaluate();
  return static_cast<double>(pool.used_bytes() - before);
}

double size_of(const std::string& file) { return static_cast<double>(os::read_file(file).size()); }

/// The accuracy on all 10,000 test images.
double accuracy_of(const std::string& file) {
  const std::string told = output_of("train_mnist", {"inference", "-s", file, "-n", "0"}),
                    label = "accuracy on 10000 test images: ";
  return std::stod(told.substr(told.find(label) + label.size()));
}

template <class Net>
void expect_little_is_lost(const std::vector<std::string>& options, double at_least) {
  const tests::Folder folder;
  std::vector<std::string> arguments = {"-d", "cpu", "-e", "1", "--seed", "0", "--noplot", "-o", folder.path};
  arguments.insert(arguments.end(), options.begin(), options.end());
  output_of("train_mnist", arguments);
  const std::string whole = folder / "model.npz", small = folder / "small.npz";
  // compares uncompressed files, because npz compresses float32 by a few percent and blocks not at all
  const std::string plain = folder / "model.safetensors", small_plain = folder / "small.safetensors";
  output_of("catenary", {"convert", whole, "-o", plain});
  const double accuracy = accuracy_of(whole);
  EXPECT_GT(accuracy, at_least);
  for (const auto& [kind, times] : {std::pair("int8", 3.6), {"Q8_0", 3.6}, {"Q4_0", 6.8}}) {
    output_of("catenary", {"quantize", whole, "-o", small, "--kind", kind});
    EXPECT_NEAR(accuracy_of(small), accuracy, 0.01) << kind;
    EXPECT_GE(memory_of<Net>(whole) / memory_of<Net>(small), times) << kind;
    output_of("catenary", {"quantize", plain, "-o", small_plain, "--kind", kind});
    EXPECT_GE(size_of(plain) / size_of(small_plain), times) << kind;
  }
}

TEST(QuantizedMnist, ThreeLayersLoseLessThanAPoint) { expect_little_is_lost<Mlp>({"-u", "256"}, 0.93); }
TEST(QuantizedMnist, ConvolutionsLoseLessThanAPoint) { expect_little_is_lost<Cnn>({"-m", "cnn", "-n", "6000"}, 0.9); }

}  // namespace
}  // namespace catenary
