// A program of a user. It must build against an installed Catenary with find_package and with pkg-config.
#include <catenary/core/dtype.h>
#include <catenary/core/error.h>
#include <catenary/core/version.h>

#include <cstdio>

namespace ct = catenary;

int main() {
  if (ct::version_number() != CATENARY_VERSION) return std::puts("headers and library differ"), 1;
  if (ct::promote(ct::Dtype::int32, ct::Dtype::float32) != ct::Dtype::float64) return std::puts("promote is wrong"), 1;
  // Programs must be able to catch exceptions of the library by type, although most symbols are hidden.
  try {
    ct::dtype_from_name("float33");
    return std::puts("float33 was accepted"), 1;
  } catch (const ct::DtypeError& error) {
    std::printf("Catenary %s: %s\n", ct::version(), error.what());
  }
}
