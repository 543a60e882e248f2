// Training with 16-bit parameters: their float32 copies, loss scales, and skipped updates.

#include "tests/training/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "catenary/array/lazy.h"
#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
namespace O = optimizers;
using tests::error_of;
using tests::rule_of;
using tests::Values;
using tests::values_of;
using tests_of_precision::all_optimizers;
using tests_of_precision::kInf;
using tests_of_precision::made;
using tests_of_precision::state_of;
using tests_of_precision::Three;
using tests_of_precision::update;
using tests_of_precision::varied_update;

// For all rules, the device computes t and everything derived from it as the host would.
TEST(Precision, RulesWithTheirCountOnTheDevice) {
  for (const auto& make : all_optimizers()) {
    const Three on_host(Dtype::float32), on_device(Dtype::float32);
    const Optimizer host = make(), device = make();
    host.setup(on_host);
    device.setup(on_device);
    device.loss_scaling();
    for (int step = 0; step < 20; ++step) {
      varied_update(host, on_host, step);
      if (step % 4 == 1) {  // skipped without any effect
        const std::vector<Values> before = state_of(on_device);
        update(device, on_device, std::nan(""));
        EXPECT_EQ(state_of(on_device), before) << device.name();
        EXPECT_FALSE(device.is_safe_to_update());
      }
      varied_update(device, on_device, step);
      EXPECT_TRUE(device.is_safe_to_update());
    }
    EXPECT_EQ(rule_of(on_device.a).t(), 20) << device.name();
    EXPECT_EQ(device.t(), 25);
    const std::vector<Values> wanted = state_of(on_host), got = state_of(on_device);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::size_t i = 0; i < wanted[k].size(); ++i)
        EXPECT_NEAR(got[k][i], wanted[k][i], 2e-5 * std::max(1.0, std::abs(wanted[k][i]))) << device.name() << " " << k;
  }
}

// Steps that 16 bits would lose add up in float32, for all optimizers with and without state.
TEST(Precision, SmallStepsAddUp) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    for (const bool in_float32 : {true, false}) {
      const Three model(dtype);
      model.a.array().fill(1);
      const O::SGD optimizer(1e-5);
      optimizer.setup(model);
      optimizer.use_fp32_update(in_float32);
      for (int t = 0; t < 2000; ++t) update(optimizer, model, 1);
      EXPECT_NEAR(values_of(model.a.array())[0], in_float32 ? 0.98 : 1, 4e-3);
      EXPECT_EQ(model.a.array().dtype(), dtype);
    }
  }
}

// Adam's squares of small gradients are 0 in float16, so its state is float32 with and without float32 parameters.
TEST(Precision, AdamsStateIsFloat32) {
  for (const bool in_float32 : {true, false}) {
    const Three model(Dtype::float16);
    const O::Adam optimizer;
    optimizer.setup(model);
    optimizer.use_fp32_update(in_float32);
    const double before = values_of(model.b.array())[0];
    for (int t = 0; t < 10; ++t) update(optimizer, model, 1e-5);
    for (const auto& [name, array] : rule_of(model.b).state) EXPECT_EQ(array.dtype(), Dtype::float32) << name;
    EXPECT_NEAR(values_of(model.b.array())[0], before - 0.01, 3e-3);
  }
}

// A single program updates float32 parameters, gradients, state and 16-bit parameters of all shapes.
TEST(Precision, AnUpdateIsOneProgram) {
  const auto fusion = using_config(config.fusion, true);
  const auto kernels_of_update = [](Dtype dtype, bool scales) {
    const Three model(dtype);
    const O::Adam optimizer;
    optimizer.setup(model);
    scales ? optimizer.loss_scaling() : optimizer.set_loss_scale(1);
    for (int t = 0; t < 2; ++t) update(optimizer, model, 0.5);
    for (const Parameter& p : model.all()) p.set_grad(full(p.shape(), 0.5, dtype));
    current_device().synchronize();
    const std::int64_t before = kernel_count();
    optimizer.update();
    current_device().synchronize();
    return kernel_count() - before;
  };
  EXPECT_EQ(kernels_of_update(Dtype::float32, false), 1);
  EXPECT_EQ(kernels_of_update(Dtype::bfloat16, false), 1);
  // 2 check for inf and NaN, a few compute single numbers: t, the rate, the scale
  EXPECT_LE(kernels_of_update(Dtype::float16, true), 8);
}

// The number of launches does not depend on the number of parameters, including the check for inf and NaN and the
// conversion of gradients for hooks.
TEST(Precision, LaunchesDoNotGrowWithTheModel) {
  struct Many : Chain {
    std::vector<L::Linear> layers;
    CT_LINKS(layers)
    explicit Many(int n) {
      for (int i = 0; i < n; ++i) layers.emplace_back(3 + i % 5, 2 + i % 3);
    }
  };
  const auto fusion = using_config(config.fusion, true);
  const auto kernels_of_update = [](int layers, bool hooks) {
    const auto dtype = using_config(config.dtype, Dtype::float16);
    const Many model(layers);
    const O::Adam optimizer;
    optimizer.setup(model);
    if (hooks) optimizer.add_hook(optimizer_hooks::GradientHardClipping(-1, 1));
    std::int64_t kernels = 0;
    for (int t = 0; t < 3; ++t) {
      for (const Parameter& p : model.params()) {
        p.set_grad(full(p.shape(), 0.5, Dtype::float16).eval());
        p.set_loss_scale(optimizer.loss_scale());
      }
      current_device().synchronize();
      const std::int64_t before = kernel_count();
      optimizer.update();
      current_device().synchronize();
      kernels = kernel_count() - before;
    }
    for (const Parameter& p : model.params()) EXPECT_EQ(p.grad().dtype(), Dtype::float16);
    return kernels;
  };
  EXPECT_EQ(kernels_of_update(6, false), kernels_of_update(2, false));
  EXPECT_LE(kernels_of_update(2, false), 8);
  EXPECT_EQ(kernels_of_update(6, true), kernels_of_update(2, true));
}

// Values loaded, set or copied into a 16-bit parameter during training take effect: the float32 copy follows.
TEST(Precision, ChangesOfParametersElsewhereHold) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Three model(dtype);
    const O::SGD optimizer(0.001);
    optimizer.setup(model);
    update(optimizer, model, 1);
    model.a.array().fill(8);
    const Values b = values_of(model.b.array());
    for (int t = 0; t < 500; ++t) update(optimizer, model, 1);
    EXPECT_NEAR(values_of(model.a.array())[0], 7.5, 0.04);
    EXPECT_NEAR(values_of(model.b.array())[0], b[0] - 0.5, 0.01);
  }
}

// Hooks see gradients without the scale, in float32, including values outside float16's range.
TEST(Precision, HooksSeeGradientsInFloat32) {
  struct See : OptimizerHook {
    std::shared_ptr<Values> seen = std::make_shared<Values>();
    std::string name() const override { return "See"; }
    void operator()(const Optimizer& optimizer) override {
      for (const Parameter& p : optimizer.target().link().params()) {
        EXPECT_EQ(p.grad().dtype(), Dtype::float32);
        seen->push_back(values_of(p.grad())[0]);
      }
    }
  };
  const Three model(Dtype::float16);
  const O::SGD optimizer(100);
  optimizer.setup(model);
  optimizer.set_loss_scale(1024);
  const auto hook = std::make_shared<See>();
  optimizer.add_hook(hook);
  const double before = values_of(model.a.array())[0], gradient = std::exp2(-30);
  update(optimizer, model, gradient, 1 << 20);
  EXPECT_EQ(*hook->seen, Values(3, gradient));
  EXPECT_EQ(model.a.grad().dtype(), Dtype::float16);
  EXPECT_NEAR(values_of(model.a.array())[0], before, 1e-3);
  // without a hook the update divides gradients, which are stored without the scale afterwards
  optimizer.remove_hook("See");
  update(optimizer, model, 0.25, 64);
  EXPECT_EQ(values_of(model.b.grad()), Values(5, 0.25));
  EXPECT_FALSE(model.b.loss_scale());
}

/// The gradients after hooks and an update, starting from a uniform gradient.
std::vector<Values> hooked(const OptimizerHook& hook, Dtype dtype, bool in_float32, std::int64_t size, double x,
                           double gradient) {
  struct Both : Link {
    Parameter a, b;
    CT_LINKS(a, b)
  } model;
  model.a = Parameter::from_array(full({size}, x, dtype));
  model.b = Parameter::from_array(full({2}, x, Dtype::float32));
  const O::SGD optimizer(1);
  optimizer.setup(model);
  optimizer.use_fp32_update(in_float32);
  optimizer.set_loss_scale(1);
  for (const Parameter& p : {model.a, model.b}) p.set_grad(full(p.shape(), gradient, p.dtype()));
  struct See : OptimizerHook {
    std::vector<Values> seen;
    std::string name() const override { return "See"; }
    void operator()(const Optimizer& optimizer) override {
      for (const Parameter& p : optimizer.target().link().params()) seen.push_back(values_of(p.grad()));
    }
  };
  const auto see = std::make_shared<See>();
  optimizer.add_hook(std::shared_ptr<OptimizerHook>(std::shared_ptr<void>(), &const_cast<OptimizerHook&>(hook)));
  optimizer.add_hook(see);
  optimizer.update();
  return see->seen;
}

// Hooks compute in float32 without rounding to 16 bits first, and their norms are float32.
TEST(Precision, HooksComputeInFloat32) {
  namespace H = optimizer_hooks;
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const double x = std::exp2(-10), small = std::exp2(-17);
    for (const Values& g : hooked(H::WeightDecay(small), dtype, true, 3, x, 0)) EXPECT_EQ(g[0], small * x);
    for (const Values& g : hooked(H::Lasso(std::exp2(-30)), dtype, true, 3, x, 0)) EXPECT_EQ(g[0], std::exp2(-30));
    for (const bool in_float32 : {true, false}) {
      SCOPED_TRACE(dtype_name(dtype) + std::string(in_float32 ? " in float32" : ""));
      const double eps = dtype == Dtype::float16 ? 0x1p-10 : 0x1p-7;
      // the squares of 300 and of 1e-4 are out of float16's range
      for (const double gradient : {300.0, 1e-4}) {
        const double norm = gradient * std::sqrt(3 + 2);
        for (const Values& g : hooked(H::GradientClipping(gradient), dtype, in_float32, 3, 1, gradient))
          EXPECT_NEAR(g[0], gradient * gradient / norm, eps * gradient);
      }
      // also the sum of 100000 squares of 1
      const Values g = hooked(H::GradientLARS(), dtype, in_float32, 100000, 1, 1)[0];
      const H::GradientLARS lars;
      EXPECT_NEAR(g[7], (1 + lars.weight_decay) / (1 + lars.weight_decay), 2 * eps);
    }
  }
}

// Each gradient is divided by its scale, also if the scales differ.
TEST(Precision, ScalesOfGradientsMayDiffer) {
  for (const Dtype dtype : {Dtype::float16, Dtype::float32}) {
    const Three model(dtype);
    const O::SGD optimizer(1);
    optimizer.setup(model);
    optimizer.set_loss_scale(4);
    std::vector<double> before, scales = {4, 16, 1};
    for (std::size_t k = 0; k < 3; ++k) {
      const Parameter p = model.all()[k];
      before.push_back(values_of(p.array())[0]);
      p.set_grad(full(p.shape(), 0.5 * scales[k], dtype));
      p.set_loss_scale(scales[k]);
    }
    optimizer.update();
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(values_of(model.all()[k].array())[0], before[k] - 0.5, 1e-3) << dtype_name(dtype) << k;
  }
}

// A rule's hook sees it, too. Parameters without a gradient are not changed, even with hooks.
TEST(Precision, AParameterAloneAndItsHook) {
  const Three model(Dtype::float16);
  const O::SGD optimizer(1);
  optimizer.setup(model);
  Dtype seen = Dtype::bool_;
  rule_of(model.b).hooks.emplace_back("see", [&](UpdateRule&, const Parameter& p) { seen = p.grad().dtype(); });
  const Values before = values_of(model.b.array());
  model.b.cleargrad();
  model.b.update();
  EXPECT_EQ(values_of(model.b.array()), before);
  model.b.set_grad(full({5}, 16, Dtype::float16));
  model.b.set_loss_scale(32);
  model.b.update();
  EXPECT_EQ(seen, Dtype::float32);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(values_of(model.b.array())[i], before[i] - 0.5, 1e-3);
}

// A single inf in any gradient skips the whole update, halves the scale, and later the scale doubles again.
TEST(Precision, AnUpdateWithAnInfIsSkipped) {
  for (const Dtype dtype : {Dtype::float16, Dtype::float32}) {
    for (const double value : {kInf, -kInf, std::nan("")}) {
      const Three model(dtype);
      const O::Adam optimizer;
      optimizer.setup(model);
      optimizer.loss_scaling(2);
      for (int t = 0; t < 7; ++t) update(optimizer, model, 0.5);
      EXPECT_EQ(optimizer.loss_scale().value(), 128);
      const std::vector<Values> before = state_of(model);
      for (const Parameter& p : model.all()) p.set_grad(full(p.shape(), 0.5, dtype));
      const Array grad = model.b.grad();
      grad.set(value, 4);
      optimizer.update();
      EXPECT_FALSE(optimizer.is_safe_to_update());
      EXPECT_EQ(state_of(model), before) << value;
      EXPECT_EQ(optimizer.loss_scale().value(), 64);
      EXPECT_EQ(optimizer.t(), 8);
      EXPECT_EQ(rule_of(model.a).t(), 7);
      update(optimizer, model, 0.5);
      EXPECT_NEAR(optimizer.loss_scale().value(), 64 * std::sqrt(2.0), 1e-4);
      EXPECT_NE(state_of(model), before);
      for (int t = 0; t < 40; ++t) update(optimizer, model, 0.5);
      EXPECT_EQ(optimizer.loss_scale().value(), 65504);
      for (int t = 0; t < 20; ++t) update(optimizer, model, kInf);
      EXPECT_EQ(optimizer.loss_scale().value(), 1);
    }
  }
}

// Models with float16 parameters have a dynamic scale by default, others none, and explicit settings take precedence.
TEST(Precision, WhichModelsHaveAScale) {
  const auto scale_after = [](Dtype dtype, const std::function<void(const Optimizer&)>& say) {
    const Three model(dtype);
    const O::SGD optimizer(1e-3);
    optimizer.setup(model);
    say(optimizer);
    for (int t = 0; t < 3; ++t) optimizer.update([&] { return F::sum(model.a * model.a); });
    return optimizer.loss_scale().value();
  };
  const auto nothing = [](const Optimizer&) {};
  EXPECT_EQ(scale_after(Dtype::float16, nothing), 8);
  EXPECT_EQ(scale_after(Dtype::bfloat16, nothing), 1);
  EXPECT_EQ(scale_after(Dtype::float32, nothing), 1);
  EXPECT_EQ(scale_after(Dtype::float16, [](const Optimizer& o) { o.loss_scaling({}, 1); }), 1);
  EXPECT_EQ(scale_after(Dtype::float16, [](const Optimizer& o) { o.set_loss_scale(32); }), 32);
  EXPECT_EQ(scale_after(Dtype::bfloat16, [](const Optimizer& o) { o.loss_scaling(10); }), 8);
  const O::SGD optimizer(1);
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.loss_scaling(0); }),
            "SGD: loss_scaling: the interval must be 1 or more, not 0");
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.set_loss_scale(-2); }),
            "SGD: loss_scaling: the scale must be a positive number, not -2");
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.set_loss_scale(kInf); }),
            "SGD: loss_scaling: the scale must be a positive number, not inf");
}

// A scale at which everything overflows decreases by itself.
TEST(Precision, AScaleThatIsFarTooLargeRecovers) {
  const Three model(Dtype::float16);
  const O::SGD optimizer(1e-3);
  optimizer.setup(model);
  optimizer.loss_scaling();
  for (int t = 0; t < 20; ++t) optimizer.update([&] { return F::sum(model.a * model.a * 1e-3); });
  EXPECT_EQ(optimizer.loss_scale().value(), 65504);
  const Values before = values_of(model.a.array());
  int skipped = 0;
  for (int t = 0; t < 20; ++t) {
    optimizer.update([&] { return F::sum(model.a * model.a * 1e4); });  // its gradients overflow above a scale of 4
    skipped += !optimizer.is_safe_to_update();
  }
  EXPECT_GT(skipped, 10);
  EXPECT_LT(skipped, 20);
  EXPECT_NE(values_of(model.a.array()), before);
}

// The default scale doubles with each update, halves at an inf, and then doubles after 1000 updates.
TEST(Precision, AScaleByItselfIsDoubledIn1000UpdatesAfterAnInf) {
  const Three model(Dtype::float16);
  const O::SGD optimizer(1e-3);
  optimizer.setup(model);
  for (int t = 0; t < 4; ++t) update(optimizer, model, 0.5);
  EXPECT_EQ(optimizer.loss_scale().value(), 16);
  update(optimizer, model, kInf);
  EXPECT_EQ(optimizer.loss_scale().value(), 8);
  update(optimizer, model, 0.5);
  EXPECT_NEAR(optimizer.loss_scale().value(), 8 * std::pow(2, 1.0 / 1000), 2e-6);
}

// mixed16 is float16 with float32 for normalization, and can be used where a dtype is expected.
TEST(Precision, MixedModelsKeepNormalisationInFloat32) {
  for (const Precision precision : {mixed16, mixed_bf16, Precision(Dtype::float16)}) {
    const auto scope = using_config(config.dtype, precision);
    const Dtype wide = precision.is_mixed() ? Dtype::float32 : Dtype::float16;
    EXPECT_EQ(get_dtype(), static_cast<Dtype>(precision));
    EXPECT_EQ(get_dtype({}, Dtype::float32), wide);
    EXPECT_EQ(get_dtype(Dtype::float64, Dtype::float32), Dtype::float64);
    const L::BatchNormalization batch(4);
    const L::LayerNormalization layer, layer4(Shape{4});
    const L::GroupNormalization group(2), group4(2, 4);
    const L::Linear linear(4, 4);
    const Variable x(made({2, 4}, precision, 1), false);
    EXPECT_EQ(batch(x).dtype(), static_cast<Dtype>(precision));
    EXPECT_EQ(layer(x).dtype(), static_cast<Dtype>(precision));
    EXPECT_EQ(group(x).dtype(), static_cast<Dtype>(precision));
    for (const Parameter& p : {batch.gamma, batch.beta, layer.gamma, layer4.beta, group.gamma, group4.beta})
      EXPECT_EQ(p.dtype(), wide);
    EXPECT_EQ(batch.avg_var->dtype(), wide);
    EXPECT_EQ(linear.W.dtype(), static_cast<Dtype>(precision));
  }
}

// Checks the first table of docs/guide/precision.md: the effect of each config.dtype on a model and its optimizer.
TEST(Precision, IsWhatTheTableOfTheDocumentSays) {
  struct Net : Chain {
    L::Linear linear{4, 3};
    L::BatchNormalization norm{3};
    CT_LINKS(linear, norm)
  };
  std::ifstream file(tests::source_path("docs/guide/precision.md"));
  const std::regex row(R"(\| `(?:Dtype::)?(\w+)` \| (\w+) \| (\w+) \| (yes|none) \| (1|changes by itself) \|)");
  std::smatch cells;
  int rows = 0;
  for (std::string line; std::getline(file, line) && !line.starts_with("## ");) {
    if (!std::regex_match(line, cells, row)) continue;
    ++rows;
    const auto scope = using_config(config.dtype, precision_from_name(cells[1].str()));
    const Net net;
    const O::Adam optimizer;
    optimizer.setup(net);
    const Variable x(made({5, 4}, config.dtype, 1), false);
    for (int t = 0; t < 3; ++t) optimizer.update([&] { return F::mean(F::square(net.norm(net.linear(x)))); });
    EXPECT_EQ(net.linear.W.dtype(), dtype_from_name(cells[2].str())) << line;
    for (const Array& array : {net.norm.gamma.array(), net.norm.avg_mean.array(), net.norm.avg_var.array()})
      EXPECT_EQ(array.dtype(), dtype_from_name(cells[3].str())) << line;
    const tests::Folder folder;
    serializers::save_npz(folder / "optimizer", optimizer);
    const NamedArrays named = load_npz(folder / "optimizer");
    const std::map<std::string, Array> stored(named.begin(), named.end());
    EXPECT_EQ(stored.contains("linear/W/fp32_param"), cells[4] == "yes") << line;
    EXPECT_EQ(stored.at("linear/W/m").dtype(), Dtype::float32) << line;
    EXPECT_EQ(optimizer.loss_scale().value(), cells[5] == "1" ? 1 : 8) << line;
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace catenary
