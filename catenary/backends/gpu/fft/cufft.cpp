// cuFFT and hipFFT: equal functions under two prefixes. Plans take their workspace from the device's pool.

#include <algorithm>
#include <limits>
#include <mutex>
#include <tuple>

#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

namespace {

constexpr int kC2C = 0x29, kZ2Z = 0x69;           // cufftType, hipfftType
constexpr int kForward = -1, kBackward = 1;       // the sign of the exponent
constexpr int kInvalidSize = 8, kNoSupport = 16;  // cufftResult, hipfftResult: not supported

/// Transforms of interleaved complex numbers, in complex elements: a batch, and batches `far` apart.
struct Rows {
  char* first;
  int row, step;
  std::int64_t far;
};

/// Maximum number of batches per transform. Our own passes compute larger ones.
constexpr std::int64_t kMostBatches = 1024;

/// Returns the axis of the batch, which is the longer one, because a library's batch has a single stride.
int batch_axis(const View& v) { return v.shape[0] > v.shape[2] ? 0 : 2; }

/// Returns nothing for any other layout.
std::optional<Rows> rows_of(const View& re, const View* im) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (!im || im->handle != re.handle || im->offset != re.offset + 1 || !(im->strides == re.strides)) return {};
  const int axis = batch_axis(re);
  // the stride of an axis of size 1 does not matter
  const std::int64_t row = re.shape[axis] == 1 ? 2 * re.shape[1] : re.strides[axis],
                     step = re.shape[1] == 1 ? 2 : re.strides[1], far = re.strides[2 - axis];
  if (row % 2 || step % 2 || (re.shape[2 - axis] > 1 && far % 2) || row < 1 || step < 1 || row / 2 > kMost ||
      step / 2 > kMost)
    return {};
  const auto item = static_cast<std::int64_t>(itemsize(re.dtype));
  return Rows{static_cast<char*>(re.handle) + re.offset * item, static_cast<int>(row / 2), static_cast<int>(step / 2),
              far * item};
}

/// `Handle`: a number in cuFFT, a pointer in hipFFT.
template <class Handle>
class FftLibrary final : public Provider<Fft> {
 public:
  /// `thousands`: the divisor that extracts the first part of "11.2.0" from the version's number.
  FftLibrary(Context& context, const os::Library& library, const std::string& prefix, int thousands)
      : context_(context),
        create_(library.required<int(Handle*)>((prefix + "Create").c_str())),
        destroy_(library.required<int(Handle)>((prefix + "Destroy").c_str())),
        own_memory_(library.required<int(Handle, int)>((prefix + "SetAutoAllocation").c_str())),
        make_(library.required<Make>((prefix + "MakePlanMany").c_str())),
        set_memory_(library.required<int(Handle, void*)>((prefix + "SetWorkArea").c_str())),
        set_stream_(library.required<int(Handle, void*)>((prefix + "SetStream").c_str())),
        single_(library.required<Execute>((prefix + "ExecC2C").c_str())),
        double_(library.required<Execute>((prefix + "ExecZ2Z").c_str())) {
    int version = 0;
    library.required<int(int*)>((prefix + "GetVersion").c_str())(&version);
    detail_ =
        fmt::format("{}.{}.{}, {}", version / thousands, version % thousands / 100, version % 100, library.path());
  }

  std::string detail() const override { return detail_; }

  /// Computes the sums only. The primitive's source multiplies by the scale.
  bool run(const Fft& p, std::string& why) override {
    const auto from = rows_of(p.re, p.im), to = rows_of(p.out_re, &p.out_im);
    const int axis = batch_axis(p.re);
    const std::int64_t n = p.re.shape[1], count = p.re.shape[axis], batches = p.re.shape[2 - axis];
    const bool moves =
        p.re.handle == p.out_re.handle && (p.re.offset != p.out_re.offset || !(p.re.strides == p.out_re.strides));
    if (!from || !to || moves || batches > kMostBatches || std::max(n, count) > std::numeric_limits<int>::max())
      return false;
    context_.check_dtype(p.re.dtype, "fft");
    const bool wide = p.re.dtype == Dtype::float64;
    void* const stream = context_.driver.queue(context_.index);
    const Key key{n, count, from->row, from->step, to->row, to->step, wide, stream};
    const std::shared_ptr<Plan> plan = plans_.get(key, [&] { return plan_of(key); });
    std::lock_guard lock(plan->mutex);  // a plan has one workspace and one stream
    int status = plan->status;
    if (status == 0) {
      std::optional<Scratch> memory;
      if (plan->bytes) memory.emplace(context_, static_cast<std::int64_t>(plan->bytes));
      status = set_memory_(plan->handle, memory ? memory->handle() : nullptr);
      std::int64_t i = 0;
      for (; i < batches && status == 0; ++i)
        status = (wide ? double_ : single_)(plan->handle, from->first + i * from->far, to->first + i * to->far,
                                            p.inverse ? kBackward : kForward);
      if (status != 0 && i > 1 && p.re.handle == p.out_re.handle)
        fail<DeviceError>("{} has transformed {} of {} batches in place, and cannot continue (status {})", detail_,
                          i - 1, batches, status);
    }
    if (status != 0 && status != kInvalidSize && status != kNoSupport)
      why = fmt::format("it cannot transform (status {})", status);
    return status == 0;
  }

 private:
  using Make = int(Handle, int ndim, int* n, int* in_shape, int in_step, int in_row, int* out_shape, int out_step,
                   int out_row, int type, int count, std::size_t* bytes);
  using Execute = int(Handle, void* from, void* to, int direction);
  using Key = std::tuple<std::int64_t, std::int64_t, int, int, int, int, bool, void*>;
  struct Plan {
    Plan(int (*d)(Handle)) : destroy(d) {}
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() {
      if (made) destroy(handle);
    }
    int (*const destroy)(Handle);
    std::mutex mutex;
    Handle handle{};
    bool made = false;
    int status = 0;  // a plan that cannot be made is not tried again
    std::size_t bytes = 0;
  };

  std::shared_ptr<Plan> plan_of(const Key& key) const {
    auto plan = std::make_shared<Plan>(destroy_);
    auto [n, count, in_row, in_step, out_row, out_step, wide, stream] = key;
    int length = static_cast<int>(n);
    plan->status = create_(&plan->handle);
    plan->made = plan->status == 0;
    if (plan->made) plan->status = own_memory_(plan->handle, 0);
    // with strides, the library requires the embedding shapes, which are whole rows
    if (plan->status == 0)
      plan->status = make_(plan->handle, 1, &length, &length, in_step, in_row, &length, out_step, out_row,
                           wide ? kZ2Z : kC2C, static_cast<int>(count), &plan->bytes);
    if (plan->status == 0) plan->status = set_stream_(plan->handle, stream);
    return plan;
  }

  Context& context_;
  int (*const create_)(Handle*);
  int (*const destroy_)(Handle);
  int (*const own_memory_)(Handle, int);
  Make* const make_;
  int (*const set_memory_)(Handle, void*);
  int (*const set_stream_)(Handle, void*);
  Execute *const single_, *const double_;
  std::string detail_;
  PlanCache<Key, Plan> plans_;
};

}  // namespace

std::unique_ptr<Provider<Fft>> open_cufft(Context& context, std::string& why) {
  return open_cuda_library(context, "cufft", why,
                           [&](const os::Library& library, std::string&) {
                             return std::make_unique<FftLibrary<int>>(context, library, "cufft", 1000);
                           },
                           {"12", "11", "10"});  // for CUDA 13, 12 and 11
}

std::unique_ptr<Provider<Fft>> open_hipfft(Context& context, std::string& why) {
  static const RocmLibrary hipfft = {"hipFFT", {{5, 8, "libhipfft.so.0"}}};
  return open_rocm_library(context, hipfft, why, [&](const os::Library& library, std::string&) {
    return std::make_unique<FftLibrary<void*>>(context, library, "hipfft", 10000);
  });
}

}  // namespace catenary::gpu
