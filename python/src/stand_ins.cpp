#include "stand_ins.h"

#include <signal.h>
#include <unistd.h>

#ifdef __x86_64__
#  include <ucontext.h>
#endif

#include "catenary/core/environment.h"
#include "catenary/core/once.h"

namespace ct = catenary;

namespace catenary_python {

namespace {

struct sigaction before {};

bool is_stand_in(std::uint64_t address) { return address >= kStandIn && address < kStandInsEnd; }

/// Is it by a stand-in that memory was not there? x86-64 does not tell addresses that no program can have: they are in
/// a register.
bool is_of_stand_in(const siginfo_t* info, [[maybe_unused]] const void* context) {
  if (is_stand_in(reinterpret_cast<std::uintptr_t>(info->si_addr))) return true;
#ifdef __x86_64__
  if (info->si_addr) return false;
  for (int i = 0; i < NGREG; ++i)
    if (is_stand_in(static_cast<std::uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[i])))
      return true;
#endif
  return false;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (is_of_stand_in(info, context)) {
    constexpr char says[] =
        "catenary: a library other than cupy used the address in __cuda_array_interface__ of an array on the processor "
        "or on OpenCL, where it is no address of memory (CATENARY_CUDA_ARRAY_INTERFACE=1): hand it over by "
        "cupy.asnumpy(array) or DLPack.\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, says, sizeof says - 1);
    ::_exit(1);
  }
  ::sigaction(signal, &before, nullptr);  // retries the instruction under the previous handler
}

}  // namespace

bool gives_stand_ins() {
  static const bool gives = ct::environment::flag("CATENARY_CUDA_ARRAY_INTERFACE");
  return gives;
}

void watch_stand_ins() {
  static ct::Once once;
  once([] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &before);
  });
}

}  // namespace catenary_python
