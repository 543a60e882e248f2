#pragma once
// Which libraries compute for a device, or exchange its data, and how they did.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/device/device.h"

namespace catenary {

/// A library that computes for a device, or why it is not used.
struct LibraryInfo {
  std::string kind;     ///< "blas" (products of matrices), "dnn" (convolutions), "attention", "fft" or "collectives"
  std::string name;     ///< "cuBLASLt", …; "own" for Catenary's code, which takes what no other does
  bool usable = false;  ///< tried for each such computation, in the order of the list
  std::string detail;   ///< version and file, or why it is not used
  std::int64_t computed = 0;  ///< how many computations it took so far, on this device
};

/// The libraries of a device, or those of one kind: of each kind first what its variable (CATENARY_GPU_BLAS,
/// CATENARY_GPU_DNN, CATENARY_GPU_ATTENTION, CATENARY_GPU_FFT) leaves of the vendor's libraries that are found, in the
/// order in which they are tried, then Catenary's own code, then those that are not used. Kinds are missing where the
/// device never asks a library. Looks for the libraries. Throws DeviceError where a variable names one that cannot be
/// used, ValueError where it names none that there is.
CT_API std::vector<LibraryInfo> libraries(const Device& device, std::string_view kind = {});

/// How a product of matrices, a convolution or attention was computed, and by which units.
struct CT_API Computation {
  std::string kind;       ///< "blas", "dnn" or "attention"; a convolution that is a product of matrices has "blas"
  std::string library;    ///< "cuBLASLt", "oneDNN", …; "own" for Catenary's code
  std::string algorithm;  ///< what the library calls it, or our kernel's name; empty where the library does not tell
  Dtype dtype = Dtype::float32;  ///< of the operands
  std::string compute;           ///< what is added up: "float32 sums of float16 products"
  /// The matrix units that ran: "Tensor Cores", "AMX", "AVX512_BF16", "AVX512_VNNI"; empty for none.
  std::string units;
  /// Where `units` is empty, why: the dtype, alignment, strides, TF32 that is off, or a device that lacks them.
  std::string why_not;
  /// Does the library tell which units ran, or is it known otherwise? Where not, `units` is empty and `why_not` says
  /// what is known.
  bool told = true;

  /// All of it in one line.
  std::string text() const;
  friend auto operator<=>(const Computation&, const Computation&) = default;
};

/// How the calling thread's last product of matrices ("blas"), convolution ("dnn") or attention ("attention", on GPUs)
/// on a device was computed; nothing before its first one. CATENARY_TRACE=libraries prints each as it is met first.
/// Throws ValueError for another kind.
CT_API std::optional<Computation> last_computation(const Device& device, std::string_view kind);

}  // namespace catenary
