// cuBLASLt and hipBLASLt: one provider with two tables of names and numbers, since hipBLASLt copies cuBLASLt's
// interface. We describe a product (layouts, types, bias), the library chooses an algorithm, and both are cached for
// later products of this form.

#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/backends/gpu/autotune.h"
#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/matrix_units.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;

/// Numbers of the public ABI.
struct Numbers {
  int transpose, none;                                           // operations
  int f16, bf16, f32, f64;                                       // types
  int compute_f32, compute_tf32, compute_f64;                    // types of the sums
  int desc_a, desc_b, desc_epilogue, desc_bias, desc_bias_type;  // attributes of a product
  int layout_batch, layout_stride;                               // attributes of a matrix
  std::size_t workspace_at, state_at, result_bytes;  // offsets in a search result, which begins with the algorithm
};
constexpr int kEpilogueDefault = 1, kEpilogueBias = 4, kPreferenceWorkspace = 1;                // equal in both
constexpr int kPreferenceReductions = 3, kPreferenceAlignments[] = {5, 6, 7, 8};                // cuBLASLt only
constexpr int kAlgorithmId = 0, kAlgorithmTile = 1, kAlgorithmSplit = 2, kAlgorithmStages = 6;  // cuBLASLt only
constexpr int kAlgorithmFlags = 15;                                                             // cuBLASLt only
// Bits of the flags: tensor operations, the type of the sums, the rounding of operands.
constexpr std::uint64_t kTensorOperations = 0xfe, kSumsIn16Bits = std::uint64_t{1} << 8,
                        kRoundedToTf32 = std::uint64_t{4} << 16;
constexpr Numbers kCuda = {1, 0, 2, 14, 0, 1, 68, 77, 70, 3, 4, 7, 8, 26, 5, 6, 64, 72, 96};
constexpr Numbers kHip = {112, 111, 2, 14, 0, 1, 2, 6, 7, 0, 1, 2, 3, 4, 0, 1, 24, 32, 56};

constexpr std::size_t kAlgorithmRoom = 64;  // the larger of both libraries' sizes
constexpr std::size_t kResultRoom = 256;    // more than any version writes after it
constexpr int kMostAlgorithms = 8;          // maximum number to measure
constexpr std::uint64_t kWorkspace = std::uint64_t{32} << 20;

struct Api {
  Api(const os::Library& library, const std::string& prefix) {
    const auto find = [&](auto& function, const char* name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library.required<F>((prefix + name).c_str());
    };
    find(create, "Create");
    find(desc_create, "MatmulDescCreate");
    find(desc_set, "MatmulDescSetAttribute");
    find(desc_destroy, "MatmulDescDestroy");
    find(layout_create, "MatrixLayoutCreate");
    find(layout_set, "MatrixLayoutSetAttribute");
    find(layout_destroy, "MatrixLayoutDestroy");
    find(preference_create, "MatmulPreferenceCreate");
    find(preference_set, "MatmulPreferenceSetAttribute");
    find(preference_destroy, "MatmulPreferenceDestroy");
    find(search, "MatmulAlgoGetHeuristic");
    find(matmul, "Matmul");
    // optional functions of cuBLASLt only
    check = library.function<int(Handle, Handle, Handle, Handle, Handle, Handle, const void*, void*)>(
        (prefix + "MatmulAlgoCheck").c_str());
    configuration = library.function<int(const void*, int, void*, std::size_t, std::size_t*)>(
        (prefix + "MatmulAlgoConfigGetAttribute").c_str());
    capability = library.function<int(const void*, int, void*, std::size_t, std::size_t*)>(
        (prefix + "MatmulAlgoCapGetAttribute").c_str());
  }

  int (*create)(Handle*);
  int (*desc_create)(Handle*, int compute_type, int scale_type);
  int (*desc_set)(Handle, int attribute, const void*, std::size_t);
  int (*desc_destroy)(Handle);
  int (*layout_create)(Handle*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld);
  int (*layout_set)(Handle, int attribute, const void*, std::size_t);
  int (*layout_destroy)(Handle);
  int (*preference_create)(Handle*);
  int (*preference_set)(Handle, int attribute, const void*, std::size_t);
  int (*preference_destroy)(Handle);
  int (*search)(Handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Handle preference, int wanted,
                void* results, int* found);
  int (*matmul)(Handle, Handle desc, const void* alpha, const void* a, Handle a_layout, const void* b, Handle b_layout,
                const void* beta, const void* c, Handle c_layout, void* d, Handle d_layout, const void* algorithm,
                void* workspace, std::size_t workspace_bytes, Handle stream);
  int (*check)(Handle, Handle desc, Handle a, Handle b, Handle c, Handle d, const void* algorithm, void* result);
  int (*configuration)(const void* algorithm, int attribute, void*, std::size_t, std::size_t* written);
  int (*capability)(const void* algorithm, int attribute, void*, std::size_t, std::size_t* written);

  /// Returns an attribute of an algorithm, or nothing if it is not available.
  template <class T>
  std::optional<T> ask(int (*function)(const void*, int, void*, std::size_t, std::size_t*), const void* algorithm,
                       int attribute) const {
    T value{};
    std::size_t written = 0;
    if (!function || function(algorithm, attribute, &value, sizeof value, &written) != 0 || written != sizeof value)
      return std::nullopt;
    return value;
  }
};

/// An algorithm, which may be cached for this version of the library.
struct Chosen {
  alignas(16) std::array<char, kAlgorithmRoom> algorithm{};
  std::uint64_t workspace = 0, unused = 0;  // no padding between the cached bytes
};

/// The descriptors of a product and its algorithm, empty if the library has none.
struct Plan {
  explicit Plan(const Api& of) : api(of) {}
  ~Plan() {
    if (desc) api.desc_destroy(desc);
    for (Handle x : {a, b, c})
      if (x) api.layout_destroy(x);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Api& api;
  Handle desc = nullptr, a = nullptr, b = nullptr, c = nullptr;
  std::mutex bias;  // the bias pointer in the descriptor
  bool found = false;
  const Computation* computation = nullptr;
  Chosen chosen;
};

class LtProvider final : public MatmulProvider {
 public:
  LtProvider(Context& context, const os::Library& library, bool hip, Handle handle, std::string version)
      : MatmulProvider(context),
        api_(library, hip ? "hipblasLt" : "cublasLt"),
        n_(hip ? kHip : kCuda),
        hip_(hip),
        handle_(handle),
        name_(hip ? "hipBLASLt" : "cuBLASLt"),
        version_(std::move(version)),
        detail_(fmt::format("{}, {}", version_, library.path())) {}

  std::string detail() const override { return detail_; }
  bool adds_bias(const Gemm& gemm) const override {
    const View& bias = *gemm.bias;
    // the interface has no attribute for the bias's alignment, so require 16 bytes
    return gemm.bias_along_m && bias.dtype == gemm.dtype && bias.shape.size() == 1 &&
           (gemm.m == 1 || bias.strides[0] == 1) && reinterpret_cast<std::uintptr_t>(bias.data()) % 16 == 0;
  }

  const Computation* multiply(const Gemm& gemm, std::string& why) override {
    if (!is_floating(gemm.dtype)) return nullptr;
    const Handle stream = context_.driver.queue(context_.index);
    try {
      const std::shared_ptr<Plan> kept = plan_of(gemm);
      Plan& plan = *kept;
      if (!plan.found) return nullptr;
      std::unique_lock<std::mutex> lock;
      if (gemm.bias) {
        lock = std::unique_lock(plan.bias);
        const void* bias = gemm.bias->data();
        check(api_.desc_set(plan.desc, n_.desc_bias, &bias, sizeof bias), "set the bias");
      }
      std::optional<Scratch> scratch;
      try {
        if (plan.chosen.workspace) scratch.emplace(context_, static_cast<std::int64_t>(plan.chosen.workspace));
      } catch (const DeviceError& error) {
        throw Refused{error.what()};  // other algorithms need no memory
      }
      check(submit(plan, gemm, plan.chosen, gemm.address(gemm.c), scratch ? scratch->handle() : nullptr, stream),
            "multiply");
      return plan.computation;
    } catch (const Refused& refused) {
      why = refused.text;
      return nullptr;
    }
  }

 private:
  using Key = std::array<std::int64_t, 15>;
  struct Refused {
    std::string text;
  };
  static void check(int status, const char* action) {
    if (status != 0) throw Refused{fmt::format("it cannot {} (status {})", action, status)};
  }

  int submit(const Plan& plan, const Gemm& g, const Chosen& chosen, void* c, void* workspace, Handle stream) const {
    const float one = 1, beta = g.accumulate ? 1 : 0;
    const double one64 = 1, beta64 = g.accumulate ? 1 : 0;
    const bool is_double = g.dtype == Dtype::float64;
    return api_.matmul(handle_, plan.desc, is_double ? static_cast<const void*>(&one64) : &one, g.address(g.a), plan.a,
                       g.address(g.b), plan.b, is_double ? static_cast<const void*>(&beta64) : &beta, c, plan.c, c,
                       plan.c, chosen.algorithm.data(), workspace, chosen.workspace, stream);
  }

  int type(Dtype dtype) const {
    return dtype == Dtype::float64    ? n_.f64
           : dtype == Dtype::float16  ? n_.f16
           : dtype == Dtype::bfloat16 ? n_.bf16
                                      : n_.f32;
  }
  static bool may_round(const Gemm& gemm) { return gemm.dtype == Dtype::float32 && config.tf32; }
  /// Returns the largest power of two, up to 256 bytes, that the matrix is aligned to.
  std::uint32_t alignment(const Gemm& gemm, const Gemm::Matrix& x) const {
    std::uint64_t bits = reinterpret_cast<std::uintptr_t>(gemm.address(x)) | 256;
    bits |= static_cast<std::uint64_t>(x.stride) * itemsize(gemm.dtype);
    return static_cast<std::uint32_t>(bits & ~(bits - 1));
  }

  Handle layout(const Gemm& gemm, const Gemm::Matrix& x, std::int64_t rows, std::int64_t columns) {
    if (x.transposed) std::swap(rows, columns);
    Handle made = nullptr;
    check(api_.layout_create(&made, type(gemm.dtype), static_cast<std::uint64_t>(rows),
                             static_cast<std::uint64_t>(columns), x.ld),
          "describe a matrix");
    if (gemm.batch > 1) {
      const auto batch = static_cast<std::int32_t>(gemm.batch);
      check(api_.layout_set(made, n_.layout_batch, &batch, sizeof batch), "describe a batch");
      check(api_.layout_set(made, n_.layout_stride, &x.stride, sizeof x.stride), "describe a batch");
    }
    return made;
  }

  std::shared_ptr<Plan> plan_of(const Gemm& g) {
    const Key key = {static_cast<std::int64_t>(g.dtype),
                     g.m,
                     g.n,
                     g.k,
                     g.batch,
                     g.a.ld,
                     g.b.ld,
                     g.c.ld,
                     g.a.stride,
                     g.b.stride,
                     g.c.stride,
                     g.a.transposed + 2 * g.b.transposed + 4 * g.accumulate + 8 * (g.bias != nullptr) +
                         16 * may_round(g) + 32 * config.autotune,
                     alignment(g, g.a),
                     alignment(g, g.b),
                     alignment(g, g.c)};
    return plans_.get(key, [&] {
      auto plan = std::make_shared<Plan>(api_);
      make(*plan, g, key);
      return plan;
    });
  }

  void make(Plan& plan, const Gemm& g, const Key& key) {
    const bool is_double = g.dtype == Dtype::float64;
    const int compute = is_double ? n_.compute_f64 : may_round(g) ? n_.compute_tf32 : n_.compute_f32;
    check(api_.desc_create(&plan.desc, compute, is_double ? n_.f64 : n_.f32), "describe the product");
    const auto set = [&](int attribute, std::int32_t value) {
      check(api_.desc_set(plan.desc, attribute, &value, sizeof value), "describe the product");
    };
    set(n_.desc_a, g.a.transposed ? n_.transpose : n_.none);
    set(n_.desc_b, g.b.transposed ? n_.transpose : n_.none);
    set(n_.desc_epilogue, g.bias ? kEpilogueBias : kEpilogueDefault);
    if (g.bias) {
      const void* bias = g.bias->data();
      check(api_.desc_set(plan.desc, n_.desc_bias, &bias, sizeof bias), "set the bias");
      if (hip_) set(n_.desc_bias_type, type(g.dtype));  // CUDA's default is c's type
    }
    plan.a = layout(g, g.a, g.m, g.k);
    plan.b = layout(g, g.b, g.k, g.n);
    plan.c = layout(g, g.c, g.m, g.n);
    const auto take = [&](const Chosen& chosen) {
      plan.found = true;
      plan.chosen = chosen;
    };
    if (!config.autotune) {
      if (const std::vector<Chosen> best = search(plan, g, 1); !best.empty()) take(best.front());
    } else if (const auto best = tuned<Chosen>(
                   context_, name_ + " " + version_, fmt::to_string(fmt::join(key, " ")),
                   [&](const Chosen& kept) { return fits(plan, kept); }, [&] { return measured(plan, g); })) {
      take(*best);
    }
    if (plan.found) plan.computation = &context_.computations.keep(describe(plan, g));
  }

  /// Returns up to `wanted` algorithms for a product, in the library's order of expected speed.
  std::vector<Chosen> search(const Plan& plan, const Gemm& g, int wanted) const {
    Handle preference = nullptr;
    check(api_.preference_create(&preference), "search for an algorithm");
    int found = 0, status = api_.preference_set(preference, kPreferenceWorkspace, &kWorkspace, sizeof kWorkspace);
    if (!hip_) {
      // partial sums must be as exact as the sums, so exclude 16-bit ones
      const std::uint32_t reductions = 3;
      status |= api_.preference_set(preference, kPreferenceReductions, &reductions, sizeof reductions);
      const Gemm::Matrix* matrices[] = {&g.a, &g.b, &g.c, &g.c};
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t bytes = alignment(g, *matrices[i]);
        status |= api_.preference_set(preference, kPreferenceAlignments[i], &bytes, sizeof bytes);
      }
    }
    std::vector<char> results(static_cast<std::size_t>(wanted) * n_.result_bytes + kResultRoom);
    // both libraries report an error if they have no algorithm
    const bool any = status == 0 && api_.search(handle_, plan.desc, plan.a, plan.b, plan.c, plan.c, preference, wanted,
                                                results.data(), &found) == 0;
    api_.preference_destroy(preference);
    check(status, "set a preference");
    std::vector<Chosen> list;
    for (int i = 0; any && i < std::min(found, wanted); ++i) {
      const char* const result = results.data() + static_cast<std::size_t>(i) * n_.result_bytes;
      std::int32_t state = 0;
      std::memcpy(&state, result + n_.state_at, sizeof state);
      if (state != 0) continue;
      Chosen& chosen = list.emplace_back();
      std::memcpy(chosen.algorithm.data(), result, n_.workspace_at);
      std::memcpy(&chosen.workspace, result + n_.workspace_at, sizeof chosen.workspace);
      chosen.workspace = std::min(chosen.workspace, kWorkspace);
    }
    return list;
  }

  /// Returns whether a cached algorithm works for this product. hipBLASLt has no such query in C.
  bool fits(const Plan& plan, const Chosen& kept) const {
    if (kept.workspace > kWorkspace) return false;
    std::array<char, kResultRoom> result{};
    return !api_.check ||
           api_.check(handle_, plan.desc, plan.a, plan.b, plan.c, plan.c, kept.algorithm.data(), result.data()) == 0;
  }

  /// Returns the fastest algorithm, measured on scratch memory.
  std::optional<Chosen> measured(const Plan& plan, const Gemm& g) {
    const std::vector<Chosen> list = search(plan, g, kMostAlgorithms);
    if (list.empty()) return std::nullopt;
    const std::int64_t elements = (g.batch - 1) * g.c.stride + (g.n - 1) * g.c.ld + g.m;
    const Handle stream = context_.driver.queue(context_.index);
    std::optional<int> best;
    try {
      const Scratch c(context_, elements * static_cast<std::int64_t>(itemsize(g.dtype))),
          workspace(context_, static_cast<std::int64_t>(kWorkspace));
      best = fastest(context_, static_cast<int>(list.size()), [&](int i) {
        return submit(plan, g, list[static_cast<std::size_t>(i)], c.handle(), workspace.handle(), stream) == 0;
      });
    } catch (const DeviceError& error) {
      throw Refused{error.what()};  // other algorithms need no memory
    }
    if (!best) throw Refused{"none of its algorithms runs"};
    return list[static_cast<std::size_t>(*best)];
  }

  /// Describes the algorithm by its own attributes.
  Computation describe(const Plan& plan, const Gemm& g) const {
    const bool tf32 = may_round(g), aligned = is_aligned(g);
    Computation c = untold("blas", name_.c_str(), context_.info, g.dtype, tf32,
                           aligned ? "operands begin at multiples of 16 bytes and step by them" : kNotAligned);
    const void* const algorithm = plan.chosen.algorithm.data();
    if (hip_) {
      std::int32_t solution = -1;  // an algorithm's data begins with its number
      std::memcpy(&solution, algorithm, sizeof solution);
      if (solution >= 0) c.algorithm = fmt::format("solution {}", solution);
      return c;
    }
    if (const auto id = api_.ask<std::int32_t>(api_.configuration, algorithm, kAlgorithmId)) {
      c.algorithm = fmt::format("algorithm {}", *id);
      const auto add = [&](const char* name, auto value, bool said) {
        if (value && said) c.algorithm += fmt::format(", {} {}", name, *value);
      };
      add("tile", api_.ask<std::uint32_t>(api_.configuration, algorithm, kAlgorithmTile), true);
      add("stages", api_.ask<std::uint32_t>(api_.configuration, algorithm, kAlgorithmStages), true);
      const auto split = api_.ask<std::int32_t>(api_.configuration, algorithm, kAlgorithmSplit);
      add("split", split, split && *split > 1);
    }
    const auto flags = api_.ask<std::uint64_t>(api_.capability, algorithm, kAlgorithmFlags);
    if (!flags) return c;
    c.told = true;
    if (tf32) c.compute = sums_of(g.dtype, *flags & kRoundedToTf32 ? "TF32" : "float32");
    if (*flags & kSumsIn16Bits) c.compute = sums_of(Dtype::float16, dtype_name(g.dtype));
    if (*flags & kTensorOperations) {
      c.units = "Tensor Cores";
      c.why_not.clear();
    } else if (const std::string lacks = lacks_matrix_units(context_.info, g.dtype, tf32); !lacks.empty()) {
      c.why_not = lacks;
    } else {
      c.why_not = aligned ? "sizes: cuBLASLt chose an algorithm without them" : kNotAligned;
    }
    return c;
  }

  const Api api_;
  const Numbers n_;
  const bool hip_;
  const Handle handle_;
  const std::string name_, version_, detail_;
  PlanCache<Key, Plan> plans_;
};

std::unique_ptr<MatmulProvider> open(Context& context, const os::Library& library, bool hip, std::string& why) {
  Handle handle = make_handle(context, library, hip ? "hipblasLtCreate" : "cublasLtCreate", why);
  if (!handle) return nullptr;
  std::string version;
  if (hip) {
    int number = 0;
    library.required<int(Handle, int*)>("hipblasLtGetVersion")(handle, &number);
    version = fmt::format("{}.{}.{}", number / 100000, number / 100 % 1000, number % 100);
    if (number < 800) {
      why = fmt::format("{} is version {}; 0.8 or newer is needed", library.path(), version);
      return nullptr;
    }
  } else {
    version = cuda_library_version(library.required<std::size_t()>("cublasLtGetVersion")());
  }
  return std::make_unique<LtProvider>(context, library, hip, handle, version);
}

}  // namespace

std::unique_ptr<Provider<Gemm>> open_cublaslt(Context& context, std::string& why) {
  return open_cuda_library(context, "cublasLt", why, [&](const os::Library& library, std::string& reason) {
    return open(context, library, false, reason);
  });
}

// HIP 5's hipBLASLt uses other numbers for the types
const RocmLibrary& hipblaslt() {
  static const RocmLibrary library = {
      "hipBLASLt",
      {{6, 6, "libhipblaslt.so.0"}, {7, 8, "libhipblaslt.so.2"}, {7, 8, "libhipblaslt.so.1"}},
      "hipblaslt",
      "HIPBLASLT_TENSILE_LIBPATH"};
  return library;
}

std::unique_ptr<Provider<Gemm>> open_hipblaslt(Context& context, std::string& why) {
  return open_rocm_library(context, hipblaslt(), why, [&](const os::Library& library, std::string& reason) {
    return open(context, library, true, reason);
  });
}

}  // namespace catenary::gpu
