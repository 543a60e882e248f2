// The libraries that are tried before our own code, each in a separate file. To add one, add a line here. For a new
// kind, also define it here, add its type to kKinds, and let the primitive's source call it.

#include "catenary/backends/gpu/blas/gemm.h"
#include "catenary/backends/gpu/dnn/attention_spec.h"
#include "catenary/backends/gpu/dnn/spec.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

OpenLibrary<Gemm> open_cublaslt, open_cublas, open_hipblaslt, open_rocblas, open_clblast;
OpenLibrary<ConvolutionSpec> open_cudnn, open_miopen;
OpenLibrary<AttentionSpec> open_cudnn_attention;
OpenLibrary<Fft> open_cufft, open_hipfft;

template <>
const LibraryKind<Gemm>& library_kind() {
  static const LibraryKind<Gemm> kind = {"blas",
                                         "CATENARY_GPU_BLAS",
                                         {{"cuda", "cuBLASLt", open_cublaslt},
                                          {"cuda", "cuBLAS", open_cublas},
                                          {"hip", "hipBLASLt", open_hipblaslt},
                                          {"hip", "rocBLAS", open_rocblas},
                                          {"opencl", "CLBlast", open_clblast}},
                                         [](const Context& context) -> std::string {
                                           if (!context.loops && !context.is_llvmpipe) return "";
                                           return "the device is a processor, where our own kernels are faster";
                                         }};
  return kind;
}

template <>
const LibraryKind<ConvolutionSpec>& library_kind() {
  static const LibraryKind<ConvolutionSpec> kind = {
      "dnn", "CATENARY_GPU_DNN", {{"cuda", "cuDNN", open_cudnn}, {"hip", "MIOpen", open_miopen}}};
  return kind;
}

template <>
const LibraryKind<AttentionSpec>& library_kind() {
  static const LibraryKind<AttentionSpec> kind = {
      "attention", "CATENARY_GPU_ATTENTION", {{"cuda", "cuDNN", open_cudnn_attention}}};
  return kind;
}

template <>
const LibraryKind<Fft>& library_kind() {
  static const LibraryKind<Fft> kind = {
      "fft", "CATENARY_GPU_FFT", {{"cuda", "cuFFT", open_cufft}, {"hip", "hipFFT", open_hipfft}}};
  return kind;
}

namespace {

/// The list of kinds. It adds their variables before main, because all variables are checked at once.
template <class... Specs>
class Kinds {
 public:
  Kinds() { (add_variable(library_kind<Specs>()), ...); }

  std::vector<LibraryInfo> libraries(Context& context, std::string_view kind) const {
    std::vector<LibraryInfo> all;
    const auto add = [&]<class Spec>(const LibraryKind<Spec>& known) {
      if (!kind.empty() && kind != known.name) return;
      for (LibraryInfo& info : libraries_for<Spec>(context).info()) all.push_back(std::move(info));
    };
    (add(library_kind<Specs>()), ...);
    return all;
  }

 private:
  template <class Spec>
  static void add_variable(const LibraryKind<Spec>& kind) {
    std::vector<std::string> names;
    for (const auto& known : kind.list) names.emplace_back(known.name);
    environment::add_library_choice(kind.name, kind.variable, names);
  }
};

const Kinds<Gemm, ConvolutionSpec, AttentionSpec, Fft> kKinds;

}  // namespace

std::vector<LibraryInfo> libraries(Context& context, std::string_view kind) { return kKinds.libraries(context, kind); }

}  // namespace catenary::gpu
