#pragma once
// Private to the CPU backend: runs portable kernels of users, compiled by the machine's C++ compiler.

namespace catenary {

class KernelLauncher;

namespace cpu {
KernelLauncher& launcher();
}  // namespace cpu

}  // namespace catenary
