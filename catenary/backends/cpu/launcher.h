#pragma once
// Private to the CPU backend: portable kernels of users, by the machine's C++ compiler.

namespace catenary {

class KernelLauncher;

namespace cpu {
KernelLauncher& launcher();
}  // namespace cpu

}  // namespace catenary
