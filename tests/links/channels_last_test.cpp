// A network on channels-last images: nothing is transposed, forward or backward, and results equal those for C order.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/os/process.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/functions/functions.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"
#include "tests/links/helpers.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::test::numbers;

struct ImagesNet : ct::Chain {
  L::Convolution2D conv1{3, 8, 3, {.pad = 1, .initialW = numbers({8, 3, 3, 3})}};
  L::BatchNormalization bn{8};
  L::Convolution2D conv2{8, 16, 3, {.stride = 2, .pad = 1, .initialW = numbers({16, 8, 3, 3})}};
  L::Linear fc{16, 5, {.initialW = numbers({5, 16})}};
  CT_LINKS(conv1, bn, conv2, fc)
  ct::Variable operator()(const ct::Variable& x) const {
    const ct::Variable h = F::average_pooling_2d(F::max_pooling_2d(F::relu(bn(conv1(x))), 2), 2);
    return fc(F::mean(F::relu(conv2(h)), {2, 3}));
  }
};

ct::Array images() { return numbers({4, 3, 16, 16}); }
ct::Array channels_last(const ct::Array& x) { return x.transpose({0, 2, 3, 1}).copy().transpose({0, 3, 1, 2}); }

/// The loss, and the gradients of the images and of all parameters.
std::vector<ct::Array> step(const ImagesNet& net, const ct::Array& images) {
  const ct::Variable x(images);
  const ct::Variable loss = F::sum(F::square(net(x)));
  net.cleargrads();
  loss.backward();
  std::vector<ct::Array> all = {loss.array(), x.grad()};
  for (const ct::Parameter& p : net.params()) all.push_back(p.grad());
  for (const ct::Array& a : all) a.eval();
  return all;
}

/// Run by the next test in a separate process.
TEST(Inside, AStepChannelsLast) {
  const ImagesNet net;
  const ct::Array x = channels_last(images());
  const std::vector<ct::Array> all = step(net, x);
  EXPECT_EQ(all[1].strides(), x.strides());
}

TEST(ChannelsLast, NothingIsReorderedButTheImages) {
  ct::os::ProcessOptions options;
  options.timeout = 300;
  options.environment = {{"CATENARY_TRACE", "kernels"}, {"GTEST_OUTPUT", ""}};
  const auto result = ct::os::run_process(
      {ct::os::program_path(), "--gtest_filter=Inside.AStepChannelsLast", "--device", ct::current_device().name()},
      options);
  ASSERT_EQ(result.exit_code, 0) << result.output << result.errors;
  std::istringstream lines(result.errors);
  std::vector<std::string> copies;
  int convolutions = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("kernel ", 0) != 0) continue;
    const std::string name = line.substr(line.find(' ', 7) + 1);
    if (name.rfind("copy ", 0) == 0) copies.push_back(name);
    convolutions += name.rfind("convolution", 0) == 0;
  }
  EXPECT_EQ(convolutions, 6) << result.errors;
  ASSERT_EQ(copies.size(), 1u) << result.errors;
  EXPECT_EQ(copies[0].rfind("copy (4, 16, 16, 3) ", 0), 0u) << copies[0];
}

TEST(ChannelsLast, HasTheNumbersOfChannelsFirst) {
  const std::vector<ct::Array> first = step(ImagesNet(), images()), last = step(ImagesNet(), channels_last(images()));
  for (std::size_t i = 0; i < first.size(); ++i) ct::gradient_check::assert_allclose(last[i], first[i], 1e-4, 1e-4);
}

// A gradient in C order, after a reshape, is converted to the layout of the images where it is smallest.
TEST(ChannelsLast, TheGradientOfAPoolingLiesAsItsInput) {
  for (const bool average : {false, true}) {
    const ct::Array in_order = images(), other = channels_last(in_order);
    std::vector<ct::Array> gradients;
    for (const ct::Array& a : {in_order, other}) {
      const ct::Variable x(a);
      const ct::Variable y = average ? F::average_pooling_2d(x, 2) : F::max_pooling_2d(x, 2);
      F::sum(F::square(F::reshape(y, {4, 3 * 8 * 8}) * numbers({4, 3 * 8 * 8}))).backward();
      EXPECT_EQ(x.grad().strides(), a.strides()) << average;
      gradients.push_back(x.grad());
    }
    ct::gradient_check::assert_allclose(gradients[1], gradients[0], 1e-6, 1e-6);
  }
}

// If AMX computes bfloat16 convolutions, images in C order are converted once.
TEST(ChannelsLast, ConvolutionsOfBfloat16GiveItWhereTheDeviceWantsIt) {
  const ct::Device device = ct::current_device();
  for (const ct::Dtype dtype : {ct::Dtype::float32, ct::Dtype::bfloat16}) {
    const bool wanted = device.backend().convolves_channels_last(device.index(), dtype);
    EXPECT_TRUE(!wanted || dtype == ct::Dtype::bfloat16);
    const ct::Variable y = F::convolution_2d(ct::Variable(numbers({2, 16, 6, 6}).astype(dtype)),
                                             ct::Variable(numbers({32, 16, 3, 3}).astype(dtype)));
    EXPECT_EQ(y.array().strides()[1] == 1, wanted) << ct::dtype_name(dtype);
  }
}

TEST(ChannelsLast, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = ct::num_threads();
  std::vector<std::vector<float>> bits[2];
  for (const int threads : {1, 2}) {
    ct::set_num_threads(threads);
    for (const ct::Array& x : {images(), channels_last(images())})
      for (const ct::Array& a : step(ImagesNet(), x)) bits[threads - 1].push_back(a.to_vector<float>());
  }
  ct::set_num_threads(before);
  EXPECT_EQ(bits[0], bits[1]);
}

}  // namespace
