#include "catenary/backends/cpu/programs/kernel_table.h"

#include "catenary/core/cpu_features.h"

namespace catenary::cpu {

#if defined(__x86_64__)
const KernelTable& kernel_table_v2();
const KernelTable& kernel_table_v3();
#  ifdef CT_SIMD_NO_V4
const KernelTable& kernel_table_v4() { return kernel_table_v3(); }
#  else
const KernelTable& kernel_table_v4();
#  endif

const KernelTable& kernel_table() {
  static const KernelTable& table = simd_level() == SimdLevel::v4   ? kernel_table_v4()
                                    : simd_level() == SimdLevel::v3 ? kernel_table_v3()
                                                                    : kernel_table_v2();
  return table;
}
#else
const KernelTable& kernel_table_native();
const KernelTable& kernel_table() { return kernel_table_native(); }
#endif

}  // namespace catenary::cpu
