#pragma once
// Bits in bytes, with NumPy's names.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Whether the highest (big) or the lowest (little) bit of a byte comes first.
enum class BitOrder { big, little };
/// Packs groups of eight bools or integers (true where not 0) into the bits of uint8s, along `axis` or in the flattened
/// array. Missing bits of the last byte are 0. Throws DtypeError for floats. numpy.packbits
CT_API Array packbits(const Array& x, std::optional<int> axis = {}, BitOrder order = BitOrder::big);
/// Unpacks the bits of uint8s into uint8s that are 0 or 1, along `axis` or in the flattened array. Throws DtypeError
/// for other dtypes than uint8. numpy.unpackbits
CT_API Array unpackbits(const Array& x, std::optional<int> axis = {}, BitOrder order = BitOrder::big);

}  // namespace catenary
