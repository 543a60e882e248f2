#include "catenary/backends/cpu/cpu_backend.h"

#include <cstdlib>
#include <cstring>

#include "catenary/backends/cpu/arg_reduce.h"
#include "catenary/backends/cpu/copy.h"
#include "catenary/backends/cpu/execute.h"
#include "catenary/backends/cpu/gemm.h"
#include "catenary/backends/cpu/index.h"
#include "catenary/backends/cpu/linalg.h"
#include "catenary/backends/cpu/random.h"
#include "catenary/backends/cpu/scan.h"
#include "catenary/backends/cpu/sort.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/parallel.h"
#include "catenary/core/version.h"
#include "catenary/device/matmul_providers.h"

namespace catenary::cpu {

namespace {

// Up to here malloc is faster than a pool, and keeps its pages by itself.
constexpr std::size_t kMallocBelow = std::size_t{64} << 10;

/// Blocks are handed out whole: addresses cost nothing, and large ones keep their huge pages.
class HostMemory final : public MemorySource {
 public:
  std::string name() const override { return "cpu"; }
  std::size_t total_bytes() const override { return os::physical_memory_bytes(); }
  void* allocate(std::size_t bytes) override {
    if (bytes <= kMallocBelow) return std::malloc(bytes);
    try {
      return os::allocate(bytes);
    } catch (const Error&) {
      return nullptr;
    }
  }
  void free(void* block, std::size_t bytes) noexcept override {
    if (bytes <= kMallocBelow) {
      std::free(block);
    } else {
      os::deallocate(block, bytes);
    }
  }
};

StridedView strided(const View& view) { return {view.data(), view.dtype, view.shape, view.strides}; }

/// Extents of a C-ordered view before, at and after an axis.
struct Split {
  std::int64_t outer = 1, n = 1, inner = 1;
};
Split split_at(const Shape& shape, int axis) {
  Split s;
  for (int i = 0; i < axis; ++i) s.outer *= shape[i];
  s.n = shape[axis];
  for (int i = axis + 1; i < shape.size(); ++i) s.inner *= shape[i];
  return s;
}

AdvancedIndex advanced_index(const View& x, const std::vector<View>& indices) {
  AdvancedIndex index;
  index.shape = indices.front().shape;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int axis = static_cast<int>(i);
    index.axes.push_back({static_cast<const std::int64_t*>(indices[i].data()), indices[i].strides, x.shape[axis],
                          x.strides[axis], axis});
  }
  for (int axis = static_cast<int>(indices.size()); axis < x.shape.size(); ++axis) {
    index.inner_shape.push_back(x.shape[axis]);
    index.inner_strides.push_back(x.strides[axis]);
  }
  return index;
}

class CpuBackend final : public Backend, public MatmulReporter {
 public:
  const char* name() const override { return "cpu"; }
  int device_count() const override { return 1; }
  DeviceInfo info(int) const override {
    DeviceInfo info;
    info.name = cpu_model();
    info.platform = "Catenary";
    info.arch = simd_level_name(simd_level());
    info.driver = version();
    info.memory_bytes = os::physical_memory_bytes();
    info.compute_units = num_threads();
    info.is_cpu = true;
    return info;
  }
  std::vector<MatmulProviderInfo> matmul_providers(int) override { return gemm_providers(); }
  std::string reason() const override { return {}; }
  bool host_addressable() const override { return true; }
  MemoryPool& pool(int) override { return pool_; }
  void copy_from_host(int, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(static_cast<char*>(handle) + offset, from, bytes);
  }
  void copy_to_host(int, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    std::memcpy(to, static_cast<char*>(handle) + offset, bytes);
  }
  void synchronize(int) override {}

  void run(int, ops::Program& program) override { cpu::run(program); }
  void reduce(int, ops::Program& program, const ReduceSpec& spec) override { cpu::reduce(program, spec); }
  void run_segments(int, const ops::Program& program, const std::vector<Segment>& segments) override {
    cpu::run_segments(program, segments);
  }
  void arg_reduce(int, bool largest, const View& x, int axis, const View& out) override {
    cpu::arg_reduce(largest, x, axis, out);
  }

  void copy(int, const View& to, const View& from) override { strided_copy(strided(to), strided(from)); }
  void take(int, const View& x, const View& indices, const View& out, IndexMode mode) override {
    const Split s = split_at(x.shape, 1);
    cpu::take(out.data(), x.data(), x.dtype, static_cast<const std::int64_t*>(indices.data()), s.outer, s.n,
              indices.size(), s.inner, mode);
  }
  void take_along_axis(int, const View& x, const View& indices, const View& out, int axis) override {
    const Split s = split_at(x.shape, 1);
    cpu::take_along_axis(out.data(), x.data(), x.dtype, static_cast<const std::int64_t*>(indices.data()), s.outer, s.n,
                         indices.shape[1], s.inner, axis);
  }
  void gather(int, const View& x, const std::vector<View>& indices, const View& out) override {
    cpu::gather(strided(out), x.data(), advanced_index(x, indices));
  }
  void scatter(int, const View& x, const std::vector<View>& indices, const View& values, ScatterMode mode) override {
    cpu::scatter(x.data(), advanced_index(x, indices), strided(values), mode);
  }
  std::vector<std::int64_t> nonzero(int, const View& mask) override {
    StridedView flat = strided(mask);
    flat.shape = {mask.size()};
    flat.strides = {1};
    std::vector<std::int64_t> positions(static_cast<std::size_t>(count_nonzero(flat)));
    cpu::nonzero(positions.data(), static_cast<std::int64_t>(positions.size()), flat);
    return positions;
  }

  void sort(int, const View& rows, const View& out) override {
    const std::int64_t n = rows.shape.empty() ? 1 : rows.shape.back();
    cpu::sort(out.data(), rows.data(), rows.dtype, n ? rows.size() / n : 0, n);
  }
  void argsort(int, const View& rows, const View& indices) override {
    const std::int64_t n = rows.shape.empty() ? 1 : rows.shape.back();
    cpu::argsort(static_cast<std::int64_t*>(indices.data()), rows.data(), rows.dtype, n ? rows.size() / n : 0, n);
  }
  void select(int, Selection what, bool descending, const View& rows, const std::vector<std::int64_t>& kth,
              const View& out) override {
    cpu::select(what, descending, out.data(), out.shape.back(), rows.data(), rows.dtype,
                rows.size() / rows.shape.back(), rows.shape.back(), kth);
  }
  void scan(int, Scan op, const View& x, int axis, const View& out) override {
    cpu::scan(op == Scan::sum ? ScanOp::sum : ScanOp::product, strided(out), strided(x), axis);
  }
  void searchsorted(int, const View& sorted, const View& values, bool right, const View& out) override {
    cpu::searchsorted(static_cast<std::int64_t*>(out.data()), sorted.data(), sorted.size(), values.data(),
                      values.size(), sorted.dtype, right);
  }

  void matmul(int, const View& a, const View& b, const View& c, const MatmulEpilogue& epilogue) override {
    GemmEpilogue e;
    std::vector<char> packed;  // a bias whose elements lie apart
    if (epilogue.bias) {
      const View& bias = *epilogue.bias;
      e.bias_n = bias.data();
      if (bias.strides.size() == 1 && bias.strides[0] != 1 && bias.size() > 1) {
        packed.resize(static_cast<std::size_t>(bias.size()) * itemsize(bias.dtype));
        copy(0, {packed.data(), 0, bias.dtype, bias.shape, {1}}, bias);
        e.bias_n = packed.data();
      }
    }
    e.accumulate = epilogue.accumulate;
    batched_gemm(c.dtype, c.shape[0], c.shape[1], c.shape[2], a.shape[2], a.data(), a.strides[0], a.strides[1],
                 a.strides[2], b.data(), b.strides[0], b.strides[1], b.strides[2], c.data(), c.strides[0], c.strides[1],
                 c.strides[2], e);
  }
  void linalg(int, Linalg op, const View& a, const View& b, const View& out, std::vector<bool>& ok) override {
    cpu::linalg(op, a, b, out, ok);
  }
  void random_bits(int, std::uint64_t seed, std::uint64_t call, const View& out) override {
    cpu::random_bits(static_cast<std::uint32_t*>(out.data()), out.size(), seed, call);
  }

 private:
  MemoryPool pool_{std::make_unique<HostMemory>(), {.direct_below = kMallocBelow}};
};

}  // namespace

Backend& backend() {
  static Backend* instance = new CpuBackend;
  return *instance;
}

}  // namespace catenary::cpu
