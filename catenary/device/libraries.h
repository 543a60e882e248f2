#pragma once
// The libraries that compute for a device or exchange its data, and how they computed.

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

/// A library that computes for a device, or the reason why it is not used.
struct LibraryInfo {
  std::string kind;           ///< "blas" (matrix products), "dnn" (convolutions), "attention", "fft", "solver" (linear
                              ///< algebra) or "collectives"
  std::string name;           ///< "cuBLASLt", …, or "own" for Catenary's code, the fallback
  bool usable = false;        ///< tried for each such computation, in the order of the list
  std::string detail;         ///< version and file, or why it is not used
  std::int64_t computed = 0;  ///< number of computations so far, on this device
};

/// Returns the libraries of a device, or those of one kind. For each kind, the list has the vendor's libraries in the
/// order in which they are tried, then Catenary's own code, then the libraries that are not used. Environment variables
/// select the vendor's libraries: CATENARY_GPU_BLAS, CATENARY_GPU_DNN, CATENARY_GPU_ATTENTION, CATENARY_GPU_FFT,
/// CATENARY_SOLVER. Kinds for which the device never uses a library are missing. This call searches for the libraries.
/// Throws DeviceError if a variable names a library that cannot be used, ValueError if it names an unknown one.
CT_API std::vector<LibraryInfo> libraries(const Device& device, std::string_view kind = {});

/// How a matrix product, a convolution or attention was computed, and on which hardware units.
struct CT_API Computation {
  std::string kind;       ///< "blas", "dnn" or "attention", where a convolution that is a matrix product has "blas"
  std::string library;    ///< "cuBLASLt", "oneDNN", …, or "own" for Catenary's code
  std::string algorithm;  ///< the name of its algorithm or of our kernel, or empty if unknown
  Dtype dtype = Dtype::float32;  ///< of the operands
  std::string compute;           ///< the sums: "float32 sums of float16 products"
  /// The matrix units that ran: "Tensor Cores", "AMX", "AVX512_BF16", "AVX512_VNNI". Empty for none.
  std::string units;
  /// The reason if `units` is empty: the dtype, alignment, strides, disabled TF32, or a device that lacks them.
  std::string why_not;
  /// Whether the units are known. If not, `units` is empty and `why_not` says everything that is known.
  bool told = true;

  /// Returns all of it in one line.
  std::string text() const;
  friend auto operator<=>(const Computation&, const Computation&) = default;
};

/// Returns how the calling thread's last matrix product ("blas"), convolution ("dnn") or attention ("attention", on
/// GPUs) on a device was computed, or nothing before the first one. CATENARY_TRACE=libraries prints each computation
/// when it first occurs. Throws ValueError for another kind.
CT_API std::optional<Computation> last_computation(const Device& device, std::string_view kind);

}  // namespace catenary
