// Simulates a broken libOpenCL.so.1.

#include <cstdio>
#include <cstdlib>

[[gnu::constructor]] static void crash() {
  std::fputs("the driver's last words\n", stderr);
  std::abort();
}
