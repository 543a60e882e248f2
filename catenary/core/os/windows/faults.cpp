#include "catenary/core/os/faults.h"

#include <cstdio>

#include "catenary/core/once.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

thread_local const char* now_doing = nullptr;

/// Returns the message for a fault of the processor, with the name that the fault has on other systems, or nullptr for
/// another exception.
const char* message_of(DWORD code) {
  switch (code) {
    case EXCEPTION_STACK_OVERFLOW:
      return "SIGSEGV: a work-item needs more stack than the 640 KiB that it has: make its own arrays smaller";
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_IN_PAGE_ERROR:
      return "SIGSEGV: it reads or writes where no array is: compare its indices with the sizes of its arguments";
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
      return "SIGFPE: it divides an integer by 0";
    case EXCEPTION_ILLEGAL_INSTRUCTION:
      return "SIGILL: it ends itself, or was compiled for another processor";
    default:
      return nullptr;
  }
}

LONG CALLBACK on_fault(EXCEPTION_POINTERS* fault) {
  const char* const message = now_doing ? message_of(fault->ExceptionRecord->ExceptionCode) : nullptr;
  if (!message) return EXCEPTION_CONTINUE_SEARCH;
  for (const char* text : {"catenary: ", now_doing, ": ", message, "\n"}) std::fputs(text, stderr);
  std::fflush(stderr);
  now_doing = nullptr;
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void keep_stack_for_faults() {
  constexpr ULONG kKept = 32768, kPage = 4096;
  ULONG bytes = kKept;
  ::SetThreadStackGuarantee(&bytes);
  // Wine commits all of a fiber's stack and guards its last page, where no function could run: guard a page above.
  ULONG_PTR low = 0, high = 0;
  ::GetCurrentThreadStackLimits(&low, &high);
  void* const place = reinterpret_cast<void*>(low + kKept);
  MEMORY_BASIC_INFORMATION page{};
  DWORD before = 0;
  if (::VirtualQuery(place, &page, sizeof page) != 0 && page.State == MEM_COMMIT && page.Protect == PAGE_READWRITE)
    ::VirtualProtect(place, kPage, PAGE_READWRITE | PAGE_GUARD, &before);
}

FaultScope::FaultScope(const char* doing) {
  static Once installed;
  installed([] { ::AddVectoredExceptionHandler(1, on_fault); });
  keep_stack_for_faults();
  before_ = now_doing;
  now_doing = doing;
}

FaultScope::~FaultScope() { now_doing = before_; }

}  // namespace catenary::os
