// A stand-in for libcublasLt.so, and with SIM_HIP for libhipblaslt.so: equal functions under two prefixes, with other
// numbers. The algorithm that a search returns works only for the layout of the search, and needs its workspace and the
// promised alignments.

#include <algorithm>
#include <cstdio>

#include "tests/simgpu/blas/product.h"

using namespace simgpu_blas;

#ifdef SIM_HIP
#  define LT(name) hipblasLt##name
#else
#  define LT(name) cublasLt##name
#endif

namespace {

#ifdef SIM_HIP
constexpr int kNone = 111, kTranspose = 112, kComputeF32 = 2, kComputeTf32 = 6, kComputeF64 = 7;
constexpr int kDescA = 0, kDescB = 1, kDescEpilogue = 2, kDescBias = 3, kDescBiasType = 4;
constexpr int kLayoutBatch = 0, kLayoutStride = 1;
constexpr int kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 5, kNotSupported = 7;
struct Algorithm {
  std::uint64_t data[2];
  std::uint64_t workspace;

  std::uint64_t number() const { return data[0] & 0xffffffff; }
};
constexpr const char* kName = "hipBLASLt";
#else
constexpr int kNone = 0, kTranspose = 1, kComputeF32 = 68, kComputeTf32 = 77, kComputeF64 = 70;
constexpr int kDescA = 3, kDescB = 4, kDescEpilogue = 7, kDescBias = 8, kDescBiasType = 26;
constexpr int kLayoutBatch = 5, kLayoutStride = 6;
constexpr int kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13, kNotSupported = 15;
struct Algorithm {
  std::uint64_t data[8];

  std::uint64_t number() const { return data[2]; }
};
constexpr const char* kName = "cuBLASLt";
#endif
constexpr std::uint64_t kMagic = 0x17ab1a5, kWorkspace = 1 << 16;
constexpr std::uint64_t kFirst = 21, kFast = 22, kLast = 23;  // algorithms, of which only `slow` makes a difference

struct Result {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

struct Desc {
  int compute, scale;
  std::int32_t a = kNone, b = kNone, epilogue = 1, bias_type = -1;
  const void* bias = nullptr;
};
struct Layout {
  int type;
  std::uint64_t rows, columns;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

template <class T>
int set(T& to, const void* from, std::size_t bytes) {
  if (bytes != sizeof to) return kInvalidValue;
  std::memcpy(&to, from, sizeof to);
  return 0;
}

/// Fills in the product that the descriptors mean. Returns false if they do not match.
bool describe(const Desc& desc, const Layout& a, const Layout& b, const Layout& c, Product& p) {
  if (a.type != b.type || a.type != c.type || a.batch != b.batch || a.batch != c.batch) return false;
  if (!of_cuda_data_type(a.type, p.type)) return false;
  const bool is_double = p.type == Type::f64;
  const bool tf32 = p.type == Type::f32 && desc.compute == kComputeTf32;
  if (desc.compute != (is_double ? kComputeF64 : kComputeF32) && !tf32) return false;
  p.short_mantissa = tf32 && !tf32_is_forbidden();
  if (desc.scale != (is_double ? 1 : 0)) return false;
  if (desc.bias_type != -1 && desc.bias_type != c.type) return false;
  for (const std::int32_t op : {desc.a, desc.b})
    if (op != kNone && op != kTranspose) return false;
  const bool turn_a = desc.a == kTranspose, turn_b = desc.b == kTranspose;
  p.m = static_cast<std::int64_t>(c.rows);
  p.n = static_cast<std::int64_t>(c.columns);
  p.k = static_cast<std::int64_t>(turn_a ? a.rows : a.columns);
  if ((turn_a ? a.columns : a.rows) != c.rows || (turn_b ? b.rows : b.columns) != c.columns ||
      static_cast<std::int64_t>(turn_b ? b.columns : b.rows) != p.k)
    return false;
  p.batch = c.batch;
  p.a = {nullptr, a.ld, a.stride, turn_a};
  p.b = {nullptr, b.ld, b.stride, turn_b};
  p.c = {nullptr, c.ld, c.stride, false};
  return true;
}

#ifndef SIM_HIP
/// Returns cublasLtNumericalImplFlags_t of an algorithm: tensor operations for 16 bits, and for TF32 with aligned
/// operands.
std::uint64_t flags_of(const Product& p, const std::uint32_t (&alignments)[4]) {
  const char* const arch = std::getenv("SIMGPU_ARCH");
  const int capability = arch ? std::atoi(arch) : 90;
  bool aligned = true;
  for (const std::uint32_t bytes : alignments) aligned = aligned && bytes % 16 == 0;
  const auto steps = [&](const Matrix& x, std::int64_t columns) { return columns == 1 ? 0 : x.ld * size_of(p.type); };
  aligned = aligned && steps(p.a, p.a.transposed ? p.m : p.k) % 16 == 0 &&
            steps(p.b, p.b.transposed ? p.k : p.n) % 16 == 0 && steps(p.c, p.n) % 16 == 0;
  const bool tensor = p.type == Type::f16                        ? capability >= 70
                      : p.type == Type::bf16 || p.short_mantissa ? capability >= 80
                                                                 : false;
  std::uint64_t flags = tensor && aligned ? 2 : 1;
  flags |= std::uint64_t{p.type == Type::f64 ? 4u : 2u} << 8;
  flags |= std::uint64_t{p.short_mantissa ? 4u : p.type == Type::f16 ? 1u : p.type == Type::bf16 ? 2u : 8u} << 16;
  return flags;
}
#endif

/// The problem that the algorithm was made for.
std::uint64_t digest(const Desc& desc, const Product& p) {
  std::uint64_t h = kMagic;
  for (const std::int64_t x : {p.m, p.n, p.k, p.batch, p.a.ld, p.b.ld, p.c.ld, p.a.stride, p.b.stride, p.c.stride,
                               std::int64_t{desc.a}, std::int64_t{desc.b}, std::int64_t{desc.epilogue}})
    h = (h ^ static_cast<std::uint64_t>(x)) * 0x100000001b3;
  return h;
}

}  // namespace

EXPORT int LT(Create)(Handle* handle) {
  if (fault("create")) return kNotInitialized;
  *handle = new std::uint64_t(kMagic);
  return 0;
}
#ifdef SIM_HIP
EXPORT int hipblasLtGetVersion(Handle, int* version) {
  *version = 1000;
  return 0;
}
#else
EXPORT std::size_t cublasLtGetVersion() { return 130002; }
#endif

EXPORT int LT(MatmulDescCreate)(Handle* desc, int compute, int scale) {
  *desc = new Desc{compute, scale};
  return 0;
}
EXPORT int LT(MatmulDescDestroy)(Handle desc) {
  delete static_cast<Desc*>(desc);
  return 0;
}
EXPORT int LT(MatmulDescSetAttribute)(Handle desc, int attribute, const void* from, std::size_t bytes) {
  auto& d = *static_cast<Desc*>(desc);
  switch (attribute) {
    case kDescA:
      return set(d.a, from, bytes);
    case kDescB:
      return set(d.b, from, bytes);
    case kDescEpilogue:
      return set(d.epilogue, from, bytes);
    case kDescBias:
      return set(d.bias, from, bytes);
    case kDescBiasType:
      return set(d.bias_type, from, bytes);
    default:
      return kInvalidValue;
  }
}

EXPORT int LT(MatrixLayoutCreate)(Handle* layout, int type, std::uint64_t rows, std::uint64_t columns,
                                  std::int64_t ld) {
  if (ld < static_cast<std::int64_t>(rows)) return kInvalidValue;
  *layout = new Layout{type, rows, columns, ld};
  return 0;
}
EXPORT int LT(MatrixLayoutDestroy)(Handle layout) {
  delete static_cast<Layout*>(layout);
  return 0;
}
EXPORT int LT(MatrixLayoutSetAttribute)(Handle layout, int attribute, const void* from, std::size_t bytes) {
  auto& l = *static_cast<Layout*>(layout);
  switch (attribute) {
    case kLayoutBatch:
      return set(l.batch, from, bytes);
    case kLayoutStride:
      return set(l.stride, from, bytes);
    default:
      return kInvalidValue;
  }
}

EXPORT int LT(MatmulPreferenceCreate)(Handle* preference) {
  *preference = new Preference;
  return 0;
}
EXPORT int LT(MatmulPreferenceDestroy)(Handle preference) {
  delete static_cast<Preference*>(preference);
  return 0;
}
EXPORT int LT(MatmulPreferenceSetAttribute)(Handle preference, int attribute, const void* from, std::size_t bytes) {
  auto& p = *static_cast<Preference*>(preference);
  if (attribute == 1) return set(p.workspace, from, bytes);
#ifndef SIM_HIP
  std::uint32_t reductions = 0;
  if (attribute == 3) return set(reductions, from, bytes);
  if (attribute >= 5 && attribute <= 8) return set(p.alignment[attribute - 5], from, bytes);
#endif
  return kInvalidValue;
}

EXPORT int LT(MatmulAlgoGetHeuristic)(Handle handle, Handle desc, Handle a, Handle b, Handle c, Handle d,
                                      Handle preference, int wanted, void* results, int* found) {
  if (!handle || *static_cast<std::uint64_t*>(handle) != kMagic) return kNotInitialized;
  *found = 0;
  Product p;
  if (c != d || wanted < 1 ||
      !describe(*static_cast<Desc*>(desc), *static_cast<Layout*>(a), *static_cast<Layout*>(b), *static_cast<Layout*>(c),
                p))
    return kNotSupported;
  const auto& wishes = *static_cast<Preference*>(preference);
  if (wishes.workspace < kWorkspace) return kNotSupported;
  if (wanted > 1) std::fprintf(stderr, "%s lists its algorithms\n", kName);
  std::uint64_t alignments = 0;
  for (int i = 0; i < 4; ++i) alignments = alignments << 16 | wishes.alignment[i];
  for (std::uint64_t number = kFirst; number <= kLast && *found < wanted; ++number) {
    Result result{};
    result.algorithm.data[0] = digest(*static_cast<Desc*>(desc), p);
    result.algorithm.data[1] = alignments;
#ifdef SIM_HIP
    result.algorithm.data[0] = result.algorithm.data[0] << 32 | number;  // an algorithm begins with its number
#else
    result.algorithm.data[2] = number;
    result.algorithm.data[3] = flags_of(p, wishes.alignment);
#endif
    result.workspace = kWorkspace;
    std::memcpy(static_cast<char*>(results) + static_cast<std::size_t>((*found)++) * sizeof result, &result,
                sizeof result);
  }
  return 0;
}

#ifndef SIM_HIP
namespace {
template <class T>
int tell(T value, void* to, std::size_t bytes, std::size_t* written) {
  if (bytes != sizeof value) return kInvalidValue;
  std::memcpy(to, &value, bytes);
  *written = bytes;
  return 0;
}
}  // namespace
EXPORT int cublasLtMatmulAlgoCheck(Handle, Handle desc, Handle a, Handle b, Handle c, Handle, const void* algorithm,
                                   void* result) {
  Product p;
  const auto& what = *static_cast<Desc*>(desc);
  const auto& asked = *static_cast<const Algorithm*>(algorithm);
  if (!describe(what, *static_cast<Layout*>(a), *static_cast<Layout*>(b), *static_cast<Layout*>(c), p) ||
      asked.data[0] != digest(what, p))
    return kNotSupported;
  Result known{asked, kWorkspace, 0, 1, {}};
  std::memcpy(result, &known, sizeof known);
  return 0;
}
EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const void* algorithm, int attribute, void* to, std::size_t bytes,
                                                std::size_t* written) {
  const std::uint64_t number = static_cast<const Algorithm*>(algorithm)->number();
  switch (attribute) {
    case 0:  // its number
      return tell(static_cast<std::int32_t>(number), to, bytes, written);
    case 1:  // tile
      return tell(std::uint32_t{20}, to, bytes, written);
    case 2:  // splits of k
      return tell(std::int32_t{1}, to, bytes, written);
    case 6:  // stages
      return tell(std::uint32_t{35}, to, bytes, written);
    default:
      return kInvalidValue;
  }
}
EXPORT int cublasLtMatmulAlgoCapGetAttribute(const void* algorithm, int attribute, void* to, std::size_t bytes,
                                             std::size_t* written) {
  if (attribute != 15 || fault("untold")) return kNotSupported;
  return tell(static_cast<const Algorithm*>(algorithm)->data[3], to, bytes, written);
}
#endif

EXPORT int LT(Matmul)(Handle handle, Handle desc, const void* alpha, const void* a, Handle a_layout, const void* b,
                      Handle b_layout, const void* beta, const void* c, Handle c_layout, void* d, Handle d_layout,
                      const void* algorithm, void* workspace, std::size_t workspace_bytes, Handle stream) {
  if (!handle || *static_cast<std::uint64_t*>(handle) != kMagic) return kNotInitialized;
  if (fault("multiply")) return kExecutionFailed;
  const auto& what = *static_cast<Desc*>(desc);
  Product p;
  if (c != d || c_layout != d_layout ||
      !describe(what, *static_cast<Layout*>(a_layout), *static_cast<Layout*>(b_layout), *static_cast<Layout*>(c_layout),
                p))
    return kInvalidValue;
  Algorithm chosen;
  std::memcpy(&chosen, algorithm, sizeof chosen);
#ifdef SIM_HIP
  if (chosen.data[0] >> 32 != (digest(what, p) & 0xffffffff)) return kInvalidValue;
#else
  if (chosen.data[0] != digest(what, p)) return kInvalidValue;
  const void* addresses[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<std::uintptr_t>(addresses[i]) % (chosen.data[1] >> (16 * (3 - i)) & 0xffff))
      return kInvalidValue;
#endif
  if (fault("slow") && chosen.number() != kFast) p.milliseconds = 5;
  if (workspace_bytes < kWorkspace || !is_allocated(workspace, kWorkspace)) return kInvalidValue;
  p.a.data = a;
  p.b.data = b;
  p.c.data = d;
  p.alpha = load(alpha, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  p.beta = load(beta, 0, p.type == Type::f64 ? Type::f64 : Type::f32);
  if (what.epilogue == 4)
    p.bias = what.bias;
  else if (what.epilogue != 1)
    return kInvalidValue;
  if (what.epilogue == 4 && !what.bias) return kInvalidValue;
  if (!is_valid(p)) return kInvalidValue;
  return submit(p, stream) ? 0 : kExecutionFailed;
}
