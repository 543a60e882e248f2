#pragma once
// For tests of errors that a device reports late.

#include "catenary/device/device.h"

namespace tests {

/// Calls f and waits for the device, so that its errors are thrown on every device.
template <class F>
void settle(F&& f) {
  f();
  catenary::current_device().synchronize();
}

}  // namespace tests
