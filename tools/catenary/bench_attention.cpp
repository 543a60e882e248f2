#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "tools/catenary/bench.h"

namespace catenary::command {

nlohmann::ordered_json bench_attention(Dtype dtype, std::int64_t tokens, bool print) {
  constexpr std::int64_t kHeads = 8, kSize = 64;
  const Device device = current_device();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const Array q = values({kHeads, tokens, kSize}, dtype), k = q.copy(), v = q.copy(), seed = ones_like(q);
  const auto attend = [](const Variable& x, const Variable& y, const Variable& z) {
    return functions::scaled_dot_product_attention(x, y, z, {.causal = true});
  };
  const auto forward = [&] {
    const auto scope = no_backprop_mode();
    attend(Variable(q), Variable(k), Variable(v)).array().eval();
  };
  const auto backward = [&] {
    const Variable a(q), b(k), c(v);
    Variable y = attend(a, b, c);
    y.set_grad(seed);
    y.backward();
    a.grad().eval(), b.grad().eval(), c.grad().eval();
  };
  // two products of half a square, and five more for the gradient
  const auto square = static_cast<double>(kHeads * tokens * tokens * kSize);
  for (const auto& [pass, work] : {std::pair<const char*, Work>("forward", {forward, 2 * square, "GFLOP/s"}),
                                   {"backward", {backward, 7 * square, "GFLOP/s"}}}) {
    const double seconds = median_seconds(work, device), rate = work.amount / seconds * 1e-9;
    rows.push_back({{"size", tokens}, {"pass", pass}, {"seconds", seconds}, {"rate", rate}, {"unit", work.unit}});
    const auto computation = last_computation(device, "attention");
    if (computation) rows.back()["computation"] = computation_json(*computation);
    if (print)
      fmt::print("{:>12}  {:8}  {:>12.1f} us  {:>10.4g} {}{}{}\n", tokens, pass, seconds * 1e6, rate, work.unit,
                 computation ? "  by " : "", computation ? computation->text() : ""),
          std::fflush(stdout);
  }
  return rows;
}

}  // namespace catenary::command
