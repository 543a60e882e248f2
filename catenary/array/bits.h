#pragma once
// Bits in bytes, with NumPy's names.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Which bit of a byte comes first: the highest or the lowest.
enum class BitOrder { big, little };
/// Eight elements of bools or integers, true where they are not 0, as the bits of one uint8, along `axis` or of the
/// flattened array; what the last byte lacks is 0. Throws DtypeError for floats. numpy.packbits
CT_API Array packbits(const Array& x, std::optional<int> axis = {}, BitOrder order = BitOrder::big);
/// The bits of bytes, as uint8s that are 0 or 1, along `axis` or of the flattened array. Throws DtypeError for what is
/// not uint8. numpy.unpackbits
CT_API Array unpackbits(const Array& x, std::optional<int> axis = {}, BitOrder order = BitOrder::big);

}  // namespace catenary
