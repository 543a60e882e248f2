// Binds functions to older versions than the newest of glibc 2.35 and GCC 12, because RHEL 9 lacks the newer ones.
// Linked if CATENARY_OLDER_SYSTEMS is on (older_systems.cmake). The linker redirects all calls to these functions.

#include <condition_variable>
#include <mutex>

extern "C" {
// The old versions, which a plain C++ declaration cannot name. They behave like the newer ones, except that the newer
// hypot does not set errno and the newer wait is noexcept.
double catenary_older_hypot(double x, double y);
void catenary_older_wait(std::condition_variable* self, std::unique_lock<std::mutex>& lock);
__asm__(".symver catenary_older_hypot,hypot@GLIBC_2.2.5");
__asm__(".symver catenary_older_wait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) { return catenary_older_hypot(x, y); }
__attribute__((visibility("hidden"))) void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* self, std::unique_lock<std::mutex>& lock) {
  catenary_older_wait(self, lock);
}
}
