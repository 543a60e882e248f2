// A user's program: it must build against an installed Catenary by find_package and by pkg-config.
#include <catenary/core/dtype.h>
#include <catenary/core/error.h>
#include <catenary/core/version.h>

#include <cstdio>

namespace ct = catenary;

int main() {
  if (ct::version_number() != CATENARY_VERSION) return std::puts("headers and library differ"), 1;
  if (ct::promote(ct::Dtype::int32, ct::Dtype::float32) != ct::Dtype::float64) return std::puts("promote is wrong"), 1;
  // Exceptions thrown inside the library must be caught by their type outside, in spite of hidden symbols.
  try {
    ct::dtype_from_name("float33");
    return std::puts("float33 was accepted"), 1;
  } catch (const ct::DtypeError& error) {
    std::printf("Catenary %s: %s\n", ct::version(), error.what());
  }
}
