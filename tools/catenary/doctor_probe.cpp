// Checks that run in a separate process, because drivers crash, hang and print.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "catenary/catenary.h"
#include "catenary/core/clock.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/library.h"
#include "catenary/device/backend.h"
#include "tools/catenary/device_json.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

using nlohmann::ordered_json;

Array numbers(const Shape& shape, std::uint64_t call) {
  random::Generator generator{20, call};
  return random::uniform(-1.0, 1.0, shape, {.dtype = Dtype::float32, .device = Device(), .generator = &generator})
      .eval();
}

/// Throws DeviceError if a device's result differs from the CPU's.
void compare(const char* what, const Array& on_device, const Array& expected, double tolerance) {
  const Array got = on_device.to_device(Device()).astype(Dtype::float64);
  const Array wanted = expected.astype(Dtype::float64);
  const double error = max(abs(got - wanted)).item<double>();
  if (!(error <= tolerance))
    throw DeviceError(fmt::format("gives wrong results: {} differs from the CPU's by {:g}, but {:g} is allowed", what,
                                  error, tolerance));
}

}  // namespace

ordered_json ask_library(const std::string& name) {
  std::string why;
  if (os::Library::find(name, &why)) return ordered_json::object();
  return {{"error", why}};
}

ordered_json ask_backend(const std::string& name) {
  for (Backend* backend : backends()) {
    if (backend->name() != name) continue;
    ordered_json devices = ordered_json::array();
    for (int i = 0; i < backend->device_count(); ++i)
      devices.push_back(command::device_json(Device(*backend, i).name(), backend->info(i)));
    return {{"backend", name}, {"reason", backend->reason()}, {"devices", devices}};
  }
  throw ValueError(fmt::format("--probe: unknown backend '{}'", name));
}

ordered_json test_device(const std::string& name) {
  try {
    const Device device = get_device(name);
    const DeviceScope scope(device);
    const Array x = numbers({257, 129}, 0), y = numbers({257, 129}, 1), w = numbers({129, 65}, 2);
    const Array dx = x.to_device(device), dy = y.to_device(device), dw = w.to_device(device);
    compare("exp(x) * y + x", exp(dx) * dy + dx, exp(x) * y + x, 1e-5);
    compare("sum(x * y, axis=0)", sum(dx * dy, 0), sum(x * y, 0), 1e-4);
    compare("sum(x * y, axis=1)", sum(dx * dy, 1), sum(x * y, 1), 1e-4);
    compare("matmul(x, w)", matmul(dx, dw), matmul(x, w), 1e-4);

    constexpr int kSide = 512;
    const Array a = numbers({kSide, kSide}, 3).to_device(device);
    double best = 0;
    for (int i = 0; i < 4; ++i) {  // the first one compiles
      device.synchronize();
      const double start = monotonic_seconds();
      matmul(a, a).eval();
      device.synchronize();
      best = std::max(best, 2e-9 * kSide * kSide * kSide / std::max(monotonic_seconds() - start, 1e-9));
    }
    return {{"device", name}, {"gflops", best}};
  } catch (const Error& error) {
    return {{"device", name}, {"error", error.what()}};
  }
}

}  // namespace catenary::doctor
