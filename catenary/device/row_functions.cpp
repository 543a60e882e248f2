#include "catenary/device/row_functions.h"

#include "catenary/device/backend.h"
#include "catenary/device/trace_work.h"

namespace catenary {

namespace {

RowFunctions* functions_of(const Device& device) { return dynamic_cast<RowFunctions*>(&device.backend()); }

template <class Request>
void compute_traced(const Device& device, const Request& request) {
  RowFunctions* const functions = functions_of(device);
  trace_work(device, request.work(), [&] { functions->run(request); });
}

}  // namespace

bool has_row_functions(const Device& device) { return functions_of(device) != nullptr; }
void compute_rows(const Device& device, const SoftmaxRows& request) { compute_traced(device, request); }
void compute_rows(const Device& device, const StandardizeRows& request) { compute_traced(device, request); }
void compute_rows(const Device& device, const GeluElements& request) { compute_traced(device, request); }
void compute_rows(const Device& device, const RecurrentStep& request) { compute_traced(device, request); }
void compute_rows(const Device& device, const PackedBits& request) { compute_traced(device, request); }

Work SoftmaxRows::work() const {
  constexpr const char* names[] = {"softmax",          "log_softmax",   "softmax_back",
                                   "log_softmax_back", "cross_entropy", "cross_entropy_back"};
  return {names[static_cast<int>(op)], x.shape, x.nbytes() + (gy ? gy->nbytes() : 0) + (out ? out->nbytes() : 0), {x}};
}

Work StandardizeRows::work() const {
  return {gy ? "standardize_back" : "standardize", x.shape, (gy ? 3 : 2) * x.nbytes(), {x}};
}

Work GeluElements::work() const { return {gy ? "gelu_back" : "gelu", x.shape, (gy ? 3 : 2) * x.nbytes(), {x}}; }

Work RecurrentStep::work() const {
  constexpr const char* names[][2] = {{"lstm_step", "lstm_step_back"}, {"gru_step", "gru_step_back"}};
  std::int64_t bytes = p.nbytes() + before.nbytes();
  for (const View* const view : {q, h, c, gy, gh, gc, dp, dq})
    if (view) bytes += view->nbytes();
  return {names[static_cast<int>(cell)][gh ? 1 : 0], p.shape, bytes, {p}};
}

Work PackedBits::work() const {
  return {is_unpacking ? "unpackbits" : "packbits", bits.shape, bits.nbytes() + bytes.nbytes(), {bits}};
}

}  // namespace catenary
