#include <cctype>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/device/trace.h"

namespace catenary::gpu {

namespace {

struct Known {
  const char* driver;
  const char* name;
  OpenProvider open;
};
constexpr Known kKnown[] = {{"cuda", "cuBLASLt", open_cublaslt},
                            {"cuda", "cuBLAS", open_cublas},
                            {"hip", "hipBLASLt", open_hipblaslt},
                            {"hip", "rocBLAS", open_rocblas},
                            {"opencl", "CLBlast", open_clblast}};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

MatmulProviders::MatmulProviders(Context& context) : context_(context) {
  const std::string asked = lower(environment::text("CATENARY_GPU_BLAS"));
  bool here = false;  // does the one that is asked for exist for this driver?
  for (const Known& known : kKnown)
    here |= context.driver.name() == std::string(known.driver) && lower(known.name) == asked;
  for (const Known& known : kKnown) {
    if (context.driver.name() != std::string(known.driver)) continue;
    auto entry = std::make_unique<Entry>();
    entry->name = known.name;
    const bool chosen = lower(known.name) == asked;
    if (asked == "own" || (here && !chosen)) {
      entry->detail = fmt::format("CATENARY_GPU_BLAS={}", asked);
    } else if ((context.loops || context.is_llvmpipe) && !chosen) {
      entry->detail = "the device is a processor, where our own kernels are faster";
    } else {
      entry->provider = known.open(context, entry->detail);
      if (entry->provider) entry->detail = entry->provider->detail();
      if (chosen && !entry->provider)
        fail<DeviceError>("CATENARY_GPU_BLAS={}: {} cannot be used on {}:{}: {}", asked, known.name,
                          context.driver.name(), context.index, entry->detail);
    }
    report(*entry);
    entries_.push_back(std::move(entry));
  }
}

void MatmulProviders::report(const Entry& entry) const {
  if (tracing("blas"))
    fmt::print(stderr, "blas {}:{} {} is {}used: {}\n", context_.driver.name(), context_.index, entry.name,
               entry.provider ? "" : "not ", entry.detail);
}

bool MatmulProviders::run(const primitives::Matmul& product) {
  const auto given = as_gemm(product);
  if (!given) return false;
  for (const auto& entry : entries_) {
    if (!entry->provider) continue;
    std::lock_guard lock(entry->mutex);
    Gemm gemm = *given;
    if (gemm.bias && !entry->provider->adds_bias(gemm)) {
      if (gemm.accumulate) continue;
      // c begins as the bias, and the product is added
      View bias = *gemm.bias;
      bias.strides = {0, 0, bias.strides.empty() ? 0 : bias.strides[0]};
      bias.shape = product.c.shape;
      compute(context_, Copy{product.c, bias});
      gemm.bias = nullptr;
      gemm.accumulate = true;
    }
    std::string why;
    if (entry->provider->run(gemm, why)) {
      entry->products.fetch_add(1, std::memory_order_relaxed);
      context_.multiplied(entry->name);
      return true;
    }
    // once for each library: what follows is tried with it again
    if (!why.empty() && !entry->refused) {
      entry->refused = true;
      entry->detail += fmt::format("; refused a product of {} [{}, {}, {}] x {}: {}", dtype_name(gemm.dtype), gemm.m,
                                   gemm.n, gemm.k, gemm.batch, why);
      fmt::print(stderr, "catenary: {} on {}:{} {}; the next provider takes it\n", entry->name, context_.driver.name(),
                 context_.index, entry->detail);
    }
  }
  return false;
}

std::vector<MatmulProviderInfo> MatmulProviders::info() const {
  std::vector<MatmulProviderInfo> list;
  for (const auto& entry : entries_) {
    std::lock_guard lock(entry->mutex);
    if (entry->provider) list.push_back({entry->name, true, entry->detail, entry->products.load()});
  }
  list.push_back({"own", true, "Catenary's own kernels", own_.load()});
  for (const auto& entry : entries_)
    if (!entry->provider) list.push_back({entry->name, false, entry->detail, 0});
  return list;
}

}  // namespace catenary::gpu
