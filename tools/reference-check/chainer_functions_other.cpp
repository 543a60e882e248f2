// Entries of functions whose cases give their arguments in another form than the call: slices as text, lists among the
// inputs, results of another dtype.

#include "catenary/autograd/operators.h"
#include "catenary/functions/array.h"
#include "catenary/functions/evaluation.h"
#include "catenary/functions/loss.h"
#include "catenary/functions/loss_ctc.h"
#include "catenary/functions/math_matrix.h"
#include "catenary/functions/math_reduction.h"
#include "chainer_functions.h"

namespace reference {

namespace ct = catenary;
namespace F = catenary::functions;

namespace {

void add_of_arrays(FunctionTable& table) {
  table.add("split_axis", [](const Inputs& x, Keywords& k) {
    const json& j = k.get("indices_or_sections");
    const ct::Sections sections =
        j.is_number_integer() ? ct::Sections(j.get<std::int64_t>()) : ct::Sections(integers(j));
    return F::split_axis(x[0], sections, k.integer("axis"));
  });
  table.add("pad", [](const Inputs& x, Keywords& k) {
    return F::pad(x[0], k.value<ct::PerSide<std::int64_t>>("pad_width"), k.options());
  });
  table.add("get_item", [](const Inputs& x, Keywords& k) { return F::get_item(x[0], parse_slices(k.text("slices"))); });
  table.add("scatter_add",
            [](const Inputs& x, Keywords& k) { return F::scatter_add(x[0], parse_slices(k.text("slices")), x[1]); });
  table.add("add", [](const Inputs& x) { return F::add(x); });
  table.add("mean", [](const Inputs& x, Keywords& k) { return F::mean(x[0], k.axis(), k.flag("keepdims")); });
  const FunctionTable::Call by_count = table.find("tensordot");
  table.add("tensordot", [by_count](const Inputs& x, Keywords& k) {
    const json& axes = k.get("axes");
    if (!axes.is_array()) return by_count(x, k);
    if (axes.size() != 2 || !axes[0].is_array()) throw NotImplemented("axes = " + axes.dump());
    return FunctionTable::results(F::tensordot(x[0], x[1], integers(axes[0]), integers(axes[1])));
  });
}

void add_of_labels(FunctionTable& table) {
  using F::Reduce;
  const FunctionTable::Call summary = table.find("classification_summary");
  table.add("classification_summary", [summary](const Inputs& x, Keywords& k) {
    std::vector<Variable> all = summary(x, k);
    // our scores are always float64, the vectors have x's dtype
    for (std::size_t i = 0; i < 3; ++i) all[i] = F::cast(all[i], x[0].dtype());
    return all;
  });
  table.add("connectionist_temporal_classification", [](const Inputs& x, Keywords& k) {
    // x of each time, the labels, and optionally both lengths
    const std::size_t times = x.size() - (k.flag("lengths") ? 3 : 1);
    F::CtcOptions options = k.options();
    if (k.flag("lengths")) options.input_length = x[times + 1], options.label_length = x[times + 2];
    return F::connectionist_temporal_classification({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(times)},
                                                    x[times], k.integer("blank_symbol"), options);
  });
  table.add("negative_sampling", [](const Inputs& x, Keywords& k) {  // the fourth input is the sampler's result
    const auto sampler = [&](const ct::Shape&) { return x.at(3).array(); };
    return F::negative_sampling(x[0], x[1], x[2], sampler, x.at(3).shape(1) - 1, k.value("reduce", Reduce::sum));
  });
  table.add("crf1d", [](const Inputs& x, Keywords& k) {  // cost, then xs and ys
    const auto middle = x.begin() + 1 + static_cast<std::ptrdiff_t>(x.size() / 2);
    return F::crf1d(x[0], Inputs(x.begin() + 1, middle), Inputs(middle, x.end()), k.value("reduce", Reduce::mean));
  });
}

}  // namespace

void add_other_functions(FunctionTable& table) {
  add_of_arrays(table);
  add_of_labels(table);
}

}  // namespace reference
