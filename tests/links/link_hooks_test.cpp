// Spectral normalization and weight standardization: compared with Chainer's numbers (tests/data/link_hooks), and the
// effect of hooks on a link's members.
#include "catenary/links/link_hooks.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/io.h"
#include "catenary/array/linalg.h"
#include "catenary/array/random.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"
#include "catenary/functions/functions.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/quantize.h"
#include "catenary/links/rnn.h"
#include "catenary/optimizers/optimizers.h"
#include "catenary/serializers/serializer.h"
#include "tests/folder.h"
#include "tests/gradients.h"
#include "tests/links/helpers.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::link_hooks::SpectralNormalization;
using ct::link_hooks::SpectralNormalizationOptions;
using ct::link_hooks::WeightStandardization;
using ct::test::numbers;
using tests::error_of;

template <class Link>
void expect_chainers_numbers(const std::string& name, const Link& link, std::shared_ptr<ct::LinkHook> hook) {
  const std::string path = tests::source_path("tests/data/link_hooks/" + name);
  const ct::io::NpzReader run(path + "_run.npz");
  const auto read = [&](const std::string& key) {
    const ct::Array values = ct::from_host(run.read_array(key), ct::Device());
    return (ct::is_floating(values.dtype()) ? values.astype(ct::config.dtype) : values).to_device(ct::current_device());
  };
  const auto expect_close = [](const ct::Array& actual, const ct::Array& expected) {
    const double tolerance = actual.dtype() == ct::Dtype::float64 ? 1e-9 : 1e-4;
    ct::gradient_check::assert_allclose(actual, expected, tolerance, tolerance);
  };
  link.add_hook(hook);
  ct::serializers::load_npz(path + ".npz", link);
  ct::Variable y;
  for (int i = 0; i < 3; ++i) y = link(read("x"));
  expect_close(y.array(), read("y"));
  link.cleargrads();
  F::sum(y * read("gy")).backward();
  for (const auto& [parameter_path, parameter] : link.namedparams())
    expect_close(parameter.grad(), read("g" + parameter_path.substr(1)));
  const auto persistents = link.namedpersistents();
  EXPECT_EQ(persistents.size(), run.contains("u") ? 1u : 0u);
  for (const auto& [persistent_path, u] : persistents) {
    EXPECT_EQ(persistent_path, "/W_u");
    expect_close(u, read("u"));
  }
  const auto test = ct::using_config(ct::config.train, false);
  expect_close(link(read("x")).array(), read("y_test"));
}

TEST(LinkHooks, FollowChainer) {
  const auto scope = ct::using_config(ct::config.dtype, ct::widest_float(ct::current_device()));
  const auto spectral = [](const SpectralNormalizationOptions& options) {
    return std::make_shared<SpectralNormalization>(options);
  };
  expect_chainers_numbers("sn_linear", L::Linear(5, 4), spectral({}));
  expect_chainers_numbers("sn_convolution", L::Convolution2D(3, 4, {3, 2}),
                          spectral({.n_power_iteration = 2, .eps = 1e-3, .factor = 2.5}));
  expect_chainers_numbers("sn_deconvolution", L::DeconvolutionND(2, 3, 4, 2), spectral({.use_gamma = true}));
  expect_chainers_numbers("sn_embed", L::EmbedID(6, 3), spectral({.use_gamma = true, .factor = 0.5}));
  // links without a known shape take the file's
  expect_chainers_numbers("sn_linear", L::Linear(4), spectral({}));
  expect_chainers_numbers("sn_deconvolution", L::DeconvolutionND(2, {}, 4, 2), spectral({.use_gamma = true}));
  expect_chainers_numbers("ws_linear", L::Linear(5, 4),
                          std::make_shared<WeightStandardization>(ct::link_hooks::WeightStandardizationOptions{1e-2}));
  expect_chainers_numbers("ws_convolution", L::Convolution2D({}, 4, {3, 2}), std::make_shared<WeightStandardization>());
}

TEST(LinkHooks, GradientsReachTheWeight) {
  const ct::Dtype dtype = ct::widest_float(ct::current_device());
  const auto scope = ct::using_config(ct::config.dtype, dtype);
  const auto test = ct::using_config(ct::config.train, false);  // u and v stay
  const bool exact = dtype == ct::Dtype::float64;
  const ct::gradient_check::CheckOptions options = {
      .eps = exact ? 1e-4 : 1e-2, .atol = exact ? 1e-6 : 2e-2, .rtol = exact ? 1e-5 : 2e-2};
  const L::Convolution2D standardized(2, 3, 2);
  standardized.add_hook(std::make_shared<WeightStandardization>());
  const ct::gradient_check::Function f = [&](const std::vector<ct::Variable>& x) {
    return std::vector<ct::Variable>{standardized(x[0])};
  };
  const auto device = tests::one_by_one_on_devices();
  EXPECT_NO_THROW(ct::gradient_check::check_backward(f, {numbers({2, 2, 3, 3}, 0, dtype)}, {},
                                                     {standardized.W, standardized.b}, options));
  // Chainer's gradient treats singular vectors as constants, and after convergence sigma's derivative by them is 0
  const L::Linear normalized(3, 4);
  const auto hook = std::make_shared<SpectralNormalization>(
      SpectralNormalizationOptions{.n_power_iteration = 300, .use_gamma = true});
  normalized.add_hook(hook);
  EXPECT_NEAR(hook->gamma().item<double>(), ct::linalg::norm(normalized.W.array(), 2).item<double>(), 1e-5);
  const ct::gradient_check::Function g = [&](const std::vector<ct::Variable>& x) {
    return std::vector<ct::Variable>{normalized(x[0])};
  };
  EXPECT_NO_THROW(ct::gradient_check::check_backward(g, {numbers({2, 3}, 0, dtype)}, {},
                                                     {normalized.W, normalized.b, hook->gamma()}, options));
}

TEST(LinkHooks, TheWeightIsBackAfterTheCall) {
  const L::Linear link(3, 4);
  const ct::Parameter weight = link.W;
  link.add_hook(std::make_shared<SpectralNormalization>());
  link.add_hook(std::make_shared<WeightStandardization>());
  const ct::Array x = numbers({2, 3});
  link(x);
  EXPECT_TRUE(link.W.is(weight));
  EXPECT_THROW(link(numbers({2, 5})), ct::ShapeError);
  EXPECT_TRUE(link.W.is(weight));
  // the second hook sees the first one's result: each filter has mean 0
  const ct::Array ones = ct::ones({1, 3}, ct::Dtype::float32);
  ct::gradient_check::assert_allclose(link(ones).array(), link.b.array().reshape({1, 4}));
}

TEST(LinkHooks, LinksOwnTheParametersOfHooks) {
  const L::Linear link(2);
  const auto hook = std::make_shared<SpectralNormalization>(SpectralNormalizationOptions{.use_gamma = true});
  link.add_hook(hook);
  const ct::optimizers::SGD optimizer(0.5);
  optimizer.setup(link);  // gamma is known, although it waits for W
  EXPECT_EQ(link.namedparams().front().first, "/gamma");
  EXPECT_TRUE(link.namedpersistents().empty());
  const ct::Array x = numbers({5, 3});
  const ct::Variable y = link(x);
  EXPECT_EQ(link.namedpersistents().front().first, "/W_u");
  EXPECT_EQ(hook->u().shape(), ct::Shape{2});
  const float before = hook->gamma().item<float>();
  link.cleargrads();
  F::sum(y).backward();
  optimizer.update();
  EXPECT_NE(hook->gamma().item<float>(), before);

  const L::Linear copy = link.copy(ct::CopyMode::copy);
  const auto numbers_of = [](const L::Linear& l) { return l.namedpersistents().front().second.to_vector<float>(); };
  EXPECT_EQ(numbers_of(copy), numbers_of(link));
  EXPECT_FALSE(copy.namedparams().front().second.is(hook->gamma()));
  copy(x);
  EXPECT_NE(numbers_of(copy), numbers_of(link));
  copy.copyparams(link);
  EXPECT_EQ(numbers_of(copy), numbers_of(link));

  const tests::Folder folder;
  ct::serializers::save_npz(folder / "link.npz", link);
  L::Linear loaded(2);
  loaded.add_hook(std::make_shared<SpectralNormalization>(SpectralNormalizationOptions{.use_gamma = true}));
  ct::serializers::load_npz(folder / "link.npz", loaded);
  const auto test = ct::using_config(ct::config.train, false);
  EXPECT_EQ(loaded(x).array().to_vector<float>(), link(x).array().to_vector<float>());
  link.to_cpu();
  EXPECT_TRUE(hook->u().device().is_cpu());

  link.delete_hook("SpectralNormalization");
  EXPECT_EQ(link.namedparams().front().first, "/W");
  EXPECT_TRUE(link.namedpersistents().empty());
}

TEST(LinkHooks, VectorsMoveInTrainingOnceForEachCall) {
  const L::Linear link(4, 3);
  const auto hook = std::make_shared<SpectralNormalization>();
  link.add_hook(hook);
  const auto u = [&] { return hook->u().to_vector<float>(); };
  const ct::Array x = numbers({2, 4});
  std::vector<float> before = u();
  link(x);
  EXPECT_NE(u(), before);
  {
    const auto test = ct::using_config(ct::config.train, false);
    before = u();
    link(x);
    EXPECT_EQ(u(), before);
  }
  // two calls inside forget() against two without
  const L::Linear plain = link.copy(ct::CopyMode::copy);
  link.cleargrads();
  plain.cleargrads();
  const auto twice = [](const L::Linear& l) {
    return [l](const ct::Variable& v) { return l(F::tanh(F::concat({l(v), v(ct::ellipsis, ct::slice(0, 1))}, 1))); };
  };
  F::sum(F::forget(twice(link), ct::Variable(x))).backward();
  F::sum(twice(plain)(ct::Variable(x))).backward();
  EXPECT_EQ(u(), plain.namedpersistents().front().second.to_vector<float>());
  ct::gradient_check::assert_allclose(link.W.grad(), plain.W.grad(), 1e-6, 1e-5);
}

TEST(LinkHooks, WrongOnesAreRefused) {
  const auto add = [](const ct::Link& link, const SpectralNormalizationOptions& options) {
    return error_of<ct::ValueError>([&] { link.add_hook(std::make_shared<SpectralNormalization>(options)); });
  };
  EXPECT_EQ(add(L::Linear(2, 3), {.weight_name = "w"}),
            "SpectralNormalization: Linear has no parameter named 'w'; it has [W, b]");
  EXPECT_EQ(add(L::Linear(2, 3), {.n_power_iteration = 0}),
            "SpectralNormalization: n_power_iteration must be at least 1, not 0");
  EXPECT_EQ(add(L::Linear(2, 0), {}),
            "SpectralNormalization: the weight has no elements along axis 0, its shape is (0, 2)");
  EXPECT_EQ(error_of<ct::ValueError>([] { ct::LinkHookScope(std::make_shared<WeightStandardization>()); }),
            "WeightStandardization: the hook belongs to one link; give it to the link's add_hook");
  const auto hook = std::make_shared<SpectralNormalization>(SpectralNormalizationOptions{.use_gamma = true});
  const L::Linear one(2, 3), two(2, 3);
  one.add_hook(hook);
  EXPECT_EQ(error_of<ct::ValueError>([&] { two.add_hook(hook); }),
            "SpectralNormalization: the hook has a link already; each link needs a hook of its own");
  EXPECT_EQ(add(one, {.use_gamma = true, .weight_name = "b", .name = "of b"}),
            "add_hook: 'of b' would give Linear a second member named 'gamma'");
  EXPECT_EQ(error_of<ct::ValueError>([&] { one.delete_hook("other"); }),
            "delete_hook: the link has no hook named 'other'");
  one.delete_hook(hook->name());
  EXPECT_NO_THROW(two.add_hook(hook));
}

// Quantised blocks have no weight to compute.
TEST(LinkHooks, GoWithNoQuantisedWeight) {
  struct Net : ct::Chain {
    L::Linear plain{4, 3}, hooked{4, 3};
    CT_LINKS(plain, hooked)
  } net;
  net.hooked.add_hook(std::make_shared<SpectralNormalization>());
  EXPECT_EQ(error_of<ct::ValueError>([&] { L::quantize(net, ct::Quantization::q8_0); }),
            "quantize: /hooked has the hook 'SpectralNormalization', which computes its weight anew in each call; keep "
            "the link, or delete the hook");
  EXPECT_FALSE(net.plain.quantized());
  L::quantize(net, ct::Quantization::q8_0, {.keep = {"hooked"}});
  EXPECT_TRUE(net.plain.quantized());
  net.hooked.quantize(ct::Quantization::q8_0);
  EXPECT_EQ(error_of<ct::ValueError>([&] {
              net.hooked(ct::ones({2, 4}, ct::Dtype::float32));
            }),
            "SpectralNormalization: the link has no parameter 'W' any more; was it quantised?\n  in Linear 'hooked'");
  EXPECT_EQ(error_of<ct::ValueError>([&] { net.plain.add_hook(std::make_shared<SpectralNormalization>()); }),
            "SpectralNormalization: Linear has no parameter named 'W'; it has [b]");
}

/// Counts variables.
struct Seen : ct::LinkHook {
  std::size_t inputs = 0, outputs = 0;
  std::string name() const override { return "Seen"; }
  void forward_postprocess(const ct::LinkCall& call) override {
    inputs = call.inputs.size();
    outputs = call.outputs.size();
  }
};

TEST(LinkHooks, SeeStatesAndSequences) {
  const auto seen = std::make_shared<Seen>();
  const L::NStepLSTM lstm(1, 3, 2, 0);
  lstm.add_hook(seen);
  lstm({}, {}, {numbers({2, 3}), numbers({4, 3}), numbers({1, 3})});
  EXPECT_EQ(seen->inputs, 5u);   // hx, cx, xs
  EXPECT_EQ(seen->outputs, 5u);  // hy, cy, ys
  const L::StatelessLSTM cell(3, 2);
  const ct::LinkHookScope scope(std::make_shared<Seen>());
  cell.add_hook(seen);
  cell({}, {}, numbers({2, 3}));
  EXPECT_EQ(seen->outputs, 2u);
}

}  // namespace
