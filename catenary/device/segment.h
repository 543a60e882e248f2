#pragma once
// Private to the library: the program for one Segment, for all backends.

#include "catenary/device/primitives.h"

namespace catenary {

/// Returns the program over the C-ordered memory of one segment.
inline ops::Program program_over(const ops::Program& program, const Segment& segment) {
  ops::Program one = program;
  one.shape = {segment.size};
  const auto place = [](ops::Access& access, const std::pair<void*, std::int64_t>& at) {
    if (!at.first) {  // a number that all segments share
      access.strides = {0};
      return;
    }
    access.handle = at.first;
    access.offset = at.second;
    access.strides = {1};
  };
  for (std::size_t k = 0; k < segment.loads.size(); ++k) place(one.loads[k], segment.loads[k]);
  for (std::size_t k = 0; k < segment.stores.size(); ++k) place(one.stores[k].to, segment.stores[k]);
  return one;
}

}  // namespace catenary
