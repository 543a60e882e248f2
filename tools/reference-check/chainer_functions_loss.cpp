// Entries of loss functions.

#include "catenary/functions/loss.h"
#include "catenary/functions/loss_ctc.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_loss_functions(FunctionTable& table) {
  using F::Reduce;
  table.add("connectionist_temporal_classification", [](const Inputs& x, Keywords& k) {
    // x of each time, the labels, and optionally both lengths
    const std::size_t times = x.size() - (k.flag("lengths") ? 3 : 1);
    F::CtcOptions options = k.options();
    if (k.flag("lengths")) options.input_length = x[times + 1], options.label_length = x[times + 2];
    return F::connectionist_temporal_classification({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(times)},
                                                    x[times], k.integer("blank_symbol"), options);
  });
  table.add("softmax_cross_entropy", [](const Inputs& x, Keywords& k) {
    k.flag("enable_double_backprop");  // always possible here
    k.flag("cache_score");             // does not change values
    return F::softmax_cross_entropy(x[0], x[1], k.options());
  });
  table.add("sigmoid_cross_entropy", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::sigmoid_cross_entropy(x[0], x[1]);
    return F::sigmoid_cross_entropy(x[0], x[1], k.flag("normalize", true), k.value("reduce", Reduce::mean));
  });
  table.add("hinge", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::hinge(x[0], x[1]);
    return F::hinge(x[0], x[1], k.value("norm", F::HingeNorm::L1), k.value("reduce", Reduce::mean));
  });
  table.binary("mean_squared_error", F::mean_squared_error);
  table.binary("mean_absolute_error", F::mean_absolute_error);
  table.binary("squared_error", F::squared_error);
  table.binary("absolute_error", F::absolute_error);
  table.add("huber_loss", [](const Inputs& x, Keywords& k) {
    return F::huber_loss(x[0], x[1], k.real("delta"), k.value("reduce", Reduce::sum_along_second_axis));
  });
  table.add("contrastive", [](const Inputs& x, Keywords& k) {
    return F::contrastive(x[0], x[1], x[2], k.real("margin", 1), k.value("reduce", Reduce::mean));
  });
  table.add("triplet", [](const Inputs& x, Keywords& k) {
    return F::triplet(x[0], x[1], x[2], k.real("margin", 0.2), k.value("reduce", Reduce::mean));
  });
  table.add("cross_covariance", [](const Inputs& x, Keywords& k) {
    return F::cross_covariance(x[0], x[1], k.value("reduce", Reduce::half_squared_sum));
  });
  table.add("decov",
            [](const Inputs& x, Keywords& k) { return F::decov(x[0], k.value("reduce", Reduce::half_squared_sum)); });
  table.add("gaussian_kl_divergence", [](const Inputs& x, Keywords& k) {
    return F::gaussian_kl_divergence(x[0], x[1], k.value("reduce", Reduce::sum));
  });
  table.add("bernoulli_nll",
            [](const Inputs& x, Keywords& k) { return F::bernoulli_nll(x[0], x[1], k.value("reduce", Reduce::sum)); });
  table.add("gaussian_nll", [](const Inputs& x, Keywords& k) {
    return F::gaussian_nll(x[0], x[1], x[2], k.value("reduce", Reduce::sum));
  });
  table.add("negative_sampling", [](const Inputs& x, Keywords& k) {  // the fourth input is the sampler's result
    const auto sampler = [&](const catenary::Shape&) { return x.at(3).array(); };
    return F::negative_sampling(x[0], x[1], x[2], sampler, x.at(3).shape(1) - 1, k.value("reduce", Reduce::sum));
  });
  table.add("black_out", [](const Inputs& x, Keywords& k) {
    return F::black_out(x[0], x[1], x[2], x.at(3), k.value("reduce", Reduce::mean));
  });
  table.add("crf1d", [](const Inputs& x, Keywords& k) {  // cost, then xs and ys
    const auto middle = x.begin() + 1 + static_cast<std::ptrdiff_t>(x.size() / 2);
    return F::crf1d(x[0], Inputs(x.begin() + 1, middle), Inputs(middle, x.end()), k.value("reduce", Reduce::mean));
  });
}

}  // namespace reference
