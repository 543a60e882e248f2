#pragma once
// For tests of what a device may say late.

#include "catenary/device/device.h"

namespace tests {

/// Does f and waits for the device: by then what is wrong has been thrown, wherever f runs.
template <class F>
void settle(F&& f) {
  f();
  catenary::current_device().synchronize();
}

}  // namespace tests
