// Kernels from kernel texts for primitives::RunText, compiled for each instruction set (see core/cpu_features.h). A new
// kernel needs a line in kRows, a new text also a class.
#include "catenary/backends/cpu/texts/texts.h"

#include <cstring>
#include <type_traits>

#include "catenary/backends/cpu/texts/kernel_text.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // kernels with a common signature do not all use all parameters
template <class MEM, class T>
struct Ctc {
  i32 group, groups;
#include "catenary/kernels/ctc.kernel"
};
template <class MEM, class T>
struct Pad {
  i32 group, groups;
#include "catenary/kernels/pad.kernel"
};
template <class MEM, class T>
struct Patches {
  i32 group, groups;
#include "catenary/kernels/patches.kernel"
};
template <class MEM, class T>
struct Resize {
  i32 group, groups;
#include "catenary/kernels/resize.kernel"
};
template <class MEM, class T>
struct Roi {
  i32 group, groups;
#include "catenary/kernels/roi.kernel"
};
template <class MEM, class T>
struct Sampler {
  i32 group, groups;
#include "catenary/kernels/sampler.kernel"
};
#pragma GCC diagnostic pop

template <class P>
constexpr bool kIsArray = false;
template <class P>
constexpr bool kIsArray<P*> = true;

/// Converts the arguments of a call to a kernel's parameters in order: for an array its address, then its offset; last
/// the number of units. (kernels/signature.h)
class Arguments {
 public:
  Arguments(const TextArgument* first, i64 units) : next_(first), units_(units) {}

  template <class P>
  P take(const TextArgument* end) {
    if constexpr (kIsArray<P>) {
      view_ = (next_++)->view;
      return static_cast<P>(view_->handle);
    } else if constexpr (std::is_integral_v<P>) {
      if (const View* const view = view_) {
        view_ = nullptr;
        return static_cast<P>(view->offset);
      }
      return static_cast<P>(next_ == end ? units_ : (next_++)->integer);
    } else {
      return static_cast<P>((next_++)->real);
    }
  }

 private:
  const TextArgument* next_;
  const View* view_ = nullptr;
  i64 units_;
};

/// Returns the number of a kernel's parameters that are arguments of a call.
template <class... P>
constexpr int argument_count() {
  return static_cast<int>(sizeof...(P)) - (0 + ... + int{kIsArray<P>}) - 1;  // excludes offsets and units
}

template <class Text, class... P>
struct Call {
  using Kernel = void (Text::*)(P...);
  // a constructor, because braces guarantee the order of evaluation
  Call(Text text, Kernel kernel, P... p) { (text.*kernel)(p...); }
};

template <class Text, class... P>
void call(void (Text::*kernel)(P...), Text text, const TextArgument* given, i64 units) {
  Arguments arguments(given, units);
  const TextArgument* const end = given + argument_count<P...>();
  Call<Text, P...>{text, kernel, arguments.template take<P>(end)...};
}

template <class Text, auto kernel>
void run(const TextArgument* arguments, i64 units, int group, int groups) {
  call(kernel, Text{group, groups}, arguments, units);
}

/// A kernel for four dtypes: floats, or elements of a size that are moved without conversion.
struct Row {
  const char *text, *kernel;
  const Dtype* dtypes;
  TextFunction functions[4];
};
constexpr Dtype kFloats[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};
constexpr Dtype kBits[] = {Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::uint64};

#define RUN(Class, kernel, MEM, T) run<Class<MEM, T>, &Class<MEM, T>::kernel>
#define ROW(Class, text, kernel)                                                                   \
  {                                                                                                \
    text, #kernel, kFloats, {                                                                      \
      RUN(Class, kernel, Half, f32), RUN(Class, kernel, Brain, f32), RUN(Class, kernel, f32, f32), \
          RUN(Class, kernel, f64, f64)                                                             \
    }                                                                                              \
  }
#define MOVES(Class, text, kernel)                                                            \
  {                                                                                           \
    text, #kernel, kBits, {                                                                   \
      RUN(Class, kernel, u8, u8), RUN(Class, kernel, u16, u16), RUN(Class, kernel, u32, u32), \
          RUN(Class, kernel, u64, u64)                                                        \
    }                                                                                         \
  }

constexpr Row kRows[] = {
    ROW(Ctc, "ctc", ctc_paths),
    ROW(Ctc, "ctc", ctc_totals),
    ROW(Ctc, "ctc", ctc_back),
    MOVES(Pad, "pad", pad),
    ROW(Pad, "pad", pad_back),
    MOVES(Patches, "patches", im2col),
    ROW(Patches, "patches", col2im),
    ROW(Patches, "patches", shift),
    ROW(Resize, "resize", resize),
    ROW(Resize, "resize", resize_back),
    MOVES(Resize, "resize", repeat),
    ROW(Resize, "resize", repeat_back),
    ROW(Roi, "roi", max_pool),
    ROW(Roi, "roi", max_pool_pick),
    ROW(Roi, "roi", max_pool_back),
    ROW(Roi, "roi", average_pool),
    ROW(Roi, "roi", average_pool_back),
    ROW(Roi, "roi", max_align),
    ROW(Roi, "roi", align),
    ROW(Roi, "roi", align_back),
    ROW(Sampler, "sampler", sample),
    ROW(Sampler, "sampler", sample_back_to_grid),
    ROW(Sampler, "sampler", sample_back_to_x),
};

}  // namespace

TextFunction find_text(const char* text, const char* kernel, Dtype dtype) {
  for (const Row& row : kRows) {
    if (std::strcmp(row.kernel, kernel) != 0 || std::strcmp(row.text, text) != 0) continue;
    for (int i = 0; i < 4; ++i)
      if (row.dtypes[i] == dtype) return row.functions[i];
    return nullptr;
  }
  return nullptr;
}

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
