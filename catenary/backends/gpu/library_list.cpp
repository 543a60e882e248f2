// The libraries that are tried before our own code, each in a separate file. To add one, add a line here and its name
// in core/environment.cpp, which checks the variable that selects libraries. For a new kind, also add a kind here and a
// variable there, and let the primitive's source call it.

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

template <class... Specs>
std::vector<LibraryInfo> libraries_of(Context& context, std::string_view kind) {
  std::vector<LibraryInfo> all;
  const auto add = [&]<class Spec>(const LibraryKind<Spec>& known) {
    if (!kind.empty() && kind != known.name) return;
    for (LibraryInfo& info : libraries_for<Spec>(context).info()) all.push_back(std::move(info));
  };
  (add(library_kind<Specs>()), ...);
  return all;
}

}  // namespace

std::vector<LibraryInfo> libraries(Context& context, std::string_view kind) {
  return libraries_of<Gemm, ConvolutionSpec, AttentionSpec, Fft>(context, kind);
}

}  // namespace catenary::gpu
