#include "catenary/links/convolution.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/axis_error.h"
#include "catenary/functions/functions.h"
#include "catenary/links/sequential.h"
#include "tests/links/helpers.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::test::numbers;
using tests::error_of;

std::vector<std::pair<std::string, ct::Shape>> shapes(const ct::Link& link) {
  std::vector<std::pair<std::string, ct::Shape>> all;
  for (const auto& [path, parameter] : link.namedparams())
    all.emplace_back(path, parameter.is_initialized() ? parameter.shape() : ct::Shape{});
  return all;
}
using Shapes = std::vector<std::pair<std::string, ct::Shape>>;

TEST(ConvolutionLinks, ChannelsAreGivenOrFound) {
  const L::Convolution2D given(3, 4, {3, 2}), found(4, {3, 2}), none({}, 4, 3, {.nobias = true});
  EXPECT_EQ(shapes(given), (Shapes{{"/W", {4, 3, 3, 2}}, {"/b", {4}}}));
  EXPECT_FALSE(found.W.is_initialized());
  EXPECT_EQ(found(numbers({2, 5, 6, 6})).shape(), (ct::Shape{2, 4, 4, 5}));
  EXPECT_EQ(shapes(found), (Shapes{{"/W", {4, 5, 3, 2}}, {"/b", {4}}}));
  EXPECT_EQ(none(numbers({1, 2, 3, 3})).shape(), (ct::Shape{1, 4, 1, 1}));
  EXPECT_EQ(shapes(none), (Shapes{{"/W", {4, 2, 3, 3}}}));

  EXPECT_EQ(shapes(L::Convolution1D(4, 6, 3, {.groups = 2})), (Shapes{{"/W", {6, 2, 3}}, {"/b", {6}}}));
  EXPECT_EQ(shapes(L::ConvolutionND(3, 2, 6, 1)), (Shapes{{"/W", {6, 2, 1, 1, 1}}, {"/b", {6}}}));
  EXPECT_EQ(shapes(L::Deconvolution2D(4, 6, 3, {.groups = 2})), (Shapes{{"/W", {4, 3, 3, 3}}, {"/b", {6}}}));
  const L::Deconvolution3D up({}, 2, 2, {.stride = 2});
  EXPECT_EQ(up(numbers({1, 3, 2, 2, 2})).shape(), (ct::Shape{1, 2, 4, 4, 4}));
  EXPECT_EQ(L::Deconvolution1D(3, 2, 3, {.stride = 2, .outsize = {8}})(numbers({1, 3, 3})).shape(),
            (ct::Shape{1, 2, 8}));
  const L::DepthwiseConvolution2D depthwise({}, 2, 3, {.pad = 1});
  EXPECT_EQ(depthwise(numbers({1, 3, 4, 4})).shape(), (ct::Shape{1, 6, 4, 4}));
  EXPECT_EQ(shapes(depthwise), (Shapes{{"/W", {2, 3, 3, 3}}, {"/b", {6}}}));
  const L::LocalConvolution2D local(2, 3, {.stride = 2});
  EXPECT_EQ(local(numbers({1, 3, 5, 7})).shape(), (ct::Shape{1, 2, 2, 3}));
  EXPECT_EQ(shapes(local), (Shapes{{"/W", {2, 2, 3, 3, 3, 3}}, {"/b", {2, 2, 3}}}));
  EXPECT_EQ(shapes(L::MLPConvolution2D(3, {4, 2}, 3)),
            (Shapes{{"/0/W", {4, 3, 3, 3}}, {"/0/b", {4}}, {"/1/W", {2, 4, 1, 1}}, {"/1/b", {2}}}));
}

TEST(ConvolutionLinks, OptionsReachTheFunction) {
  const ct::Array x = numbers({2, 4, 7, 6});
  const L::Convolution2D link(
      4, 6, 3, {.stride = {2, 1}, .pad = 1, .initial_bias = 2, .cover_all = true, .dilate = {1, 2}, .groups = 2});
  const F::ConvolutionOptions options = {.stride = {2, 1}, .pad = 1, .cover_all = true, .dilate = {1, 2}, .groups = 2};
  ct::gradient_check::assert_allclose(link(x).array(), F::convolution_2d(x, link.W, options).array() + 2);
  const L::Deconvolution2D back(4, 3, {3, 2}, {.stride = 2, .pad = {1, 0}, .nobias = true, .dilate = {1, 2}});
  ct::gradient_check::assert_allclose(
      back(x).array(), F::deconvolution_2d(x, back.W, {.stride = 2, .pad = {1, 0}, .dilate = {1, 2}}).array());
  const L::MLPConvolution2D mlp(4, {3, 2}, 3, {.activation = [](const ct::Variable& h) { return F::tanh(h); }});
  const ct::Variable hidden = F::tanh(mlp[0](x));
  ct::gradient_check::assert_allclose(mlp(x).array(), mlp[1](hidden).array());
}

TEST(ConvolutionLinks, CopiesAreOfTheSameKind) {
  const L::Convolution2D link(3, 4, 3);
  const L::Convolution2D other = link.copy(ct::CopyMode::copy);
  EXPECT_EQ(other.type_name(), "Convolution2D");
  EXPECT_FALSE(other.W.array().shares_memory(link.W.array()));
  const ct::Model held = ct::Model(L::Deconvolution2D(3, 4, 3)).copy(ct::CopyMode::init);
  EXPECT_EQ(held.link().type_name(), "Deconvolution2D");
  EXPECT_EQ(held(numbers({1, 3, 2, 2})).shape(), (ct::Shape{1, 4, 4, 4}));
}

TEST(ConvolutionLinks, WrongArgumentsAreNamed) {
  EXPECT_EQ(error_of<ct::ValueError>([] { L::Convolution2D(3, 4, 3, {.groups = 2}); }),
            "Convolution2D: in_channels must be a positive multiple of groups (2), not 3");
  EXPECT_EQ(error_of<ct::ValueError>([] { L::Convolution1D({}, 5, 3, {.groups = 2}); }),
            "Convolution1D: out_channels must be a positive multiple of groups (2), not 5");
  EXPECT_EQ(error_of<ct::ValueError>([] {
              L::Convolution2D(3, 4, {3, 3, 3});
            }),
            "Convolution2D: ksize must be one number or 2, not (3, 3, 3)");
  EXPECT_EQ(error_of<ct::ValueError>([] { L::DeconvolutionND(4, 1, 2, 3); }),
            "DeconvolutionND: windows slide over 1 to 3 axes, not 4");
  EXPECT_EQ(error_of<ct::ShapeError>([] {
              L::Convolution2D(4, 3)(numbers({3, 5, 5}));
            }),
            "Convolution2D: x must have 4 axes (n, channels, sizes...), not (3, 5, 5)");
  EXPECT_EQ(error_of<ct::ArgumentShapeError>([] {
              L::Convolution1D(4, 3)(numbers({1, 3, 5, 5}));
            }),
            "Convolution1D: x must have 3 axes (n, channels, sizes...), not (1, 3, 5, 5)");
  EXPECT_EQ(error_of<ct::ArgumentShapeError>([] {
              L::Deconvolution3D(4, 3)(numbers({1, 3, 5, 5}));
            }),
            "Deconvolution3D: x must have 5 axes (n, channels, sizes...), not (1, 3, 5, 5)");
  EXPECT_EQ(error_of<ct::ValueError>([] { L::MLPConvolution2D(3, {}, 3); }),
            "MLPConvolution2D: out_channels must have an entry for each convolution, none was given");
}

}  // namespace
