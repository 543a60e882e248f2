// cuBLASLt and hipBLASLt, which has its shape: one provider with two tables of names and numbers. A product is
// described (layouts, types, bias), the library picks an algorithm for the description, and both are kept for the next
// of its kind.

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
  int compute_f32, compute_tf32, compute_f64;                    // types of sums
  int desc_a, desc_b, desc_epilogue, desc_bias, desc_bias_type;  // attributes of a product
  int layout_batch, layout_stride;                               // of a matrix
  std::size_t workspace_at, state_at, result_bytes;  // in what the search for an algorithm gives, which begins with it
};
constexpr int kEpilogueDefault = 1, kEpilogueBias = 4, kPreferenceWorkspace = 1;                // the same in both
constexpr int kPreferenceReductions = 3, kPreferenceAlignments[] = {5, 6, 7, 8};                // cuBLASLt's alone
constexpr int kAlgorithmId = 0, kAlgorithmTile = 1, kAlgorithmSplit = 2, kAlgorithmStages = 6;  // likewise
constexpr int kAlgorithmFlags = 15;                                                             // likewise
// In those flags: instructions that are tensor operations, the type of the sums, what operands are rounded to.
constexpr std::uint64_t kTensorOperations = 0xfe, kSumsIn16Bits = std::uint64_t{1} << 8,
                        kRoundedToTf32 = std::uint64_t{4} << 16;
constexpr Numbers kCuda = {1, 0, 2, 14, 0, 1, 68, 77, 70, 3, 4, 7, 8, 26, 5, 6, 64, 72, 96};
constexpr Numbers kHip = {112, 111, 2, 14, 0, 1, 2, 6, 7, 0, 1, 2, 3, 4, 0, 1, 24, 32, 56};

constexpr std::size_t kAlgorithmRoom = 64;  // as much as either has, and
constexpr std::size_t kResultRoom = 256;    // more than any version writes beyond
constexpr int kMostAlgorithms = 8;          // that are tried
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
    // of cuBLASLt alone, and not missed
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

  /// What an algorithm says of itself; nothing where it does not.
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

/// An algorithm, which may be kept for the same version of the library.
struct Chosen {
  alignas(16) std::array<char, kAlgorithmRoom> algorithm{};
  std::uint64_t workspace = 0, unused = 0;  // no bytes between what is kept
};

/// A description and the algorithm for it; none where the library has none.
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
  std::mutex bias;  // which the description names
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
    // its alignment can be promised nowhere
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
        throw Refused{error.what()};  // the others need none
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
  /// The largest power of two up to 256 bytes at which a matrix begins.
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
      if (hip_) set(n_.desc_bias_type, type(g.dtype));  // in CUDA it is c's unless told
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

  /// The library's algorithms for a product, up to `wanted`, the fastest first as it thinks.
  std::vector<Chosen> search(const Plan& plan, const Gemm& g, int wanted) const {
    Handle preference = nullptr;
    check(api_.preference_create(&preference), "search for an algorithm");
    int found = 0, status = api_.preference_set(preference, kPreferenceWorkspace, &kWorkspace, sizeof kWorkspace);
    if (!hip_) {
      // partial sums are kept as exact as the sums: none in 16 bits
      const std::uint32_t reductions = 3;
      status |= api_.preference_set(preference, kPreferenceReductions, &reductions, sizeof reductions);
      const Gemm::Matrix* matrices[] = {&g.a, &g.b, &g.c, &g.c};
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t bytes = alignment(g, *matrices[i]);
        status |= api_.preference_set(preference, kPreferenceAlignments[i], &bytes, sizeof bytes);
      }
    }
    std::vector<char> results(static_cast<std::size_t>(wanted) * n_.result_bytes + kResultRoom);
    // an error here is how both say that they have no algorithm
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

  /// Is an algorithm that was kept one for this product? hipBLASLt cannot be asked in C.
  bool fits(const Plan& plan, const Chosen& kept) const {
    if (kept.workspace > kWorkspace) return false;
    std::array<char, kResultRoom> result{};
    return !api_.check ||
           api_.check(handle_, plan.desc, plan.a, plan.b, plan.c, plan.c, kept.algorithm.data(), result.data()) == 0;
  }

  /// The fastest of them, into memory that is nobody's result.
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
      throw Refused{error.what()};  // the others need no memory
    }
    if (!best) throw Refused{"none of its algorithms runs"};
    return list[static_cast<std::size_t>(*best)];
  }

  /// What the algorithm tells of itself.
  Computation describe(const Plan& plan, const Gemm& g) const {
    const bool tf32 = may_round(g), aligned = is_aligned(g);
    Computation c = untold("blas", name_.c_str(), context_.info, g.dtype, tf32,
                           aligned ? "operands begin at multiples of 16 bytes and step by them" : kNotAligned);
    const void* const algorithm = plan.chosen.algorithm.data();
    if (hip_) {
      std::int32_t solution = -1;  // an algorithm begins with its number
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
  return open_cuda_library(context, "libcublasLt.so", why, [&](const os::Library& library, std::string& reason) {
    return open(context, library, false, reason);
  });
}

// that of HIP 5 has other numbers for the types
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
